"""Rows of tables that a batch has read: their gradients added up, and a step of them."""

import math

import numpy as np

from pairgram.kernels.jit import njit
from pairgram.kernels.simd import prefetch

AHEAD = 2
"""Rows that are on their way from memory while one is worked on."""


@njit(cache=True, nogil=True, error_model="numpy")
def add_rows(indices, values, place, rows, sums):
    """Σ of the values of each index, in their order; returns how many indices are distinct.

    They are written to `rows` as they are first met, and their sums to `sums`; both have room for
    all of `indices`. `place` (table rows) is scratch that holds −1 before and after.
    """
    count = 0
    for k in range(indices.shape[0]):
        at = place[indices[k]]
        if at < 0:
            place[indices[k]] = count
            rows[count] = indices[k]
            sums[count] = values[k]
            count += 1
        else:
            for i in range(values.shape[1]):
                sums[at, i] += values[k, i]
    for k in range(count):
        place[rows[k]] = -1
    return count


@njit(cache=True, nogil=True, error_model="numpy")
def adam_rows(
    weights, mean, squares, rows, gradient, factor, rate, mean_decay, square_decay, steps
):
    """A step of Adam for the given rows: w −= rate · m̂ / (√ŝ + 10⁻⁸).

    Row k of `gradient`, times `factor`, belongs to row rows[k] of the tables; `steps` counts this
    one. Rows without a gradient stay, and so do their means.
    """
    # The running means start at zero, so the first ones are too small by these factors.
    rate = np.float32(rate / (1 - mean_decay**steps))
    scale = np.float32(1 / (1 - square_decay**steps))
    keep_mean, keep_square = np.float32(mean_decay), np.float32(square_decay)
    add_mean, add_square = np.float32(1 - mean_decay), np.float32(1 - square_decay)
    factor, tiny = np.float32(factor), np.float32(1e-8)
    for k in range(rows.shape[0]):
        r, soon = rows[k], rows[min(k + AHEAD, rows.shape[0] - 1)]
        prefetch(weights, soon)
        prefetch(mean, soon)
        prefetch(squares, soon)
        for i in range(weights.shape[1]):
            g = gradient[k, i] * factor
            m = keep_mean * mean[r, i] + add_mean * g
            s = keep_square * squares[r, i] + add_square * (g * g)
            mean[r, i], squares[r, i] = m, s
            weights[r, i] -= rate * m / (np.float32(math.sqrt(s * scale)) + tiny)
