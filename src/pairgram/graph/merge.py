"""Merging given edges into distinct ones."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairgram.errors import InputError
from pairgram.graph.parts import FloatArray, IntArray

MAX_NODES = 3_037_000_499
"""Above this the product of two positions leaves int64."""


@dataclass(frozen=True)
class Groups:
    """Rows grouped by key, the groups in order of first appearance.

    Attributes
    ----------
    first
        First row of each group, ascending, shape (k,).
    order
        Rows sorted by key, shape (m,).
    starts
        Start of each run of equal keys in `order`, shape (k,).
    rank
        Group number of each run, shape (k,).
    """

    first: IntArray
    order: IntArray
    starts: IntArray
    rank: IntArray

    def of_rows(self) -> IntArray:
        """Group number of every row, shape (m,)."""
        lengths = np.diff(np.append(self.starts, len(self.order)))
        number = np.empty(len(self.order), dtype=np.int64)
        number[self.order] = np.repeat(self.rank, lengths)
        return number

    def reduce(self, how: np.ufunc, values: NDArray[Any]) -> NDArray[Any]:
        """Fold `values`, shape (m,), over each group with an order-free ufunc, shape (k,)."""
        folded = how.reduceat(values[self.order], self.starts)
        result = np.empty_like(folded)
        result[self.rank] = folded
        return result

    def total(self, values: FloatArray) -> FloatArray:
        """Sum `values`, shape (m,), over each group in row order, shape (k,)."""
        total = np.zeros(len(self.first))
        np.add.at(total, self.of_rows(), values)
        return total


def group(key: IntArray) -> Groups:
    """Group rows by `key`, shape (m,)."""
    if not len(key):
        empty = np.empty(0, dtype=np.int64)
        return Groups(empty, empty, empty, empty)
    # The sort need not be stable: first rows come from a minimum, sums from row order.
    order = np.argsort(key)
    ranked = key[order]
    starts = np.flatnonzero(np.concatenate(([True], ranked[1:] != ranked[:-1])))
    first = np.minimum.reduceat(order, starts)
    leads = np.zeros(len(key), dtype=np.bool_)
    leads[first] = True
    rank = (np.cumsum(leads) - 1)[first]
    return Groups(np.flatnonzero(leads), order, starts, rank)


def arc_key(source: IntArray, target: IntArray, n_nodes: int) -> IntArray:
    """One integer per ordered pair, shape (m,)."""
    if n_nodes > MAX_NODES:
        raise InputError(
            f"TextGraph holds at most {MAX_NODES} nodes, got {n_nodes}. "
            "If the integers are ids rather than positions, pass them as strings."
        )
    return source * np.int64(n_nodes) + target


def pair_key(source: IntArray, target: IntArray, n_nodes: int) -> IntArray:
    """One integer per unordered pair, shape (m,)."""
    return arc_key(np.minimum(source, target), np.maximum(source, target), n_nodes)


@dataclass(frozen=True)
class Merged:
    """Distinct edges without self-loops, and what was merged.

    Attributes
    ----------
    source, target
        Ends as first given, in order of first appearance, shape (n_edges,).
    row
        Given row of each edge's first appearance, shape (n_edges,).
    weight, date
        Sums and earliest dates over merged rows, shape (n_edges,), or None.
    edge_of_row
        Edge of every given row, -1 for self-loops, shape (lines,); None unless asked for.
    """

    source: IntArray
    target: IntArray
    weight: FloatArray | None
    date: NDArray[Any] | None
    edge_of_row: IntArray | None
    duplicates: int
    reciprocal: int
    self_loops: int


def merge_edges(
    source: IntArray,
    target: IntArray,
    n_nodes: int,
    directed: bool,
    weight: FloatArray | None = None,
    date: NDArray[Any] | None = None,
    with_rows: bool = False,
) -> Merged:
    """Merge duplicates (and reciprocal edges, unless `directed`) and drop self-loops.

    Parameters
    ----------
    source, target
        Positions of the ends, shape (lines,).
    weight, date
        Values per given edge, shape (lines,).
    with_rows
        Whether to say which edge every row went to.
    """
    kept = np.flatnonzero(source != target)
    loops = len(source) - len(kept)
    if loops:
        source, target = source[kept], target[kept]
        weight = weight if weight is None else weight[kept]
        date = date if date is None else date[kept]
    groups = group((arc_key if directed else pair_key)(source, target, n_nodes))
    reciprocal = _reciprocal(groups, source, target, n_nodes, directed)
    duplicates = len(source) - len(groups.first) - (0 if directed else reciprocal)
    return Merged(
        source=source[groups.first],
        target=target[groups.first],
        weight=None if weight is None else groups.total(weight),
        date=None if date is None else groups.reduce(np.fmin, date),
        edge_of_row=_edge_of_row(groups, kept, loops + len(source)) if with_rows else None,
        duplicates=duplicates,
        reciprocal=reciprocal,
        self_loops=loops,
    )


def distinct(key: IntArray) -> IntArray:
    """Sort `key`, shape (m,), in place and return its distinct values, shape (k,)."""
    # np.unique hashes integers, which is many times slower than sorting them.
    key.sort()
    changed = np.ones(len(key), dtype=np.bool_)
    np.not_equal(key[1:], key[:-1], out=changed[1:])
    return key if changed.all() else key[changed]


def count_reciprocal(source: IntArray, target: IntArray, n_nodes: int) -> int:
    """Count the unordered pairs among distinct arcs, shape (m,), that occur both ways."""
    return len(source) - len(distinct(pair_key(source, target, n_nodes)))


def _reciprocal(
    groups: Groups, source: IntArray, target: IntArray, n_nodes: int, directed: bool
) -> int:
    if directed:
        return count_reciprocal(source[groups.first], target[groups.first], n_nodes)
    if len(groups.first) == len(source):
        return 0
    upward = source < target
    both = groups.reduce(np.logical_or, upward) & groups.reduce(np.logical_or, ~upward)
    return int(both.sum())


def _edge_of_row(groups: Groups, kept: IntArray, lines: int) -> IntArray:
    edge = np.full(lines, -1, dtype=np.int64)
    edge[kept] = groups.of_rows()
    return edge
