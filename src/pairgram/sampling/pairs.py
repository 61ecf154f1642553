"""Pairs Sampling (PS): centre-context pairs drawn from each centre's own neighbourhood."""

import logging
import queue
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairgram import params
from pairgram.engine import Engine, open_engine
from pairgram.graph import TextGraph
from pairgram.kernels import sizes
from pairgram.kernels.ready import sample_block
from pairgram.sampling.ids import frozen, unsigned

IntArray = NDArray[np.integer[Any]]

BLOCK_PAIRS = 1 << 18
REMEMBERED = 1 << 16
HEAVY_FROM = 64
ROUNDS_TOGETHER = 64
TRIM_BELOW = 0.75
# Nodes stamped in the time in which a branch is drawn by local tests (measured: 0.3 µs).
ALLOWANCE = 512
CONSTRAINTS: dict[str, params.Constraint] = {
    "order": params.Int(1, 8),
    "times": params.Int(1, 65535),
    "seed": params.Int(0, 2**63 - 1),
    "unique": params.Bool(),
    "directed": params.Bool(),
    "block_pairs": params.Int(1),
}

logger = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Pairs:
    """Sampled pairs, grouped by centre; rows by centre, round, order, position of the parent.

    Attributes
    ----------
    center, context
        Node positions, shape (m,).
    order
        Distance between the two in the graph sampled, shape (m,), uint8.
    round
        Which of the `times` rounds drew the pair, shape (m,), uint16.
    """

    center: IntArray
    context: IntArray
    order: NDArray[np.uint8]
    round: NDArray[np.uint16]

    def __len__(self) -> int:
        return len(self.center)


def sample_pairs(
    graph: TextGraph,
    order: int = 3,
    times: int = 2,
    seed: int = 0,
    threads: int | None = None,
    unique: bool = False,
    directed: bool = False,
    engine: Engine | str | None = None,
) -> Pairs:
    """Sample pairs around every node, all in memory.

    A round takes all neighbours of the centre; then for every node taken at distance o one of its
    neighbours at distance o + 1 from the centre, uniformly; a node with none ends its branch.

    Parameters
    ----------
    graph
        The graph; its weights are not used.
    order
        Largest distance O between the ends of a pair, 1 to 8.
    times
        Rounds N.
    seed
        The same seed gives the same pairs at any thread count.
    threads
        None takes all cores.
    unique
        Keep the first pair of each (centre, context); the branches themselves do not change.
    directed
        Follow the arcs (centre = source) instead of ignoring direction.
    engine
        "local", "ray" or an engine; the pairs are the same.

    Returns
    -------
    Pairs
        At most times * order * mean degree * |V| pairs.

    Notes
    -----
    *Differs from the paper.* Its pseudo-code takes the first fitting neighbour where its text draws
    uniformly: we draw. Its "set" of pairs is kept as a multiset, which its own counts imply.

    References
    ----------
    Chen et al., "Sampled in Pairs and Driven by Text", WWW 2019, section 3.2.3.

    Examples
    --------
    >>> path = TextGraph.from_edges(["a", "b", "c"], ["b", "c", "d"])
    >>> pairs = sample_pairs(path, order=2, times=1)
    >>> [(str(path.names[u]), str(path.names[v])) for u, v in zip(pairs.center, pairs.context)]
    [('a', 'b'), ('a', 'c'), ('b', 'a'), ('b', 'c'), ('b', 'd'), ('c', 'b'), ('c', 'd'), \
('c', 'a'), ('d', 'c'), ('d', 'b')]
    """
    blocks = list(iter_pairs(graph, order, times, seed, threads, unique, directed, engine=engine))
    if not blocks:
        return Pairs(*_columns(0, graph.adjacency().indices.dtype))
    return Pairs(
        **{f.name: np.concatenate([getattr(b, f.name) for b in blocks]) for f in fields(Pairs)}
    )


def iter_pairs(
    graph: TextGraph,
    order: int = 3,
    times: int = 2,
    seed: int = 0,
    threads: int | None = None,
    unique: bool = False,
    directed: bool = False,
    block_pairs: int = BLOCK_PAIRS,
    engine: Engine | str | None = None,
) -> Iterator[Pairs]:
    """Stream the pairs of `sample_pairs` in blocks of whole centres.

    Parameters
    ----------
    block_pairs
        Upper bound of the pairs in a block, unless a single centre has more. The pairs and their
        order do not depend on it.

    Yields
    ------
    Pairs
        The next centres' pairs.
    """
    sampler = PairSampler(graph, order, times, seed, unique, directed)
    params.check("iter_pairs", CONSTRAINTS, {"block_pairs": block_pairs})
    centres: IntArray = np.arange(graph.n_nodes).astype(sampler.index_dtype)
    with open_engine(engine, threads) as opened:
        yield from opened.map(sampler.sample, sampler.blocks(centres, block_pairs))


