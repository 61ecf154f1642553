"""Votes: what some nodes link to, added up for the few nodes that get any."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairgram.search.exact import largest

Floats = NDArray[np.floating[Any]]
IntArray = NDArray[np.int64]

DENSE = 16
"""Votes are counted in a row for all nodes where these are no more than so many to a vote."""


@dataclass(frozen=True, eq=False)
class Votes:
    """Votes for nodes.

    Attributes
    ----------
    nodes
        Positions of the nodes that have any, ascending, shape (u,).
    count
        Votes of each, shape (u,).
    """

    nodes: IntArray
    count: NDArray[np.float64]

    def of(self, nodes: IntArray) -> NDArray[np.float64]:
        """Votes of some nodes, 0 for those without, -1 among them, shape (k,)."""
        if not len(self.nodes):
            return np.zeros(len(nodes))
        at = np.minimum(np.searchsorted(self.nodes, nodes), len(self.nodes) - 1)
        return np.where(self.nodes[at] == nodes, self.count[at], 0)

    def best(self, k: int) -> IntArray:
        """At most k nodes with most votes, in no order, ties by position."""
        return self.nodes[largest(self.count, k)]


class Ballots:
    """Who links to whom, ready to vote.

    Parameters
    ----------
    links
        Sparse links between the nodes, symmetric, shape (n, n).

    Examples
    --------
    >>> from pairgram.graph import TextGraph
    >>> from pairgram.search.vote import link_matrix
    >>> path = Ballots(link_matrix(TextGraph.from_edges([0, 1], [1, 2])))
    >>> path.vote(np.array([0, 2]), np.array([1.0, 0.5])).of(np.array([0, 1])).tolist()
    [0.0, 1.5]
    """

    def __init__(self, links: Any) -> None:
        self._begin, self._linked = links.indptr, links.indices
        self.degree: IntArray = np.diff(links.indptr).astype(np.int64)
        self.root = np.sqrt(np.maximum(self.degree, 1)).astype(np.float32)

    def links_of(self, nodes: IntArray) -> tuple[IntArray, IntArray]:
        """All links of some nodes: rows of `nodes`, and what they link to, shape (links,)."""
        places, sizes = entries(self._begin, nodes)
        return np.repeat(np.arange(len(nodes)), sizes), self._linked[places].astype(np.int64)

    def vote(self, voters: IntArray, strength: Floats) -> Votes:
        """Σ over the voters w of strength_w · [x linked to w], for the nodes x that get any."""
        places, sizes = entries(self._begin, voters)
        linked, weight = self._linked[places], np.repeat(strength, sizes).astype(np.float64)
        if len(self.degree) <= DENSE * len(linked):
            count = summed(linked, weight, len(self.degree))
            nodes = np.flatnonzero(count)
            return Votes(nodes, count[nodes])
        nodes, at = np.unique(linked, return_inverse=True)
        return Votes(nodes.astype(np.int64), summed(at, weight, len(nodes)))


def entries(begin: NDArray[Any], rows: IntArray) -> tuple[IntArray, IntArray]:
    """Places of the entries of some rows of a sparse matrix, end to end, and how many of each.

    >>> [part.tolist() for part in entries(np.array([0, 2, 3]), np.array([1, 0]))]
    [[2, 0, 1], [1, 2]]
    """
    first = begin[rows].astype(np.int64)
    sizes = begin[rows + 1] - first
    inside = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.repeat(first, sizes) + inside, sizes


def summed(places: NDArray[Any], values: Floats, count: int) -> NDArray[np.float64]:
    """Sums of values by their place, shape (count,)."""
    return np.asarray(np.bincount(places, values, count), np.float64)
