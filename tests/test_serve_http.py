"""The HTTP interface beside the model itself, and every way to misuse it."""

import http.client
import json
import socket
import struct
import threading
import time

import numpy as np
import pytest

import pairgram as pg
from pairgram.serve.limits import MOST_K, MOST_TEXT, Limits
from pairgram.serve.protocol import PatientProtocol
from pairgram.serve.served import Holder
from serving import TOKEN, ask, bearer, get, post, running, save_world
from test_serve_parts import parse
from worlds import build, world


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return save_world(tmp_path_factory.mktemp("served") / "model")


@pytest.fixture(scope="module")
def holder(folder):
    return Holder(folder)


@pytest.fixture(scope="module")
def port(holder):
    with running(holder) as server:
        yield server.port


@pytest.fixture(scope="module")
def model(folder):
    return pg.load(folder)


@pytest.mark.parametrize("query", [{"text": "a blue thing"}, {"node": "a1"}, {"text": ""}])
def test_suggestions_are_the_model_s_own(port, model, query):
    status, answer = post(port, "/suggest", {**query, "k": 5, "rule": "dot"})
    assert status == 200
    wanted = model.suggest(**query, k=5, rule="dot")
    assert [one["node"] for one in answer["suggestions"]] == [s.node for s in wanted]
    for one, s in zip(answer["suggestions"], wanted, strict=True):
        assert one["score"] == pytest.approx(s.score, rel=1e-5)
        assert (one["text"], one["why"], one["probability"]) == (s.text, s.why, None)
        assert one["degree"] == model.graph_.degree[model.graph_.position(s.node)]
        assert one["position"] == model.graph_.position(s.node)
    assert answer["words"] == (["blue", "thing"] if query.get("text") else [])
    assert answer["match"] is None


def test_many_at_once_get_what_they_would_get_alone(port, model):
    queries = [(f"{color} {thing}", k) for color in ("red", "blue") for thing in ("apple", "boat")
               for k in (1, 3, 7)]  # fmt: skip
    found = {}

    def client(text, k):
        found[text, k] = post(port, "/suggest", {"text": text, "k": k})

    threads = [threading.Thread(target=client, args=query) for query in queries]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for text, k in queries:
        status, answer = found[text, k]
        assert status == 200
        wanted = [s.node for s in model.suggest(text, k=k)]
        assert [one["node"] for one in answer["suggestions"]] == wanted


def test_vectors_and_scores_are_the_model_s_own(port, model):
    texts = ["red apple", "", "something else"]
    status, answer = post(port, "/embed", {"texts": texts})
    assert status == 200
    np.testing.assert_allclose(answer["vectors"], model.embed(texts), rtol=1e-4, atol=1e-6)
    pairs = [("a0", "a1"), ("a0", "b3")]
    status, answer = post(port, "/score", {"pairs": pairs})
    assert status == 200
    np.testing.assert_allclose(answer["scores"], model.score(pairs), rtol=1e-5)
    assert answer["rule"] == model.rule_


@pytest.mark.parametrize("query", [{"text": "blue unheard thing"}, {"node": "a1"}])
def test_explanations_are_the_model_s_own(port, model, query):
    status, answer = post(port, "/explain", {**query, "target": "b2"})
    assert status == 200
    wanted = model.explain("b2", **query)
    assert (answer["score"], answer["rule"]) == (pytest.approx(wanted.score, rel=1e-5), wanted.rule)
    for part in ("words", "pieces", "target_words"):
        assert [one["word"] for one in answer[part]] == [w.word for w in getattr(wanted, part)]
        effects = [w.effect for w in getattr(wanted, part)]
        assert [one["effect"] for one in answer[part]] == pytest.approx(effects, rel=1e-3, abs=1e-5)
    assert [one["node"] for one in answer["neighbours"]] == [n.node for n in wanted.neighbours]
    assert post(port, "/explain", {**query, "target": "nobody"})[0] == 404


