from collections import Counter

import numpy as np
import pytest

import oracles
import pairgram as pg
from pairgram.engine import LocalEngine
from pairgram.sampling.edges import EdgeSampler
from pairgram.sampling.pairs import PairSampler, sample_pairs
from pairgram.sampling.walks import WalkSampler, iter_walks
from pairgram.training.partition import partition
from pairgram.training.sources import DrawnEdges, SampledPairs, WalkWindows

N = 60


def graph(directed=False):
    random = np.random.default_rng(0)
    ends = random.integers(0, N, (200, 2))
    ring = np.stack([np.arange(N), (np.arange(N) + 1) % N], axis=1)
    source, target = np.concatenate([ring, ends]).T
    return pg.TextGraph.from_edges(source, target, directed=directed)


def gather(source, parts, threads=1):
    """All pairs of a source as (centre, context) in node positions, chunk by chunk."""
    chunks = []
    with LocalEngine(threads) as engine:
        for k in range(source.chunks):
            center, context = source.chunk(k, parts, engine)
            assert (np.diff(center) >= 0).all()  # grouped by centre, as the trainer needs
            nodes = zip(parts.node[center].tolist(), parts.node[context].tolist(), strict=True)
            chunks.append(list(nodes))
    return chunks


@pytest.fixture
def parts():
    return partition(graph().degree ** 0.75, 4, seed=1)


@pytest.mark.quick
@pytest.mark.parametrize("chunk_pairs", [100, 777, 1 << 23])
def test_sampled_pairs_are_those_of_the_sampler(parts, chunk_pairs):
    source = SampledPairs(PairSampler(graph(), 3, 2, seed=5), N, chunk_pairs)
    expected = sample_pairs(graph(), 3, 2, seed=5)
    got = gather(source, parts)
    assert len(got) == source.chunks == max(1, -(-int(6 * graph().degree.sum()) // chunk_pairs))
    flat = sorted(pair for chunk in got for pair in chunk)
    assert flat == sorted(zip(expected.center.tolist(), expected.context.tolist(), strict=True))
    assert gather(source, parts) == got  # every epoch sees the same ones


@pytest.mark.quick
@pytest.mark.parametrize("chunk_pairs", [100, 1 << 23])
@pytest.mark.parametrize("share", [0.1, 0.5, 2.0])
def test_self_pairs_are_a_share_of_a_nodes_pairs(parts, chunk_pairs, share):
    sampler = PairSampler(graph(), 3, 2, seed=5)
    plain = Counter(u for chunk in gather(SampledPairs(sampler, N), parts) for u, _ in chunk)
    got = gather(SampledPairs(sampler, N, chunk_pairs, share), parts)
    own = Counter(u for chunk in got for u, v in chunk if u == v)
    assert own == Counter({u: int(share * count + 0.5) for u, count in plain.items()})
    assert sum(map(len, got)) == plain.total() + own.total()


@pytest.mark.quick
@pytest.mark.parametrize("chunk_pairs", [500, 4000, 1 << 23])
def test_walk_windows_are_those_of_the_walks(parts, chunk_pairs):
    source = WalkWindows(WalkSampler(graph(), 12, 0.5, 2.0, seed=5), N, 3, 4, chunk_pairs)
    walks = np.concatenate(list(iter_walks(graph(), 12, 3, 0.5, 2.0, seed=5)))
    got = gather(source, parts)
    assert len(got) == source.chunks
    flat = [pair for chunk in got for pair in chunk]
    assert len(flat) == (2 * 12 - 4 - 1) * 4 * 3 * N
    assert sorted(flat) == sorted(oracles.window_pairs(walks.tolist(), 4))
    assert gather(source, parts) == got


@pytest.mark.quick
def test_walk_windows_end_at_dead_ends(parts):
    arcs = pg.TextGraph.from_edges(np.arange(N - 1), np.arange(1, N), directed=True)
    source = WalkWindows(WalkSampler(arcs, 6, directed=True), N, 1, 2)
    flat = [pair for chunk in gather(source, parts) for pair in chunk]
    walks = [[v if v < N else -1 for v in range(u, u + 6)] for u in range(N)]
    assert sorted(flat) == sorted(oracles.window_pairs(walks, 2))


@pytest.mark.quick
@pytest.mark.parametrize("chunk_pairs", [200, 1 << 23])
def test_drawn_edges_are_those_of_the_sampler(parts, chunk_pairs):
    source = DrawnEdges(graph(), per_edge=3, seed=5, size=chunk_pairs)
    sampler = EdgeSampler(graph(), 3 / source.chunks, seed=5)
    got = gather(source, parts)
    assert len(got) == source.chunks
    flat = [pair for chunk in got for pair in chunk]
    assert abs(len(flat) - 3 * graph().degree.sum()) < source.chunks * N
    expected = [
        list(zip(*(ends.tolist() for ends in sampler.sample(np.array([u]), k)), strict=True))
        for k in range(source.chunks)
        for u in parts.node.tolist()
    ]
    assert flat == [pair for pairs in expected for pair in pairs]


@pytest.mark.quick
@pytest.mark.parametrize("threads", [2, 8])
def test_chunks_do_not_depend_on_threads(parts, threads, monkeypatch):
    monkeypatch.setattr("pairgram.engine.local.available_threads", lambda: 8)
    for build in (
        lambda: SampledPairs(PairSampler(graph(), 3, 2), N, 300),
        lambda: WalkWindows(WalkSampler(graph(), 12), N, 3, 4, 500),
        lambda: DrawnEdges(graph(), 4, 0, size=300),
    ):
        assert build().chunks > 1
        assert gather(build(), parts, threads) == gather(build(), parts, 1)
