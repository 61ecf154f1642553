"""Scores by training degree: what a model is worth where little is known, and where much is."""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from pairgram.evaluation.protocols import Trials
from pairgram.evaluation.scorer import Scores
from pairgram.metrics import auc_pair
from pairgram.split import Split

BOUNDS = (0, 1, 2, 4, 8, 16, 32)

Buckets = dict[str, dict[str, float]]


def bucket_names(degree: NDArray[np.int64]) -> NDArray[np.str_]:
    """Name of the bucket of every degree, shape (k,); nodes without a link have one of their own.

    >>> bucket_names(np.array([0, 1, 3, 500])).tolist()
    ['0', '1', '2-3', '32+']
    """
    ends = [*(f"{a}-{b - 1}" if b - a > 1 else str(a) for a, b in _ranges()), f"{BOUNDS[-1]}+"]
    return np.array(ends)[np.searchsorted(BOUNDS, degree, side="right") - 1]


def by_degree(split: Split, trials: Trials, positive: Scores, negative: Scores) -> Buckets:
    """Centres and AUC_pair by training degree.

    The degree is that of the centre for a split of links, that of the true other end for a split
    of nodes, whose centres have no training link at all.
    """
    degree = np.zeros(split.full.n_nodes, dtype=np.int64)
    degree[split.kept] = split.train.degree
    names = bucket_names(degree[trials.positive if split.of_nodes else trials.center])
    found: Buckets = {}
    for name in dict.fromkeys(bucket_names(np.array(BOUNDS)).tolist()):
        chosen = names == name
        if chosen.any():
            area = auc_pair(positive[chosen], negative[chosen])
            found[name] = {"centers": int(chosen.sum()), "auc_pair": area}
    return found


def _ranges() -> list[tuple[int, int]]:
    return list(pairwise(BOUNDS))
