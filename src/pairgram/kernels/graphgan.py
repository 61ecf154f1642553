"""GraphGAN: breadth-first trees made as far as they are walked, the graph softmax, its gradient.

A tree is its queue: the node at position i has its children at positions begin[i] to
begin[i + 1] - 1 and its parent at position up[i]. Nodes are taken off the queue only when a walk
asks for the children of one, so a tree costs what its walks see of it. `mark` tells the nodes of
one tree from those of the trees before it, so nothing is cleared in between.

Where a walk stands it chooses between the children and, but at the root, the parent, with
probability in proportion to exp(g_v·g_w). The choices of a tree are kept: `at` says where those of
each asked position begin, `member` and `chance` hold the nodes, the parent last, and their
probabilities.
"""

import numpy as np

from pairgram.kernels.jit import njit
from pairgram.kernels.rng import fold, stream, unit
from pairgram.kernels.simd import dot

# Slots of the int64 `state` array of one workspace.
TOKEN, HEAD, TAIL, ASKED = range(4)
STATE_SIZE = 4


@njit(cache=True, nogil=True, error_model="numpy")
def generate(
    root, draws, seed, epoch, indptr, indices, vectors, mark, queue, up, begin, slot, owner, at,
    member, chance, sample, ends, state,
):  # fmt: skip
    """Draw nodes from G(v | root) by walks that end when they turn back; return their choices.

    Node sample[d] (draws) is where walk d turned back. Its choices are ends[d] to ends[d + 1] - 1
    of the array returned: places in `member` and `chance`. Those of position owner[s] of the tree,
    given as a node, are at[s] to at[s + 1] - 1. A draw is a function of (seed, epoch, root, d).
    """
    _plant(root, mark, queue, up, begin, slot, at, state)
    key = stream(seed, epoch, root)
    steps, taken = np.empty(4 * draws, np.int64), 0
    ends[0] = 0
    for d in range(draws):
        position, is_down, step, walk = np.int64(0), True, 0, fold(key, d)
        while is_down:
            if slot[position] < 0:
                _ask(
                    position, indptr, indices, vectors, mark, queue, up, begin, slot, owner, at,
                    member, chance, state,
                )  # fmt: skip
            s = slot[position]
            place = _choose(unit(fold(walk, step)), at[s], at[s + 1], chance)
            if taken == steps.shape[0]:
                steps = np.concatenate((steps, np.empty_like(steps)))
            steps[taken] = place
            taken, step = taken + 1, step + 1
            is_down = position == 0 or place < at[s + 1] - 1
            if is_down:
                position = begin[position] + place - at[s]
        sample[d], ends[d + 1] = queue[position], taken
    return steps[:taken]


@njit(cache=True, nogil=True, error_model="numpy")
def _plant(root, mark, queue, up, begin, slot, at, state):
    """Begin the tree of a root."""
    state[TOKEN] += 1
    mark[root] = state[TOKEN]
    queue[0], up[0], slot[0], begin[0], at[0] = root, -1, -1, 1, 0
    state[HEAD], state[TAIL], state[ASKED] = 0, 1, 0


@njit(cache=True, nogil=True, error_model="numpy")
def _grow(position, indptr, indices, mark, queue, up, begin, slot, state):
    """Take nodes off the queue until the children of `position` are known."""
    token, head, tail = state[TOKEN], state[HEAD], state[TAIL]
    while head <= position:
        v = np.int64(queue[head])
        for e in range(indptr[v], indptr[v + 1]):
            x = np.int64(indices[e])
            if mark[x] != token:
                mark[x] = token
                queue[tail], up[tail], slot[tail] = x, head, -1
                tail += 1
        head += 1
        begin[head] = tail
    state[HEAD], state[TAIL] = head, tail


