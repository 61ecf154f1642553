"""Neighbour lists from distinct edges."""

import numpy as np

from pairgram.graph.merge import arc_key, distinct, group, pair_key
from pairgram.graph.parts import Adjacency, FloatArray, IntArray, freeze

RUN = 1 << 22
"""Arcs that are looked at together."""


def adjacency_of(
    source: IntArray, target: IntArray, weight: FloatArray | None, n_nodes: int
) -> Adjacency:
    """Neighbour lists of arcs, shape (m,); equal arcs are merged and their weights summed."""
    key = arc_key(source, target, n_nodes)
    if weight is None:
        # Most graphs have no weights, and sorting keys alone is several times faster.
        return _from_sorted(distinct(key), None, n_nodes)
    groups = group(key)
    ranked = key[groups.order[groups.starts]]
    total = weight[groups.order] if len(ranked) == len(key) else groups.total(weight)[groups.rank]
    return _from_sorted(ranked, total, n_nodes)


def symmetric_adjacency(
    source: IntArray, target: IntArray, weight: FloatArray | None, n_nodes: int
) -> Adjacency:
    """Neighbour lists of the symmetric closure of arcs, shape (m,)."""
    if weight is None:
        # Keys of both directions in one array: the ends of all arcs are not copied for it.
        key = np.empty(2 * len(source), np.int64)
        key[: len(source)] = arc_key(source, target, n_nodes)
        key[len(source) :] = arc_key(target, source, n_nodes)
        return _from_sorted(distinct(key), None, n_nodes)
    doubled = np.concatenate((weight, weight))
    return adjacency_of(
        np.concatenate((source, target)), np.concatenate((target, source)), doubled, n_nodes
    )


def degrees(source: IntArray, target: IntArray, n_nodes: int, directed: bool) -> IntArray:
    """Distinct neighbours per node, direction ignored, shape (n,), from distinct edges, (m,)."""
    if directed:
        key = distinct(pair_key(source, target, n_nodes))
        source, target = key // max(n_nodes, 1), key % max(n_nodes, 1)
    return np.bincount(source, minlength=n_nodes) + np.bincount(target, minlength=n_nodes)


def _from_sorted(key: IntArray, weight: FloatArray | None, n_nodes: int) -> Adjacency:
    nodes = np.int64(max(n_nodes, 1))
    indptr = np.zeros(n_nodes + 1, dtype=np.int64)
    columns: IntArray = np.empty(len(key), np.int32 if n_nodes < 2**31 else np.int64)
    # In runs: whole arrays of rows and columns would be the most that reading holds.
    for begin in range(0, len(key), RUN):
        some = key[begin : begin + RUN]
        rows = some // nodes
        columns[begin : begin + RUN] = some - rows * nodes
        counts = np.bincount(rows - rows[0])
        indptr[rows[0] + 1 : rows[0] + 1 + len(counts)] += counts
    np.cumsum(indptr, out=indptr)
    return Adjacency(freeze(indptr), freeze(columns), freeze(weight))
