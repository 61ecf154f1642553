"""Kernels compiled by a second process: the right ones, and nothing is lost where it fails."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import pairgram as pg
from pairgram.engine import LocalEngine
from pairgram.kernels import beside, code_files, native, notice
from pairgram.kernels.native import Kernel
from pairgram.training import rehearsal

needs_kept_code = pytest.mark.skipif(
    not native.usable(), reason="kept code is for Linux, without numba's checks"
)
# What a fit compiles in this process, and its vectors.
FIT = """
import sys
import pairgram as pg
from pairgram.kernels import export
compiled, plain = [], export.export
def noted(dispatcher, values):
    compiled.append(dispatcher.py_func.__name__)
    return plain(dispatcher, values)
export.export = noted
graph = pg.TextGraph.from_edges(range(50), [(7 * i + 1) % 50 for i in range(50)])
model = pg.PS(dim=8, seed=1, threads=int(sys.argv[1])).fit(graph)
print(*compiled, model.vectors_.center.tobytes().hex())
"""
TWO_CORES = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one core")


@pytest.fixture
def empty(monkeypatch, tmp_path):
    """Nothing is kept, and nothing under way."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(beside, "_UNDER_WAY", {})
    return tmp_path


def bucketed(kernel):
    """Two pairs of one centre, by the parts of their contexts."""
    nodes, part_of = np.array([1, 0], np.int32), np.array([0, 1], np.int32)
    begin, place = np.zeros(3, np.int64), np.zeros(3, np.int64)
    out = np.empty(2, np.int32), np.empty(2, np.int32)
    kernel(0, 2, np.zeros(2, np.int32), nodes, part_of, begin, place, *out)
    return out[1].tolist()


@pytest.mark.quick
@needs_kept_code
@pytest.mark.parametrize("method", [pg.PS, pg.DeepWalk, pg.LINE])
def test_the_rehearsal_calls_the_kernels_as_training_does(method, monkeypatch, small_graph):
    asked: set[tuple[str, native.Kind]] = set()
    plain = Kernel.__call__

    def noted(self, *values):
        if self._name in rehearsal.KERNELS:
            asked.add((self._name, tuple(map(native._kind, values))))
        return plain(self, *values)

    monkeypatch.setattr(Kernel, "__call__", noted)
    rehearsal.rehearse()
    rehearsed = set(asked)
    assert {name for name, _ in rehearsed} == set(rehearsal.KERNELS)
    asked.clear()
    method(dim=8).fit(small_graph)
    assert asked == rehearsed


@pytest.mark.quick
@needs_kept_code
def test_nothing_is_started_where_it_would_not_help(empty, monkeypatch):
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: pytest.fail("a process"))
    with LocalEngine(threads=1) as one:
        assert not rehearsal.begin(one)
    # Kept already, for some kinds of values.
    for name in ("bucket", "train_blocks"):
        code_files.write(name, (int,), code_files.Code(name, "", b"code"))
    assert not beside.start(rehearsal.KERNELS, "no.such.module")
    # Where nothing can be written nothing can be handed over.
    (empty / "file").write_text("")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(empty / "file"))
    assert not beside.start(rehearsal.KERNELS, "no.such.module")


@pytest.mark.quick
@needs_kept_code
def test_a_kernel_is_compiled_here_when_the_other_process_fails(empty):
    told = []
    with notice.when_compiling(lambda: told.append("compiling")):
        assert beside.start(["bucket"], "pairgram.no_such_module")
        assert not beside.start(["bucket"], "pairgram.no_such_module")  # one is enough
        assert bucketed(Kernel("sgns", "bucket")) == [0, 1]
    assert told == ["compiling"]
    assert code_files.any_kept("bucket")
    assert not beside.wait("bucket")


@pytest.mark.quick
@needs_kept_code
def test_no_interpreter_is_no_obstacle(empty, monkeypatch):
    monkeypatch.setattr(sys, "executable", str(empty / "gone"))
    assert not beside.start(["bucket"], "pairgram.no_such_module")
    monkeypatch.setattr(sys, "executable", "")
    assert not beside.start(["bucket"], "pairgram.no_such_module")


def fit(threads, cache):
    """Names of what was compiled, and the vectors."""
    done = subprocess.run(
        [sys.executable, "-c", FIT, str(threads)],
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        check=True,
    )
    *compiled, vectors = done.stdout.split()
    return compiled, vectors


@pytest.mark.slow
@needs_kept_code
@TWO_CORES
def test_the_trainer_is_compiled_by_the_second_process(tmp_path):
    alone, expected = fit(1, tmp_path / "one")
    assert alone == ["build_aliases", "sample_block", "bucket", "train_blocks"]
    shared, vectors = fit(2, tmp_path / "two")
    assert shared == ["build_aliases", "sample_block"]
    assert fit(2, tmp_path / "two") == ([], vectors)
    assert vectors == expected
    # What cannot be kept is compiled here, at every run.
    (tmp_path / "file").write_text("")
    assert fit(2, tmp_path / "file") == (alone, expected)


@pytest.mark.slow
@needs_kept_code
@TWO_CORES
@pytest.mark.parametrize("whom", ["all, as a terminal does", "the first"])
def test_ctrl_c_leaves_no_process(tmp_path, whom):
    process = subprocess.Popen(
        [sys.executable, "-c", FIT, "2"],
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    children: list[str] = []
    while not children:
        assert process.poll() is None
        time.sleep(0.02)
        with open(f"/proc/{process.pid}/task/{process.pid}/children") as file:
            children = file.read().split()
    time.sleep(0.5)
    if whom == "the first":
        os.kill(process.pid, signal.SIGINT)
    else:
        os.killpg(process.pid, signal.SIGINT)
    told = process.communicate(timeout=60)[1]
    assert told.count("Traceback") == 1
    assert "KeyboardInterrupt" in told
    assert not os.path.exists(f"/proc/{children[0]}")
