"""Pairs for the trainer, chunk by chunk. A chunk is a function of its number, never of threads."""

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairgram.engine import Engine
from pairgram.graph import TextGraph
from pairgram.kernels import ready as kernel
from pairgram.sampling.edges import EdgeSampler
from pairgram.sampling.pairs import PairSampler
from pairgram.sampling.walks import BLOCK_WALKS, WalkSampler
from pairgram.training.blocks import Span
from pairgram.training.partition import Partition

IntArray = NDArray[np.integer[Any]]

CHUNK_PAIRS = 1 << 23
# Every turn passes over all rows, and on a cluster sends them round: few pairs of a node in a chunk
# would not be worth that.
FEWEST_PAIRS_PER_NODE = 8
# More pairs of one node in a chunk would be trained on in too long a row; with far fewer, a block
# has so few pairs of a centre that rows are fetched more often than they are used.
CHUNK_PAIRS_PER_NODE = 200
LARGEST_CHUNK = 1 << 26


def chunk_pairs(n_nodes: int) -> int:
    """Pairs that a chunk of a source without end should hold.

    >>> chunk_pairs(1_000), chunk_pairs(1_000_000)
    (200000, 67108864)
    """
    return min(LARGEST_CHUNK, CHUNK_PAIRS_PER_NODE * n_nodes)


