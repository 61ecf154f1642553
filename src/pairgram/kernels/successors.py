"""All successors of a node at the next distance, listed exactly and drawn from.

Lists that were made for the centre are kept in `pool`, each behind its length, while there is room;
`fate` says of a node whether it was LISTED for this centre or is DEAD, that is without successor.
Heavy nodes, those of large degree, know each other by bit sets; their light neighbours are listed
apart. So a dense core is searched 64 nodes at a time.
"""

import numpy as np

from pairgram.kernels.jit import njit
from pairgram.kernels.neighbourhoods import (
    BASE,
    EXCLUDED,
    POOLED,
    RADIUS,
    touches_ball,
)
from pairgram.kernels.rng import below, fold

LISTED, DEAD, SEEN = 0, 1, 2
_ONE = np.uint64(1)
_DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
_DE_BRUIJN_TABLE = np.empty(64, np.int8)
_DE_BRUIJN_TABLE[[((0x03F79D71B4CB0A89 << i) & (2**64 - 1)) >> 58 for i in range(64)]] = range(64)


@njit(cache=True, nogil=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def draw_listed(
    begin, end, distance, attempt, largest,
    indptr, indices, r_indptr, r_indices,
    heavy_id, heavy_nodes, bits, light_indptr, light_indices,
    mark, fate, place, queue, excluded, pool, slot, node, key, state,
    out_context,
):  # fmt: skip
    """For every branch begin..end-1 draw from the list of all its successors, or its own node."""
    base = state[BASE]
    for i in range(begin, end):
        w = np.int64(node[i])
        out_context[slot[i]] = w
        if fate[w] == base + DEAD:
            continue
        if fate[w] == base + LISTED:
            first = np.int64(place[w])
            count = np.int64(pool[first - 1])
        else:
            first = state[POOLED] + 1
            h = heavy_id[w]
            if h < 0:
                tail = _filter(
                    indices, indptr[w], indptr[w + 1], base + distance, first, mark, pool
                )
            else:
                tail = _filter(
                    light_indices, light_indptr[h], light_indptr[h + 1], base + distance, first,
                    mark, pool,
                )  # fmt: skip
                tail = _append_heavy(
                    h, distance, tail, heavy_nodes, bits, mark, excluded, pool, state
                )
            if state[RADIUS] < distance:
                tail = _keep_farther(
                    first, tail, indptr, indices, r_indptr, r_indices, mark, queue, pool, state
                )
            count = tail - first
            if count == 0:
                fate[w] = base + DEAD
            elif tail + 1 + largest <= pool.shape[0]:
                fate[w] = base + LISTED
                place[w] = first
                pool[first - 1] = count
                state[POOLED] = tail
        if count > 0:
            out_context[slot[i]] = pool[first + below(fold(key[i], attempt), count)]


@njit(cache=True, nogil=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _filter(source, begin, end, limit, tail, mark, pool):
    """Append those of source[begin:end] that are marked above `limit` to the pool."""
    for e in range(begin, end):
        x = np.int64(source[e])
        pool[tail] = x
        tail += mark[x] > limit
    return tail


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _keep_farther(first, tail, indptr, indices, r_indptr, r_indices, mark, queue, pool, state):
    """Drop from pool[first:tail] what the local test finds next to the ball."""
    kept = first
    for i in range(first, tail):
        x = np.int64(pool[i])
        if not touches_ball(x, indptr, indices, r_indptr, r_indices, mark, queue, state):
            pool[kept] = x
            kept += 1
    return kept


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _append_heavy(h, distance, tail, heavy_nodes, bits, mark, excluded, pool, state):
    """Append the heavy neighbours of heavy node h that are not stamped within `distance`."""
    level = min(np.int64(distance), state[RADIUS])
    if state[EXCLUDED] != level:
        _exclude(level, heavy_nodes, mark, excluded, state)
    for word in range(bits.shape[1]):
        left = bits[h, word] & ~excluded[word]
        while left != 0:
            lowest = left & (~left + _ONE)
            left ^= lowest
            bit = _DE_BRUIJN_TABLE[np.int64((lowest * _DE_BRUIJN) >> np.uint64(58))]
            pool[tail] = heavy_nodes[word * 64 + bit]
            tail += 1
    return tail


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _exclude(level, heavy_nodes, mark, excluded, state):
    """Bit set of the heavy nodes stamped within `level`."""
    limit = state[BASE] + level
    for word in range(excluded.shape[0]):
        excluded[word] = 0
    for h in range(heavy_nodes.shape[0]):
        near = np.uint64(mark[np.int64(heavy_nodes[h])] <= limit)
        excluded[h >> 6] |= near << np.uint64(h & 63)
    state[EXCLUDED] = level