def test_filters_are_the_model_s_own(port, model):
    status, answer = post(port, "/suggest", {"text": "blue", "prefix": ["a"], "k": 5})
    assert status == 200
    wanted = model.suggest("blue", prefix=["a"], k=5)
    assert [one["node"] for one in answer["suggestions"]] == [s.node for s in wanted]
    assert {one["node"][0] for one in answer["suggestions"]} == {"a"}


def test_labels_can_be_chosen_from(tmp_path):
    graph = world().with_labels({"a0": "fruit", "a1": "fruit", "b0": "vessel"})
    build("tge").fit(graph).save(tmp_path / "model")
    with running(Holder(tmp_path / "model")) as server:
        assert get(server.port, "/model")[1]["labels"] == ["fruit", "vessel"]
        query = {"text": "blue boat", "label": ["fruit"]}
        found = post(server.port, "/suggest", query)[1]["suggestions"]
    assert {one["node"] for one in found} == {"a0", "a1"}


def test_nodes_have_text_degree_and_neighbours(port, model):
    status, answer = get(port, "/nodes/a7")
    assert status == 200
    assert (answer["node"], answer["text"]) == ("a7", "red apple 7")
    near = model.graph_.adjacency().neighbours(model.graph_.position("a7"))
    assert answer["degree"] == len(near) == 8
    assert {one["node"] for one in answer["neighbours"]} == set(model.graph_.names[near])
    degrees = [one["degree"] for one in answer["neighbours"]]
    assert degrees == sorted(degrees, reverse=True)
    status, answer = get(port, "/nodes?query=boat%20b&limit=3")
    assert status == 200
    assert {one["node"] for one in answer["nodes"]} <= {f"b{i}" for i in range(8)}
    assert len(answer["nodes"]) == 3


def test_the_map_has_every_node(port, model):
    status, about = get(port, "/map")
    assert status == 200
    status, raw = get(port, "/map/points", raw=True)
    n = model.graph_.n_nodes
    points = np.frombuffer(raw, "<f4", 2 * n).reshape(n, 2)
    group = np.frombuffer(raw, "<u2", n, offset=8 * n)
    assert len(raw) == 10 * n
    assert np.abs(points).max() == 1
    assert [g["size"] for g in about["groups"]] == np.bincount(group).tolist() == [8, 8]
    assert (about["nodes"], about["method"], about["coloring"]) == (n, "pca", "community")
    status, answer = get(port, "/map/nodes?at=3&at=0")
    assert [one["node"] for one in answer["nodes"]] == model.graph_.names[[3, 0]].tolist()


def test_health_and_metrics_tell_what_happened(holder):
    with running(holder) as server:
        assert get(server.port, "/model")[1]["nodes"] == 16
        for _ in range(3):
            post(server.port, "/suggest", {"text": "red"})
        get(server.port, "/nodes/unknown")
        get(server.port, "/nodes/other")
        _, raw = get(server.port, "/metrics", raw=True)
    samples = parse(raw.decode())
    assert samples['pairgram_requests_total{route="/suggest",status="200"}'] == 3
    assert samples['pairgram_requests_total{route="/nodes/{node:path}",status="404"}'] == 2
    assert samples["pairgram_batch_size_sum"] == 3
    assert samples["pairgram_nodes"] == 16
    assert samples["process_resident_memory_bytes"] > 1e7