class PairSampler:
    """Draws the pairs of given centres; safe to call from several threads.

    Parameters
    ----------
    graph, order, times, seed, unique, directed
        As in `sample_pairs`.
    """

    def __init__(
        self,
        graph: TextGraph,
        order: int = 3,
        times: int = 2,
        seed: int = 0,
        unique: bool = False,
        directed: bool = False,
    ) -> None:
        self.order, self.times, self.seed = order, times, seed
        self.unique, self.directed = unique, directed
        params.check("PairSampler", CONSTRAINTS, vars(self))
        if graph.weight is not None:
            logger.warning("Pairs Sampling does not use edge weights: they are ignored")
        out = graph.adjacency(directed=directed)
        back = graph.adjacency(directed=True, reverse=True) if directed else out
        self.index_dtype: np.dtype[Any] = out.indices.dtype
        self._degree = np.diff(out.indptr)
        self._largest = int(self._degree.max(initial=0))
        # The same objects where both are one: sent to a worker they are sent once.
        ahead = (out.indptr, unsigned(out.indices))
        behind = (back.indptr, unsigned(back.indices)) if directed else ahead
        self._graph = (*ahead, *behind)
        self._heavy = _heavy_nodes(out.indptr, self._graph[1])
        self._spare: queue.SimpleQueue[tuple[NDArray[Any], ...]] = queue.SimpleQueue()

    def __getstate__(self) -> dict[str, Any]:
        """All but the scratch arrays, which every process makes for itself."""
        return {name: value for name, value in vars(self).items() if name != "_spare"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _spare=queue.SimpleQueue())

    def bound(self, centres: IntArray) -> NDArray[np.int64]:
        """Most pairs each centre can have, times * order * degree, shape of `centres`."""
        return self._degree[centres] * (self.times * self.order)

    def blocks(self, centres: IntArray, block_pairs: int = BLOCK_PAIRS) -> Iterator[IntArray]:
        """Cut centres into runs whose bounds add up to at most `block_pairs`."""
        total = np.cumsum(self.bound(centres))
        begin, used = 0, 0
        while begin < len(centres):
            end = int(np.searchsorted(total, used + block_pairs, side="right"))
            end = max(end, begin + 1)
            yield centres[begin:end]
            begin, used = end, int(total[end - 1])

    def sample(self, centres: IntArray) -> Pairs:
        """All pairs of the given centres, in their order."""
        size = int(self.bound(centres).sum())
        center, context, order, round_ = _columns(size, self.index_dtype)
        work = self._take_workspace()
        count = sample_block(
            frozen(centres), self.order, self.times, self.seed, self.unique, self._largest,
            ALLOWANCE, *self._graph, *self._heavy, *work, center, unsigned(context), order, round_,
        )  # fmt: skip
        self._spare.put(work)
        # A little room unused is cheaper than a copy.
        keep = slice(None, count) if count > TRIM_BELOW * size else np.arange(count)
        return Pairs(center[keep], context[keep], order[keep], round_[keep])

    def _take_workspace(self) -> tuple[NDArray[Any], ...]:
        try:
            return self._spare.get_nowait()
        except queue.Empty:
            return self._new_workspace()

    def _new_workspace(self) -> tuple[NDArray[Any], ...]:
        """Scratch arrays of one thread, in the order that the kernel takes them."""
        n, index_dtype = len(self._degree), self._graph[1].dtype
        return (
            np.empty(n, np.uint16),  # mark
            np.empty(n, np.uint16),  # fate
            np.empty(n, np.int32),  # place
            np.empty(n + 1, index_dtype),  # queue
            np.empty(self._heavy[2].shape[1], np.uint64),  # excluded
            np.empty(REMEMBERED + self._largest + 1, index_dtype),  # pool
            np.empty(2 * sizes.DRAWN_TOGETHER, np.uint64),  # slot
            np.empty(2 * sizes.DRAWN_TOGETHER, index_dtype),  # node
            np.empty(2 * sizes.DRAWN_TOGETHER, np.uint64),  # key
            np.empty(sizes.DRAWN_TOGETHER, np.uint64),  # spot
            np.empty((ROUNDS_TOGETHER, sizes.LEVELS), np.int64),  # taken
            np.zeros(sizes.STATE_SIZE, np.int64),  # state
        )


def _heavy_nodes(indptr: NDArray[np.int64], indices: IntArray) -> tuple[NDArray[Any], ...]:
    """Bit sets among the nodes of degree >= sqrt(arcs) / 2; they take at most arcs / 2 bytes."""
    degree = np.diff(indptr)
    threshold = max(HEAVY_FROM, int(np.sqrt(len(indices)) / 2))
    nodes = np.flatnonzero(degree >= threshold).astype(indices.dtype)
    heavy_id = np.full(len(degree), -1, np.int32)
    heavy_id[nodes] = np.arange(len(nodes), dtype=np.int32)
    bits = np.zeros((len(nodes), -(-len(nodes) // 64)), np.uint64)
    light: list[IntArray] = [indices[:0]]
    flags = np.empty(bits.shape[1] * 64, np.bool_)
    for h, w in enumerate(nodes):
        row = indices[indptr[w] : indptr[w + 1]]
        among = heavy_id[row]
        flags[:] = False
        flags[among[among >= 0]] = True
        bits[h] = np.packbits(flags, bitorder="little").view("<u8")
        light.append(row[among < 0])
    light_indptr = np.cumsum([len(row) for row in light])
    light_indices = np.concatenate(light)
    # Frozen as the graph is, and as all is that a worker of a cluster reads: one type for the
    # compiler.
    return tuple(map(frozen, (heavy_id, nodes, bits, light_indptr, light_indices)))


def _columns(
    size: int, index_dtype: np.dtype[Any]
) -> tuple[IntArray, IntArray, NDArray[np.uint8], NDArray[np.uint16]]:
    return (
        np.empty(size, index_dtype), np.empty(size, index_dtype),
        np.empty(size, np.uint8), np.empty(size, np.uint16),
    )  # fmt: skip
