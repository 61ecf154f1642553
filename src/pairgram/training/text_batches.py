"""Batches for the text trainer: centres of similar length with all their pairs."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairgram.engine import Engine
from pairgram.graph import Adjacency
from pairgram.sampling.pairs import PairSampler

IntArray = NDArray[np.integer[Any]]

KEPT_PAIRS = 1 << 27
"""Pairs that are kept in memory; of a graph with more, those of a batch are drawn anew."""
BUCKET_BATCHES = 32


@dataclass(frozen=True, eq=False)
class Group:
    """Distinct pairs of some centres.

    Attributes
    ----------
    row
        Which of the centres, ascending, shape (p,).
    context
        Node positions, shape (p,).
    count
        How often the pair was sampled, float32, shape (p,).
    """

    row: NDArray[np.int64]
    context: NDArray[np.int64]
    count: NDArray[np.float32]


class PairGroups:
    """Sampled pairs by centre; the same pairs whenever a centre is asked for.

    Parameters
    ----------
    sampler
        Draws the pairs.
    n_nodes
        Number of nodes.
    engine
        Draws on several threads.
    most
        Largest bound of the pairs in all under which they are kept.

    Attributes
    ----------
    pairs
        Pairs of each centre, shape (n,).
    """

    def __init__(
        self, sampler: PairSampler, n_nodes: int, engine: Engine, most: int = KEPT_PAIRS
    ) -> None:
        self._sampler, self._n = sampler, n_nodes
        nodes: IntArray = np.arange(n_nodes).astype(sampler.index_dtype)
        self.pairs = np.zeros(n_nodes, np.int64)
        keep = int(sampler.bound(nodes).sum()) <= most
        blocks, kept = list(sampler.blocks(nodes)), []
        for centres, group in zip(blocks, engine.map(self._draw, blocks), strict=True):
            self.pairs[centres] = np.bincount(group.row, group.count, len(centres))
            if keep:
                kept.append((np.bincount(group.row, minlength=len(centres)), group))
        self._kept = _joined(kept) if kept else None

    def of(self, centres: IntArray) -> Group:
        """Pairs of the given centres."""
        if self._kept is None:
            return self._draw(centres.astype(self._sampler.index_dtype))
        offsets, context, count = self._kept
        lengths = offsets[centres + 1] - offsets[centres]
        row = np.repeat(np.arange(len(centres)), lengths)
        place = np.arange(len(row)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        at = offsets[centres][row] + place
        return Group(row, context[at].astype(np.int64), count[at])

    def _draw(self, centres: IntArray) -> Group:
        drawn = self._sampler.sample(centres)
        place = np.empty(self._n, np.int64)
        place[centres] = np.arange(len(centres))
        key = place[drawn.center] * self._n + drawn.context
        distinct, count = np.unique(key, return_counts=True)
        return Group(distinct // self._n, distinct % self._n, count.astype(np.float32))


def _joined(
    kept: list[tuple[NDArray[np.int64], Group]],
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]:
    offsets = np.concatenate(([0], np.cumsum(np.concatenate([sizes for sizes, _ in kept]))))
    context = np.concatenate([group.context.astype(np.int32) for _, group in kept])
    return offsets, context, np.concatenate([group.count for _, group in kept])


class CentrePlan:
    """Which centres come together: every one once an epoch, with others of similar length.

    Parameters
    ----------
    centres
        Nodes that have pairs, shape (m,).
    lengths
        Words of their texts, shape (m,).
    size
        Centres of a batch.
    seed
        Seed of the shuffling.
    """

    def __init__(self, centres: IntArray, lengths: NDArray[np.int64], size: int, seed: int) -> None:
        self._centres, self._lengths, self._size, self._seed = centres, lengths, size, seed
        self.batches = -(-len(centres) // size)

    def epoch(self, number: int) -> list[NDArray[np.int64]]:
        """Batches of an epoch, a function of its number alone."""
        random = np.random.Generator(np.random.Philox([self._seed, number]))
        order = random.permutation(len(self._centres))
        batches = list(self._bucketed(order))
        return [batches[i] for i in random.permutation(len(batches))]

    def _bucketed(self, order: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
        for begin in range(0, len(order), BUCKET_BATCHES * self._size):
            bucket = order[begin : begin + BUCKET_BATCHES * self._size]
            bucket = bucket[np.argsort(self._lengths[bucket], kind="stable")]
            for start in range(0, len(bucket), self._size):
                yield self._centres[bucket[start : start + self._size]].astype(np.int64)


class Noise:
    """Nodes drawn in proportion to given masses.

    Parameters
    ----------
    mass
        Unnormalised, shape (n,); without any mass all nodes weigh alike.
    """

    def __init__(self, mass: NDArray[np.float64]) -> None:
        self._total = np.cumsum(mass if mass.sum() > 0 else np.ones(len(mass)))

    def draw(self, random: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.int64]:
        """Independent draws."""
        at = random.random(shape) * self._total[-1]
        place: NDArray[np.int64] = np.searchsorted(self._total, at, side="right")
        place[place == len(self._total)] -= 1
        return place


class KnownLinks:
    """Looks up whether pairs of nodes are links; a node counts as linked to itself."""

    def __init__(self, graph: Adjacency) -> None:
        self._graph, self._n = graph, len(graph.indptr) - 1
        rows = np.repeat(np.arange(self._n), np.diff(graph.indptr))
        self._keys = rows * self._n + graph.indices

    def among(self, u: NDArray[np.int64], v: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether v is linked to u or is u, in the shape that the two broadcast to."""
        key = u * self._n + v
        place = np.minimum(np.searchsorted(self._keys, key), len(self._keys) - 1)
        found: NDArray[np.bool_] = (self._keys[place] == key) | (u == v)
        return found

    def between(self, u: NDArray[np.int64], v: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return `among` for all of `u`, shape (b,), with all of `v`, shape (m,): (b, m).

        Looks up the neighbours of `u` in `v`, which are far fewer than b·m pairs.
        """
        begin, degree = self._graph.indptr[u], self._graph.indptr[u + 1] - self._graph.indptr[u]
        row = np.repeat(np.arange(len(u)), degree)
        at = np.arange(len(row)) - np.repeat(np.cumsum(degree) - degree, degree) + begin[row]
        row = np.concatenate((row, np.arange(len(u))))
        near = np.concatenate((self._graph.indices[at], u))
        order = np.argsort(v, kind="stable")
        first = np.searchsorted(v, near, "left", order)
        times = np.searchsorted(v, near, "right", order) - first
        found = np.zeros((len(u), len(v)), bool)
        hit = np.repeat(np.arange(len(near)), times)
        again = np.arange(len(hit)) - np.repeat(np.cumsum(times) - times, times)
        found[row[hit], order[first[hit] + again]] = True
        return found
