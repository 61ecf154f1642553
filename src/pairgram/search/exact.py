"""Exact top-k in blocks."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]
IntArray = NDArray[np.integer[Any]]

BLOCK = 1 << 16
GROUP = 64
FEW = 64
"""So many are found in one pass; for more, sorting is quicker."""


def top_k(
    score: Callable[[int, int], Floats],
    n_nodes: int,
    k: int,
    leave_out: IntArray | NDArray[np.bool_],
) -> tuple[IntArray, Floats]:
    """The k best-scored nodes, best first, ties by position.

    Parameters
    ----------
    score
        Scores of the nodes begin..end-1.
    n_nodes
        Number of nodes.
    k
        How many; fewer come when fewer are left.
    leave_out
        Positions never returned, or a mask of them, shape (n,).

    Returns
    -------
    nodes, scores
        Shape (at most k,).

    Examples
    --------
    >>> nodes, scores = top_k(lambda a, b: np.array([3.0, 1.0, 2.0])[a:b], 3, 2, np.array([0]))
    >>> nodes.tolist(), scores.tolist()
    ([2, 1], [2.0, 1.0])
    """
    barred = np.zeros(n_nodes, bool)
    barred[leave_out] = True
    nodes, scores = np.empty(0, np.int64), np.empty(0, np.float64)
    for begin in range(0, n_nodes, BLOCK):
        end = min(begin + BLOCK, n_nodes)
        found = np.asarray(score(begin, end))
        worth = ~barred[begin:end]
        if len(nodes) == k and not np.isnan(scores[-1]):
            # A later node with the score of the last one loses the tie.
            worth &= found > scores[-1]
        some = np.flatnonzero(worth)
        some = some[_best(found[some], k)]
        nodes = np.append(nodes, some + begin)
        scores = np.append(scores, found[some].astype(np.float64))
        order = np.lexsort((nodes, -scores))[:k]
        nodes, scores = nodes[order], scores[order]
    return nodes, scores


def top_k_rows(
    scores: Floats, k: int, barred: NDArray[np.bool_]
) -> Iterator[tuple[IntArray, Floats]]:
    """The same for every row of a block of scores, shape (b, n), less what is no number.

    Examples
    --------
    >>> found = top_k_rows(np.array([[3.0, 1.0, 2.0], [0.0, np.nan, 0.0]]), 2, np.zeros(3, bool))
    >>> [nodes.tolist() for nodes, _ in found]
    [[0, 2], [0, 2]]
    """
    if k > FEW:
        for row in scores:
            nodes, best = top_k(_part_of(row), len(row), k, barred)
            numbers = ~np.isnan(best)
            yield nodes[numbers], best[numbers]
        return
    from pairgram.kernels.nearest import keep_free

    values = np.empty((len(scores), k), scores.dtype)
    places, found = np.empty((len(scores), k), np.int64), np.empty(len(scores), np.int64)
    keep_free(np.asarray(scores), barred, values, places, found)
    for row, count in enumerate(found.tolist()):
        yield places[row, :count], values[row, :count].astype(np.float64)


def largest(scores: Floats, k: int) -> NDArray[np.int64]:
    """Places of at most k of the largest scores, in no order, ties by position.

    What equals the least score, or 0 where none is below, is never among them.

    >>> sorted(largest(np.array([0.0, 3.0, 0.0, 1.0, 2.0]), 2).tolist())
    [1, 4]
    """
    some = np.flatnonzero(scores > scores.min(initial=0)) if len(scores) else np.empty(0, np.int64)
    values = scores[some]
    best = some[_best(values, k)]
    if len(best) <= k:
        return best.astype(np.int64)
    # What ties with the last: the first positions stay.
    return best[np.lexsort((best, -scores[best]))[:k]].astype(np.int64)


def _part_of(scores: Floats) -> Callable[[int, int], Floats]:
    return lambda begin, end: scores[begin:end]


def _best(scores: Floats, k: int) -> IntArray:
    """Places of the k largest and of what ties with the last of them, in no order."""
    if len(scores) <= k:
        return np.arange(len(scores))
    some = _candidates(scores, k)
    limit = np.partition(-scores[some], k - 1)[k - 1]
    if np.isnan(limit):  # fewer than k are numbers
        return np.arange(len(scores))
    best: IntArray = some[-scores[some] <= limit]
    return best


def _candidates(scores: Floats, k: int) -> IntArray:
    """Places of the k largest and of others; quick, for there are few others.

    The k-th largest of the maxima of groups is no larger than the k-th largest score.
    """
    groups = len(scores) // GROUP
    if groups < 2 * k:
        return np.arange(len(scores))
    most = scores[: groups * GROUP].reshape(groups, GROUP).max(axis=1)
    floor = np.partition(most, groups - k)[groups - k]
    if np.isnan(most).any():
        return np.arange(len(scores))
    return np.flatnonzero(scores >= floor)
