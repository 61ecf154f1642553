"""Ranking of held-out links between nodes that training knows."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from pairgram.errors import ParameterError
from pairgram.evaluation.device import DeviceBlocks
from pairgram.evaluation.protocols import PROTOCOLS
from pairgram.evaluation.ranking import Queries, link_queries, rank
from pairgram.evaluation.scorer import LinkModel, Scores
from pairgram.metrics import ranking
from pairgram.split import Split

Metrics = dict[str, float]


def rank_links(
    model: LinkModel,
    split: Split,
    protocol: str,
    limit: int,
    seed: int,
    device: str | None = None,
) -> tuple[dict[str, Metrics], Queries]:
    """Ranking metrics by rule, and the queries behind them.

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
    device
        Device of torch to score and count on; None is NumPy.
    """
    queries = queries_of(split, protocol, limit, seed)
    rules = tuple(dict.fromkeys((model.rule_, *model.rules_)))
    terms = getattr(model, "terms", None)
    there = {}
    if device is not None and terms is not None:
        there = _on_device(terms, rules, queries, device)

    def blocks(rows: slice) -> Mapping[str, Any]:
        return {
            rule: there[rule](rows) if rule in there else _block(model, queries, rows, rule)
            for rule in rules
        }

    return measure_blocks(blocks, queries), queries


def _on_device(
    terms: Callable[[str], Any], rules: tuple[str, ...], queries: Queries, device: str
) -> dict[str, Callable[[slice], Any]]:
    """Scorers by rule; a rule that is no sum of products has none."""
    scorers: dict[str, Callable[[slice], Any]] = {}
    for rule in rules:
        try:
            pairs, bias = terms(rule)
        except ParameterError:
            continue
        chosen = [(left[queries.node], right) for left, right in pairs]
        scorers[rule] = DeviceBlocks(chosen, bias, device)
    return scorers


def queries_of(split: Split, protocol: str, limit: int, seed: int) -> Queries:
    """Queries of a link protocol; models and floors with the same seed get the same ones."""
    return link_queries(split, PROTOCOLS[protocol](split).ends, limit, seed)


def measure_blocks(
    blocks: Callable[[slice], Mapping[str, Scores]], queries: Queries
) -> dict[str, Metrics]:
    """Ranking metrics of every scorer of the blocks."""
    return {
        name: ranking(ranked.places, queries.row) for name, ranked in rank(blocks, queries).items()
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
