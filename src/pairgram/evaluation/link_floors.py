"""Floors of links between known nodes: AUCs over trials, and rankings of some nodes' links."""

from collections.abc import Callable
from functools import cache, partial

import numpy as np

from pairgram.evaluation.auc import PairResult, compare
from pairgram.evaluation.floors import FLOORS
from pairgram.evaluation.link_ranking import Metrics, measure_blocks, queries_of
from pairgram.evaluation.protocols import Trials
from pairgram.evaluation.ranking import Queries
from pairgram.evaluation.scorer import Positions, Scores
from pairgram.evaluation.text_floors import TextFloors, fit_weight, query_texts
from pairgram.evaluation.text_matching import NAME as TEXT_MATCHING
from pairgram.evaluation.text_matching import text_matching
from pairgram.graph import TextGraph
from pairgram.search.lexical import LexicalIndex, Words
from pairgram.search.vote import link_matrix
from pairgram.split import Split

PairScorer = Callable[[Positions, Positions], Scores]


class LinkFloors:
    """Every floor that can score a pair by itself; votes need a whole list and are only ranked.

    Parameters
    ----------
    split
        A split of links; all statistics are of its training side.
    words
        How a text is cut into words.
    word_vectors
        File of word vectors for Text Matching; None leaves that floor out.
    """

    def __init__(self, split: Split, words: Words, word_vectors: str | None = None) -> None:
        self._scorers: dict[str, PairScorer] = {
            name: partial(score, split.train) for name, score in FLOORS.items()
        }
        texts = split.train.texts
        if texts is not None:
            words = cache(words)
            for name, index in (
                ("tfidf", LexicalIndex.tfidf(texts, words)),
                ("bm25", LexicalIndex.bm25(texts, words)),
            ):
                self._scorers[name] = partial(index.pairs, index.queries(texts))
            if word_vectors is not None:
                self._scorers[TEXT_MATCHING] = text_matching(
                    word_vectors, split.train
                ).score_positions

    def compare(self, trials: Trials) -> dict[str, PairResult]:
        """AUC_pair, AP and ties of every floor over the trials."""
        return {
            name: compare(
                score(trials.center, trials.positive), score(trials.center, trials.negative)
            )
            for name, score in self._scorers.items()
        }


def ranked_floors(
    split: Split,
    protocol: str,
    limit: int,
    seed: int,
    words: Words,
    word_vectors: str | None = None,
) -> tuple[dict[str, Metrics], Queries]:
    """Ranking metrics of every floor, and the queries behind them; see `rank_links`."""
    queries = queries_of(split, protocol, limit, seed)
    found = measure_blocks(_StructureBlocks(split.train, queries.node), queries)
    if split.train.texts is None:
        return found, queries
    words = cache(words)  # two indexes of two graphs read the same texts
    weight = fit_weight(split, words)
    floors = TextFloors(split.train, query_texts(split, queries), words, weight, queries.node)
    found |= measure_blocks(floors, queries)
    found["vote+bm25"]["weight"] = floors.weight
    if word_vectors is not None:
        model = text_matching(word_vectors, split.train)
        found |= measure_blocks(
            lambda rows: {TEXT_MATCHING: model.score_block(queries.node[rows])}, queries
        )
    return found, queries


class _StructureBlocks:
    """The floors that read links alone, as blocks of queries by all nodes."""

    def __init__(self, graph: TextGraph, node: Positions) -> None:
        self._links, self._node = link_matrix(graph), node
        self._degree = graph.degree.astype(np.float64)
        share = self._links.astype(np.float64)
        share.data /= np.repeat(np.maximum(graph.degree, 1), graph.degree)
        self._share = share

    def __call__(self, rows: slice) -> dict[str, Scores]:
        near = self._links[self._node[rows]]
        return {
            "degree": np.broadcast_to(self._degree, (near.shape[0], len(self._degree))),
            "common_neighbours": (near @ self._links).toarray(),
            "resource_allocation": (near @ self._share).toarray(),
        }
