"""All nodes that can be suggested at one moment: the fitted ones, and those that came since."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cached_property
from itertools import chain, islice, repeat

import numpy as np
from numpy.typing import NDArray

from pairgram.errors import UnknownNodeError
from pairgram.graph import Adjacency, TextGraph
from pairgram.models.additions import NEW, Additions, as_positions
from pairgram.models.scoring import Floats, IntArray, Tables, pair_terms, unit_rows

Mask = NDArray[np.bool_]

MOST_FILTERS = 16
"""Filters whose masks are kept; a server is asked for any number of them."""


class Catalog:
    """Nodes by position: 0 to n-1 are the fitted ones, n to n+m-1 the rows of the additions.

    Parameters
    ----------
    graph
        The training graph, n nodes.
    tables
        Vectors of the fitted nodes.
    additions
        What came, changed or went since, m rows.
    prior_of_new
        Log K + log q of a node without a link, where the rules have a prior.

    Attributes
    ----------
    size
        Positions, n + m; some of them are of nodes that went.
    """

    def __init__(
        self, graph: TextGraph, tables: Tables, additions: Additions, prior_of_new: float | None
    ) -> None:
        self.graph, self.tables, self.additions = graph, tables, additions
        self._prior_of_new = prior_of_new
        self.n_fitted, self.size = graph.n_nodes, graph.n_nodes + additions.size
        self._filters: dict[tuple[str, tuple[str, ...]], Mask] = {}

    @cached_property
    def hidden(self) -> Mask:
        """Positions of nodes that went or moved, shape (n + m,)."""
        mask = np.zeros(self.size, bool)
        mask[as_positions(self.additions.gone)] = True
        mask[self.n_fitted :] = ~self.additions.alive
        return mask

    @cached_property
    def row_tables(self) -> Tables:
        """Vectors of the rows, m of them; contexts are NaN where a node has none."""
        known, rows = self.tables, self.additions
        prior = None
        if known.prior is not None:
            prior = np.full(rows.size, self._prior_of_new or 0.0, np.float32)
            kept = rows.home != NEW
            prior[kept] = known.prior[rows.home[kept]]
        unit = None if known.unit is None else unit_rows(rows.center)
        context = None if known.context is None else rows.context
        return Tables(rows.center, context, prior, known.backwards, unit)

    def has(self, name: str) -> bool:
        """Whether a node is there now."""
        fitted = self.graph.find(name)
        is_fitted = fitted is not None and fitted not in self.additions.gone
        return is_fitted or self.additions.row(name) is not None

    def position(self, name: str) -> int:
        """Position of a node; an unknown name raises `UnknownNodeError`."""
        row = self.additions.row(name) if isinstance(name, str) else None
        if row is not None:
            return self.n_fitted + row
        found = self.graph.position(name)
        if found in self.additions.gone:
            raise UnknownNodeError(f"The model has no node {name!r} any more: it was removed.")
        return found

    def positions(self, names: Iterable[str]) -> IntArray:
        """Positions of nodes, shape (k,)."""
        return np.array([self.position(name) for name in names], np.int64)

    def name(self, v: int) -> str:
        """Name of the node at a position."""
        if v < self.n_fitted:
            return str(self.graph.names[v])
        return self.additions.rows.names[v - self.n_fitted]

    def text(self, v: int) -> str:
        """Text of the node at a position, "" where it has none."""
        if v >= self.n_fitted:
            return self.additions.rows.texts[v - self.n_fitted]
        return "" if self.graph.texts is None else self.graph.texts[v]

    def label(self, v: int) -> str:
        """Label of the node at a position, "" where it has none."""
        if v >= self.n_fitted:
            return self.additions.rows.labels[v - self.n_fitted]
        return "" if self.graph.labels is None else self.graph.labels[v]

    def home(self, v: int) -> int:
        """Fitted position whose links a node has, `NEW` for none."""
        return v if v < self.n_fitted else int(self.additions.home[v - self.n_fitted])

    def neighbours(self, v: int, near: Adjacency) -> IntArray:
        """Current positions of the known neighbours of a node, shape (d,)."""
        home = self.home(v)
        if home == NEW:
            return np.empty(0, np.int64)
        linked = near.neighbours(home).astype(np.int64)
        gone = self.additions.gone
        if not gone:
            return linked
        rows = [gone.get(int(w), None) for w in linked]
        moved = [
            int(w) if row is None else self.n_fitted + row
            for w, row in zip(linked, rows, strict=True)
            if row != NEW
        ]
        return np.array(moved, np.int64)

    def take(self, positions: IntArray) -> Tables:
        """Vectors of nodes, k of them; contexts are NaN where a node has none."""
        rows = self.row_tables
        fitted = positions < self.n_fitted
        at = np.where(fitted, positions, 0), np.where(fitted, 0, positions - self.n_fitted)

        def pick(known: Floats | None, added: Floats | None) -> Floats | None:
            if known is None or added is None:
                return None
            if fitted.all():
                return np.asarray(known[positions])
            mask = fitted.reshape(-1, *[1] * (known.ndim - 1))
            return np.where(mask, known[at[0]], added[at[1]])

        center, context, prior, unit = (
            pick(getattr(self.tables, name), getattr(rows, name))
            for name in ("center", "context", "prior", "unit")
        )
        return Tables(np.asarray(center), context, prior, self.tables.backwards, unit)

    def query(self, position: int) -> Tables:
        """Vectors of a node as those of a query, without the contexts that it does not have."""
        found = self.take(np.array([position]))
        if found.context is not None and np.isnan(found.context).any():
            return replace(found, context=None)
        return found

    def scorer(self, query: Tables, rule: str, row: int = 0) -> Callable[[int, int], Floats]:
        """Function of (begin, end) that scores one query with the positions begin..end-1."""
        parts = [pair_terms(query, known, rule) for known in (self.tables, self.row_tables)]

        def part(number: int, begin: int, end: int) -> Floats:
            terms, bias = parts[number]
            block: Floats = sum(right[begin:end] @ left[row] for left, right in terms)
            return block if bias is None else block + bias[begin:end]

        def score(begin: int, end: int) -> Floats:
            n = self.n_fitted
            if end <= n:
                return part(0, begin, end)
            if begin >= n:
                return part(1, begin - n, end - n)
            return np.append(part(0, begin, n), part(1, 0, end - n))

        return score

    def score_at(self, query: Tables, rule: str, positions: IntArray, row: int = 0) -> Floats:
        """Scores of one query with some positions, shape (k,)."""
        target = self.take(positions)
        terms, bias = pair_terms(query, target, rule)
        scores: Floats = sum(right @ left[row] for left, right in terms)
        return scores if bias is None else scores + bias

    def block(self, query: Tables, rule: str, rows: slice) -> Floats:
        """Scores of some queries with every position, shape (b, n + m)."""
        blocks = []
        for known in (self.tables, self.row_tables):
            terms, bias = pair_terms(query, known, rule)
            block, *more = (left[rows] @ right.T for left, right in terms)
            for part in more if bias is None else [*more, bias]:
                block += part  # in place: a block is as large as all else together
            blocks.append(block)
        return blocks[0] if not self.additions.size else np.concatenate(blocks, axis=1)

    def barred(self, prefix: tuple[str, ...], label: tuple[str, ...]) -> Mask:
        """Positions that may not be suggested, shape (n + m,), to be changed at will.

        Parameters
        ----------
        prefix
            Beginnings, one of which an id must have; empty allows all.
        label
            Labels, one of which a node must have; empty allows all.
        """
        mask = self.hidden.copy()
        for kind, wanted in (("prefix", prefix), ("label", label)):
            if wanted:
                mask |= ~self._filter(kind, wanted)
        return mask

    def _filter(self, kind: str, wanted: tuple[str, ...]) -> Mask:
        """Positions that a filter lets through, shape (n + m,); the latest are kept."""
        found = self._filters.get((kind, wanted))
        if found is None:
            if kind == "prefix":
                names = chain(self.graph.names, self.additions.rows.names)
                fits = (name.startswith(wanted) for name in names)
            else:
                labels = self.graph.labels or repeat("", self.n_fitted)
                fits = (one in wanted for one in chain(labels, self.additions.rows.labels))
            found = np.fromiter(islice(fits, self.size), bool, self.size)
            latest = islice(reversed(self._filters.items()), MOST_FILTERS - 1)
            self._filters = dict([*reversed([*latest]), ((kind, wanted), found)])
        return found
