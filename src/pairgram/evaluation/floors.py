"""Floors: scores that need no learning. A model worth its training beats them.

A floor is a function of the training graph and two rows of positions, registered with `@floor`;
evaluation runs every registered one.
"""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from pairgram.graph import TextGraph

Positions = NDArray[np.int64]
Floor = Callable[[TextGraph, Positions, Positions], NDArray[np.float64]]

FLOORS: dict[str, Floor] = {}

_BLOCK_ENTRIES = 4_000_000  # neighbours held at once, so that hubs do not decide the memory


def floor(name: str) -> Callable[[Floor], Floor]:
    """Register a floor under `name`, in the order in which tables print them."""

    def register(function: Floor) -> Floor:
        FLOORS[name] = function
        return function

    return register


@floor("degree")
def degree(graph: TextGraph, source: Positions, target: Positions) -> NDArray[np.float64]:
    """Training degree of the target, whatever the source; shape (m,)."""
    return graph.degree[target].astype(np.float64)


@floor("common_neighbours")
def common_neighbours(
    graph: TextGraph, source: Positions, target: Positions
) -> NDArray[np.float64]:
    """Σ over common neighbours w of 1; shape (m,)."""
    return _over_common(graph, source, target, np.ones(graph.n_nodes))


@floor("resource_allocation")
def resource_allocation(
    graph: TextGraph, source: Positions, target: Positions
) -> NDArray[np.float64]:
    """Σ over common neighbours w of 1 / degree(w); shape (m,).

    References
    ----------
    Zhou, Lü, Zhang: Predicting missing links via local information, 2009, equation 11.
    """
    return _over_common(graph, source, target, 1.0 / np.maximum(graph.degree, 1))


def _over_common(
    graph: TextGraph, source: Positions, target: Positions, value: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Σ over common neighbours w of value[w], shape (m,); `value` of shape (n,)."""
    from scipy.sparse import csr_array

    lists = graph.adjacency()
    ones = np.ones(len(lists.indices))
    links = csr_array((ones, lists.indices, lists.indptr), shape=(graph.n_nodes, graph.n_nodes))
    total = np.empty(len(source))
    for block in _blocks(graph.degree[source] + graph.degree[target]):
        common = links[source[block]].multiply(links[target[block]])
        total[block] = np.asarray(common @ value)
    return total


def _blocks(cost: NDArray[np.int64]) -> Iterator[slice]:
    """Cut rows into runs whose costs, shape (m,), add up to one block; at least one row each."""
    until = np.cumsum(cost)
    start = 0
    while start < len(cost):
        limit = (until[start - 1] if start else 0) + _BLOCK_ENTRIES
        stop = max(start + 1, int(np.searchsorted(until, limit, side="right")))
        yield slice(start, stop)
        start = stop
