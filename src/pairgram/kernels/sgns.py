"""Skip-gram with negative sampling on orthogonal blocks.

Nodes are numbered so that part p holds nodes bounds[p] .. bounds[p+1]-1. In step s the blocks
(centre part i, context part (i + s) mod P) touch disjoint rows, so they may run on any threads and
always give the same bits. The negatives of a centre are spread over all context parts in proportion
to the mass of the part, not to where its positives fall: the noise stays the global one.
"""

import numpy as np

from pairgram.kernels.jit import njit
from pairgram.kernels.negatives import draw_many
from pairgram.kernels.rng import fold, round_randomly, stream
from pairgram.kernels.simd import dot, dots_and_norms, exchange, exchange_within, prefetch
from pairgram.kernels.sizes import ROWS
from pairgram.kernels.sizes import STEP_BATCH as BATCH

# σ and -log σ on a grid over [-REACH, REACH]; beyond it the ends are used.
REACH, GRID = 8.0, 8192
FARTHEST, TINY = np.float32(4.0), np.float32(1e-12)
# Keeps the streams of the noise apart from those of the samplers, whose rounds are few.
NOISE_TURNS = 1 << 40
_CELLS_PER_UNIT = np.float32(GRID / (2 * REACH))
_ARGUMENT = (np.arange(GRID) + 0.5) / GRID * 2 * REACH - REACH
SIGMOID = (1.0 / (1.0 + np.exp(-_ARGUMENT))).astype(np.float32)
MINUS_LOG = np.logaddexp(0.0, -_ARGUMENT).astype(np.float32)
# By cell, then noise or link, side by side: minus the slope of the loss, and the loss.
TERMS = np.stack(
    [
        np.stack([-SIGMOID, MINUS_LOG[::-1]], 1),
        np.stack([np.float32(1) - SIGMOID, MINUS_LOG], 1),
    ],
    1,
)


@njit(cache=True, nogil=True, no_cfunc_wrapper=True)
def bucket(begin, end, center, context, part_of, block_begin, place, out_center, out_context):
    """Order the pairs begin..end-1 of one centre part by context part, stably.

    `block_begin` (P + 1) receives where the blocks begin; the pairs stay in their range. `place`
    (P + 1) is scratch.
    """
    parts = block_begin.shape[0] - 1
    block_begin[:] = 0
    for i in range(begin, end):
        block_begin[part_of[context[i]] + 1] += 1
    block_begin[0] = begin
    for p in range(parts):
        block_begin[p + 1] += block_begin[p]
    for p in range(parts):
        place[p] = block_begin[p]
    for i in range(begin, end):
        p = part_of[context[i]]
        out_center[place[p]] = center[i]
        out_context[place[p]] = context[i]
        place[p] += 1


@njit(cache=True, nogil=True, no_cfunc_wrapper=True)
def train_blocks(
    blocks, low_part, bounds, begin, mass, center, context, count, threshold, alias,
    e_center, center_base, e_context, one_table, negatives, shared, offset, rate, l2,
    seed, turn, queue, drawn, scratch, cells, losses,
):  # fmt: skip
    """One pass over blocks (centre part, context part, base), shape (b, 3), one after the other.

    The pairs of a block (i, j) begin at begin[i - low_part, j]; row r of e_context is the context
    base + r. `losses` (b) receives the sums of the pair losses; `queue` (2, q), `drawn` (q),
    `scratch` (5, BATCH) and `cells` (BATCH) are scratch, with q at least the links and noise of a
    centre in a block, and VECTOR more.
    """
    for b in range(blocks.shape[0]):
        i, j = blocks[b, 0], blocks[b, 1]
        at, end = begin[i - low_part, j], begin[i - low_part, j + 1]
        # Rows of another part cannot be the centre's own, in one table neither.
        within = one_table and i == j
        losses[b] = _train_block(
            j, bounds[i], bounds[i + 1], at, end, bounds[j], bounds[j + 1], mass[j],
            center, context, count, threshold, alias, e_center, center_base, e_context,
            blocks[b, 2], within, negatives, shared, offset, rate, l2, seed, turn,
            queue, drawn, scratch, cells,
        )  # fmt: skip


