"""Calibrating a model on validation suggestions, and how well it is calibrated on test ones."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairgram.calibration import (
    Calibration,
    calibration_error,
    fit_calibration,
    reliability,
)
from pairgram.errors import InputError
from pairgram.evaluation.ranking import Queries, link_queries, zero_shot_queries
from pairgram.evaluation.scorer import Scores, reads_text
from pairgram.evaluation.text_floors import texts_of
from pairgram.graph import TextGraph
from pairgram.split import Split, split_edges, split_nodes, validation_split

LENGTH = 10  # suggestions of a list
MOST_QUERIES = 1000
SHARE = 0.05
NEW, KNOWN = "text", "node"  # what a suggestion is asked for


@dataclass(frozen=True, eq=False)
class Lists:
    """The best suggestions for every query, q of them.

    Attributes
    ----------
    rule
        The rule of the scores.
    scores, is_link
        Score of every suggestion and whether it is a held-out link, the best first, shape (q, k).
    """

    rule: str
    scores: NDArray[np.float64]
    is_link: NDArray[np.bool_]


@dataclass(frozen=True)
class Calibrated:
    """A calibration seen from the test side.

    Attributes
    ----------
    calibration
        What was fitted on validation.
    ece
        Expected calibration error of the test suggestions.
    bins
        Mean probability, share of links and size of every bin of the test suggestions.
    matched, unmatched
        Share of test lists with a link among those called a match, and among the others.
    called
        Share of test lists that are called a match.
    """

    calibration: Calibration
    ece: float
    bins: list[tuple[float, float, int]]
    matched: float | None
    unmatched: float | None
    called: float


def suggestions(model: Any, split: Split, seed: int = 0, k: int = LENGTH) -> Lists:
    """Suggest links for nodes with held-out links, by the model's own rule.

    Parameters
    ----------
    model
        A model fitted on the training side.
    split
        Of nodes for new texts, of links for known nodes.
    seed, k
        Seed that draws the queries where there are many, and the length of a list.
    """
    if split.of_nodes:
        queries = zero_shot_queries(split)
        rule, block = _new_blocks(model, split, queries)
    else:
        every = np.ones(split.full.n_nodes, dtype=bool)
        queries = link_queries(split, every, MOST_QUERIES, seed)
        rule, block = model.rule_, lambda rows: model.score_block(queries.node[rows])
    if not len(queries):
        raise InputError("No node of the split has a held-out link to suggest.")
    return _lists(rule, block, queries, min(k, queries.candidates))


def calibrate(build: Callable[[], Any], split: Split, seed: int = 0) -> Calibration:
    """Fit a new model without the validation part of `split.train`, and calibrate it on that part.

    The final model has the same parameters and all training data, so its scores are on the same
    scale.
    """
    validation = validation_split(split, SHARE, seed)
    lists = suggestions(build().fit(validation.train), validation, seed)
    return fit_calibration(lists.rule, lists.scores, lists.is_link)


def calibrate_for_use(
    build: Callable[[], Any], graph: TextGraph, seed: int = 0
) -> dict[str, Calibration]:
    """Calibrations of a model that is to be fitted on the whole graph: for nodes, and for texts."""
    splits = {KNOWN: split_edges(graph, 1 - SHARE, seed)}
    if reads_text(build()) and graph.texts is not None:
        splits[NEW] = split_nodes(graph, min(SHARE, MOST_QUERIES / graph.n_nodes), seed)
    found = {}
    for kind, split in splits.items():
        lists = suggestions(build().fit(split.train), split, seed)
        found[kind] = fit_calibration(lists.rule, lists.scores, lists.is_link)
    return found


def see(calibration: Calibration, lists: Lists) -> Calibrated:
    """Compare a calibration with the suggestions of a test split."""
    probability, label = calibration.probability(lists.scores), lists.is_link
    called = probability[:, 0] >= calibration.threshold
    hit = np.asarray(label.any(axis=1))
    return Calibrated(
        calibration,
        calibration_error(probability.ravel(), label.ravel()),
        reliability(probability.ravel(), label.ravel()),
        matched=float(hit[called].mean()) if called.any() else None,
        unmatched=float(hit[~called].mean()) if not called.all() else None,
        called=float(called.mean()),
    )


def _new_blocks(
    model: Any, split: Split, queries: Queries
) -> tuple[str, Callable[[slice], Scores]]:
    texts = texts_of(split.full)
    placed = model.place([texts[node] for node in split.new.tolist()])
    row = np.searchsorted(split.new, queries.node)

    def block(rows: slice) -> Scores:
        wanted = row[rows]
        around = slice(int(wanted[0]), int(wanted[-1]) + 1)
        scores: Scores = placed.block(around)[wanted - around.start]
        return scores

    return placed.rule, block


def _lists(rule: str, block: Callable[[slice], Scores], queries: Queries, k: int) -> Lists:
    scores = np.empty((len(queries), k))
    is_link = np.empty((len(queries), k), dtype=bool)
    step = max(1, 4_000_000 // queries.candidates)
    for begin in range(0, len(queries), step):
        rows = slice(begin, min(begin + step, len(queries)))
        for offset, row in enumerate(np.array(block(rows), dtype=np.float64)):
            query = begin + offset
            first, last = np.searchsorted(queries.barred_row, [query, query + 1])
            row[queries.barred[first:last]] = -np.inf
            best = np.argpartition(row, -k)[-k:]
            best = best[np.lexsort((best, -row[best]))]
            first, last = np.searchsorted(queries.row, [query, query + 1])
            scores[query] = row[best]
            is_link[query] = np.isin(best, queries.target[first:last])
    usable = np.isfinite(scores).all(axis=1)
    return Lists(rule, scores[usable], is_link[usable])
