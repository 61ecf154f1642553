"""Ranking of held-out links between nodes that training knows."""

from collections.abc import Callable, Mapping
from functools import cache

import numpy as np

from pairgram.evaluation.protocols import PROTOCOLS
from pairgram.evaluation.ranking import Queries, link_queries, rank
from pairgram.evaluation.scorer import LinkModel, Positions, Scores, words_of
from pairgram.evaluation.text_floors import TextFloors, fit_weight, query_texts
from pairgram.graph import TextGraph
from pairgram.metrics import ranking
from pairgram.search.lexical import Words
from pairgram.search.vote import link_matrix
from pairgram.split import Split

Metrics = dict[str, float]


def rank_links(
    model: LinkModel, split: Split, protocol: str, limit: int, seed: int
) -> tuple[dict[str, Metrics], dict[str, Metrics], Queries]:
    """Ranking metrics by rule and by floor, and the queries behind them.

    Parameters
    ----------
    model
        A model fitted on the training side.
    split
        A split of links.
    protocol
        Whose links count, as for the AUCs; candidates are all nodes but the query and its
        training neighbours.
    limit, seed
        Largest number of queries, and the seed that draws them where there are more.
    """
    queries = link_queries(split, PROTOCOLS[protocol](split).ends, limit, seed)
    rules = tuple(dict.fromkeys((model.rule_, *model.rules_)))

    def blocks(rows: slice) -> Mapping[str, Scores]:
        return {rule: _block(model, queries, rows, rule) for rule in rules}

    return _measure(blocks, queries), _floors(words_of(model), split, queries), queries


def rank_floors(
    split: Split, protocol: str, limit: int, seed: int, words: Words
) -> tuple[dict[str, Metrics], Queries]:
    """Ranking metrics of the floors alone, and the queries behind them."""
    queries = link_queries(split, PROTOCOLS[protocol](split).ends, limit, seed)
    return _floors(words, split, queries), queries


def _floors(words: Words, split: Split, queries: Queries) -> dict[str, Metrics]:
    found = _measure(_StructureFloors(split.train, queries.node), queries)
    if split.train.texts is None:
        return found
    words = cache(words)  # two indexes of two graphs read the same texts
    weight = fit_weight(split, words)
    floors = TextFloors(split.train, query_texts(split, queries), words, weight, queries.node)
    found |= _measure(floors, queries)
    found["vote+bm25"]["weight"] = floors.weight
    return found


def _measure(
    blocks: Callable[[slice], Mapping[str, Scores]], queries: Queries
) -> dict[str, Metrics]:
    return {
        name: ranking(ranked.places, queries.row) for name, ranked in rank(blocks, queries).items()
    }


class _StructureFloors:
    """The floors of the AUCs, as blocks."""

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


def _block(model: LinkModel, queries: Queries, rows: slice, rule: str) -> Scores:
    """Scores of the queries with every node, shape (b, n)."""
    nodes, every = queries.node[rows], np.arange(queries.candidates)
    at_once = getattr(model, "score_block", None)
    if at_once is not None:
        return np.asarray(at_once(nodes, rule=rule))
    source, target = np.repeat(nodes, len(every)), np.tile(every, len(nodes))
    scores = np.asarray(model.score_positions(source, target, rule=rule))
    return scores.reshape(len(nodes), len(every))
