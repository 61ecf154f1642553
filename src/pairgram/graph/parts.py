"""The small frozen tables that a graph hands out."""

from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
ArrayT = TypeVar("ArrayT", bound=NDArray[Any] | None)


@dataclass(frozen=True, eq=False)
class Adjacency:
    """Neighbour lists in CSR form: ascending, without duplicates or self-loops.

    Attributes
    ----------
    indptr
        Start of each node's list, shape (n + 1,), int64.
    indices
        Neighbours, shape (m,), int32 (int64 from 2**31 nodes on).
    weight
        Weight of each entry, shape (m,), or None in a graph without weights.
    """

    indptr: IntArray
    indices: NDArray[np.int32] | IntArray
    weight: FloatArray | None = None

    def neighbours(self, node: int) -> NDArray[np.int32] | IntArray:
        """Neighbours of the node at this position, shape (degree,)."""
        return self.indices[self.indptr[node] : self.indptr[node + 1]]


@dataclass(frozen=True)
class GraphCounts:
    """What reading found.

    In an undirected graph ``lines = n_edges + self_loops + duplicates + reciprocal``; in a
    directed one ``lines = n_edges + self_loops + duplicates``.

    Attributes
    ----------
    lines
        Edges as given.
    duplicates
        Given edges that repeat an earlier one in the same direction.
    reciprocal
        Unordered pairs given in both directions.
    self_loops
        Given edges from a node to itself; they are left out of the graph.
    isolated
        Nodes without a neighbour.
    texts, empty_texts
        Nodes with and without a text; both 0 where the graph has no texts at all.
    repeated_texts
        Nodes whose text an earlier node has too.
    """

    lines: int
    duplicates: int
    reciprocal: int
    self_loops: int
    isolated: int
    texts: int = 0
    empty_texts: int = 0
    repeated_texts: int = 0


@dataclass(frozen=True, eq=False)
class RelationTable:
    """Distinct (source, target, relation) triples, as given and in order of first appearance.

    Attributes
    ----------
    edge
        Row of the graph's edge that the triple belongs to, shape (k,).
    source, target
        Ends in the direction given, shape (k,).
    code
        Index into `names`, shape (k,), int32.
    names
        The relations.
    """

    edge: IntArray
    source: IntArray
    target: IntArray
    code: NDArray[np.int32]
    names: tuple[str, ...]


def freeze(array: ArrayT) -> ArrayT:
    """Make an array read-only and return it."""
    if array is not None:
        array.setflags(write=False)
    return array
