"""What texts and links say beside the learned score: BM25, votes and degrees of all nodes."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pairgram.graph import TextGraph
from pairgram.models.additions import NEW
from pairgram.models.catalog import Catalog
from pairgram.models.placed import Placed
from pairgram.models.scoring import Floats, IntArray
from pairgram.search.fusion import BM25, DEGREE, FUSED, LEARNED, VOTE, Fusion
from pairgram.search.lexical import LexicalIndex, Words
from pairgram.search.vote import link_matrix, vote


class Evidence:
    """Lexical scores, votes and degrees, for the fitted nodes and for those that came since.

    Parameters
    ----------
    graph
        The training graph, n nodes with texts.
    words
        How a text is cut into words.
    """

    def __init__(self, graph: TextGraph, words: Words) -> None:
        self.graph, self._words = graph, words
        self._index = LexicalIndex.bm25(graph.texts or (), words)
        self._links = link_matrix(graph)
        self._degree = np.log1p(graph.degree).astype(np.float32)

    def parts(self, texts: Sequence[str], catalog: Catalog | None = None) -> dict[str, Floats]:
        """The parts for some texts, by name, shape (b, n), or (b, n + m) with a catalog."""
        queries = self._index.queries(texts)
        lexical = self._index.scores(queries)
        if catalog is None or not catalog.additions:
            votes = vote(lexical, self._links)
            return self._named(lexical, votes, np.broadcast_to(self._degree, lexical.shape))
        return self._with_rows(queries, lexical, catalog)

    def _with_rows(self, queries: Any, lexical: Floats, catalog: Catalog) -> dict[str, Floats]:
        held = catalog.additions
        rows = self._index.scores_of(queries, held.rows.texts[: held.size])
        for fitted, row in held.gone.items():  # a node that changed votes by its new text
            lexical[:, fitted] = 0 if row == NEW else rows[:, row]
        votes = vote(lexical, self._links)
        degree = np.broadcast_to(self._degree, lexical.shape)
        return self._named(
            np.hstack([lexical, rows]),
            np.hstack([votes, _of_home(votes, held.home)]),
            np.hstack([degree, _of_home(degree, held.home)]),
        )

    @staticmethod
    def _named(lexical: Floats, votes: Floats, degree: Floats) -> dict[str, Floats]:
        return {BM25: lexical, VOTE: votes, DEGREE: degree}


class FusedPlaced(Placed):
    """New texts whose links can also be scored by `fused`."""

    def __init__(
        self, placed: Placed, texts: Sequence[str], fusion: Fusion, evidence: Evidence
    ) -> None:
        self.__dict__.update(placed.__dict__)
        self.rules = (*placed.rules, FUSED)
        self._texts, self._fusion, self._evidence = list(texts), fusion, evidence

    # Fused scores are no products of tables, so nobody else can add them up.
    terms = None  # type: ignore[assignment]

    def block(self, rows: slice, rule: str | None = None) -> Floats:
        """Scores of some new nodes with every known one, shape (b, n)."""
        if rule != FUSED:
            return super().block(rows, rule)
        learned = super().block(rows, self._fusion.rule)
        return self._fusion.combine({LEARNED: learned, **self._evidence.parts(self._texts[rows])})

    def pairs(self, rows: IntArray, target: IntArray, rule: str | None = None) -> Floats:
        """Scores of new nodes with known ones at positions `target`, all of shape (k,)."""
        if rule != FUSED:
            return super().pairs(rows, target, rule)
        scores = np.empty(len(rows))
        for row in np.unique(rows).tolist():
            mine = rows == row
            scores[mine] = self.block(slice(row, row + 1), FUSED)[0, target[mine]]
        return scores


def _of_home(scores: Floats, home: IntArray) -> Floats:
    """What the nodes of rows have from their fitted positions, 0 for new ones, shape (b, m)."""
    return np.where(home == NEW, 0, scores[:, home])
