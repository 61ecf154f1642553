"""Random walks of first and second order, their window pairs, and edges drawn by weight."""

import numpy as np

from pairgram.kernels.jit import njit
from pairgram.kernels.memory import prefetch
from pairgram.kernels.neighbourhoods import contains
from pairgram.kernels.rng import GOLDEN, below, fold, round_randomly, stream, unit

TRIES = 128
_ONE, _BYTE, _IN_BYTE = np.uint64(1), np.uint64(3), np.uint64(7)
_S11, _S32 = np.uint64(11), np.uint64(32)


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


@njit(cache=True, nogil=True, error_model="numpy")
def walk_first_order(
    starts, rounds, length, seed, indptr, indices, running, who, key, at, spot, out
):
    """Walks of `length` nodes into out (k, length); -1 after a node without a way on.

    Step t of the walk (round, start) is a function of (seed, round, start, t) alone. A group of
    walkers moves in lockstep: all choose their arcs, then all follow them, so that the loads of
    one do not wait for those of another. Walker j writes row who[j].
    """
    for first in range(0, starts.shape[0], who.shape[0]):
        walkers = min(who.shape[0], starts.shape[0] - first)
        for j in range(walkers):
            v = np.int64(starts[first + j])
            who[j], at[j], key[j] = first + j, v, stream(seed, rounds[first + j], v)
            out[first + j, 0] = v
        for t in range(1, length):
            j = 0
            while j < walkers:
                v = np.int64(at[j])
                begin, end = indptr[v], indptr[v + 1]
                if begin < end:
                    spot[j] = _neighbour(fold(key[j], t), begin, end, running)
                    prefetch(indices, spot[j])
                    j += 1
                else:
                    _end_walk(who[j], t, out)
                    walkers -= 1
                    who[j], at[j], key[j] = who[walkers], at[walkers], key[walkers]
            for j in range(walkers):
                x = np.int64(indices[spot[j]])
                prefetch(indptr, x)
                at[j] = x
                out[who[j], t] = x


