import logging
import threading
import time

import pytest

from pairgram.engine import LocalEngine, available_threads, resolve_threads
from pairgram.errors import ParameterError


@pytest.fixture(autouse=True)
def eight_cores(monkeypatch):
    monkeypatch.setattr("pairgram.engine.local.available_threads", lambda: 8)


def slower_first(task):
    time.sleep(0.002 * (10 - task % 10))
    return task * task


@pytest.mark.quick
@pytest.mark.parametrize("threads", [1, 2, 8])
def test_results_come_in_the_order_of_the_tasks(threads):
    with LocalEngine(threads) as engine:
        assert engine.threads == threads
        assert list(engine.map(slower_first, range(30))) == [t * t for t in range(30)]
        assert list(engine.map(slower_first, [])) == []


@pytest.mark.quick
def test_tasks_run_side_by_side():
    meeting = threading.Barrier(4, timeout=10)
    with LocalEngine(4) as engine:
        engine.run(lambda _: meeting.wait(), range(4))  # one after the other would time out
    assert not meeting.broken


@pytest.mark.quick
def test_no_more_than_two_tasks_a_thread_are_taken_ahead():
    taken = []

    def tasks():
        for task in range(100):
            taken.append(task)
            yield task

    with LocalEngine(2) as engine:
        results = engine.map(lambda task: task, tasks())
        for got in range(100):
            assert next(results) == got
            assert len(taken) <= got + 1 + 2 * 2


@pytest.mark.quick
@pytest.mark.parametrize("threads", [1, 4])
def test_an_error_comes_out_and_the_rest_is_dropped(threads):
    done = []

    def work(task):
        if task == 3:
            raise KeyError(task)
        done.append(task)

    with LocalEngine(threads) as engine:
        with pytest.raises(KeyError):
            engine.run(work, range(1000))
        assert len(done) < 50
        assert list(engine.map(str, [1, 2])) == ["1", "2"]  # it still works


@pytest.mark.quick
def test_an_abandoned_map_drops_what_waits():
    done = []

    def work(task):
        time.sleep(0.01)
        done.append(task)

    with LocalEngine(2) as engine:
        results = engine.map(work, range(1000))
        next(results)
        results.close()
    assert len(done) < 20


@pytest.mark.quick
def test_run_waits_for_all():
    done = []
    with LocalEngine(4) as engine:
        engine.run(lambda task: done.append(slower_first(task)), range(20))
        assert sorted(done) == sorted(t * t for t in range(20))


@pytest.mark.quick
def test_threads_are_resolved(caplog):
    assert resolve_threads(None) == 8
    assert resolve_threads(3) == 3
    with caplog.at_level(logging.WARNING):
        assert resolve_threads(8) == 8
        assert not caplog.records
        assert resolve_threads(9) == 8
    assert [r.getMessage() for r in caplog.records] == [
        "9 threads asked for, 8 cores here: running on 8, with the same result"
    ]


@pytest.mark.quick
@pytest.mark.parametrize("bad", [0, -1, 1.5, True, "2"])
def test_bad_thread_counts_are_said(bad):
    with pytest.raises(ParameterError, match="The 'threads' parameter of the engine must be"):
        LocalEngine(bad)


@pytest.mark.quick
def test_there_is_a_core():
    assert available_threads() >= 1
