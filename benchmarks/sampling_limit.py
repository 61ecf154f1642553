"""What Pairs Sampling must do per pair, counted, and what the machine needs for it at least."""

import time
from typing import Any

import numpy as np
from numba import njit

from pairgram.graph import Adjacency
from pairgram.kernels.memory import prefetch
from pairgram.kernels.pairs import ENUMERATE_UP_TO, TRIES
from pairgram.kernels.rng import below, fold, mix64, stream

STEPS = ("draws", "listed nodes", "stamped nodes")


def floor(graph: Adjacency, order: int, times: int, pairs: int) -> dict[str, Any]:
    """Steps per pair, nanoseconds of each on one core, and their sum per pair."""
    counts = np.zeros(3, np.int64)
    _count(graph.indptr, graph.indices, order, times, 0, counts)
    scan, load = _scan_ns(graph), _load_ns(graph)
    per_pair = counts / pairs
    return {
        **{f"{name} per pair": float(n) for name, n in zip(STEPS, per_pair, strict=True)},
        "ns per draw": load,
        "ns per node": scan,
        "floor, ns per pair and core": float(
            per_pair[0] * load + (per_pair[1] + per_pair[2]) * scan
        ),
    }


def _scan_ns(graph: Adjacency) -> float:
    """Stamping the neighbours of the neighbours of all nodes and nothing else."""
    mark = np.zeros(len(graph.indptr), np.uint16)
    steps = _scan(graph.indptr, graph.indices, mark)
    return _fastest(lambda: _scan(graph.indptr, graph.indices, mark)) / steps * 1e9


def _load_ns(graph: Adjacency) -> float:
    """A random number, and the entry of the neighbour lists that it chooses, 256 at a time."""
    spot = np.empty(256, np.int64)
    rounds = 20_000
    _load(graph.indices, rounds, spot)
    return _fastest(lambda: _load(graph.indices, rounds, spot)) / (rounds * len(spot)) * 1e9


def _fastest(work) -> float:
    seconds = []
    for _ in range(3):
        began = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - began)
    return min(seconds)


@njit
def _load(indices, rounds, spot):
    total = 0
    for r in range(rounds):
        for i in range(spot.shape[0]):
            spot[i] = below(mix64(np.uint64(r * spot.shape[0] + i)), indices.shape[0])
            prefetch(indices, spot[i])
        for i in range(spot.shape[0]):
            total += indices[spot[i]]
    return total


@njit
def _scan(indptr, indices, mark):
    steps = 0
    for u in range(indptr.shape[0] - 1):
        for e in range(indptr[u], indptr[u + 1]):
            w = indices[e]
            steps += indptr[w + 1] - indptr[w]
            for f in range(indptr[w], indptr[w + 1]):
                mark[indices[f]] = 1
    return steps


@njit
def _count(indptr, indices, order, times, seed, counts):  # noqa: PLR0912
    """Draws, nodes of lists, and nodes stamped, of a sampler that stamps every ball."""
    n = indptr.shape[0] - 1
    level, queue = np.full(n, 99), np.empty(n, np.int64)
    listed, fitting = np.full(n, -1), np.zeros(n, np.int64)
    largest = np.max(indptr[1:] - indptr[:-1])
    frontier, following = np.empty(largest, np.int64), np.empty(largest, np.int64)
    for u in range(n):
        head, tail = 0, 1
        queue[0], level[u] = u, 0
        while head < tail and level[queue[head]] < order - 1:
            w = queue[head]
            head += 1
            counts[2] += indptr[w + 1] - indptr[w]
            for e in range(indptr[w], indptr[w + 1]):
                if level[indices[e]] == 99:
                    level[indices[e]] = level[w] + 1
                    queue[tail] = indices[e]
                    tail += 1
        for r in range(times):
            size = indptr[u + 1] - indptr[u]
            frontier[:size] = indices[indptr[u] : indptr[u + 1]]
            for d in range(1, order):
                key = fold(stream(seed, r, u), d)
                kept = 0
                for b in range(size):
                    w = frontier[b]
                    begin, degree = indptr[w], indptr[w + 1] - indptr[w]
                    if listed[w] == u and fitting[w] == 0:
                        continue
                    taken = -1
                    if degree > ENUMERATE_UP_TO:
                        for attempt in range(TRIES):
                            counts[0] += 1
                            x = indices[begin + below(fold(fold(key, b), attempt), degree)]
                            if level[x] > d:
                                taken = x
                                break
                    if taken < 0:
                        if listed[w] != u:
                            listed[w], fitting[w] = u, 0
                            counts[1] += degree
                            for e in range(begin, begin + degree):
                                fitting[w] += level[indices[e]] > d
                        if fitting[w] > 0:
                            counts[0] += 1
                            left = below(fold(fold(key, b), TRIES), fitting[w])
                            for e in range(begin, begin + degree):
                                if level[indices[e]] > d:
                                    if left == 0:
                                        taken = indices[e]
                                    left -= 1
                    if taken >= 0:
                        following[kept] = taken
                        kept += 1
                frontier, following, size = following, frontier, kept
        for i in range(tail):
            level[queue[i]] = 99
