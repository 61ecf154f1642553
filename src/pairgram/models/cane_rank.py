"""Ranking by a dear score: the best by a cheap one, ranked anew."""

from collections.abc import Callable

import numpy as np

from pairgram.models.scoring import Floats, IntArray

RERANKED = 1000


def rerank(
    scores: Floats,
    nodes: IntArray,
    score: Callable[[IntArray, IntArray], Floats],
    count: int = RERANKED,
) -> None:
    """Score the best anew, in place; the others keep their order behind the worst of them.

    Parameters
    ----------
    scores
        Cheap scores of nodes with every node, shape (b, n).
    nodes
        The nodes, shape (b,).
    score
        Dear scores of links (source, target); it is asked once for all nodes.
    count
        How many are scored anew for each.

    Examples
    --------
    >>> cheap = np.array([[3.0, 2.0, 1.0, 0.5]])
    >>> rerank(cheap, np.array([0]), lambda u, v: np.array([10.0, 20.0]), count=2)
    >>> cheap.tolist()
    [[10.0, 20.0, 9.0, 8.5]]
    """
    count = min(count, scores.shape[1])
    best = np.sort(np.argpartition(-scores, count - 1, axis=1)[:, :count], axis=1)
    anew = score(np.repeat(nodes, count), best.ravel()).reshape(best.shape)
    for row, chosen, dear in zip(scores, best, anew, strict=True):
        rest = np.ones(len(row), bool)
        rest[chosen] = False
        if rest.any():
            row[rest] += dear.min() - 1 - row[rest].max()
        row[chosen] = dear
