"""Where the true links of queries stand among all scores, in one pass over a block."""

import numpy as np

from pairgram.kernels.jit import njit


@njit(cache=True, nogil=True)
def place_block(scores, target, link_ends, barred, barred_ends):
    """Candidates above and equal to every link of a block of queries, both of shape (l,).

    Row i of `scores`, shape (b, n), has the links target[link_ends[i]:link_ends[i + 1]]; the
    positions barred[barred_ends[i]:barred_ends[i + 1]] are no candidates. The third value is the
    number of scores that are NaN.
    """
    above = np.zeros(len(target), np.int64)
    equal = np.zeros(len(target), np.int64)
    missing = 0
    for i in range(scores.shape[0]):
        row = scores[i]
        begin, end = link_ends[i], link_ends[i + 1]
        own = np.empty(end - begin, scores.dtype)
        for j in range(begin, end):
            own[j - begin] = row[target[j]]
        order = np.argsort(own)
        levels = own[order]
        # higher[k]: candidates with k levels under them; same[k]: those equal to level k, the
        # first of its value.
        higher = np.zeros(len(levels) + 1, np.int64)
        same = np.zeros(len(levels) + 1, np.int64)
        for v in range(len(row)):
            missing += np.isnan(row[v])
            _count(levels, row[v], 1, higher, same)
        for f in range(barred_ends[i], barred_ends[i + 1]):
            _count(levels, row[barred[f]], -1, higher, same)
        beyond = 0
        for k in range(len(levels) - 1, -1, -1):
            beyond += higher[k + 1]
            above[begin + order[k]] = beyond
            equal[begin + order[k]] = same[np.searchsorted(levels, levels[k])]
    return above, equal, missing


@njit(cache=True, nogil=True)
def _count(levels, x, step, higher, same):
    """Count a score by the number of levels under it, and with the level that it equals."""
    # Most scores are under every level; NaN compares false too.
    if len(levels) and x >= levels[0]:
        under = np.searchsorted(levels, x)
        higher[under] += step
        if under < len(levels) and levels[under] == x:
            same[under] += step
