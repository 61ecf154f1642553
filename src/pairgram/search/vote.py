"""Votes of the nearest texts: a new node links to what the nodes of similar text link to."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairgram.graph import TextGraph

Floats = NDArray[np.floating[Any]]

NEAREST = 20
POWER = 3


def link_matrix(graph: TextGraph) -> Any:
    """Sparse matrix of ones where two nodes are linked, direction ignored, shape (n, n)."""
    from scipy.sparse import csr_array

    near = graph.adjacency()
    ones = np.ones(len(near.indices), dtype=np.float32)
    return csr_array((ones, near.indices, near.indptr), shape=(graph.n_nodes, graph.n_nodes))


def arc_matrix(graph: TextGraph) -> Any:
    """Sparse matrix of ones where a link was given from the row's node to the column's, (n, n).

    An undirected graph keeps the direction in which an edge was first given, too.
    """
    from scipy.sparse import csr_array

    ones = np.ones(graph.n_edges, dtype=np.float32)
    return csr_array((ones, (graph.source, graph.target)), shape=(graph.n_nodes, graph.n_nodes))


def vote(similarity: Floats, links: Any, nearest: int = NEAREST, power: float = POWER) -> Floats:
    """Σ over the nearest w of (s_w / s_1)^power · [x linked to w], s_1 the largest of them.

    Parameters
    ----------
    similarity
        Lexical scores of queries with every node, shape (b, n); nodes at 0 or less do not vote.
    links
        Sparse links between the nodes, shape (n, n).
    nearest
        How many nodes vote; equal scores by position.
    power
        How fast a vote falls with the similarity.

    Examples
    --------
    >>> from pairgram.graph import TextGraph
    >>> path = link_matrix(TextGraph.from_edges([0, 1], [1, 2]))
    >>> vote(np.array([[0.0, 1.0, 2.0]]), path).tolist()
    [[0.125, 1.0, 0.125]]
    """
    from scipy.sparse import csr_array

    found = [_nearest(row, nearest) for row in similarity]
    rows = np.repeat(np.arange(len(found)), [len(voters) for voters in found])
    columns = np.concatenate(found)
    best = similarity.max(axis=1)[rows]
    strength = (similarity[rows, columns] / best) ** power
    voters = csr_array((strength, (rows, columns)), shape=similarity.shape)
    votes: Floats = (voters @ links).toarray()
    return votes


def fuse(votes: Floats, similarity: Floats, weight: float) -> Floats:
    """Weight · votes + (1 - weight) · similarity, each divided by its row's maximum; (b, n)."""
    return weight * _scaled(votes) + (1 - weight) * _scaled(similarity)


def _scaled(scores: Floats) -> Floats:
    largest = scores.max(axis=1, keepdims=True)
    scaled: Floats = scores / np.where(largest > 0, largest, 1)
    return scaled


def _nearest(row: Floats, nearest: int) -> NDArray[np.intp]:
    """Positions of the `nearest` largest positive entries of a row, shape (n,); best first."""
    voters = np.flatnonzero(row > 0)
    if len(voters) > nearest:
        limit = np.partition(row[voters], -nearest)[-nearest]
        voters = voters[row[voters] >= limit]
    # Entries equal to the limit may be too many: of those the first positions stay.
    return voters[np.lexsort((voters, -row[voters]))[:nearest]]
