"""A new model takes over without a dropped request."""

import gc
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest

from cli_files import fail
from pairgram.serve import app, served
from pairgram.serve.run import bind
from pairgram.serve.served import Holder
from serving import bearer, get, post, running, save_world
from worlds import build, world


@pytest.fixture
def folder(tmp_path):
    return save_world(tmp_path / "model")


def test_a_new_model_is_loaded_under_load(folder):
    other = build("tge").fit(world(extra=["later"]))
    with running(Holder(folder)) as server:
        found, stop = [], threading.Event()

        def client():
            while not stop.is_set():
                found.append(post(server.port, "/suggest", {"text": "red", "k": 50}))

        with ThreadPoolExecutor(3) as pool:
            clients = [pool.submit(client) for _ in range(3)]
            try:
                other.save(folder)
                status, answer = post(server.port, "/reload", None, headers=bearer())
                assert (status, answer) == (200, {"generation": 2, "nodes": 17})
                until = len(found) + 6
                # A client that fails ends the wait, and says why below.
                wait_until(lambda: len(found) >= until or any(c.done() for c in clients), 120)
            finally:
                stop.set()
            for one in clients:
                one.result()
    assert {status for status, _ in found} == {200}
    sizes = {answer["generation"]: len(answer["suggestions"]) for _, answer in found}
    assert sizes == {1: 16, 2: 17}


def test_old_models_go(folder, monkeypatch):
    monkeypatch.setattr(app, "WATCH_SECONDS", 0.01)
    holder, old = Holder(folder), []
    with running(holder) as server:
        time.sleep(0.1)  # the watch has looked at the first one, and waits from now on
        monkeypatch.setattr(app, "WATCH_SECONDS", 1000)
        time.sleep(0.1)
        for _ in range(20):
            old.append(weakref.ref(holder.current.model))
            assert post(server.port, "/suggest", {"text": "red"})[0] == 200
            assert post(server.port, "/reload", None, headers=bearer())[0] == 200
        # Nobody asks any more: what waits for work may hold none of them.
        wait_until(lambda: gc.collect() >= 0 and alive(old) == 0, 5)


def test_memory_of_old_models_is_given_back(folder, monkeypatch):
    monkeypatch.setattr(app, "WATCH_SECONDS", 0.01)
    holder, given_back = Holder(folder), []
    old = [weakref.ref(holder.current.model)]
    monkeypatch.setattr(served, "give_back", lambda: given_back.append(alive(old)))
    with running(holder) as server:
        assert post(server.port, "/suggest", {"text": "red"})[0] == 200
        assert not given_back
        assert post(server.port, "/reload", None, headers=bearer())[0] == 200
        wait_until(lambda: given_back)
        time.sleep(0.1)
    assert given_back == [0]  # once, when it was gone


def alive(references):
    return sum(one() is not None for one in references)


def wait_until(true, seconds=10):
    until = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < until
        time.sleep(0.01)


def test_a_damaged_folder_leaves_the_old_model_in_place(folder):
    with running(Holder(folder)) as server:
        (folder / "config.json").write_text("{")
        status, answer = post(server.port, "/reload", None, headers=bearer())
        assert (status, "still served" in answer["error"]) == (409, True)
        assert post(server.port, "/suggest", {"text": "red"})[1]["generation"] == 1
        shutil.rmtree(folder)
        assert post(server.port, "/reload", None, headers=bearer())[0] == 409
        assert get(server.port, "/model")[1]["generation"] == 1


def start(folder, *flags):
    """The command itself, and the address it prints."""
    command = [sys.executable, "-c", "from pairgram.cli.main import run; run()", "serve"]
    process = subprocess.Popen(
        [*command, str(folder), "--port", "0", "--json", *flags],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=os.environ | {"PAIRGRAM_TOKEN": "a secret"},
    )  # fmt: skip
    line = process.stdout.readline()
    assert line, process.stderr.read()
    return process, int(json.loads(line)["address"].rpartition(":")[2])


def test_the_command_reloads_at_sighup_and_stops_at_sigterm(folder):
    process, port = start(folder)
    try:
        assert post(port, "/suggest", {"text": "red", "k": 3})[0] == 200
        process.send_signal(signal.SIGHUP)
        until = time.monotonic() + 20
        while get(port, "/model")[1]["generation"] == 1:
            assert time.monotonic() < until
            time.sleep(0.05)
        assert post(port, "/reload", None, headers=bearer())[1]["generation"] == 3
    finally:
        process.terminate()
    said = process.communicate(timeout=20)
    assert (process.returncode, *said) == (0, "", "")


def test_bad_usage_is_one_line(folder, tmp_path, monkeypatch):
    assert "--token" in fail("serve", folder, "--host", "0.0.0.0", code=2)
    assert "token must be" in fail("serve", folder, "--token", " ", code=2)
    assert "nothing" in fail("serve", tmp_path / "nothing", code=1)
    assert "is no map" in fail("serve", folder, "--map", folder / "config.json", code=1)
    with bind("127.0.0.1", 0) as taken:
        taken.listen()
        port = taken.getsockname()[1]
        assert "choose another --port" in fail("serve", folder, "--port", port, code=1)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.delitem(sys.modules, "pairgram.serve.run")
    assert "pip install 'pairgram[serve]'" in fail("serve", folder, code=1)