@njit(cache=True, nogil=True, error_model="numpy")
def _ask(
    position, indptr, indices, vectors, mark, queue, up, begin, slot, owner, at, member, chance,
    state,
):  # fmt: skip
    """p(w | v) = exp(g_v·g_w) / Σ exp(g_v·g_x) over the children x of v and its parent."""
    _grow(position, indptr, indices, mark, queue, up, begin, slot, state)
    s, v = state[ASKED], np.int64(queue[position])
    first = end = at[s]
    for child in range(begin[position], begin[position + 1]):
        member[end] = queue[child]
        end += 1
    if position > 0:
        member[end] = queue[up[position]]
        end += 1
    largest = -np.inf
    for i in range(first, end):
        chance[i] = dot(vectors, v, vectors, np.int64(member[i]))
        largest = max(largest, chance[i])
    total = 0.0
    for i in range(first, end):
        chance[i] = np.exp(chance[i] - largest)
        total += chance[i]
    for i in range(first, end):
        chance[i] /= total
    slot[position], owner[s], at[s + 1] = s, v, end
    state[ASKED] = s + 1


@njit(cache=True, nogil=True, error_model="numpy")
def _choose(height, first, end, chance):
    """Place whose chance holds `height` of the running sum; the last one for what is left over."""
    total = 0.0
    for i in range(first, end - 1):
        total += chance[i]
        if height < total:
            return i
    return end - 1


@njit(cache=True, nogil=True, error_model="numpy")
def add_policy_gradient(
    owner, at, member, chance, ends, steps, advantage, vectors, weight, gradient, touched
):
    """Add Σ_d a_d·∇ log G(v_d | root) to `gradient` (n, dim) and mark its rows in `touched`.

    With p the chances of a choice at v and x what was chosen, ∇ log p(x | v) is
    Σ_w (1[w = x] − p(w))·g_w for v and (1[w = x] − p(w))·g_v for each w. `weight` has room for all
    choices of the tree.
    """
    weight[: member.shape[0]] = 0.0
    for d in range(advantage.shape[0]):
        for k in range(ends[d], ends[d + 1]):
            weight[steps[k]] += advantage[d]
    for s in range(owner.shape[0]):
        v, total = np.int64(owner[s]), 0.0
        for i in range(at[s], at[s + 1]):
            total += weight[i]
        touched[v] = True
        for i in range(at[s], at[s + 1]):
            w, share = np.int64(member[i]), np.float32(weight[i] - total * chance[i])
            touched[w] = True
            for k in range(vectors.shape[1]):
                gradient[v, k] += share * vectors[w, k]
                gradient[w, k] += share * vectors[v, k]


@njit(cache=True, nogil=True, error_model="numpy")
def judge(center, others, vectors, bias, out):
    """out[i] = d_c·d_v + b_v for the others v, (m,)."""
    for i in range(others.shape[0]):
        v = np.int64(others[i])
        out[i] = dot(vectors, np.int64(center), vectors, v) + bias[v]


@njit(cache=True, nogil=True, error_model="numpy")
def add_judging_gradient(
    center, others, is_link, vectors, bias, gradient, bias_gradient, touched, score
):
    """Add the gradient of Σ log σ(±(d_c·d_v + b_v)), + for links; return minus that sum."""
    judge(center, others, vectors, bias, score)
    loss, c = 0.0, np.int64(center)
    touched[c] = True
    for i in range(others.shape[0]):
        v, x = np.int64(others[i]), np.float64(score[i])
        share = np.float32(is_link[i] - 1.0 / (1.0 + np.exp(-x)))
        loss += np.log1p(np.exp(-abs(x))) + max(x, 0.0) - is_link[i] * x
        touched[v] = True
        bias_gradient[v] += share
        for k in range(vectors.shape[1]):
            gradient[c, k] += share * vectors[v, k]
            gradient[v, k] += share * vectors[c, k]
    return loss


@njit(cache=True, nogil=True, error_model="numpy")
def climb(rows, rate, l2, vectors, gradient, squares):
    """AdaGrad upwards along gradient − l2·vectors in some rows; their gradient is zero then."""
    for i in range(rows.shape[0]):
        v = rows[i]
        for k in range(vectors.shape[1]):
            slope = gradient[v, k] - np.float32(l2) * vectors[v, k]
            squares[v, k] += slope * slope
            if squares[v, k] > 0.0:
                vectors[v, k] += np.float32(rate) * slope / np.sqrt(squares[v, k])
            gradient[v, k] = 0.0
