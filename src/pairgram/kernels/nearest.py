"""The few largest of many scores, row by row."""

import numpy as np

from pairgram.kernels.jit import njit


@njit(cache=True, nogil=True)
def keep_largest(scores, own, best, place):
    """Put the columns of the largest scores of each row into `place`, the best first.

    Column own[r] is left out of row r; `best` and `place` are (rows, k) with k below the number of
    columns. Of equal scores the first column wins.
    """
    rows, k = best.shape
    for r in range(rows):
        best[r, :] = -np.inf
        place[r, :] = -1
        least = best[r, k - 1]
        for c in range(scores.shape[1]):
            score = scores[r, c]
            if score <= least or c == own[r]:
                continue
            at = k - 1
            while at > 0 and best[r, at - 1] < score:
                best[r, at], place[r, at] = best[r, at - 1], place[r, at - 1]
                at -= 1
            best[r, at], place[r, at] = score, c
            least = best[r, k - 1]


@njit(cache=True, nogil=True)
def keep_free(scores, barred, best, place, found):
    """Put the largest scores of each row and their columns into `best` and `place`, the best first.

    Barred columns and scores that are no number are left out; found[r] is how many row r has, at
    most k for `best` and `place` of shape (rows, k). Of equal scores the first column wins.
    """
    rows, k = best.shape
    for r in range(rows):
        filled = 0
        for c in range(scores.shape[1]):
            score = scores[r, c]
            if filled == k and not score > best[r, k - 1]:
                continue
            if barred[c] or np.isnan(score):
                continue
            at = min(filled, k - 1)
            while at > 0 and best[r, at - 1] < score:
                best[r, at], place[r, at] = best[r, at - 1], place[r, at - 1]
                at -= 1
            best[r, at], place[r, at] = score, c
            filled = min(filled + 1, k)
        found[r] = filled
