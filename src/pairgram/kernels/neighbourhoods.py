"""How far a node is from the centre, in bounded work.

The ball around the centre is stamped level by level into `mark`. Every centre has its own 16 values
there, below those of the centres before it, so that one comparison tells whether a node is farther
than a distance: `mark[x] > base + distance`, stamped or not, and nothing is cleared in between.

A node beyond the stamped radius is tested locally: it is within radius + 1 exactly when one of its
predecessors is stamped. The steps spent on local tests are counted, and once they reach the price
of the next level that level is stamped too, so a centre never pays more than about twice the
cheaper way (ski rental). The count starts at an allowance, what drawing costs anyway: a level
cheaper than that is stamped at once.

Arrays are passed one by one, never in tuples: unpacking a tuple counts references, which costs
more than the work of a step.
"""

import numpy as np

from pairgram.kernels.jit import njit
from pairgram.kernels.sizes import LEVELS, SLOTS

# Slots of the int64 `state` array of one workspace; the queue's level boundaries come after them.
BASE, RADIUS, SPENT, PRICE, POOLED, EXCLUDED = range(SLOTS)
LEVEL = SLOTS
FRESH = 0xFFFF
# What a local test and a step of it cost, in the time of stamping one node (measured).
CALL, STEP = 32, 4


@njit(cache=True, nogil=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def start(centre, allowance, indptr, indices, mark, fate, queue, state):
    """Stamp the centre (level 0) and its neighbours (level 1)."""
    if state[BASE] < 2 * LEVELS:
        for v in range(mark.shape[0]):
            mark[v] = FRESH
            fate[v] = FRESH
        state[BASE] = FRESH
    state[BASE] -= LEVELS
    base = state[BASE]
    mark[centre] = base
    queue[0] = centre
    tail, price = 1, np.int64(0)
    for e in range(indptr[centre], indptr[centre + 1]):
        w = np.int64(indices[e])
        mark[w] = base + 1
        queue[tail] = w
        tail += 1
        price += indptr[w + 1] - indptr[w]
    state[RADIUS] = 1
    state[LEVEL], state[LEVEL + 1], state[LEVEL + 2] = 0, 1, tail
    state[PRICE], state[SPENT] = price, allowance
    state[POOLED] = 0
    state[EXCLUDED] = -1


@njit(cache=True, nogil=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def reach(distance, last, allowance, indptr, indices, mark, queue, state):
    """Stamp the level `distance` if that is due; return whether it is stamped now."""
    while state[RADIUS] < distance and (
        state[RADIUS] < distance - 1 or state[SPENT] >= state[PRICE]
    ):
        if state[RADIUS] + 1 == last:
            _stamp_last(indptr, indices, mark, queue, state)
        else:
            _stamp_next(indptr, indices, mark, queue, state)
        state[SPENT] = allowance
        state[EXCLUDED] = -1
    return state[RADIUS] >= distance


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _stamp_next(indptr, indices, mark, queue, state):
    """Stamp and queue the next level, without a branch; PRICE is then that of the one after it.

    The queue has room for one node more than there are, since a known one is written and left.
    """
    level = state[RADIUS] + 1
    stamp = state[BASE] + level
    tail = state[LEVEL + level]
    for i in range(state[LEVEL + level - 1], state[LEVEL + level]):
        w = np.int64(queue[i])
        for e in range(indptr[w], indptr[w + 1]):
            x = np.int64(indices[e])
            known = np.int64(mark[x])
            queue[tail] = x
            tail += known > stamp
            mark[x] = min(known, stamp)
    price = np.int64(0)
    for i in range(state[LEVEL + level], tail):
        x = np.int64(queue[i])
        price += indptr[x + 1] - indptr[x]
    state[LEVEL + level + 1] = tail
    state[RADIUS] = level
    state[PRICE] = price


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _stamp_last(indptr, indices, mark, queue, state):
    """Stamp the outermost level: all neighbours of the rim blindly, then the inner ones again."""
    base, level = state[BASE], state[RADIUS] + 1
    for i in range(state[LEVEL + level - 1], state[LEVEL + level]):
        w = np.int64(queue[i])
        for e in range(indptr[w], indptr[w + 1]):
            mark[np.int64(indices[e])] = base + level
    for inner in range(level):
        for i in range(state[LEVEL + inner], state[LEVEL + inner + 1]):
            mark[np.int64(queue[i])] = base + inner
    state[RADIUS] = level


@njit(cache=True, nogil=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def touches_ball(x, indptr, indices, r_indptr, r_indices, mark, queue, state):
    """Whether a predecessor of x is stamped: scan them, or look for x from the outermost level."""
    level = state[RADIUS]
    rim = state[BASE] + level
    begin, end = r_indptr[x], r_indptr[x + 1]
    rim_begin, rim_end = state[LEVEL + level], state[LEVEL + level + 1]
    if (end - begin) > 8 * (rim_end - rim_begin):
        for i in range(rim_begin, rim_end):
            state[SPENT] += CALL
            w = np.int64(queue[i])
            if contains(indices, indptr[w], indptr[w + 1], x):
                return True
        return False
    for e in range(begin, end):
        if mark[np.int64(r_indices[e])] <= rim:
            state[SPENT] += CALL + STEP * (e - begin)
            return True
    state[SPENT] += CALL + STEP * (end - begin)
    return False


@njit(cache=True, nogil=True, inline="always")
def contains(indices, begin, end, x):
    """Whether the ascending slice indices[begin:end] holds x."""
    low, high = begin, end
    while low < high:
        middle = (low + high) >> 1
        if indices[middle] < x:
            low = middle + 1
        else:
            high = middle
    return low < end and indices[low] == x
