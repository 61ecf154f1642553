"""Anybody's vectors under the splits of this package."""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairgram.errors import InputError, ParameterError
from pairgram.evaluation.scorer import Positions, Scores
from pairgram.graph import TextGraph
from pairgram.split import Split
from pairgram.vectors import Vectors

_LOG = logging.getLogger(__name__)

RULES = ("dot", "cosine")
UNAUDITED = "the vectors were made elsewhere, so what they were trained on is not known"

Table = NDArray[np.float32]
Tables = dict[str, Table]


class GivenVectors:
    """Vectors made elsewhere, scored like a model that was fitted on the training side.

    Parameters
    ----------
    vectors
        A vector for every node of the split's full graph, held-out ones included.
    split
        The split they are scored on; whether they were made from its training side alone is
        something only their maker knows.
    rule
        "dot" or "cosine".
    label
        Name in reports.

    Examples
    --------
    >>> from pairgram.split import split_edges
    >>> ring = TextGraph.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
    >>> given = Vectors(np.eye(4, dtype=np.float32), None, ring.names)
    >>> model = GivenVectors(given, split_edges(ring))
    >>> model.score_positions(np.array([0, 0]), np.array([0, 1])).tolist()
    [1.0, 0.0]
    """

    rules_ = RULES
    is_fitted = True
    unaudited = UNAUDITED

    def __init__(
        self, vectors: Vectors, split: Split, rule: str = "dot", label: str = "vectors"
    ) -> None:
        if rule not in RULES:
            raise ParameterError(f"Vectors are scored by 'dot' or 'cosine'. Got {rule!r} instead.")
        table = align(vectors, split.full, label)
        length = np.linalg.norm(table, axis=1, keepdims=True)
        unit: Table = (table / np.where(length > 0, length, 1)).astype(np.float32)
        self._old: Tables = {"dot": table[split.kept], "cosine": unit[split.kept]}
        self._new: Tables = {"dot": table[split.new], "cosine": unit[split.new]}
        self.rule_, self.label = rule, label
        self.vectors_ = Vectors(self._old["dot"], None, split.train.names)
        self.fingerprint_, self.stats_ = split.train.fingerprint, dict[str, Any]()

    def fit(self, graph: TextGraph) -> "GivenVectors":
        """Return the vectors as they are."""
        return self

    def get_params(self) -> dict[str, Any]:
        """Return what the vectors are known by."""
        return {"vectors": self.label, "rule": self.rule_}

    def score_positions(
        self, source: Positions, target: Positions, rule: str | None = None
    ) -> Scores:
        """Scores of pairs of training positions, all of shape (m,)."""
        table = self._old[rule or self.rule_]
        return _dots(table[source], table[target])

    def score_block(self, nodes: Positions, rule: str | None = None) -> Scores:
        """Scores of positions, shape (b,), with every node, shape (b, n)."""
        table = self._old[rule or self.rule_]
        scores: Scores = table[nodes] @ table.T
        return scores

    def embed(self, texts: Sequence[str]) -> Table:
        """Vectors made elsewhere come by node, not by text."""
        raise InputError("Vectors made elsewhere cannot read a new text.")

    def place(self, texts: Sequence[str]) -> "GivenNew":
        """Vectors of the split's held-out nodes, in their order."""
        return GivenNew(self._old, self._new, self.rule_)


class GivenNew:
    """Held-out nodes with vectors made elsewhere, beside the training nodes."""

    rules = rules_between = RULES

    def __init__(self, old: Tables, new: Tables, rule: str) -> None:
        self.center, self.rule = new["dot"], rule
        self._old, self._new = old, new

    def pairs(self, rows: Positions, target: Positions, rule: str | None = None) -> Scores:
        """Scores of new nodes with training positions, all of shape (k,)."""
        name = rule or self.rule
        return _dots(self._new[name][rows], self._old[name][target])

    def between(self, rows: Positions, others: Positions, rule: str | None = None) -> Scores:
        """Scores of new nodes with new nodes, all of shape (k,)."""
        table = self._new[rule or self.rule]
        return _dots(table[rows], table[others])

    def block(self, rows: slice, rule: str | None = None) -> Scores:
        """Scores of some new nodes with every training node, shape (b, n)."""
        name = rule or self.rule
        scores: Scores = self._new[name][rows] @ self._old[name].T
        return scores


def _dots(one: Table, two: Table) -> Scores:
    scores: Scores = np.einsum("ij,ij->i", one, two)
    return scores


def align(vectors: Vectors, graph: TextGraph, label: str | Path) -> Table:
    """Vectors in the order of the graph's nodes, shape (n, dim).

    Nodes without a vector, repeated ids and numbers that are none raise `InputError`; vectors of
    nodes that the graph does not have are counted in a notice and left out.
    """
    row = {str(name): number for number, name in enumerate(vectors.names.tolist())}
    if len(row) != len(vectors):
        raise InputError(f"{label}: {len(vectors) - len(row)} ids have more than one vector.")
    names = graph.names.tolist()
    missing = [name for name in names if name not in row]
    if missing:
        raise InputError(
            f"{label}: {len(missing)} of the graph's {graph.n_nodes} nodes have no vector, e.g. "
            f"{missing[0]!r}; give every node one."
        )
    if len(row) > len(names):
        extra = next(name for name in row if name not in set(names))
        _LOG.warning(
            "%s: %d vectors are of nodes that the graph does not have, e.g. %r; they are left out.",
            label, len(row) - len(names), extra,
        )  # fmt: skip
    table: Table = vectors.center[np.array([row[name] for name in names], dtype=np.int64)]
    broken = np.flatnonzero(~np.isfinite(table).all(axis=1))
    if len(broken):
        raise InputError(
            f"{label}: {len(broken)} vectors hold NaN or infinity, e.g. that of "
            f"{names[broken[0]]!r}; mend or leave out what made them."
        )
    return table