@njit(cache=True, nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _train_block(
    j, first, last, at, end, low, high, share, center, context, count, threshold, alias,
    e_center, center_base, e_context, context_base, within, negatives, shared, offset, rate, l2,
    seed, turn, queue, drawn, scratch, cells,
):  # fmt: skip
    """One pass over a block of pairs at..end-1; return the sum of the pair losses.

    Centres are first..last-1, contexts part j, which holds low..high-1 and a `share` of the noise.
    Row r of e_center and of `count` is centre center_base + r, row r of e_context likewise, so the
    tables may hold all nodes or those of some parts, in any order of parts. `within`: both are rows
    of one part.

    A centre u with count[u] pairs in this turn gets count[u]·negatives·share/shared noise nodes
    here, rounded at random, whatever the number of its positives in the block; each counts as
    `shared` of them.
    """
    loss = 0.0
    noise_per_pair = negatives * share / shared
    kinds = scratch[2:]
    _set_kinds(np.float32(shared), rate, l2, kinds)
    for u in range(first, last):
        row = u - center_base
        if count[row] == 0:
            continue
        begin = at
        while at < end and center[at] == u:
            at += 1
        key = fold(stream(seed, NOISE_TURNS + turn, u), j)
        noise = round_randomly(count[row] * noise_per_pair, key)
        size = at - begin + noise
        draw_many(key, 1, noise, low, high, threshold, alias, drawn)
        _enqueue(context, begin, at, drawn, noise, context_base, queue, e_context)
        loss += _steps(row, size, queue, kinds, scratch, cells, e_center, e_context, within, offset)
    return loss


@njit(cache=True, nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _set_kinds(shared, rate, l2, kinds):
    """For noise and links, kinds[:, :2]: how many each counts for, its rate, what L2 leaves."""
    for k, weight in enumerate((shared, np.float32(1.0))):
        kinds[0, k], kinds[1, k] = weight, rate * weight
        kinds[2, k] = np.float32(1.0) - rate * l2 * weight


@njit(cache=True, nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _enqueue(context, first, last, drawn, noise, base, queue, e_context):
    """Queue the contexts first..last-1 and the noise nodes drawn, evenly between them.

    queue[0] receives their rows, queue[1] a one for a context and a zero for noise.
    """
    turns = max(last - first, 1)
    each, rest = noise // turns, noise % turns
    filled, taken, over = 0, 0, 0
    for k in range(turns):
        if first + k < last:
            queue[0, filled], queue[1, filled] = np.int64(context[first + k]) - base, 1
            filled += 1
        due = taken + each
        over += rest
        if over >= turns:
            over -= turns
            due += 1
        for t in range(taken, due):
            queue[0, filled], queue[1, filled] = drawn[t] - base, 0
            filled += 1
        taken = due
    for k in range(min(filled, BATCH)):
        prefetch(e_context, queue[0, k])


@njit(cache=True, nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _steps(u, size, queue, kinds, scratch, cells, e_center, e_context, within, offset):
    """Gradient steps of -log σ(±(e'_v·e_u + offset)) for u and queued rows v; return their loss.

    All scores of a batch are taken before any of its rows moves: the products do not wait for each
    other. No step moves its score by more than FARTHEST: where vectors are long (rare contexts,
    hubs) a fixed rate would overshoot, and grow them without end.
    """
    loss = 0.0
    # Products come ROWS at a time; those beyond the size are not used.
    for k in range(size, -(-size // ROWS) * ROWS):
        queue[0, k] = queue[0, 0]
    for begin in range(0, size, BATCH):
        end = min(begin + BATCH, size)
        for k in range(end, min(end + BATCH, size)):
            prefetch(e_context, queue[0, k])
        own = dot(e_center, u, e_center, u)
        for k in range(0, end - begin, ROWS):
            dots_and_norms(e_center, u, e_context, queue, begin, k, scratch)
        loss += _limited(begin, end, queue, kinds, scratch, cells, own, offset)
        if within:
            for k in range(end - begin):
                exchange_within(
                    e_center, u, e_context, queue[0, begin + k], scratch[0, k], scratch[1, k]
                )
        else:
            exchange(e_center, u, e_context, queue, begin, end - begin, scratch)
    return loss


@njit(cache=True, nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _limited(begin, end, queue, kinds, scratch, cells, own, offset):
    """Make scratch, scores and squared lengths, steps and what L2 leaves; return the loss.

    Loops of BATCH and lookups in place of branches: they run in vectors.
    """
    zero, last = np.float32(0.0), np.float32(GRID - 1)
    for k in range(BATCH):
        place = ((scratch[0, k] + offset) + np.float32(REACH)) * _CELLS_PER_UNIT
        place = place if place > zero else zero  # also where it is no number
        cells[k] = np.int32(place if place < last else last)
    for k in range(BATCH):
        scratch[1, k] = FARTHEST / (own + scratch[1, k] + TINY)
    loss = zero
    for k in range(end - begin):
        cell, kind = np.uint64(cells[k]), np.uint64(queue[1, begin + k])
        loss += TERMS[cell, kind, np.uint64(1)] * kinds[np.uint64(0), kind]
        step = TERMS[cell, kind, np.uint64(0)] * kinds[np.uint64(1), kind]
        most = scratch[1, k]
        scratch[0, k] = min(max(step, -most), most)
        scratch[1, k] = kinds[np.uint64(2), kind]
    return loss
