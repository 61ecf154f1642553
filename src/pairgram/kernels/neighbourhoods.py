"""How far a node is from the centre, in bounded work.

The ball around the centre is stamped level by level into `mark`. A node beyond the stamped radius
is tested locally: it is within radius + 1 exactly when one of its predecessors is stamped. The
steps spent on local tests are counted, and once they reach the price of the next level that level
is stamped too, so a centre never pays more than about twice the cheaper way (ski rental).

Arrays are passed one by one, never in tuples: unpacking a tuple counts references, which costs
more than the work of a step.
"""

import numpy as np
from numba import njit

# Slots of the int64 `state` array of one workspace; the queue's level boundaries come after them.
BASE, RADIUS, SPENT, PRICE, POOLED, LARGEST, LEVEL = range(7)
LEVELS = 16
STATE_SIZE = LEVEL + LEVELS


@njit(cache=True, nogil=True)
def start(centre, indptr, indices, heavy_id, mark, memo, queue, excluded, state):
    """Stamp the centre (level 0) and its neighbours (level 1)."""
    if state[BASE] > 0x7FFFFFFF - 4 * LEVELS:
        mark[:] = 0
        memo[:] = 0
        state[BASE] = 0
    state[BASE] += LEVELS
    state[POOLED] = 0
    state[RADIUS] = 0
    mark[centre] = state[BASE]
    queue[0] = centre
    state[LEVEL] = 0
    state[LEVEL + 1] = 1
    excluded[0] = 0
    _exclude(centre, 0, heavy_id, excluded)
    extend(indptr, indices, heavy_id, mark, queue, excluded, state)


@njit(cache=True, nogil=True, inline="always")
def _exclude(node, level, heavy_id, excluded):
    """Set the bit of a heavy node in the set of those within `level`."""
    h = heavy_id[node]
    if h >= 0:
        excluded[level, h >> 6] |= np.uint64(1) << np.uint64(h & 63)


@njit(cache=True, nogil=True)
def extend(indptr, indices, heavy_id, mark, queue, excluded, state):
    """Stamp the next level; PRICE becomes what the one after it would cost."""
    base = state[BASE]
    level = state[RADIUS] + 1
    tail = state[LEVEL + level]
    price = np.int64(0)
    excluded[level] = excluded[level - 1]
    for i in range(state[LEVEL + level - 1], state[LEVEL + level]):
        w = queue[i]
        for e in range(indptr[w], indptr[w + 1]):
            x = indices[e]
            if mark[x] < base:
                mark[x] = base + level
                queue[tail] = x
                tail += 1
                price += indptr[x + 1] - indptr[x]
                _exclude(x, level, heavy_id, excluded)
    state[LEVEL + level + 1] = tail
    state[RADIUS] = level
    state[SPENT] = 0
    state[PRICE] = price


@njit(cache=True, nogil=True)
def touches_ball(x, indptr, indices, r_indptr, r_indices, mark, queue, state):
    """Whether a predecessor of x is stamped: scan them, or look for x from the outermost level."""
    base, level = state[BASE], state[RADIUS]
    begin, end = r_indptr[x], r_indptr[x + 1]
    rim_begin, rim_end = state[LEVEL + level], state[LEVEL + level + 1]
    if (end - begin) > 8 * (rim_end - rim_begin):
        for i in range(rim_begin, rim_end):
            state[SPENT] += 8
            if contains(indices, indptr[queue[i]], indptr[queue[i] + 1], x):
                return True
        return False
    for e in range(begin, end):
        if mark[r_indices[e]] >= base:
            state[SPENT] += e - begin + 1
            return True
    state[SPENT] += end - begin
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
