"""Random walks of first and second order, their window pairs, and edges drawn by weight."""

import numpy as np
from numba import njit

from pairgram.kernels.neighbourhoods import contains
from pairgram.kernels.rng import below, fold, round_randomly, stream, unit

TRIES = 128


@njit(cache=True, nogil=True)
def sum_rows(indptr, weight, running):
    """running[e] = Σ weight over the arcs of e's row up to and with e.

    Every row starts from 0: in one sum over all rows a light row would drown in the rounding.
    """
    for v in range(indptr.shape[0] - 1):
        total = 0.0
        for e in range(indptr[v], indptr[v + 1]):
            total += weight[e]
            running[e] = total


@njit(cache=True, nogil=True, inline="always")
def _neighbour(key, begin, end, running):
    """Arc begin..end-1: uniform, or by weight where `running` (m) holds the sums of the rows."""
    if running.shape[0] == 0:
        return begin + below(key, end - begin)
    goal = unit(key) * running[end - 1]
    low, high = begin, end - 1
    while low < high:
        middle = (low + high) >> 1
        if running[middle] <= goal:
            low = middle + 1
        else:
            high = middle
    return low


@njit(cache=True, nogil=True)
def walk_first_order(starts, rounds, length, seed, indptr, indices, running, out):
    """Walks of `length` nodes into out (k, length); -1 after a node without a way on.

    Step t of the walk (round, start) is a function of (seed, round, start, t) alone.
    """
    for i in range(starts.shape[0]):
        v = np.int64(starts[i])
        key = stream(seed, rounds[i], v)
        out[i, 0] = v
        for t in range(1, length):
            begin, end = indptr[v], indptr[v + 1]
            if begin == end:
                out[i, t:] = -1
                break
            v = np.int64(indices[_neighbour(fold(key, t), begin, end, running)])
            out[i, t] = v


@njit(cache=True, nogil=True)
def walk_second_order(starts, rounds, length, seed, p, q, indptr, indices, running, out):
    """Walks of node2vec: from t over v to x with weight w(v, x)·α, α = 1/p, 1 or 1/q.

    α is 1/p for x = t, 1 for a neighbour x of t, 1/q otherwise. Drawn by rejection from the
    first-order step, which is exact and needs no table per pair of edges; after a number of tries,
    TRIES + arcs of the row, from the whole row, so that extreme p and q have a bounded cost.
    """
    back, far = 1.0 / p, 1.0 / q
    most = max(back, 1.0, far)
    for i in range(starts.shape[0]):
        v = np.int64(starts[i])
        before = np.int64(-1)
        key = stream(seed, rounds[i], v)
        out[i, 0] = v
        for t in range(1, length):
            begin, end = indptr[v], indptr[v + 1]
            if begin == end:
                out[i, t:] = -1
                break
            step_key = fold(key, t)
            arc = np.int64(-1)
            if before < 0:
                arc = _neighbour(fold(step_key, 0), begin, end, running)
            tries = TRIES + end - begin
            attempt = 0
            while arc < 0 and attempt < 2 * tries:
                chosen = _neighbour(fold(step_key, attempt), begin, end, running)
                height = unit(fold(step_key, attempt + 1)) * most
                attempt += 2
                x = np.int64(indices[chosen])
                # Looking x up is the cost, so only heights that it decides on come to it.
                if (x != before and height < min(1.0, far)) or (
                    (x == before or height < max(1.0, far))
                    and height < _alpha(x, before, back, far, indptr, indices)
                ):
                    arc = chosen
            if arc < 0:
                arc = _whole_row(
                    fold(step_key, attempt), before, begin, end, back, far, indptr, indices, running
                )
            before = v
            v = np.int64(indices[arc])
            out[i, t] = v


@njit(cache=True, nogil=True, inline="always")
def _alpha(x, before, back, far, indptr, indices):
    """1/p, 1 or 1/q of node2vec for a step to x that came from `before`."""
    if x == before:
        return back
    return 1.0 if contains(indices, indptr[before], indptr[before + 1], x) else far


@njit(cache=True, nogil=True)
def _whole_row(key, before, begin, end, back, far, indptr, indices, running):
    """Arc begin..end-1 in proportion to weight·α, by summing the row."""
    total = 0.0
    for e in range(begin, end):
        total += _pull(e, before, begin, back, far, indptr, indices, running)
    goal = unit(key) * total
    for e in range(begin, end):
        goal -= _pull(e, before, begin, back, far, indptr, indices, running)
        if goal < 0:
            return e
    return end - 1


@njit(cache=True, nogil=True, inline="always")
def _pull(e, before, begin, back, far, indptr, indices, running):
    """Weight·α of arc e."""
    weight = 1.0
    if running.shape[0] > 0:
        weight = running[e] - (running[e - 1] if e > begin else 0.0)
    return weight * _alpha(np.int64(indices[e]), before, back, far, indptr, indices)


@njit(cache=True, nogil=True)
def count_window_pairs(walks, window, low, high, count):
    """Add to count[u - low] the window pairs whose centre u is in low..high-1."""
    for i in range(walks.shape[0]):
        length = _length(walks, i)
        for t in range(length):
            u = walks[i, t]
            if low <= u < high:
                count[u - low] += min(t, window) + min(length - 1 - t, window)


@njit(cache=True, nogil=True)
def place_window_pairs(walks, window, low, high, place, context):
    """Write the contexts of the centres low..high-1, each centre's from place[u - low] on."""
    for i in range(walks.shape[0]):
        length = _length(walks, i)
        for t in range(length):
            u = walks[i, t]
            if low <= u < high:
                at = place[u - low]
                for s in range(max(0, t - window), min(length, t + window + 1)):
                    if s != t:
                        context[at] = walks[i, s]
                        at += 1
                place[u - low] = at


@njit(cache=True, nogil=True, inline="always")
def _length(walks, i):
    """Nodes of walk i before the first -1."""
    length = walks.shape[1]
    while length > 0 and walks[i, length - 1] < 0:
        length -= 1
    return length


@njit(cache=True, nogil=True)
def count_edge_draws(centres, turn, seed, per_arc, strength, mean, count):
    """Draws of each centre: its strength over the mean arc weight, times per_arc, randomly rounded.

    The expected number of draws of an arc is per_arc·weight / mean weight.
    """
    for i in range(centres.shape[0]):
        u = np.int64(centres[i])
        expected = strength[u] / mean * per_arc
        count[i] = round_randomly(expected, stream(seed, turn, u))


@njit(cache=True, nogil=True)
def draw_edges(centres, turn, seed, count, indptr, indices, running, out_centre, out_context):
    """count[i] neighbours of each centre, by weight, with replacement."""
    at = np.int64(0)
    for i in range(centres.shape[0]):
        u = np.int64(centres[i])
        key = fold(stream(seed, turn, u), 0)
        for k in range(count[i]):
            arc = _neighbour(fold(key, k), indptr[u], indptr[u + 1], running)
            out_centre[at] = u
            out_context[at] = indices[arc]
            at += 1
