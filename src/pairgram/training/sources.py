"""Pairs for the trainer, chunk by chunk. A chunk is a function of its number, never of threads."""

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairgram.engine import LocalEngine
from pairgram.kernels import walks as kernel
from pairgram.sampling.edges import EdgeSampler
from pairgram.sampling.pairs import PairSampler
from pairgram.sampling.walks import BLOCK_WALKS, WalkSampler
from pairgram.training.partition import Partition

IntArray = NDArray[np.integer[Any]]

CHUNK_PAIRS = 1 << 23


class SampledPairs:
    """Pairs Sampling as a source: chunk k takes every chunks-th centre, all rounds together.

    Parameters
    ----------
    sampler
        Draws the pairs; every epoch sees the same ones.
    n_nodes
        Number of nodes.
    chunk_pairs
        About how many pairs a chunk holds.
    """

    def __init__(self, sampler: PairSampler, n_nodes: int, chunk_pairs: int = CHUNK_PAIRS) -> None:
        self.sampler = sampler
        most = int(sampler.bound(np.arange(n_nodes)).sum())
        self.chunks = max(1, -(-most // chunk_pairs))
        self._kept: tuple[IntArray, IntArray] | None = None

    def chunk(self, k: int, parts: Partition, engine: LocalEngine) -> tuple[IntArray, IntArray]:
        """Pairs of the centres whose number is k modulo the number of chunks."""
        if self._kept is not None:
            return self._kept
        pairs = self._draw(k, parts, engine)
        if self.chunks == 1:
            self._kept = pairs
        return pairs

    def _draw(self, k: int, parts: Partition, engine: LocalEngine) -> tuple[IntArray, IntArray]:
        centres: IntArray = parts.node[k :: self.chunks].astype(self.sampler.index_dtype)
        drawn = list(engine.map(self.sampler.sample, self.sampler.blocks(centres)))
        if not drawn:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        number = parts.number.astype(self.sampler.index_dtype)
        return (
            np.concatenate([number[pairs.center] for pairs in drawn]),
            np.concatenate([number[pairs.context] for pairs in drawn]),
        )


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
    chunk_pairs
        About how many pairs a chunk holds.
    """

    def __init__(
        self,
        sampler: WalkSampler,
        n_nodes: int,
        times: int,
        window: int,
        chunk_pairs: int = CHUNK_PAIRS,
    ) -> None:
        self.sampler, self.window = sampler, window
        self.walks = n_nodes * times
        self.per_chunk = max(1, chunk_pairs // (2 * window * sampler.length))
        self.chunks = max(1, -(-self.walks // self.per_chunk))

    def chunk(self, k: int, parts: Partition, engine: LocalEngine) -> tuple[IntArray, IntArray]:
        """Window pairs of the k-th run of walks; starts are taken in the random order of parts."""
        # The last number is what -1, the end of a walk, is looked up as.
        ids = np.arange(k * self.per_chunk, min((k + 1) * self.per_chunk, self.walks))
        blocks = [ids[b : b + BLOCK_WALKS] for b in range(0, len(ids), BLOCK_WALKS)]
        number: IntArray = np.append(parts.number, -1).astype(self.sampler.index_dtype)

        def walk(block: IntArray) -> IntArray:
            round_, start = np.divmod(block, len(parts.node))
            return number[self.sampler.walk(parts.node[start], round_)]

        walks = np.concatenate(list(engine.map(walk, blocks)))
        return _grouped(walks, self.window, parts, engine)


def _grouped(
    walks: IntArray, window: int, parts: Partition, engine: LocalEngine
) -> tuple[IntArray, IntArray]:
    """Window pairs sorted by centre; each thread counts and places its share of the centres."""
    count = np.zeros(len(parts.node), np.int64)
    cuts = np.linspace(0, len(count), engine.threads + 1).astype(np.int64).tolist()
    shares = list(pairwise(cuts))
    engine.run(lambda r: kernel.count_window_pairs(walks, window, *r, count[slice(*r)]), shares)
    place = np.cumsum(count) - count
    context = np.empty(int(count.sum()), walks.dtype)
    engine.run(
        lambda r: kernel.place_window_pairs(walks, window, *r, place[slice(*r)], context), shares
    )
    return np.repeat(np.arange(len(count), dtype=walks.dtype), count), context


class DrawnEdges:
    """Edges as a source: chunk k takes every chunks-th centre.

    Parameters
    ----------
    sampler
        Draws the edges.
    chunk_pairs
        About how many pairs a chunk holds.
    """

    def __init__(self, sampler: EdgeSampler, chunk_pairs: int = CHUNK_PAIRS) -> None:
        self.sampler = sampler
        self.chunks = max(1, int(sampler.arcs * sampler.per_edge) // chunk_pairs)

    def chunk(self, k: int, parts: Partition, engine: LocalEngine) -> tuple[IntArray, IntArray]:
        """Edges of the centres whose number is k modulo the number of chunks."""
        center, context = self.sampler.sample(parts.node[k :: self.chunks], turn=k)
        return parts.number[center], parts.number[context]
