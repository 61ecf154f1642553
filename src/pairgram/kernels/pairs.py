"""Pairs Sampling: the successors of every branch, drawn exactly uniformly at the next distance."""

import numpy as np
from numba import njit

from pairgram.kernels.neighbourhoods import (
    BASE,
    LARGEST,
    LEVELS,
    POOLED,
    PRICE,
    RADIUS,
    SPENT,
    extend,
    start,
    touches_ball,
)
from pairgram.kernels.rng import below, fold, stream

TRIES = 8
ENUMERATE_UP_TO = 4
_ONE = np.uint64(1)
_DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
_DE_BRUIJN_TABLE = np.empty(64, np.int8)
_DE_BRUIJN_TABLE[[((0x03F79D71B4CB0A89 << i) & (2**64 - 1)) >> 58 for i in range(64)]] = range(64)


@njit(cache=True, nogil=True)
def sample_block(
    centres, order, times, seed, unique,
    indptr, indices, r_indptr, r_indices,
    heavy_id, heavy_nodes, bits, light_indptr, light_indices,
    mark, memo, queue, excluded, pool, state,
    out_centre, out_context, out_order, out_round,
):  # fmt: skip
    """Sample `times` rounds around every centre; return the number of pairs written.

    Rows come by centre, round, order, position of the parent. The stream of a draw is
    (seed, round, centre, order, branch, attempt), so nothing else changes it.
    """
    written = np.int64(0)
    for i in range(centres.shape[0]):
        u = np.int64(centres[i])
        first = written
        if indptr[u] < indptr[u + 1]:
            start(u, indptr, indices, heavy_id, mark, memo, queue, excluded, state)
            for r in range(times):
                written = _sample_round(
                    u, r, order, stream(seed, r, u),
                    indptr, indices, r_indptr, r_indices,
                    heavy_id, heavy_nodes, bits, light_indptr, light_indices,
                    mark, memo, queue, excluded, pool, state,
                    written, out_context, out_order, out_round,
                )  # fmt: skip
        if unique:
            written = _drop_repeats(first, written, memo, state, out_context, out_order, out_round)
        out_centre[first:written] = u
    return written


@njit(cache=True, nogil=True)
def _sample_round(
    u, r, order, key,
    indptr, indices, r_indptr, r_indices,
    heavy_id, heavy_nodes, bits, light_indptr, light_indices,
    mark, memo, queue, excluded, pool, state,
    written, out_context, out_order, out_round,
):  # fmt: skip
    """Order 1 whole; then for each branch a uniform successor: by rejection, or exactly."""
    base = state[BASE]
    first = written
    begin = written
    for e in range(indptr[u], indptr[u + 1]):
        out_context[written] = indices[e]
        out_order[written] = 1
        written += 1
    for distance in range(1, order):
        end = written
        order_key = fold(key, distance)
        for b in range(begin, end):
            w = np.int64(out_context[b])
            if memo[w, 0] == base and memo[w, 2] == 0:
                continue
            while state[RADIUS] < distance and (
                state[RADIUS] < distance - 1 or state[SPENT] > state[PRICE]
            ):
                extend(indptr, indices, heavy_id, mark, queue, excluded, state)
            stamped = state[RADIUS] >= distance
            branch_key = fold(order_key, b - begin)
            at, size = indptr[w], indptr[w + 1] - indptr[w]
            taken = np.int64(-1)
            if size > ENUMERATE_UP_TO:
                for attempt in range(TRIES):
                    x = np.int64(indices[at + below(fold(branch_key, attempt), size)])
                    level = mark[x] - base
                    if level > distance or (
                        level < 0
                        and (
                            stamped
                            or not touches_ball(
                                x, indptr, indices, r_indptr, r_indices, mark, queue, state
                            )
                        )
                    ):
                        taken = x
                        break
            if taken < 0:
                taken = _exact_successor(
                    w, distance, fold(branch_key, TRIES),
                    indptr, indices, r_indptr, r_indices,
                    heavy_id, heavy_nodes, bits, light_indptr, light_indices,
                    mark, memo, queue, excluded, pool, state,
                )  # fmt: skip
            if taken >= 0:
                out_context[written] = taken
                out_order[written] = distance + 1
                written += 1
        begin = end
    out_round[first:written] = r
    return written


