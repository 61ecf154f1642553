"""Ranking by a dear score: the best by a cheap one, ranked anew."""

from collections.abc import Callable

import numpy as np

from pairgram.models.scoring import Floats, IntArray

RERANKED = 1000


def rerank(
    scores: Floats,
    node: int,
    score: Callable[[IntArray, IntArray], Floats],
    count: int = RERANKED,
) -> None:
    """Score the best anew, in place; the others keep their order behind the worst of them.

    Parameters
    ----------
    scores
        Cheap scores of a node with every node, shape (n,).
    node
        The node.
    score
        Dear scores of links (source, target).
    count
        How many are scored anew.

    Examples
    --------
    >>> cheap = np.array([3.0, 2.0, 1.0, 0.5])
    >>> rerank(cheap, 0, lambda u, v: np.array([10.0, 20.0]) if len(u) == 2 else None, count=2)
    >>> cheap.tolist()
    [10.0, 20.0, 9.0, 8.5]
    """
    count = min(count, len(scores))
    best = np.sort(np.argpartition(-scores, count - 1)[:count])
    anew = score(np.full(count, node), best)
    rest = np.ones(len(scores), bool)
    rest[best] = False
    if rest.any():
        scores[rest] += anew.min() - 1 - scores[rest].max()
    scores[best] = anew
