"""Tables in parts that workers own, against the tables of one process; the workers are threads."""

import threading

import numpy as np
import pytest

from pairgram.engine import LocalEngine
from pairgram.engine.local import LocalCrew
from pairgram.errors import LostWorkerError
from pairgram.graph import TextGraph
from pairgram.sampling.edges import EdgeSampler
from pairgram.sampling.pairs import PairSampler
from pairgram.sampling.walks import WalkSampler
from pairgram.text.ragged import Ragged
from pairgram.training import owned
from pairgram.training.owned import PartOwner, runs
from pairgram.training.paragraph import DocumentWords
from pairgram.training.partition import partition
from pairgram.training.progress import Progress
from pairgram.training.settings import Settings
from pairgram.training.sgns import train
from pairgram.training.sources import DrawnEdges, SampledPairs, WalkWindows

N = 240


class Apart(LocalEngine):
    """An engine whose workers keep what they hold to themselves."""

    shares_memory = False

    def __init__(self, workers, fails=()):
        super().__init__(1)
        self.threads, self.fails, self.crews = workers, list(fails), []

    def crew(self, make, shared, each):
        members = [make(*shared, *own) for own in each]
        self.crews.append(Failing(members, self.fails.pop(0) if self.fails else None))
        return self.crews[-1]


class Failing(LocalCrew):
    """A crew whose call number `fails` finds its worker gone, and all later ones too."""

    def __init__(self, members, fails):
        super().__init__(members)
        self.members, self.left = members, fails
        self.lock = threading.Lock()

    def call(self, member, method, *given):
        with self.lock:
            if self.left is not None:
                self.left -= 1
        return super().call(member, method, *given)

    def wait(self, handles):
        if self.left is not None and self.left < 0:
            raise LostWorkerError("A worker was lost.")
        return super().wait(handles)


@pytest.fixture(scope="module")
def graph():
    random = np.random.default_rng(0)
    ends = (N * random.random((900, 2)) ** 2).astype(np.int64)
    return TextGraph.from_edges(ends[:, 0], ends[:, 1], [str(i) for i in range(N)])


def sources(graph):
    ids = np.array([[i % 7, i % 5] for i in range(N)], np.int32)
    words = Ragged.from_lengths(ids.ravel(), np.full(N, 2))
    return {
        "pairs": SampledPairs(PairSampler(graph, 3, 2, seed=1), N, 4000),
        "one chunk": SampledPairs(PairSampler(graph, 2, 1, seed=1), N),
        "walks": WalkWindows(WalkSampler(graph, 12, seed=1), N, 2, 3, 2000),
        "edges": DrawnEdges(graph, 3, seed=1, size=2000),
        "words": DocumentWords(words, 7, 200),
    }


def degree_of(name, source, graph):
    return source.frequency if name == "words" else graph.degree


