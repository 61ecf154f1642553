"""Random walks (DeepWalk, node2vec) and their window pairs."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairgram import params
from pairgram.engine import LocalEngine
from pairgram.graph import Adjacency, TextGraph
from pairgram.kernels import ready as kernel
from pairgram.sampling.ids import unsigned

IntArray = NDArray[np.integer[Any]]

BLOCK_WALKS = 1 << 12
WALKERS = 64
CONSTRAINTS: dict[str, params.Constraint] = {
    "length": params.Int(2, 100_000),
    "times": params.Int(1, 65535),
    "window": params.Int(1, 100_000),
    "p": params.Float(0.0, open_low=True),
    "q": params.Float(0.0, open_low=True),
    "seed": params.Int(0, 2**63 - 1),
    "directed": params.Bool(),
    "block_walks": params.Int(1),
}


class WalkSampler:
    """Walks from given starts; safe to call from several threads.

    Parameters
    ----------
    graph
        The graph; weights are honoured.
    length
        Nodes of a walk, L.
    p, q
        Return and in-out parameters of node2vec; p = q = 1 is a first-order walk (DeepWalk).
    seed
        The walk (round, start) is a function of the seed and these two alone.
    directed
        Follow the arcs instead of ignoring direction.

    References
    ----------
    Perozzi et al., "DeepWalk", KDD 2014; Grover and Leskovec, "node2vec", KDD 2016, section 3.2.

    Examples
    --------
    >>> ring = TextGraph.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
    >>> walks = WalkSampler(ring, length=5).walk(np.array([0, 2]), np.array([0, 0]))
    >>> walks.shape, bool((np.abs(np.diff(walks)) % 2 == 1).all())
    ((2, 5), True)
    """

    def __init__(
        self,
        graph: TextGraph,
        length: int = 80,
        p: float = 1.0,
        q: float = 1.0,
        seed: int = 0,
        directed: bool = False,
    ) -> None:
        self.length, self.p, self.q, self.seed, self.directed = length, p, q, seed, directed
        params.check("WalkSampler", CONSTRAINTS, vars(self))
        self._graph = graph.adjacency(directed=directed)
        self._indices = unsigned(self._graph.indices)
        self._running = running_weights(self._graph)
        self._arcs = self._arc_filter() if p != 1.0 or q != 1.0 else np.zeros(1, np.uint8)
        self.index_dtype: np.dtype[Any] = self._graph.indices.dtype

    def walk(self, starts: IntArray, rounds: IntArray) -> IntArray:
        """Walks of the given starts and rounds, shape (k, length); -1 after a dead end."""
        out = np.empty((len(starts), self.length), self.index_dtype)
        graph = self._graph.indptr, self._indices, self._running
        group = _group(self._indices.dtype)
        if self.p == 1.0 and self.q == 1.0:
            kernel.walk_first_order(starts, rounds, self.length, self.seed, *graph, *group[:4], out)
        else:
            kernel.walk_second_order(
                starts, rounds, self.length, self.seed, float(self.p), float(self.q),
                not self.directed, *graph, self._arcs, *group, out,
            )  # fmt: skip
        return out

    def _arc_filter(self) -> NDArray[np.uint8]:
        """8 to 16 bits per arc; the bits of arcs are set, and few others."""
        arcs = np.zeros(1 << len(self._indices).bit_length(), np.uint8)
        kernel.set_arc_bits(self._graph.indptr, self._indices, arcs)
        return arcs


def iter_walks(
    graph: TextGraph,
    length: int = 80,
    times: int = 10,
    p: float = 1.0,
    q: float = 1.0,
    seed: int = 0,
    threads: int | None = None,
    directed: bool = False,
    block_walks: int = BLOCK_WALKS,
) -> Iterator[IntArray]:
    """Stream `times` walks from every node, round after round, in blocks of shape (k, length).

    Parameters
    ----------
    graph, length, p, q, seed, directed
        As in `WalkSampler`.
    times
        Walks from every node, T.
    threads
        None takes all cores; the walks do not depend on it, nor on `block_walks`.

    Yields
    ------
    ndarray
        Node positions; -1 after a dead end.
    """
    sampler = WalkSampler(graph, length, p, q, seed, directed)
    params.check("iter_walks", CONSTRAINTS, {"times": times, "block_walks": block_walks})
    n = graph.n_nodes
    with LocalEngine(threads) as engine:
        yield from engine.map(
            lambda ids: sampler.walk(ids % n, ids // n), _ranges(times * n, block_walks)
        )


def window_pairs(walks: IntArray, window: int, n_nodes: int) -> tuple[IntArray, IntArray]:
    """Pairs of nodes at most `window` steps apart in a walk, grouped by centre.

    Parameters
    ----------
    walks
        Node positions, shape (k, L); -1 ends a walk.
    window
        Steps W on each side.
    n_nodes
        Number of nodes.

    Returns
    -------
    center, context
        Shape (m,); a walk of L nodes without dead end gives (2L − W − 1)·W pairs for W < L.

    Examples
    --------
    >>> center, context = window_pairs(np.array([[0, 1, 2]]), 1, 3)
    >>> list(zip(center.tolist(), context.tolist()))
    [(0, 1), (1, 0), (1, 2), (2, 1)]
    """
    params.check("window_pairs", CONSTRAINTS, {"window": window})
    count = np.zeros(n_nodes, np.int64)
    kernel.count_window_pairs(walks, window, 0, n_nodes, count)
    context = np.empty(int(count.sum()), walks.dtype)
    kernel.place_window_pairs(walks, window, 0, n_nodes, np.cumsum(count) - count, context)
    return np.repeat(np.arange(n_nodes, dtype=walks.dtype), count), context


def _group(index_dtype: np.dtype[Any]) -> tuple[NDArray[Any], ...]:
    """What the walkers that move in lockstep know of themselves, as the kernels take it."""
    return (
        np.empty(WALKERS, np.uint64),  # who
        np.empty(WALKERS, np.uint64),  # key
        np.empty(WALKERS, index_dtype),  # at
        np.empty(WALKERS, np.uint64),  # spot
        np.empty(WALKERS, index_dtype),  # before
        np.empty(WALKERS, np.int64),  # step
        np.empty(WALKERS, np.int64),  # attempt
        np.empty(WALKERS, np.float64),  # height
        np.empty(WALKERS, np.bool_),  # accept
        np.empty(WALKERS, np.uint64),  # ask
    )


def running_weights(graph: Adjacency) -> NDArray[np.float64]:
    """Sum the arc weights along every row, shape (m,); empty for a graph without weights."""
    if graph.weight is None:
        return np.empty(0)
    running = np.empty(len(graph.weight))
    kernel.sum_rows(graph.indptr, graph.weight, running)
    return running


def _ranges(total: int, size: int) -> Iterator[NDArray[np.int64]]:
    for begin in range(0, total, size):
        yield np.arange(begin, min(begin + size, total))
