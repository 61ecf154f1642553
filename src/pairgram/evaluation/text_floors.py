"""Floors that read texts: TF-IDF, BM25, the votes of its neighbours, and both together."""

import logging
from collections.abc import Sequence

import numpy as np

from pairgram.errors import InputError
from pairgram.evaluation.ranking import Queries, link_queries, rank, zero_shot_queries
from pairgram.evaluation.scorer import Positions, Scores
from pairgram.graph import TextGraph
from pairgram.metrics import ranking
from pairgram.search.lexical import LexicalIndex, Words
from pairgram.search.vote import fuse, link_matrix, vote
from pairgram.split import Split, validation_split

_LOG = logging.getLogger(__name__)

TEXT_FLOORS = ("degree", "tfidf", "bm25", "vote", "vote+bm25")
# Shares of the votes: 1:4, 1:2, 1:1, 2:1, 4:1.
WEIGHTS = (1 / 5, 1 / 3, 1 / 2, 2 / 3, 4 / 5)
EQUAL = 1 / 2
MOST_VALIDATION_QUERIES = 1000


class TextFloors:
    """Scores of text queries with every node of a training graph, block by block.

    Parameters
    ----------
    graph
        The training graph, n nodes with texts; all statistics are its own.
    texts
        Texts of the queries, q of them.
    words
        How a text is cut into words.
    weight
        Share of the votes in vote+bm25.
    own
        Position of each query where it is a training node itself, shape (q,): it neither votes
        nor is voted for.
    """

    def __init__(
        self,
        graph: TextGraph,
        texts: Sequence[str],
        words: Words,
        weight: float = EQUAL,
        own: Positions | None = None,
    ) -> None:
        known = texts_of(graph)
        self.weight, self._own = weight, own
        self._degree, self._links = graph.degree.astype(np.float64), link_matrix(graph)
        self._bm25, self._tfidf = LexicalIndex.bm25(known, words), LexicalIndex.tfidf(known, words)
        self._words, self._weights = self._bm25.queries(texts), self._tfidf.queries(texts)

    def __call__(self, rows: slice) -> dict[str, Scores]:
        """Scores by floor of some queries, shape (b, n)."""
        lexical, votes = self.lexical_and_votes(rows)
        return {
            "degree": np.broadcast_to(self._degree, lexical.shape),
            "tfidf": self._tfidf.scores(self._weights[rows]),
            "bm25": lexical,
            "vote": votes,
            "vote+bm25": fuse(votes, lexical, self.weight),
        }

    def lexical_and_votes(self, rows: slice) -> tuple[Scores, Scores]:
        """BM25 of some queries, and the votes of its nearest nodes, both of shape (b, n)."""
        lexical = self._bm25.scores(self._words[rows])
        self._leave_out_own(lexical, rows)
        votes = vote(lexical, self._links)
        self._leave_out_own(votes, rows)
        return lexical, votes

    def _leave_out_own(self, scores: Scores, rows: slice) -> None:
        """Set the scores of queries with themselves to 0: they would be the maxima of fusion."""
        if self._own is not None:
            scores[np.arange(len(scores)), self._own[rows]] = 0


def fit_weight(split: Split, words: Words) -> float:
    """Share of the votes in vote+bm25 with the best MRR on a validation split of `split`.

    Where no validation split can be cut, votes and BM25 count alike.
    """
    share = 0.05
    if split.of_nodes:
        share = min(share, MOST_VALIDATION_QUERIES / split.train.n_nodes)
    try:
        validation = validation_split(split, share, seed=split.seed)
    except InputError as error:
        _LOG.info("vote+bm25 takes equal weights: %s", error)
        return EQUAL
    queries, floors = _validation_floors(validation, words)
    if not len(queries):
        return EQUAL

    def blocks(rows: slice) -> dict[str, Scores]:
        lexical, votes = floors.lexical_and_votes(rows)
        return {str(weight): fuse(votes, lexical, weight) for weight in WEIGHTS}

    found = rank(blocks, queries)
    mrr = {name: ranking(ranked.places, queries.row)["mrr"] for name, ranked in found.items()}
    return float(max(mrr, key=lambda name: mrr[name]))


def query_texts(split: Split, queries: Queries) -> list[str]:
    """Texts of the queries."""
    texts = texts_of(split.full)
    return [texts[node] for node in queries.node.tolist()]


def texts_of(graph: TextGraph) -> tuple[str, ...]:
    """Texts of the nodes; a graph without raises."""
    if graph.texts is None:
        raise InputError("The graph has no texts, and a new node has nothing else: give texts.")
    return graph.texts


def _validation_floors(validation: Split, words: Words) -> tuple[Queries, TextFloors]:
    own = None
    if validation.of_nodes:
        queries = zero_shot_queries(validation)
    else:
        every = np.ones(validation.full.n_nodes, dtype=bool)
        queries = link_queries(validation, every, MOST_VALIDATION_QUERIES, validation.seed)
        own = queries.node
    texts = query_texts(validation, queries)
    return queries, TextFloors(validation.train, texts, words, own=own)
