"""Neighbour lists from distinct edges."""

import numpy as np

from pairgram.graph.merge import arc_key, distinct, group, pair_key
from pairgram.graph.parts import Adjacency, FloatArray, IntArray, freeze


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
    doubled = None if weight is None else np.concatenate((weight, weight))
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
    rows = key // max(n_nodes, 1)
    columns = key - rows * n_nodes
    indptr = np.zeros(n_nodes + 1, dtype=np.int64)
    np.cumsum(np.bincount(rows, minlength=n_nodes), out=indptr[1:])
    narrow = columns.astype(np.int32) if n_nodes < 2**31 else columns
    return Adjacency(freeze(indptr), freeze(narrow), freeze(weight))