@njit(cache=True, nogil=True, error_model="numpy")
def walk_second_order(
    starts, rounds, length, seed, p, q, symmetric, indptr, indices, running, arcs,
    who, key, at, spot, before, step, attempt, height, accept, ask, out,
):  # fmt: skip
    """Walks of node2vec: from t over v to x with weight w(v, x)·α, α = 1/p, 1 or 1/q.

    α is 1/p for x = t, 1 for a neighbour x of t, 1/q otherwise. Drawn by rejection from the
    first-order step, which is exact and needs no table per pair of edges; after a number of tries,
    TRIES + arcs of the row, from the whole row, so that extreme p and q have a bounded cost.

    In every turn each walker of a group has one try, wherever in its walk it is, and moves on if
    it is accepted, without a branch. A walker at its end takes up the next start.
    """
    back, far = 1.0 / p, 1.0 / q
    most, sure, hopeful = max(back, 1.0, far), min(1.0, far), max(1.0, far)
    todo, walkers = _next_start(0, starts, indptr, out), np.int64(0)
    while walkers < who.shape[0] and todo < starts.shape[0]:
        _begin_walk(walkers, todo, seed, starts, rounds, who, key, at, before, step, attempt, out)
        todo = _next_start(todo + 1, starts, indptr, out)
        walkers += 1
    while walkers > 0:
        for j in range(walkers):
            v, step_key = np.int64(at[j]), fold(key[j], step[j])
            begin, end = indptr[v], indptr[v + 1]
            spot[j] = _neighbour(fold(step_key, attempt[j]), begin, end, running)
            prefetch(indices, spot[j])
            height[j] = unit(fold(step_key, attempt[j] + 1)) * most
            if step[j] == 1:
                height[j] = -1.0
            elif attempt[j] >= 2 * (TRIES + end - begin):
                height[j] = -1.0
                spot[j] = _whole_row(
                    fold(step_key, attempt[j]), np.int64(before[j]), begin, end, back, far,
                    indptr, indices, running,
                )  # fmt: skip
        asked = _judge(
            walkers, back, sure, hopeful, far, indices, spot, before, height, arcs, ask, accept
        )
        for k in range(asked):
            j = ask[k]
            a, x = np.int64(before[j]), np.int64(indices[spot[j]])
            if symmetric and indptr[x + 1] - indptr[x] < indptr[a + 1] - indptr[a]:
                a, x = x, a
            accept[j] = _holds(indices, indptr[a], indptr[a + 1], x) == (far < 1.0)
        moved = np.uint64(0)
        for j in range(walkers):
            ask[moved] = j
            moved += np.uint64(accept[j])
            attempt[j] += 2
        for k in range(np.int64(moved) - 1, -1, -1):
            j = ask[k]
            t, x = step[j], np.int64(indices[spot[j]])
            out[who[j], t] = x
            before[j], at[j], attempt[j], step[j] = at[j], x, 0, t + 1
            if t + 1 < length and indptr[x] < indptr[x + 1]:
                continue
            _end_walk(who[j], t + 1, out)
            if todo < starts.shape[0]:
                _begin_walk(j, todo, seed, starts, rounds, who, key, at, before, step, attempt, out)
                todo = _next_start(todo + 1, starts, indptr, out)
            else:
                walkers -= 1
                who[j], key[j], at[j] = who[walkers], key[walkers], at[walkers]
                before[j], step[j] = before[walkers], step[walkers]
                attempt[j] = attempt[walkers]


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _next_start(i, starts, indptr, out):
    """The first start from i on that has a way on; the others' walks are written at once."""
    while i < starts.shape[0] and indptr[starts[i]] == indptr[starts[i] + 1]:
        out[i, 0] = starts[i]
        _end_walk(i, 1, out)
        i += 1
    return i


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _begin_walk(j, i, seed, starts, rounds, who, key, at, before, step, attempt, out):
    """Let walker j take up start i."""
    v = np.int64(starts[i])
    who[j], at[j], before[j], key[j] = i, v, v, stream(seed, rounds[i], v)
    step[j], attempt[j] = 1, 0
    out[i, 0] = v


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _end_walk(i, t, out):
    """Fill walk i from step t on with -1."""
    for s in range(t, out.shape[1]):
        out[i, s] = -1


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _judge(
    walkers, back, sure, hopeful, far, indices, spot, before, height, arcs, ask, accept
):  # fmt: skip
    """Accept or reject every try; return the number of those in `ask`, to be looked up.

    Looking a node up is the cost: only heights that it decides on come to it, and only arcs that
    the filter does not rule out.
    """
    asked = np.uint64(0)
    for j in range(walkers):
        near, x, h = np.int64(before[j]), np.int64(indices[spot[j]]), height[j]
        returns = x == near
        accept[j] = h < (back if returns else sure)
        ask[asked] = j
        asked += np.uint64((not returns) & (h >= sure) & (h < hopeful))
    left = np.uint64(0)
    for k in range(np.int64(asked)):
        j = ask[k]
        bit = _arc_bit(np.int64(before[j]), np.int64(indices[spot[j]]), arcs.shape[0])
        accept[j] = far > 1.0
        ask[left] = j
        left += (arcs[bit >> _BYTE] >> (bit & _IN_BYTE)) & _ONE
    return np.int64(left)


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _arc_bit(a, x, size):
    """Where the filter of `size` bytes, a power of two, has the bit of arc a -> x."""
    code = (np.uint64(a) * GOLDEN + np.uint64(x)) * GOLDEN
    return (code >> _S32 ^ code >> _S11) & (np.uint64(8 * size) - _ONE)


@njit(cache=True, nogil=True, error_model="numpy")
def set_arc_bits(indptr, indices, arcs):
    """Set the bits of all arcs in the filter, of a power of two of bytes."""
    for v in range(indptr.shape[0] - 1):
        for e in range(indptr[v], indptr[v + 1]):
            bit = _arc_bit(v, np.int64(indices[e]), arcs.shape[0])
            arcs[bit >> _BYTE] |= np.uint8(_ONE << (bit & _IN_BYTE))


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _holds(indices, begin, end, x):
    """Whether the ascending, non-empty slice indices[begin:end] holds x; without a branch."""
    at, size = begin, end - begin
    while size > 1:
        half = size >> 1
        at += half * (np.int64(indices[at + half]) <= x)
        size -= half
    return np.int64(indices[at]) == x


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