@pytest.mark.quick
@pytest.mark.parametrize("name", ["pairs", "one chunk", "walks", "edges", "words"])
@pytest.mark.parametrize("workers", [1, 2, 3, 8, 20])
def test_bits_are_those_of_one_process(graph, name, workers):
    source = sources(graph)[name]
    degree, settings = degree_of(name, source, graph), Settings(dim=12, epochs=2, seed=3, l2=0.01)
    with LocalEngine(1) as engine:
        expected = train(source, degree, settings, engine)
    engine = Apart(workers)
    got = train(source, degree, settings, engine)
    for mine, theirs in zip(got[:2], expected[:2], strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert got[2].loss == expected[2].loss
    assert (got[2].pairs, got[2].updates) == (expected[2].pairs, expected[2].updates)
    assert len(engine.crews[0].members) == min(workers, 8)


@pytest.mark.quick
def test_one_table_for_both_ends_has_one_owner(graph):
    settings = Settings(dim=12, epochs=2, seed=3, shared_table=True, noise_power=0.0, spread=0.2)
    source = DrawnEdges(graph, 3, seed=1)
    with LocalEngine(1) as engine:
        expected = train(source, graph.degree, settings, engine)
    engine = Apart(4)
    got = train(source, graph.degree, settings, engine)
    np.testing.assert_array_equal(got[0], expected[0])
    assert got[0] is not got[1]
    assert len(engine.crews[0].members) == 1


@pytest.mark.quick
@pytest.mark.parametrize("seconds", [0.0, 1e9], ids=["every turn", "never"])
@pytest.mark.parametrize("fails", [[0], [9], [30], [40, 60], [120], [5, 5, 5, 5]])
def test_a_lost_worker_changes_no_bit(graph, fails, seconds, monkeypatch):
    monkeypatch.setattr(owned, "FETCH_SECONDS", seconds)
    monkeypatch.setattr(owned, "FETCH_SHARE", np.inf)
    settings = Settings(dim=12, epochs=2, seed=3)
    source = sources(graph)["pairs"]
    with LocalEngine(1) as engine:
        expected = train(source, graph.degree, settings, engine)
    engine, seen = Apart(3, fails), []
    got = train(
        source, graph.degree, settings, engine,
        after_turn=lambda progress, turns: seen.append((progress.turn, progress.updates)),
    )  # fmt: skip
    np.testing.assert_array_equal(got[0], expected[0])
    np.testing.assert_array_equal(got[1], expected[1])
    assert got[2].updates == expected[2].updates
    assert got[2].turn == seen[-1][0] == 2 * source.chunks
    assert len(engine.crews) == 1 + len(fails)


@pytest.mark.quick
@pytest.mark.parametrize("seconds", [0.0, 1e9], ids=["every turn", "never"])
def test_a_worker_lost_with_part_of_the_result_here_changes_no_bit(graph, seconds, monkeypatch):
    monkeypatch.setattr(owned, "FETCH_SECONDS", seconds)
    monkeypatch.setattr(owned, "FETCH_SHARE", np.inf)
    settings, source = Settings(dim=12, epochs=2, seed=3), sources(graph)["pairs"]
    with LocalEngine(1) as engine:
        expected = train(source, graph.degree, settings, engine)
    engine, forgotten, call = Apart(3), [], Failing.call

    def lost_at_the_third(self, member, method, *given):
        forgotten.extend(given if method == "forget" else ())
        if len(forgotten) == 3:
            engine.crews[0].left = 0
        return call(self, member, method, *given)

    monkeypatch.setattr(Failing, "call", lost_at_the_third)
    got = train(source, graph.degree, settings, engine)
    assert len(engine.crews) == (1 if seconds == 0 else 2)  # from the file, or trained again
    np.testing.assert_array_equal(got[0], expected[0])
    np.testing.assert_array_equal(got[1], expected[1])


@pytest.mark.quick
def test_no_table_is_here_before_the_end(graph):
    rows = []
    settings, source = Settings(dim=12, epochs=2, seed=3), sources(graph)["pairs"]

    def watch(progress, turns):
        rows.append(len(progress.center))
        if progress.turn == 3:
            assert len(progress.tables()["center"]) == N
            assert isinstance(progress.center.base, np.memmap)  # and then in a file

    train(source, graph.degree, settings, Apart(2), after_turn=watch)
    assert rows[:3] == [0, 0, 0]


@pytest.mark.quick
def test_given_centres_are_sent(graph):
    settings, source = Settings(dim=12, seed=3), sources(graph)["pairs"]
    start = np.random.default_rng(0).random((N, 12), np.float32)
    with LocalEngine(1) as engine:
        expected = train(source, graph.degree, settings, engine, start=start)
    got = train(source, graph.degree, settings, Apart(3, [30]), start=start)
    np.testing.assert_array_equal(got[0], expected[0])


@pytest.mark.quick
def test_a_full_disk_ends_no_training(graph, monkeypatch, caplog):
    def full(self, parts):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(owned, "FETCH_SECONDS", 0.0)
    monkeypatch.setattr(owned, "FETCH_SHARE", np.inf)
    monkeypatch.setattr(owned.FetchedTables, "write", full)
    settings, source = Settings(dim=12, seed=3), sources(graph)["pairs"]
    with LocalEngine(1) as engine:
        expected = train(source, graph.degree, settings, engine)
    got = train(source, graph.degree, settings, Apart(3, [40]))
    np.testing.assert_array_equal(got[0], expected[0])
    assert caplog.text.count("No space left on device") == 1
    assert "after a loss training goes on from turn 0" in caplog.text


@pytest.mark.quick
def test_a_worker_lost_again_and_again_is_said(graph):
    source = sources(graph)["one chunk"]
    with pytest.raises(LostWorkerError, match="A worker was lost"):
        train(source, graph.degree, Settings(dim=8), Apart(2, [0] * 20))


@pytest.mark.quick
def test_the_progress_is_sound_whenever_it_is_read(graph):
    settings, source = Settings(dim=12, epochs=2, seed=3), sources(graph)["pairs"]
    kept = []

    def watch(progress, turns):
        tables = {name: table.copy() for name, table in progress.tables().items()}
        kept.append((tables, progress.counts()))

    expected = train(source, graph.degree, settings, Apart(2), after_turn=watch)
    assert len(kept) == 2 * source.chunks
    middle = Progress.restore(*kept[len(kept) // 2])
    got = train(source, graph.degree, settings, Apart(3), middle)
    np.testing.assert_array_equal(got[0], expected[0])
    np.testing.assert_array_equal(got[1], expected[1])
    with LocalEngine(2) as engine:
        here = train(source, graph.degree, settings, engine, Progress.restore(*kept[0]))
    np.testing.assert_array_equal(here[0], expected[0])


@pytest.mark.quick
@pytest.mark.parametrize("workers", [2, 4])
def test_no_owner_holds_more_than_its_share_and_a_part(graph, workers, monkeypatch):
    most = []
    step = PartOwner.step

    def watched(self, *given):
        gone = step(self, *given)
        most.append(len(self._center.table) + len(self._context.table) + len(gone))
        return gone

    monkeypatch.setattr(PartOwner, "step", watched)
    engine = Apart(workers)
    train(sources(graph)["pairs"], graph.degree, Settings(dim=12), engine)
    parts = partition(graph.degree**0.75, 8, 0)
    part = int(np.diff(parts.bounds).max())
    assert max(most) <= 2 * (8 // workers) * part + part
    assert max(most) < 2 * N  # the two tables together


@pytest.mark.quick
@pytest.mark.parametrize("name", ["pairs", "walks", "edges", "words"])
def test_a_span_has_the_pairs_of_its_centres(graph, name):
    source = sources(graph)[name]
    n = len(degree_of(name, source, graph))
    parts = partition(np.ones(n), 4, seed=1)
    with LocalEngine(1) as engine:
        for k in range(source.chunks):
            center, context = source.chunk(k, parts, engine)
            for low, high in ((0, n), (17, 90), (90, n), (5, 5)):
                mine, theirs = source.chunk(k, parts, engine, (low, high))
                inside = (center >= low) & (center < high)
                np.testing.assert_array_equal(mine, center[inside])
                np.testing.assert_array_equal(theirs, context[inside])


@pytest.mark.quick
def test_runs_are_whole_and_even():
    for parts in range(1, 30):
        for workers in range(1, 40):
            found = runs(parts, workers)
            assert [p for run in found for p in run] == list(range(parts))
            assert len(found) == min(parts, workers)
            assert max(map(len, found)) - min(map(len, found)) <= 1


def test_samplers_travel_without_their_scratch_memory(graph):
    import pickle

    sampler = PairSampler(graph, 3, 2)
    nodes = np.arange(N, dtype=sampler.index_dtype)
    expected = sampler.sample(nodes)
    again = pickle.loads(pickle.dumps(sampler))
    np.testing.assert_array_equal(again.sample(nodes).context, expected.context)
    assert len(pickle.dumps(sampler)) < 40_000
    edges = pickle.loads(pickle.dumps(EdgeSampler(graph, 2.0)))
    assert len(edges.sample(np.arange(N), 0)[0])
