"""Skip-gram with negative sampling on orthogonal blocks.

Nodes are numbered so that part p holds nodes bounds[p] .. bounds[p+1]-1. In step s the blocks
(centre part i, context part (i + s) mod P) touch disjoint rows, so they may run on any threads and
always give the same bits. The negatives of a centre are spread over all context parts in proportion
to the mass of the part, not to where its positives fall: the noise stays the global one.
"""

import numpy as np
from numba import njit

from pairgram.kernels.negatives import draw
from pairgram.kernels.rng import fold, round_randomly, stream
from pairgram.kernels.simd import dot, dot_and_norm, exchange

# σ and -log σ on a grid over [-REACH, REACH]; beyond it the ends are used.
REACH, GRID = 8.0, 8192
BATCH = 8
FARTHEST, TINY = np.float32(4.0), np.float32(1e-12)
# Keeps the streams of the noise apart from those of the samplers, whose rounds are few.
NOISE_TURNS = 1 << 40
_CELLS_PER_UNIT = np.float32(GRID / (2 * REACH))
_ARGUMENT = (np.arange(GRID) + 0.5) / GRID * 2 * REACH - REACH
SIGMOID = (1.0 / (1.0 + np.exp(-_ARGUMENT))).astype(np.float32)
MINUS_LOG = np.logaddexp(0.0, -_ARGUMENT).astype(np.float32)


@njit(cache=True, nogil=True)
def bucket(begin, end, center, context, part_of, block_begin, out_center, out_context):
    """Order the pairs begin..end-1 of one centre part by context part, stably.

    `block_begin` (P + 1) receives where the blocks begin; the pairs stay in their range.
    """
    parts = block_begin.shape[0] - 1
    block_begin[:] = 0
    for i in range(begin, end):
        block_begin[part_of[context[i]] + 1] += 1
    block_begin[0] = begin
    for p in range(parts):
        block_begin[p + 1] += block_begin[p]
    place = block_begin.copy()
    for i in range(begin, end):
        p = part_of[context[i]]
        out_center[place[p]] = center[i]
        out_context[place[p]] = context[i]
        place[p] += 1


@njit(cache=True, nogil=True)
def train_block(
    i, j, center, context, block_begin, count, bounds, mass, threshold, alias,
    e_center, e_context, negatives, offset, rate, l2, seed, turn,
):  # fmt: skip
    """One pass over block (centre part i, context part j); return the sum of the pair losses.

    A centre u with count[u] pairs in this turn gets count[u]·negatives·mass[j] noise nodes here,
    rounded at random, whatever the number of its positives in the block.
    """
    loss = 0.0
    keep = np.float32(1.0) - rate * l2
    nodes, steps = np.empty(BATCH, np.int64), np.empty(BATCH, np.float32)
    at, end = block_begin[i, j], block_begin[i, j + 1]
    low, high = bounds[j], bounds[j + 1]
    for u in range(bounds[i], bounds[i + 1]):
        if count[u] == 0:
            continue
        first = at
        while at < end and center[at] == u:
            at += 1
        positives = at - first
        key = fold(stream(seed, NOISE_TURNS + turn, u), j)
        noise = round_randomly(count[u] * negatives * mass[j], key)
        filled, drawn = 0, 0
        for k in range(max(positives, 1)):
            if k < positives:
                nodes[filled] = context[first + k]
                steps[filled] = 1.0
                filled += 1
                if filled == BATCH:
                    loss += _step(u, filled, nodes, steps, e_center, e_context, offset, rate, keep)
                    filled = 0
            due = noise * (k + 1) // max(positives, 1)
            while drawn < due:
                drawn += 1
                nodes[filled] = draw(fold(key, drawn), low, high, threshold, alias)
                steps[filled] = 0.0
                filled += 1
                if filled == BATCH:
                    loss += _step(u, filled, nodes, steps, e_center, e_context, offset, rate, keep)
                    filled = 0
        loss += _step(u, filled, nodes, steps, e_center, e_context, offset, rate, keep)
    return loss


@njit(cache=True, nogil=True)
def _step(u, size, nodes, steps, e_center, e_context, offset, rate, keep):
    """Gradient step of -log σ(±(e'_v·e_u + offset)) for u and some nodes v; return their loss.

    `steps` holds 1 for a context and 0 for noise. All scores are taken before any row moves: the
    products do not wait for each other. No step moves its score by more than FARTHEST: where
    vectors are long (rare contexts, hubs) a fixed rate would overshoot, and grow them without end.
    """
    loss = np.float32(0.0)
    own = dot(e_center, u, e_center, u)
    for k in range(size):
        score, norm = dot_and_norm(e_center, u, e_context, nodes[k])
        score += offset
        cell = min(max(int((score + np.float32(REACH)) * _CELLS_PER_UNIT), 0), GRID - 1)
        loss += MINUS_LOG[cell if steps[k] > 0 else GRID - 1 - cell]
        step = rate * (steps[k] - SIGMOID[cell])
        most = FARTHEST / (own + norm + TINY)
        steps[k] = min(max(step, -most), most)
    for k in range(size):
        exchange(e_center, u, e_context, nodes[k], steps[k], keep)
    return loss
