"""Ctrl-C while a model is fitted, and going on afterwards."""

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import numpy as np
import pytest

import pairgram as pg
from cli_files import fail, run, write_cliques
from pairgram.cli import progress
from pairgram.graph import TextGraph


@pytest.fixture
def edges(tmp_path):
    return write_cliques(tmp_path)[0]


def interrupt_at(turn, monkeypatch, times=1):
    """Let this process get Ctrl-C after a chunk."""

    @contextmanager
    def bar(terminal, label):
        def report(state, turns):
            if state.turn == turn:
                for _ in range(times):
                    os.kill(os.getpid(), signal.SIGINT)

        yield report

    monkeypatch.setattr(progress, "training_bar", bar)


@pytest.mark.quick
@pytest.mark.parametrize(("method", "turn"), [("ps", 3), ("ps", 6), ("line", 4)])
def test_the_same_command_goes_on_to_the_same_bits(method, turn, edges, tmp_path, monkeypatch):
    command = ("fit", edges, "-o", tmp_path / "model", "--model", method, "--dim", 8, "--epochs", 6)
    handler = signal.getsignal(signal.SIGINT)
    with monkeypatch.context() as patch:
        interrupt_at(turn, patch)
        message = fail(*command, code=1)
    assert f"stopped after {turn} of " in message
    assert "chunks; run the same command again" in message
    assert signal.getsignal(signal.SIGINT) is handler
    assert not (tmp_path / "model").exists()
    kept = [path.name for path in tmp_path.glob("model.checkpoint*")]
    assert len(kept) == 1
    assert kept[0] in message
    assert "going on from" in run(*command).stderr
    run("fit", edges, "-o", tmp_path / "whole", "--model", method, "--dim", 8, "--epochs", 6)
    went_on, whole = (pg.load(tmp_path / name).vectors_ for name in ("model", "whole"))
    assert np.array_equal(went_on.center, whole.center)
    assert not list(tmp_path.glob("*.checkpoint*"))


@pytest.mark.quick
def test_another_training_does_not_take_the_checkpoint(edges, tmp_path, monkeypatch):
    command = ("fit", edges, "-o", tmp_path / "model", "--epochs", 6, "--dim")
    with monkeypatch.context() as patch:
        interrupt_at(2, patch)
        fail(*command, 8, code=1)
    assert "other parameters or data" in fail(*command, 16, code=1)
    assert (tmp_path / "model.checkpoint").exists()


@pytest.mark.quick
def test_a_second_interrupt_ends_at_once(edges, tmp_path, monkeypatch):
    interrupt_at(2, monkeypatch, times=2)
    message = fail("fit", edges, "-o", tmp_path / "model", "--dim", 8, "--epochs", 6, code=1)
    assert message == "error: interrupted."


def test_ctrl_c_on_a_process(edges, tmp_path):
    folder, epochs = tmp_path / "model", 3_000
    script = "from pairgram.cli.main import run; run()"
    arguments = ["fit", edges, "-o", folder, "--epochs", str(epochs), "--dim", "8", "--verbose"]
    command = [sys.executable, "-c", script, *map(str, arguments)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        first = process.stderr.readline()
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        _, rest = process.communicate(timeout=60)
    assert first.startswith("note: fitting PS")
    assert process.returncode == 1
    assert f"of {epochs} chunks; run the same command again" in rest
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    whole = pg.PS(dim=8, epochs=epochs).fit(TextGraph.from_files(edges))
    assert np.array_equal(pg.load(folder).vectors_.center, whole.vectors_.center)