@njit(cache=True, nogil=True)
def _exact_successor(
    w, distance, key,
    indptr, indices, r_indptr, r_indices,
    heavy_id, heavy_nodes, bits, light_indptr, light_indices,
    mark, memo, queue, excluded, pool, state,
):  # fmt: skip
    """Draw from the list of all successors of w, or -1; the list is remembered while there is room.

    The pool is longer than what is remembered by the largest degree, so a list always fits.
    """
    if memo[w, 0] == state[BASE]:
        first, count = np.int64(memo[w, 1]), np.int64(memo[w, 2])
    else:
        first = state[POOLED]
        h = heavy_id[w]
        if h < 0:
            tail = _filter(
                indices, indptr[w], indptr[w + 1], distance, first,
                indptr, indices, r_indptr, r_indices, mark, queue, pool, state,
            )  # fmt: skip
        else:
            tail = _filter(
                light_indices, light_indptr[h], light_indptr[h + 1], distance, first,
                indptr, indices, r_indptr, r_indices, mark, queue, pool, state,
            )  # fmt: skip
            tail = _heavy_candidates(h, distance, tail, heavy_nodes, bits, excluded, pool, state)
            tail = _keep_farther(
                first, tail, distance, indptr, indices, r_indptr, r_indices, mark, queue, pool,
                state,
            )  # fmt: skip
        count = tail - first
        if count == 0 or tail <= pool.shape[0] - state[LARGEST]:
            memo[w, 0] = state[BASE]
            memo[w, 1] = first
            memo[w, 2] = count
            state[POOLED] = tail
    if count == 0:
        return np.int64(-1)
    return np.int64(pool[first + below(key, count)])


@njit(cache=True, nogil=True)
def _filter(
    source, begin, end, distance, tail,
    indptr, indices, r_indptr, r_indices, mark, queue, pool, state,
):  # fmt: skip
    """Append those of source[begin:end] that are farther than `distance` to the pool."""
    first = tail
    base, stamped = state[BASE], state[RADIUS] >= distance
    for e in range(begin, end):
        x = source[e]
        level = mark[x] - base
        if level > distance or level < 0:
            pool[tail] = x
            tail += 1
    if stamped:
        return tail
    return _keep_farther(
        first, tail, distance, indptr, indices, r_indptr, r_indices, mark, queue, pool, state
    )


@njit(cache=True, nogil=True)
def _keep_farther(
    first, tail, distance, indptr, indices, r_indptr, r_indices, mark, queue, pool, state
):
    """Drop from pool[first:tail] what the local test finds within `distance`."""
    if state[RADIUS] >= distance:
        return tail
    base = state[BASE]
    kept = first
    for i in range(first, tail):
        x = np.int64(pool[i])
        if mark[x] >= base or not touches_ball(
            x, indptr, indices, r_indptr, r_indices, mark, queue, state
        ):
            pool[kept] = x
            kept += 1
    return kept


@njit(cache=True, nogil=True)
def _heavy_candidates(h, distance, tail, heavy_nodes, bits, excluded, pool, state):
    """Append the heavy neighbours of heavy node h that are not stamped within `distance`."""
    level = min(np.int64(distance), state[RADIUS])
    for word in range(bits.shape[1]):
        left = bits[h, word] & ~excluded[level, word]
        while left != 0:
            lowest = left & (~left + _ONE)
            left ^= lowest
            bit = _DE_BRUIJN_TABLE[np.int64((lowest * _DE_BRUIJN) >> np.uint64(58))]
            pool[tail] = heavy_nodes[word * 64 + bit]
            tail += 1
    return tail


@njit(cache=True, nogil=True)
def _drop_repeats(first, end, memo, state, out_context, out_order, out_round):
    """Keep the first pair of every context of one centre; return the new end."""
    state[BASE] += LEVELS
    kept = first
    for i in range(first, end):
        v = out_context[i]
        if memo[v, 0] != state[BASE]:
            memo[v, 0] = state[BASE]
            out_context[kept] = v
            out_order[kept] = out_order[i]
            out_round[kept] = out_round[i]
            kept += 1
    return kept


@njit(cache=True, nogil=True)
def split_heavy(indptr, indices, heavy_nodes, heavy_id):
    """Bit set of heavy neighbours and list of light ones, for every heavy node."""
    count = heavy_nodes.shape[0]
    bits = np.zeros((count, (count + 63) // 64), np.uint64)
    light_indptr = np.zeros(count + 1, np.int64)
    for h in range(count):
        w = heavy_nodes[h]
        light_indptr[h + 1] = light_indptr[h]
        for e in range(indptr[w], indptr[w + 1]):
            g = heavy_id[indices[e]]
            if g >= 0:
                bits[h, g >> 6] |= _ONE << np.uint64(g & 63)
            else:
                light_indptr[h + 1] += 1
    light_indices = np.empty(light_indptr[count], indices.dtype)
    tail = 0
    for h in range(count):
        w = heavy_nodes[h]
        for e in range(indptr[w], indptr[w + 1]):
            if heavy_id[indices[e]] < 0:
                light_indices[tail] = indices[e]
                tail += 1
    return bits, light_indptr, light_indices
