"""Some neighbours of each node, to take the mean over."""

import numpy as np

from pairgram.kernels.jit import njit
from pairgram.kernels.rng import below, fold, stream


@njit(cache=True, nogil=True)
def draw_fanout(nodes, avoid, rows, turn, seed, indptr, indices, out):
    """Neighbours of nodes[i] without avoid[i] into out (m, S), -1 behind the last.

    All of them where they are at most S, else S draws with replacement. Row i is a function of
    (seed, turn, rows[i]), of its node and of who is avoided.
    """
    size = out.shape[1]
    for i in range(nodes.shape[0]):
        v = np.int64(nodes[i])
        begin, end = np.int64(indptr[v]), np.int64(indptr[v + 1])
        key = stream(seed, turn, rows[i])
        place = begin + np.searchsorted(indices[begin:end], avoid[i])
        skip = place < end and np.int64(indices[place]) == avoid[i]
        degree = end - begin - (1 if skip else 0)
        taken = degree if degree < size else size
        for k in range(taken):
            at = begin + (k if degree <= size else below(fold(key, k), degree))
            if skip and at >= place:
                at += 1
            out[i, k] = indices[at]
        for k in range(taken, size):
            out[i, k] = -1
