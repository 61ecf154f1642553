"""A broken and resumed training ends with the bits of an unbroken one."""

import numpy as np
import pytest

from pairgram.errors import PairgramError
from pairgram.models import METHODS
from pairgram.training import checkpoint as checkpoint_module
from pairgram.training.sources import DrawnEdges, SampledPairs, WalkWindows
from worlds import READS_TEXT, RESUMED, SMALL, world


class BreakError(Exception):
    """Stands for a crash."""


class BreakAt:
    """Callback that raises at its n-th call, and counts."""

    def __init__(self, call=None):
        self.call, self.calls = call, 0

    def __call__(self, progress, turns):
        self.calls += 1
        if self.calls == self.call:
            raise BreakError


FEW = {"times": 2}
FEWER = {
    "ps": {"epochs": 2}, "tge": {"epochs": 2}, "cane": {"epochs": 2}, "line": {},
    "paper2vec": {"times": 2, "text_epochs": 2},
    "stne": {"times": 2, "epochs": 2},
    "graphgan": {"epochs": 2, "start_epochs": 2},
    "sentence_encoder": {"epochs": 2}, "graphsage": {"epochs": 2},
}  # fmt: skip


def build(method, **more):
    return METHODS[method](**(SMALL[method] | FEWER.get(method, FEW) | more))


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    sizes = ((SampledPairs, (250, 0.0)), (WalkWindows, (1500,)), (DrawnEdges, (5000,)))
    for source, defaults in sizes:
        monkeypatch.setattr(source.__init__, "__defaults__", defaults)


def tables(model):
    vectors = model.vectors_
    return [vectors.center] if vectors.context is None else [vectors.center, vectors.context]


def quick_where_it_is(method):
    """Steps of torch take a second in all."""
    return pytest.param(method, marks=() if method in READS_TEXT else pytest.mark.quick)


@pytest.mark.parametrize("method", [quick_where_it_is(method) for method in RESUMED])
def test_resumed_at_every_turn(method, tmp_path, monkeypatch):
    monkeypatch.setattr("pairgram.engine.local.available_threads", lambda: 8)
    graph, counter = world(), BreakAt()
    whole = build(method, threads=1).fit(graph, callback=counter)
    assert counter.calls >= 4
    for call in range(1, counter.calls + 1):
        file = tmp_path / f"state-{call}"
        with pytest.raises(BreakError):
            build(method, threads=1).fit(graph, checkpoint=file, callback=BreakAt(call))
        assert list(tmp_path.iterdir())
        rest = BreakAt()
        threads = 1 if method in READS_TEXT else 2
        resumed = build(method, threads=threads).fit(graph, checkpoint=file, callback=rest)
        for one, other in zip(tables(resumed), tables(whole), strict=True):
            np.testing.assert_array_equal(one, other)
        assert rest.calls < counter.calls
        for count in ("pairs", "updates", "loss"):
            assert resumed.stats_[count] == whole.stats_[count]
        again = BreakAt()  # a finished training is not done twice
        build(method).fit(graph, checkpoint=file, callback=again)
        assert again.calls == 0


@pytest.mark.quick
def test_broken_twice(tmp_path):
    graph, file = world(), tmp_path / "state"
    whole = build("ps").fit(graph)
    for _ in range(2):
        with pytest.raises(BreakError):
            build("ps").fit(graph, checkpoint=file, callback=BreakAt(2))
    resumed = build("ps").fit(graph, checkpoint=file)
    np.testing.assert_array_equal(resumed.vectors_.center, whole.vectors_.center)


@pytest.mark.quick
def test_written_without_any_break_too(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint_module.Checkpoint.__init__, "__defaults__", (0.0,))
    file, seen = tmp_path / "state", []
    whole = build("ps").fit(world())
    kept = build("ps").fit(
        world(), checkpoint=file, callback=lambda progress, turns: seen.append(file.exists())
    )
    assert seen == [False] + [True] * (len(seen) - 1)
    np.testing.assert_array_equal(kept.vectors_.center, whole.vectors_.center)


@pytest.mark.quick
@pytest.mark.parametrize("other", [{"seed": 1}, {"dim": 24}, {"method": "deepwalk"}])
def test_the_state_of_another_training_is_refused(tmp_path, other):
    file = tmp_path / "state"
    with pytest.raises(BreakError):
        build("ps").fit(world(), checkpoint=file, callback=BreakAt(1))
    model = build(**({"method": "ps"} | other))
    with pytest.raises(PairgramError, match="training with other parameters or data"):
        model.fit(world(), checkpoint=file)
    assert file.exists()
    with pytest.raises(PairgramError, match="training with other parameters or data"):
        build("ps").fit(world(extra=["alone"]), checkpoint=file)
