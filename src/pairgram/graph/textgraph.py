"""TextGraph: nodes with names and texts, and distinct edges between them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from pairgram.errors import InputError
from pairgram.graph import csr
from pairgram.graph.assemble import as_mask, count_texts, cut_relations, relation_table
from pairgram.graph.construct import Constructors
from pairgram.graph.fingerprint import hash_graph
from pairgram.graph.inputs import Texts, align_texts, as_dates, as_weights
from pairgram.graph.lookup import find_positions
from pairgram.graph.merge import count_reciprocal, merge_edges
from pairgram.graph.parts import (
    Adjacency,
    FloatArray,
    GraphCounts,
    IntArray,
    RelationTable,
    freeze,
)


@dataclass(frozen=True, eq=False, repr=False)
class TextGraph(Constructors):
    """A graph with a text per node: frozen and checked once, when it is built.

    Build it with `from_edges`, `from_files` or one of the converters, not by its constructor.
    Self-loops are left out, duplicates merged, and both are counted in `counts`.

    Attributes
    ----------
    n_nodes
        Number of nodes, isolated ones included.
    directed
        Whether a -> b and b -> a are two edges.
    source, target
        Distinct edges in the direction first given and in order of first appearance,
        shape (n_edges,).
    weight
        Weights, those of merged edges summed, shape (n_edges,), or None.
    date
        Earliest date of the merged edges, shape (n_edges,), float64 or datetime64[s], or None.
    relation
        Distinct (source, target, relation) triples, or None.
    texts
        Text of each node, "" where it has none, shape (n,), or None.
    labels
        Label of each node, "" where it has none, shape (n,), or None; no method learns from it.
    counts
        What reading found.
    degree
        Distinct neighbours of each node, direction ignored, shape (n,).

    Examples
    --------
    >>> graph = TextGraph.from_edges(["a", "b", "c"], ["b", "c", "b"], texts={"d": "alone"})
    >>> graph
    TextGraph(4 nodes, 2 edges, undirected, texts)
    >>> graph.names.tolist(), graph.degree.tolist()
    (['a', 'b', 'c', 'd'], [1, 2, 1, 0])
    >>> graph.counts.reciprocal, graph.counts.isolated
    (1, 1)
    """

    n_nodes: int
    directed: bool
    source: IntArray
    target: IntArray
    weight: FloatArray | None
    date: NDArray[Any] | None
    relation: RelationTable | None
    texts: tuple[str, ...] | None
    counts: GraphCounts
    degree: IntArray
    labels: tuple[str, ...] | None = None
    _names: NDArray[np.object_] | None = None
    _adjacency: dict[str, Adjacency] = field(default_factory=dict)

    @classmethod
    def _from_positions(
        cls,
        source: IntArray,
        target: IntArray,
        n_nodes: int,
        names: list[str] | None,
        texts: tuple[str, ...] | None,
        relation: tuple[NDArray[np.int32], tuple[str, ...]] | None,
        weight: FloatArray | None,
        directed: bool,
        date: NDArray[Any] | None,
    ) -> Self:
        merged = merge_edges(
            source, target, n_nodes, directed, weight, date, with_rows=relation is not None
        )
        degree = csr.degrees(merged.source, merged.target, n_nodes, directed)
        return cls(
            n_nodes=n_nodes,
            directed=directed,
            source=freeze(merged.source),
            target=freeze(merged.target),
            weight=freeze(merged.weight),
            date=freeze(merged.date),
            relation=relation_table(source, target, relation, merged.edge_of_row),
            texts=texts,
            counts=GraphCounts(
                lines=len(source),
                duplicates=merged.duplicates,
                reciprocal=merged.reciprocal,
                self_loops=merged.self_loops,
                isolated=int(np.count_nonzero(degree == 0)),
                **count_texts(texts),
            ),
            degree=freeze(degree),
            _names=None if names is None else freeze(np.array(names, dtype=object)),
        )

    @property
    def n_edges(self) -> int:
        """Distinct unordered pairs, or distinct arcs in a directed graph."""
        return len(self.source)

    @cached_property
    def names(self) -> NDArray[np.object_]:
        """Names of the nodes, shape (n,); "0" to "n-1" in a graph given by positions."""
        if self._names is not None:
            return self._names
        return freeze(np.array(list(map(str, range(self.n_nodes))), dtype=object))

    @cached_property
    def fingerprint(self) -> str:
        """Sha256 in hex over size, direction, edges, weights, names and texts."""
        return hash_graph(
            self.n_nodes,
            self.directed,
            (self.source, self.target, self.weight),
            (self._names, self.texts),
        )

    @cached_property
    def _index(self) -> dict[str, int]:
        return {name: position for position, name in enumerate(self.names.tolist())}

    def find(self, name: str) -> int | None:
        """Position of a node, None where there is no such node."""
        return self._index.get(name)

    def position(self, name: str) -> int:
        """Position of a node; an unknown name raises `UnknownNodeError`."""
        return int(self.positions([name])[0])

    def positions(self, names: Iterable[str]) -> IntArray:
        """Positions of nodes, shape (k,); an unknown name raises `UnknownNodeError`."""
        return find_positions(names, self._index, "The graph")

    def adjacency(self, directed: bool = False, reverse: bool = False) -> Adjacency:
        """Neighbour lists, made once and kept.

        Parameters
        ----------
        directed
            Follow arcs; otherwise the symmetric closure, weights of both directions summed.
        reverse
            With `directed`, follow arcs backwards.
        """
        if directed and not self.directed:
            raise InputError(
                "adjacency(directed=True) needs a directed graph, this one was read as "
                "undirected: read it with directed=True."
            )
        kind = ("in" if reverse else "out") if directed else "both"
        if kind not in self._adjacency:
            build = csr.adjacency_of if directed else csr.symmetric_adjacency
            ends = (self.target, self.source) if kind == "in" else (self.source, self.target)
            self._adjacency[kind] = build(*ends, self.weight, self.n_nodes)
        return self._adjacency[kind]

    def with_edges(self, keep: NDArray[np.bool_]) -> "TextGraph":
        """Return the same nodes with the edges of a mask, shape (n_edges,)."""
        mask = as_mask(keep, self.n_edges, "with_edges")
        source, target = self.source[mask], self.target[mask]
        return self._cut(source, target, mask, cut_relations(self.relation, mask))

    def with_values(self, weight: Any = None, date: Any = None) -> Self:
        """Return the same edges with other weights and dates, shape (n_edges,), or none."""
        return replace(
            self,
            weight=freeze(as_weights(weight, self.n_edges)),
            date=freeze(as_dates(date, self.n_edges)),
        )

    def induced(self, keep_nodes: NDArray[np.bool_]) -> "TextGraph":
        """Return the nodes of a mask, shape (n,), in order, and the edges between them."""
        mask = as_mask(keep_nodes, self.n_nodes, "induced")
        renumber = np.cumsum(mask, dtype=np.int64) - 1
        edges = mask[self.source] & mask[self.target]
        smaller = replace(
            self,
            n_nodes=int(mask.sum()),
            texts=_pick(self.texts, mask),
            labels=_pick(self.labels, mask),
            _names=freeze(self.names[mask]),
        )
        return smaller._cut(
            renumber[self.source[edges]],
            renumber[self.target[edges]],
            edges,
            cut_relations(self.relation, edges, renumber),
        )

    def with_labels(self, labels: Texts) -> Self:
        """Return the same graph with a label per node: a mapping from ids, or one per node."""
        aligned = align_texts(labels, self.names.tolist(), self.n_nodes, "labels")
        return replace(self, labels=aligned)

    def with_nodes(
        self, names: Iterable[str], texts: Iterable[str], labels: Iterable[str]
    ) -> "TextGraph":
        """Return the same graph with more nodes, none of them linked; m of each.

        Texts are kept where the graph or one of the nodes has some, labels likewise.
        """
        listed, said, marked = list(names), list(texts), list(labels)
        degree = np.append(self.degree, np.zeros(len(listed), self.degree.dtype))
        together = _joined(self.texts, said, self.n_nodes)
        return replace(
            self,
            n_nodes=self.n_nodes + len(listed),
            texts=together,
            labels=_joined(self.labels, marked, self.n_nodes),
            counts=replace(
                self.counts, isolated=self.counts.isolated + len(listed), **count_texts(together)
            ),
            degree=freeze(degree),
            _names=freeze(np.array([*self.names.tolist(), *listed], dtype=object)),
            _adjacency={},
        )

    def with_texts(self, texts: Mapping[int, str], labels: Mapping[int, str]) -> "TextGraph":
        """Return the same graph with other texts and labels at some positions."""
        changed = [
            None if old is None and not any(new.values())
            else tuple(new.get(v, t) for v, t in enumerate(old or ("",) * self.n_nodes))
            for old, new in ((self.texts, texts), (self.labels, labels))
        ]  # fmt: skip
        counts = replace(self.counts, **count_texts(changed[0]))
        return replace(self, texts=changed[0], labels=changed[1], counts=counts)

    def _cut(
        self,
        source: IntArray,
        target: IntArray,
        edges: NDArray[np.bool_],
        relation: RelationTable | None,
    ) -> "TextGraph":
        degree = csr.degrees(source, target, self.n_nodes, self.directed)
        counts = GraphCounts(
            lines=len(source),
            duplicates=0,
            reciprocal=count_reciprocal(source, target, self.n_nodes) if self.directed else 0,
            self_loops=0,
            isolated=int(np.count_nonzero(degree == 0)),
            **count_texts(self.texts),
        )
        return replace(
            self,
            source=freeze(source),
            target=freeze(target),
            weight=None if self.weight is None else freeze(self.weight[edges]),
            date=None if self.date is None else freeze(self.date[edges]),
            relation=relation,
            counts=counts,
            degree=freeze(degree),
            _adjacency={},
        )

    def to_networkx(self) -> Any:
        """Return a NetworkX graph: names as nodes, attributes ``text``, ``weight``, ``date``."""
        from pairgram.io.convert import make_networkx

        attributes = {"weight": self.weight, "date": self.date}
        return make_networkx(
            self.names, self.source, self.target, self.directed, self.texts, attributes
        )

    def to_scipy(self) -> Any:
        """Return the adjacency as a SciPy CSR array, shape (n, n): weights, or ones."""
        from scipy.sparse import csr_array

        near = self.adjacency(directed=self.directed)
        values = np.ones(len(near.indices)) if near.weight is None else near.weight.copy()
        parts = (values, near.indices.copy(), near.indptr.copy())
        return csr_array(parts, shape=(self.n_nodes, self.n_nodes))

    def to_pyg(self) -> Any:
        """Return a PyTorch Geometric `Data`; an undirected edge becomes two arcs."""
        from pairgram.io.convert import make_pyg

        return make_pyg(self.source, self.target, self.weight, self.n_nodes, self.directed)

    def __repr__(self) -> str:
        kind = "directed" if self.directed else "undirected"
        extras = [
            label
            for label, value in (
                ("weights", self.weight),
                ("dates", self.date),
                ("relations", self.relation),
                ("texts", self.texts),
                ("labels", self.labels),
            )
            if value is not None
        ]
        parts = [f"{self.n_nodes} nodes", f"{self.n_edges} edges", kind, *extras]
        return f"TextGraph({', '.join(parts)})"


def _joined(old: tuple[str, ...] | None, new: list[str], n: int) -> tuple[str, ...] | None:
    """Texts of n old nodes and of new ones, None where there are none at all."""
    if old is None and not any(new):
        return None
    return (*(("",) * n if old is None else old), *new)


def _pick(texts: tuple[str, ...] | None, mask: NDArray[np.bool_]) -> tuple[str, ...] | None:
    if texts is None:
        return None
    return tuple(texts[position] for position in np.flatnonzero(mask))