BAD = [
    ("/suggest", {"text": "x" * (MOST_TEXT + 1)}, 422, "text: String should have at most"),
    ("/suggest", {"text": "x" * 10_000_000}, 413, "larger than"),
    ("/suggest", {"text": "a", "k": 10**9}, 422, "k: Input should be less than or equal"),
    ("/suggest", {"text": "a", "k": 0}, 422, "k: "),
    ("/suggest", {"text": "a", "k": MOST_K + 1}, 422, "k: "),
    ("/suggest", {}, 422, "give 'text' or 'node'"),
    ("/suggest", {"text": "a", "node": "a0"}, 422, "give 'text' or 'node'"),
    ("/suggest", {"node": "nobody"}, 404, "no node 'nobody'"),
    ("/suggest", {"text": "a", "rule": "best"}, 422, "best"),
    ("/suggest", {"text": "a", "direction": "in"}, 422, "directed=True"),
    ("/suggest", {"text": "a", "unknown": 1}, 422, "unknown"),
    ("/suggest", {"text": "\ud800"}, 422, "text"),
    ("/suggest", b"\xff\xfe{", 400, ""),
    ("/suggest", b'{"text": "\xff"}', 400, ""),
    ("/suggest", b"[" * 100_000, 400, ""),
    ("/suggest", b"not json", 422, "JSON"),
    ("/suggest", b'{"text": "a", "k": NaN}', 422, "k"),
    ("/embed", {"texts": ["a"] * 257}, 422, "texts"),
    ("/embed", {"texts": []}, 422, "texts"),
    ("/score", {"pairs": [["a0", "nobody"]]}, 404, "nobody"),
    ("/score", {"pairs": [["a0"]]}, 422, "pairs"),
    ("/reload", {}, 401, "token"),
    ("/add", {"nodes": [{"id": "x", "text": "y"}]}, 401, "token"),
    ("/explain", {"target": "a0"}, 422, "give 'text' or 'node'"),
    ("/nowhere", {}, 404, ""),
]


@pytest.mark.parametrize(("path", "body", "status", "line"), BAD)
def test_bad_requests_are_answered_in_one_line(port, path, body, status, line):
    headers = {"Content-Type": "application/json"}
    try:
        got, answer = post(port, path, body, headers=headers)
    except (BrokenPipeError, ConnectionResetError):
        assert status == 413  # cut while the body was still on its way
    else:
        assert (got, line in answer["error"]) == (status, True), answer
        assert "\n" not in answer["error"]
    assert get(port, "/health")[0] == 200


def test_what_writes_needs_the_token(holder):
    with running(holder) as server:
        for given in (
            {},
            bearer("wrong"),
            bearer("ä".encode().decode("latin-1")),
            {"Authorization": TOKEN},
        ):
            status, answer = post(server.port, "/reload", None, headers=given)
            assert (status, "token" in answer["error"]) == (401, True)
        assert post(server.port, "/reload", None, headers=bearer())[0] == 200
        assert get(server.port, "/model")[1]["writable"] is True
    with running(holder, token=None) as server:
        status, answer = post(server.port, "/reload", None, headers=bearer())
        assert (status, "started without" in answer["error"]) == (403, True)
        assert get(server.port, "/model")[1]["writable"] is False


def test_a_private_server_asks_for_the_token_everywhere_but_on_the_page(holder):
    with running(holder, private=True) as server:
        for path in ("/nodes/a0", "/metrics", "/map", "/model", "/openapi.json"):
            assert get(server.port, path)[0] == 401
            assert get(server.port, path, headers=bearer(), raw=True)[0] == 200
        assert post(server.port, "/suggest", {"text": "a"})[0] == 401
        for path in ("/", "/page/page.js", "/health"):
            assert get(server.port, path, raw=True)[0] == 200


def test_pages_of_other_sites_cannot_ask(port):
    body = {"text": "a"}
    assert post(port, "/suggest", body, headers={"Host": "evil.example"})[0] == 421
    assert post(port, "/suggest", body, headers={"Host": "["})[0] == 421
    assert post(port, "/suggest", body, headers={"Origin": "http://evil.example"})[0] == 403
    own = {"Origin": f"http://localhost:{port}", "Host": f"localhost:{port}"}
    assert post(port, "/suggest", body, headers=own)[0] == 200


