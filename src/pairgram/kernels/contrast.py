"""Gradients of sampled pairs for the text trainer, one pair after another."""

import math

import numpy as np

from pairgram.kernels.jit import njit
from pairgram.kernels.simd import prefetch

AHEAD = 4
"""Pairs whose rows are on their way from memory while one is worked on."""

# Sums over a row may be taken in any order: the trainer's other sums are those of a library too.
_SUMS = {"reassoc", "contract"}


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_SUMS)
def pair_gradients(
    x, row, context, count, table, seen, has_table, has_seen, offset, l2, scale, y, dx, dy
):
    """Gradients of Σ c·(−log σ(x_u·y_v + offset) + l2/2·(‖x_u‖² + ‖y_v‖²)) / scale.

    Pair p has u = row[p], v = context[p] and c = count[p]; y_v = table[v] + seen[v], of those that
    there are. The gradient of x_u is added to dx[u], that of the pair's y_v written to dy[p] where
    dy has rows. `y` (dim) is scratch. Returns the sum, not scaled.
    """
    dim, total = x.shape[1], 0.0
    for p in range(row.shape[0]):
        u, v = row[p], context[p]
        soon = context[min(p + AHEAD, row.shape[0] - 1)]
        if has_table:
            prefetch(table, soon)
        if has_seen:
            prefetch(seen, soon)
        if has_table and has_seen:
            for k in range(dim):
                y[k] = table[v, k] + seen[v, k]
        elif has_table:
            y[:] = table[v]
        else:
            y[:] = seen[v]
        score, x_square, y_square = offset, offset * 0, offset * 0
        for k in range(dim):
            score += x[u, k] * y[k]
            x_square += x[u, k] * x[u, k]
            y_square += y[k] * y[k]
        shrunk = math.exp(-abs(score))
        miss = (1.0 if score < 0 else shrunk) / (1.0 + shrunk)  # σ(−score)
        loss = math.log1p(shrunk) - min(score, 0.0)
        total += count[p] * (loss + 0.5 * l2 * (x_square + y_square))
        slope, pull = np.float32(-miss) * count[p] * scale, l2 * count[p] * scale
        for k in range(dim):
            dx[u, k] += slope * y[k] + pull * x[u, k]
        if dy.shape[0]:
            for k in range(dim):
                dy[p, k] = slope * x[u, k] + pull * y[k]
    return total
