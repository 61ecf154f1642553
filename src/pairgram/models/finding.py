"""From queries to the best positions of a catalog, exactly or by an index."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from pairgram.errors import ParameterError
from pairgram.models.catalog import Catalog, Mask
from pairgram.models.scoring import Floats, IntArray, Tables, pair_terms
from pairgram.models.suggesting import Asked
from pairgram.search import top_k, top_k_rows

if TYPE_CHECKING:
    from pairgram.models.naming import Namer
    from pairgram.search.ann import AnnIndex

Found = tuple[IntArray, Floats]

BLOCK_SCORES = 1 << 24
FEWEST_FREE = 0.5
"""Share of the nodes that filters must leave for the index to be used."""
FETCH = 10
"""Nodes that the index is asked for beyond k: its sums are rounded in another order."""


class Finder:
    """Finds the best nodes for queries under one rule.

    Parameters
    ----------
    catalog
        All nodes.
    rule
        How links are scored.
    asked
        How many, and how to search.
    index
        Index for approximate search, where there is one.
    namer
        Names relations, where one is asked for.
    block
        Gives the scores of some queries with every position, shape (b, n + m), for a rule that is
        no sum of products.
    """

    def __init__(
        self,
        catalog: Catalog,
        rule: str,
        asked: Asked,
        index: "AnnIndex | None",
        namer: "Namer | None" = None,
        block: Callable[[slice], Floats] | None = None,
    ) -> None:
        self._catalog, self._rule, self._k = catalog, rule, asked.k
        self._namer = namer if asked.relation is not None else None
        self._block = block
        fits = (
            index is not None
            and index.rule == rule
            and block is None
            and not catalog.tables.backwards
        )
        if asked.search == "ann" and not fits:
            raise ParameterError(
                f"search='ann' needs an index for the rule {rule!r}, direction 'out' or 'both': "
                f"call build_index({rule!r}), or use search='exact'."
            )
        self._index = index if fits and asked.search != "exact" else None

    def find(self, query: Tables, row: int, barred: Mask) -> Found:
        """The best positions for one query, and their scores; fewer than k where few are left."""
        if self._namer is not None:
            barred = barred | ~self._namer.fits(query, row)
        found = None if self._index is None else self._by_index(query, row, barred)
        if found is None:
            found = top_k(self._scorer(query, row), self._catalog.size, self._k, barred)
        return _numbers(*found)

    def _scorer(self, query: Tables, row: int) -> Callable[[int, int], Floats]:
        if self._block is None:
            return self._catalog.scorer(query, self._rule, row)
        scores = self._block(slice(row, row + 1))[0]
        return lambda begin, end: scores[begin:end]

    def find_many(self, query: Tables, barred: Mask) -> Iterator[Found]:
        """The same for every row of the queries."""
        count = len(query.center)
        if self._index is not None or self._namer is not None or count == 1:
            yield from (self.find(query, row, barred) for row in range(count))
            return
        step = max(1, BLOCK_SCORES // self._catalog.size)
        for begin in range(0, count, step):
            rows = slice(begin, begin + step)
            block = (
                self._catalog.block(query, self._rule, rows)
                if self._block is None
                else self._block(rows)
            )
            yield from top_k_rows(block, self._k, barred)

    def _by_index(self, query: Tables, row: int, barred: Mask) -> Found | None:
        """Nodes that the index finds and all rows, scored exactly; None where few are allowed."""
        index, catalog = self._index, self._catalog
        free = ~barred[: catalog.n_fitted]
        if index is None or index.size != catalog.n_fitted or free.mean() < FEWEST_FREE:
            return None
        terms, _ = pair_terms(query, catalog.tables, self._rule)
        wanted = np.concatenate([left[row] for left, _ in terms])
        found = index.search(wanted, FETCH + self._k, free)
        if len(found) < self._k:
            return None
        rows = np.flatnonzero(~barred[catalog.n_fitted :]) + catalog.n_fitted
        candidates = np.append(found, rows)
        scores = catalog.score_at(query, self._rule, candidates, row)
        best = np.lexsort((candidates, -scores))[: self._k]
        return candidates[best], scores[best]


def _numbers(found: IntArray, scores: Floats) -> Found:
    """Leave out nodes that the rule cannot score, such as new ones without a context vector."""
    scored = ~np.isnan(scores)
    return found[scored], scores[scored]
