"""Fitting the weights of fused scores on validation nodes."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairgram.errors import InputError
from pairgram.evaluation.ranking import Queries, rank, zero_shot_queries
from pairgram.evaluation.scorer import Scores, reads_text
from pairgram.evaluation.text_floors import query_texts
from pairgram.graph import TextGraph
from pairgram.metrics import ranking
from pairgram.models.fusing import Evidence
from pairgram.search.fusion import FUSED, LEARNED, PARTS, Candidates, Fusion, scaled, search_weights
from pairgram.search.ranker import RANKED
from pairgram.split import Split, split_nodes, validation_split

SHARE = 0.05
MOST_QUERIES = 500
DEPTH = 100
"""Best nodes by each part that the search for weights looks at."""


def fuse_for_use(build: Callable[[], Any], graph: TextGraph, seed: int = 0) -> Fusion:
    """Weights for a model that is to be fitted on the whole graph."""
    if not reads_text(build()):
        raise InputError("Fused scores are for new texts, and this model reads none: use TGE.")
    split = split_nodes(graph, min(SHARE, MOST_QUERIES / graph.n_nodes), seed)
    return fit_fusion(build().fit(split.train), split)


def fuse(build: Callable[[], Any], split: Split, seed: int = 0) -> Fusion:
    """Fit a new model without the validation part of `split.train`, and the weights on that part.

    The final model has the same parameters and all training data.
    """
    share = min(SHARE, MOST_QUERIES / split.train.n_nodes)
    validation = validation_split(split, share, seed)
    return fit_fusion(build().fit(validation.train), validation)


def fit_fusion(model: Any, split: Split) -> Fusion:
    """Weights with the best MRR on the held-out nodes of a split, for a model fitted without them.

    A part alone is one of the choices, and the last choice is made by the full ranking, so on these
    nodes the fused score is never worse than its best part.
    """
    queries = zero_shot_queries(split)
    if not len(queries):
        raise InputError("No held-out node has a link, so nothing says how to weigh scores.")
    texts = query_texts(split, queries)
    placed, evidence = model.place(texts), Evidence(split.train, model.words)
    # Only scores of vectors are weighed: "ranked" reads words and votes itself.
    rules = [rule for rule in placed.rules if rule not in (FUSED, RANKED)]
    mrr = _mrr(lambda rows: {rule: placed.block(rows, rule) for rule in rules}, queries)
    rule = max(rules, key=lambda name: mrr[name])

    def parts(rows: slice) -> dict[str, Scores]:
        return {LEARNED: placed.block(rows, rule), **evidence.parts(texts[rows])}

    gather = _Gather(queries)

    def gathered(rows: slice) -> dict[str, Scores]:
        found = parts(rows)
        gather.take(rows, found)
        return found

    alone = _mrr(gathered, queries)
    order = sorted(range(len(PARTS)), key=lambda part: -alone[PARTS[part]])
    tried = list(dict.fromkeys(search_weights(gather.candidates(), order[:2])))
    fusions = [Fusion(rule, dict(zip(PARTS, weights, strict=True)), {}, 0) for weights in tried]
    exact = _mrr(
        lambda rows: {
            str(i): one.combine(found) for found in (parts(rows),) for i, one in enumerate(fusions)
        },
        queries,
    )
    best = PARTS[order[0]]
    chosen, together = {name: float(name == best) for name in PARTS}, alone[best]
    for i, one in enumerate(fusions):
        if exact[str(i)] > together:
            chosen, together = one.weights, exact[str(i)]
    return Fusion(rule, chosen, {**alone, FUSED: together}, len(queries))


def _mrr(blocks: Callable[[slice], dict[str, Scores]], queries: Queries) -> dict[str, float]:
    found = rank(blocks, queries)
    return {name: ranking(one.places, queries.row)["mrr"] for name, one in found.items()}


class _Gather:
    """Collects for every query the best nodes by each part, and its true links."""

    def __init__(self, queries: Queries) -> None:
        self._queries = queries
        self._values: list[NDArray[np.float32]] = []
        self._links: list[NDArray[np.bool_]] = []

    def take(self, rows: slice, parts: dict[str, Scores]) -> None:
        """Note the candidates of some queries."""
        levels = {name: scaled(name, parts[name]) for name in PARTS}
        for offset, query in enumerate(range(rows.start, rows.stop)):
            begin, end = np.searchsorted(self._queries.row, [query, query + 1])
            links = self._queries.target[begin:end]
            some = [_best(levels[name][offset]) for name in PARTS]
            every = np.unique(np.concatenate([*some, links]))
            column = [levels[name][offset][every] for name in PARTS]
            self._values.append(np.stack(column, axis=1).astype(np.float32))
            self._links.append(np.isin(every, links))

    def candidates(self) -> Candidates:
        """All that was noted, one row a query."""
        width = max(map(len, self._values))
        count = len(self._values)
        values = np.zeros((count, width, len(PARTS)), np.float32)
        counts, is_link = np.zeros((count, width), bool), np.zeros((count, width), bool)
        for i, (some, links) in enumerate(zip(self._values, self._links, strict=True)):
            values[i, : len(some)], is_link[i, : len(some)] = some, links
            counts[i, : len(some)] = ~links
        return Candidates(values, counts, *np.nonzero(is_link))


def _best(row: Scores) -> NDArray[np.int64]:
    if len(row) <= DEPTH:
        return np.arange(len(row))
    return np.argpartition(-row, DEPTH)[:DEPTH].astype(np.int64)
