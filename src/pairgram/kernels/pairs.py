"""Pairs Sampling: the successors of every branch, drawn exactly uniformly at the next distance.

Branches are drawn in batches: the first try of all of them, the second of those rejected, and so
on. No step of this waits for the one before it nor branches on a random outcome, so the memory and
the processor are kept busy; a mispredicted branch or a cache miss per try would cost several times
the work itself.
"""

import numpy as np

from pairgram.kernels.jit import njit
from pairgram.kernels.memory import prefetch
from pairgram.kernels.neighbourhoods import BASE, CALL, PRICE, SPENT, reach, start, touches_ball
from pairgram.kernels.rng import below, fold, stream
from pairgram.kernels.sizes import DRAWN_TOGETHER as BATCH
from pairgram.kernels.successors import DEAD, SEEN, draw_listed

TRIES = 8
ENUMERATE_UP_TO = 4


@njit(cache=True, nogil=True, error_model="numpy", no_cfunc_wrapper=True)
def sample_block(
    centres, order, times, seed, unique, largest, allowance,
    indptr, indices, r_indptr, r_indices,
    heavy_id, heavy_nodes, bits, light_indptr, light_indices,
    mark, fate, place, queue, excluded, pool, slot, node, key, spot, taken, state,
    out_centre, out_context, out_order, out_round,
):  # fmt: skip
    """Sample `times` rounds around every centre; return the number of pairs written.

    Rows come by centre, round, order, position of the parent. The stream of a draw is
    (seed, round, centre, order, branch, attempt), so nothing else changes it.
    """
    written = np.int64(0)
    for i in range(centres.shape[0]):
        u = np.int64(centres[i])
        degree = indptr[u + 1] - indptr[u]
        if degree == 0:
            continue
        first = written
        start(u, allowance * times * degree, indptr, indices, mark, fate, queue, state)
        together = max(1, min(taken.shape[0], BATCH // degree))
        for low in range(0, times, together):
            high = min(times, low + together)
            _draw_rounds(
                u, low, high, allowance * times * degree, order, seed, written, largest,
                indptr, indices, r_indptr, r_indices,
                heavy_id, heavy_nodes, bits, light_indptr, light_indices,
                mark, fate, place, queue, excluded, pool, slot, node, key, spot, taken, state,
                out_context,
            )  # fmt: skip
            written = _close_ranks(
                low, high, order, degree, written, taken, out_context, out_order, out_round
            )
        if unique:
            written = _drop_repeats(first, written, fate, state, out_context, out_order, out_round)
        for k in range(first, written):
            out_centre[k] = u
    return written


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _draw_rounds(
    u, low, high, allowance, order, seed, begin, largest,
    indptr, indices, r_indptr, r_indices,
    heavy_id, heavy_nodes, bits, light_indptr, light_indices,
    mark, fate, place, queue, excluded, pool, slot, node, key, spot, taken, state,
    out_context,
):  # fmt: skip
    """Order 1 whole, then a uniform successor of each branch, distance by distance.

    Round r keeps its nodes of order o from place begin + ((r - low)·order + o - 1)·degree on, and
    taken[r - low, o] of them. In a batch, branches to try come first, and those whose neighbours
    are few, to be listed at once, come from BATCH on. A branch that ends holds its own node.
    """
    row, degree = indptr[u], indptr[u + 1] - indptr[u]
    for r in range(high - low):
        at = begin + r * order * degree
        for e in range(degree):
            out_context[at + e] = indices[row + e]
        taken[r, 1] = degree
    left = (high - low) * degree
    for distance in range(1, order):
        many, few = np.int64(0), np.int64(0)
        for r in range(high - low):
            round_key = fold(stream(seed, low + r, u), distance)
            source = begin + (r * order + distance - 1) * degree
            for b in range(taken[r, distance]):
                w = np.int64(out_context[source + b])
                out_context[source + degree + b] = w
                alive = fate[w] != state[BASE] + DEAD
                short = indptr[w + 1] - indptr[w] <= ENUMERATE_UP_TO
                i = BATCH + few if short else many
                slot[i] = source + degree + b
                node[i] = w
                key[i] = fold(round_key, b)
                many += alive & (not short)
                few += alive & short
                left -= 1
                if many + few == BATCH or left == 0:
                    _draw_batch(
                        many, few, distance, order - 1, allowance, largest,
                        indptr, indices, r_indptr, r_indices,
                        heavy_id, heavy_nodes, bits, light_indptr, light_indices,
                        mark, fate, place, queue, excluded, pool, slot, node, key, spot, state,
                        out_context,
                    )  # fmt: skip
                    many, few = np.int64(0), np.int64(0)
        for r in range(high - low):
            source = begin + (r * order + distance - 1) * degree
            taken[r, distance + 1] = _keep_drawn(source, degree, taken[r, distance], out_context)
            left += taken[r, distance + 1]


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _draw_batch(
    many, few, distance, last, allowance, largest,
    indptr, indices, r_indptr, r_indices,
    heavy_id, heavy_nodes, bits, light_indptr, light_indices,
    mark, fate, place, queue, excluded, pool, slot, node, key, spot, state,
    out_context,
):  # fmt: skip
    """Draw a successor for each branch of a batch: by rejection, then from its list."""
    if not reach(distance, last, allowance, indptr, indices, mark, queue, state):
        done, few = _try_locally(
            many, few, distance, indptr, indices, r_indptr, r_indices, mark, queue,
            slot, node, key, state, out_context,
        )  # fmt: skip
        many -= done
        for i in range(many):
            slot[i], node[i], key[i] = slot[done + i], node[done + i], key[done + i]
        # What the lists would cost by local tests is counted before it is spent.
        for i in range(BATCH, BATCH + few):
            w = np.int64(node[i])
            state[SPENT] += CALL * (indptr[w + 1] - indptr[w])
        reach(distance, last, allowance, indptr, indices, mark, queue, state)
    few = _try_stamped(
        many, few, state[BASE] + distance, indptr, indices, mark, slot, node, key, spot, out_context
    )
    draw_listed(
        BATCH, BATCH + few, distance, TRIES, largest,
        indptr, indices, r_indptr, r_indices,
        heavy_id, heavy_nodes, bits, light_indptr, light_indices,
        mark, fate, place, queue, excluded, pool, slot, node, key, state, out_context,
    )  # fmt: skip


@njit(cache=True, nogil=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _try_stamped(many, few, limit, indptr, indices, mark, slot, node, key, spot, out_context):
    """Try all branches once, then the rejected ones again, and so on; the rest are to be listed.

    Every try is written down; the next one of the same branch overwrites it.
    """
    for attempt in range(TRIES):
        for i in range(many):
            w = np.int64(node[i])
            row = indptr[w]
            spot[i] = row + below(fold(key[i], attempt), indptr[w + 1] - row)
            prefetch(indices, spot[i])
        kept = np.uint64(0)
        for i in range(many):
            x = np.int64(indices[spot[i]])
            out_context[slot[i]] = x
            node[kept], key[kept], slot[kept] = node[i], key[i], slot[i]
            kept += np.uint64(mark[x] <= limit)
        many = np.int64(kept)
    for i in range(many):
        node[BATCH + few], key[BATCH + few], slot[BATCH + few] = node[i], key[i], slot[i]
        few += 1
    return few


@njit(cache=True, nogil=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _try_locally(
    many, few, distance, indptr, indices, r_indptr, r_indices, mark, queue, slot, node, key, state,
    out_context,
):  # fmt: skip
    """Try branches by local tests until these cost as much as stamping; return how many were."""
    limit = state[BASE] + distance
    done = np.int64(0)
    while done < many and state[SPENT] < state[PRICE]:
        w = np.int64(node[done])
        row, size = indptr[w], indptr[w + 1] - indptr[w]
        attempt, x = 0, w
        while x == w and attempt < TRIES:
            tried = np.int64(indices[row + below(fold(key[done], attempt), size)])
            attempt += 1
            if mark[tried] > limit and not touches_ball(
                tried, indptr, indices, r_indptr, r_indices, mark, queue, state
            ):
                x = tried
        out_context[slot[done]] = x
        node[BATCH + few], key[BATCH + few], slot[BATCH + few] = w, key[done], slot[done]
        few += x == w
        done += 1
    return done, few


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _keep_drawn(source, degree, count, out_context):
    """Close the gaps among the successors; a branch that ended holds its own node instead."""
    kept = source + degree
    for b in range(count):
        x = out_context[source + degree + b]
        out_context[kept] = x
        kept += x != out_context[source + b]
    return kept - source - degree


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _close_ranks(low, high, order, degree, written, taken, out_context, out_order, out_round):
    """Close the gaps between orders and rounds; return the new end."""
    begin = written
    for r in range(high - low):
        for o in range(order):
            source = begin + (r * order + o) * degree
            for b in range(taken[r, o + 1]):
                out_context[written] = out_context[source + b]
                out_order[written] = o + 1
                out_round[written] = low + r
                written += 1
    return written


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _drop_repeats(first, end, fate, state, out_context, out_order, out_round):
    """Keep the first pair of every context of one centre; return the new end."""
    seen = state[BASE] + SEEN
    kept = first
    for i in range(first, end):
        v = np.int64(out_context[i])
        if fate[v] != seen:
            fate[v] = seen
            out_context[kept] = v
            out_order[kept] = out_order[i]
            out_round[kept] = out_round[i]
            kept += 1
    return kept
