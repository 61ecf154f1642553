"""Groups of nodes that are linked among each other, by the Louvain method."""

import numpy as np
from numpy.typing import NDArray

from pairgram.graph import Adjacency

IntArray = NDArray[np.int64]

SWEEPS = 32
LEVELS = 32


def communities(near: Adjacency) -> IntArray:
    """Community of each node, shape (n,), numbered by size, the largest 0.

    Parameters
    ----------
    near
        Neighbour lists, both directions.

    References
    ----------
    Blondel, Guillaume, Lambiotte, Lefebvre: Fast unfolding of communities in large networks, 2008.
    """
    from pairgram.kernels.communities import move_nodes

    n = len(near.indptr) - 1
    indptr = near.indptr.copy()  # frozen arrays would be compiled for anew
    indices = near.indices.astype(np.int64)
    weight = np.ones(len(indices)) if near.weight is None else near.weight.astype(np.float64)
    member = np.arange(n)
    for _ in range(LEVELS):
        size = len(indptr) - 1
        rows = np.repeat(np.arange(size), np.diff(indptr))
        degree = np.bincount(rows, weight, size)
        found = np.arange(size)
        if not move_nodes(indptr, indices, weight, degree, found, SWEEPS):
            break
        kept, found = np.unique(found, return_inverse=True)
        member = found[member]
        indptr, indices, weight = _fold(found[rows], found[indices], weight, len(kept))
    return by_size(member)


def by_size(member: IntArray) -> IntArray:
    """The same groups numbered by size, ties by their first node.

    >>> by_size(np.array([5, 7, 7, 2])).tolist()
    [1, 0, 0, 2]
    """
    _, first, inverse, count = np.unique(
        member, return_index=True, return_inverse=True, return_counts=True
    )
    rank = np.empty(len(count), np.int64)
    rank[np.lexsort((first, -count))] = np.arange(len(count))
    return rank[inverse]


def _fold(
    source: IntArray, target: IntArray, weight: NDArray[np.float64], size: int
) -> tuple[IntArray, IntArray, NDArray[np.float64]]:
    """The graph of the groups: weights between them summed, those inside as loops."""
    from scipy.sparse import coo_array

    folded = coo_array((weight, (source, target)), shape=(size, size)).tocsr()
    folded.sum_duplicates()
    return folded.indptr.astype(np.int64), folded.indices.astype(np.int64), folded.data