class SampledPairs:
    """Pairs Sampling as a source: chunk k takes every chunks-th centre, all rounds together.

    Parameters
    ----------
    sampler
        Draws the pairs; every epoch sees the same ones.
    n_nodes
        Number of nodes.
    size
        About how many pairs a chunk holds at most; None for 2^23, or 8 for every node if more.
    self_pairs
        Pairs of a centre with itself to add, for each of its pairs, rounded.
    """

    def __init__(
        self,
        sampler: PairSampler,
        n_nodes: int,
        size: int | None = None,
        self_pairs: float = 0.0,
    ) -> None:
        self.sampler, self.self_pairs = sampler, self_pairs
        most = int(sampler.bound(np.arange(n_nodes)).sum() * (1 + self_pairs))
        wanted = max(CHUNK_PAIRS, FEWEST_PAIRS_PER_NODE * n_nodes) if size is None else size
        self.chunks = max(1, -(-most // wanted))

    def chunk(
        self, k: int, parts: Partition, engine: Engine, span: Span | None = None
    ) -> tuple[IntArray, IntArray]:
        """Pairs of the centres whose number is k modulo the number of chunks."""
        low, high = span or (0, len(parts.node))
        chosen = parts.node[low + (k - low) % self.chunks : high : self.chunks]
        centres: IntArray = chosen.astype(self.sampler.index_dtype)
        drawn = list(engine.map(self.sampler.sample, self.sampler.blocks(centres)))
        if not drawn:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        number = parts.number.astype(self.sampler.index_dtype)
        center = np.concatenate([number[pairs.center] for pairs in drawn])
        context = np.concatenate([number[pairs.context] for pairs in drawn])
        if self.self_pairs:
            return with_self_pairs(center, context, self.self_pairs)
        return center, context


def with_self_pairs(center: IntArray, context: IntArray, share: float) -> tuple[IntArray, IntArray]:
    """Add pairs of every centre with itself, `share` times as many as it has, after its own.

    >>> with_self_pairs(np.array([3, 3, 5, 5]), np.array([1, 2, 1, 3]), 0.5)
    (array([3, 3, 3, 5, 5, 5]), array([1, 2, 3, 1, 3, 5]))
    """
    begin = np.flatnonzero(np.r_[True, center[1:] != center[:-1]]) if len(center) else center[:0]
    count = np.diff(np.r_[begin, len(center)])
    added = np.floor(share * count + 0.5).astype(np.int64)
    nodes, places = np.repeat(center[begin], added), np.repeat(begin + count, added)
    return np.insert(center, places, nodes), np.insert(context, places, nodes)


class WalkWindows:
    """Window pairs of random walks as a source: a chunk is a run of walks, round after round.

    Parameters
    ----------
    sampler
        Draws the walks; every epoch sees the same ones.
    n_nodes
        Number of nodes.
    times
        Walks from every node, T.
    window
        Steps W on each side.
    size
        About how many pairs a chunk holds; None for `chunk_pairs`.
    """

    def __init__(
        self,
        sampler: WalkSampler,
        n_nodes: int,
        times: int,
        window: int,
        size: int | None = None,
    ) -> None:
        self.sampler, self.window = sampler, window
        self.walks = n_nodes * times
        wanted = chunk_pairs(n_nodes) if size is None else size
        self.per_chunk = max(1, wanted // (2 * window * sampler.length))
        self.chunks = max(1, -(-self.walks // self.per_chunk))

    def chunk(
        self, k: int, parts: Partition, engine: Engine, span: Span | None = None
    ) -> tuple[IntArray, IntArray]:
        """Window pairs of the k-th run of walks; starts are taken in the random order of parts."""
        # The last number is what -1, the end of a walk, is looked up as.
        ids = np.arange(k * self.per_chunk, min((k + 1) * self.per_chunk, self.walks))
        blocks = [ids[b : b + BLOCK_WALKS] for b in range(0, len(ids), BLOCK_WALKS)]
        number: IntArray = np.append(parts.number, -1).astype(self.sampler.index_dtype)

        def walk(block: IntArray) -> IntArray:
            round_, start = np.divmod(block, len(parts.node))
            return number[self.sampler.walk(parts.node[start], round_)]

        walks = np.concatenate(list(engine.map(walk, blocks)))
        return _grouped(walks, self.window, span or (0, len(parts.node)), engine)


def _grouped(walks: IntArray, window: int, span: Span, engine: Engine) -> tuple[IntArray, IntArray]:
    """Window pairs of the centres in a span, sorted; each thread counts and places its share."""
    low, high = span
    count = np.zeros(high - low, np.int64)
    cuts = np.linspace(low, high, engine.threads + 1).astype(np.int64).tolist()
    shares = list(pairwise(cuts))

    def own(share: Span) -> slice:
        return slice(share[0] - low, share[1] - low)

    engine.run(lambda r: kernel.count_window_pairs(walks, window, *r, count[own(r)]), shares)
    place = np.cumsum(count) - count
    context = np.empty(int(count.sum()), walks.dtype)
    engine.run(
        lambda r: kernel.place_window_pairs(walks, window, *r, place[own(r)], context), shares
    )
    return np.repeat(np.arange(low, high, dtype=walks.dtype), count), context


class DrawnEdges:
    """Edges as a source: every chunk holds an equal share of the draws of all nodes.

    Parameters
    ----------
    graph
        The graph.
    per_edge
        Draws of an arc of mean weight over all chunks.
    seed, directed
        As in `EdgeSampler`.
    size
        About how many pairs a chunk holds; None for `chunk_pairs`.
    """

    def __init__(
        self,
        graph: TextGraph,
        per_edge: float,
        seed: int,
        directed: bool = False,
        size: int | None = None,
    ) -> None:
        draws = len(graph.adjacency(directed=directed).indices) * per_edge
        self.chunks = max(1, round(draws / (chunk_pairs(graph.n_nodes) if size is None else size)))
        self.sampler = EdgeSampler(graph, per_edge / self.chunks, seed, directed)

    def chunk(
        self, k: int, parts: Partition, engine: Engine, span: Span | None = None
    ) -> tuple[IntArray, IntArray]:
        """The k-th draws of all nodes."""
        centres = parts.node if span is None else parts.node[slice(*span)]
        center, context = self.sampler.sample(centres, turn=k)
        # In the integers of the other samplers: one kernel trains on all.
        number = parts.number.astype(center.dtype)
        return number[center], number[context]
