"""First-order walks in NumPy, for peers that train but do not sample: all walkers step together."""

import numpy as np
from protocol import read_edges


def adjacency(path, nodes):
    """Neighbour lists of the undirected graph: indptr, shape (nodes + 1,), and indices."""
    source, target = read_edges(path)
    tail, head = np.concatenate([source, target]), np.concatenate([target, source])
    order = np.argsort(tail, kind="stable")
    indptr = np.zeros(nodes + 1, np.int64)
    np.cumsum(np.bincount(tail, minlength=nodes), out=indptr[1:])
    return indptr, head[order]


def walks(indptr, indices, length, times, seed):
    """Walks of nodes that have a neighbour, shuffled, shape (times * starts, length)."""
    random = np.random.default_rng(seed)
    starts = np.tile(np.flatnonzero(np.diff(indptr)), times)
    random.shuffle(starts)
    out = np.empty((len(starts), length), np.int32)
    out[:, 0] = starts
    degree = np.diff(indptr)
    for step in range(1, length):
        here = out[:, step - 1]
        pick = (random.random(len(here)) * degree[here]).astype(np.int64)
        out[:, step] = indices[indptr[here] + pick]
    return out