def test_the_page_loads_nothing_from_elsewhere(port):
    status, raw = get(port, "/", raw=True)
    page = raw.decode()
    assert status == 200
    parts = [part.split('"')[0] for part in page.split('="')[1:] if part.startswith(("/", "http"))]
    assert parts
    for path in parts:
        status, content = get(port, path, raw=True)
        assert status == 200, path
        assert b"http://" not in content.replace(b"http://www.w3.org/2000/svg", b"")
        assert b"https://" not in content
    assert get(port, "/page/../app.py")[0] == 404


def test_too_many_requests_are_turned_away(holder):
    with running(holder, Limits(rate=2)) as server:
        statuses = [get(server.port, "/health")[0] for _ in range(6)]
    assert statuses == [200] * 4 + [429] * 2


def test_a_full_queue_and_a_slow_model_answer_503(holder, monkeypatch):
    gate = threading.Event()
    monkeypatch.setattr("pairgram.serve.app.answer", lambda question, items: [gate.wait(20)])
    with running(holder, Limits(rate=0, waiting=1, seconds=0.5)) as server:
        found = []
        body = {"text": "a"}
        threads = [
            threading.Thread(target=lambda: found.append(post(server.port, "/suggest", body)))
            for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        gate.set()
        assert [status for status, _ in found] == [503] * 4
        assert {answer["error"].split()[1] for _, answer in found} == {"requests", "model"}
        assert get(server.port, "/health")[0] == 200


def test_slow_clients_are_cut(holder, monkeypatch):
    monkeypatch.setattr(PatientProtocol, "head_seconds", 0.4)
    with running(holder, Limits(rate=0, seconds=0.5)) as server:
        host = f"Host: localhost:{server.port}\r\n"
        body = "POST /suggest HTTP/1.1\r\n" + host + "Content-Length: 50\r\n\r\n{"
        for sent, wanted in ((b"GET /heal", b""), (b"", b""), (body.encode(), b" 408 ")):
            with socket.create_connection(("127.0.0.1", server.port), timeout=10) as client:
                client.sendall(sent)
                began = time.monotonic()
                answer = client.recv(4096)
                assert wanted in answer
                while client.recv(4096):
                    pass
                assert time.monotonic() - began < 5
        # Nobody takes the answer.
        lazy = socket.socket()
        lazy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
        lazy.connect(("127.0.0.1", server.port))
        request = f"GET /openapi.json HTTP/1.1\r\n{host}\r\n".encode()
        with lazy:
            lazy.sendall(request * 200)
            assert get(server.port, "/health")[0] == 200
        # A connection that breaks off.
        rude = socket.create_connection(("127.0.0.1", server.port))
        rude.sendall(body.encode())
        rude.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        rude.close()
        assert get(server.port, "/health")[0] == 200


def test_a_connection_is_kept_and_used_again(port):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    for _ in range(3):
        connection.request("GET", "/health")
        assert json.loads(connection.getresponse().read())["status"] == "ok"
    connection.close()


def test_a_stop_lets_requests_end(holder, monkeypatch):
    began = threading.Event()

    def slowly(question, items):
        began.set()
        time.sleep(0.5)
        return [[] for _ in items]

    monkeypatch.setattr("pairgram.serve.app.answer", slowly)
    found = []
    with running(holder) as server:
        asked = threading.Thread(
            target=lambda: found.append(post(server.port, "/suggest", {"text": "a"}))
        )
        asked.start()
        assert began.wait(10)
    asked.join()
    assert found[0][0] == 200


def test_models_of_structure_alone_are_served_too(tmp_path):
    with running(Holder(save_world(tmp_path / "ps", "ps"))) as server:
        assert get(server.port, "/model")[1]["reads_text"] is False
        assert post(server.port, "/suggest", {"node": "a0"})[0] == 200
        for path, body in (("/suggest", {"text": "a"}), ("/embed", {"texts": ["a"]})):
            status, answer = post(server.port, path, body)
            assert (status, "structure alone" in answer["error"]) == (422, True)


def test_other_methods_are_refused_in_json(port):
    assert ask(port, "DELETE", "/suggest")[0] == 405
