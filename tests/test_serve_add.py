"""Nodes that are added while the server runs."""

import threading
import time

import pytest

import pairgram as pg
from pairgram.serve.served import Holder
from serving import bearer, get, post, running, save_world


@pytest.fixture
def folder(tmp_path):
    return save_world(tmp_path / "model")


def add(port, *nodes):
    body = {"nodes": [{"id": name, "text": text} for name, text in nodes]}
    return post(port, "/add", body, headers=bearer())


def test_added_nodes_are_found_at_once_and_stay(folder):
    with running(Holder(folder)) as server:
        port = server.port
        status, answer = add(port, ("new", "blue boat with a mast"), ("x/y", "red apple pie"))
        assert (status, answer) == (200, {"added": ["new", "x/y"], "nodes": 18})
        query = {"text": "blue boat with a mast", "k": 17}
        suggested = post(port, "/suggest", query)[1]["suggestions"]
        (new,) = [one for one in suggested if one["node"] == "new"]
        assert (new["degree"], new["position"]) == (0, None)
        assert get(port, "/nodes?query=MAST")[1]["nodes"][0]["node"] == "new"
        assert get(port, "/nodes/x/y")[1]["text"] == "red apple pie"
        assert get(port, "/nodes/x/y")[1]["neighbours"] == []
        assert post(port, "/suggest", {"node": "new"})[0] == 200
        assert get(port, "/model")[1]["nodes"] == 18
        # The map is of the nodes that were fitted.
        assert get(port, "/map")[1]["nodes"] == 16
    assert pg.load(folder).added_ == {"new": "blue boat with a mast", "x/y": "red apple pie"}
    with running(Holder(folder)) as server:
        assert get(server.port, "/nodes/new")[0] == 200
        # A reload keeps them, and the new model may write.
        assert post(server.port, "/reload", None, headers=bearer())[1]["nodes"] == 18
        assert add(server.port, ("third", "another"))[1]["nodes"] == 19


def test_all_or_nothing(folder):
    with running(Holder(folder)) as server:
        for nodes, line in (
            ([("fine", "text"), ("a0", "known already")], "a0"),
            ([("twice", "one"), ("twice", "other")], "comes twice"),
            ([("empty", "")], "text"),
        ):
            status, answer = add(server.port, *nodes)
            assert (status, line in answer["error"]) == (422, True), answer
        assert get(server.port, "/model")[1]["nodes"] == 16


def test_what_another_process_adds_is_taken_up(folder, monkeypatch):
    monkeypatch.setattr("pairgram.serve.app.WATCH_SECONDS", 0.05)
    with running(Holder(folder)) as server:
        other = pg.load(folder)
        other.add({"elsewhere": "blue boat of another"})
        other.remove(["a3"])
        until = time.monotonic() + 10
        while get(server.port, "/nodes/elsewhere")[0] != 200:
            assert time.monotonic() < until
            time.sleep(0.02)
        assert get(server.port, "/nodes/a3")[0] == 404
        names = [one["node"] for one in get(server.port, "/nodes/a0")[1]["neighbours"]]
        assert "a3" not in names
        assert get(server.port, "/nodes?query=a3")[1]["nodes"] == []
        place = other.graph_.position("a3")
        assert get(server.port, f"/map/nodes?at={place}")[1]["nodes"][0]["node"] == "a3"
        # One writer a folder.
        assert add(server.port, ("mine", "text"))[0] == 409
        other.close()
        assert add(server.port, ("mine", "text"))[0] == 200


def test_many_add_and_ask_at_once(folder):
    with running(Holder(folder)) as server:
        found = []

        def work(number):
            found.append(add(server.port, (f"n{number}", f"red thing {number}"))[0])
            found.append(post(server.port, "/suggest", {"text": "red", "k": 40})[0])

        threads = [threading.Thread(target=work, args=(i,)) for i in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == [200] * 24
        assert get(server.port, "/model")[1]["nodes"] == 28
