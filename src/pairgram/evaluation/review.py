"""Review of a graph by a model: known links that score low, and nodes that look alike."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairgram.evaluation.duplicates import near_pairs, shingles, words_of
from pairgram.graph import TextGraph
from pairgram.params import Int, check

Scores = NDArray[np.floating[Any]]
SAME_TEXT, NEAR_TEXT, SAME_LINKS = "the same text", "nearly the same text", "the same links"
FEWEST_LINKS = 2  # nodes with one link in common are neighbours of a hub, not twins


@dataclass(frozen=True)
class WeakLink:
    """A known link with its score, and the share of known links that score lower."""

    source: str
    target: str
    score: float
    below: float


@dataclass(frozen=True)
class Twins:
    """Two nodes that may be one."""

    first: str
    second: str
    why: str


def weakest_links(model: Any, k: int = 20, rule: str | None = None) -> list[WeakLink]:
    """The k lowest-scored links of a fitted model's graph, the lowest first.

    A link that its own model scores low is a candidate for a mistake; the model has seen it, so
    the score is no evidence of how well it predicts.

    Parameters
    ----------
    model
        A fitted model.
    k
        How many.
    rule
        One of its rules; None takes its own, or that of its vectors where its own is "ranked".
    """
    check("weakest_links", {"k": Int(1)}, {"k": k})
    graph: TextGraph = model.graph_
    # A ranker counts the link itself among what speaks for it; vectors at least weighed it.
    chosen = getattr(model, "vector_rule_", None) if rule is None else rule
    scores = np.asarray(model.score_positions(graph.source, graph.target, rule=chosen))
    order = np.lexsort((np.arange(len(scores)), scores))[:k]
    lower = np.searchsorted(np.sort(scores), scores[order], side="left") / len(scores)
    return [
        WeakLink(
            str(graph.names[graph.source[edge]]),
            str(graph.names[graph.target[edge]]),
            float(scores[edge]),
            float(share),
        )
        for edge, share in zip(order.tolist(), lower, strict=True)
    ]


def twins(graph: TextGraph, k: int = 20) -> list[Twins]:
    """Up to k pairs of nodes that have the same text, nearly the same text, or the same links.

    Of a group of equal nodes each is named with the first of it.
    """
    check("twins", {"k": Int(1)}, {"k": k})
    found = [] if graph.texts is None else _text_twins(graph)
    known = {(one.first, one.second) for one in found}
    found += [one for one in _link_twins(graph) if (one.first, one.second) not in known]
    return found[:k]


def _text_twins(graph: TextGraph) -> list[Twins]:
    texts = list(words_of(graph.texts or ()))
    first: dict[str, int] = {}
    found, distinct = [], []
    for node, words in enumerate(texts):
        key = " ".join(words)
        if key and key in first:
            found.append(_pair(graph, first[key], node, SAME_TEXT))
        elif key:
            first[key] = node
            distinct.append(node)
    sets = shingles([texts[node] for node in distinct])
    for a, b in near_pairs(sets).tolist():
        found.append(_pair(graph, distinct[a], distinct[b], NEAR_TEXT))
    return found


def _link_twins(graph: TextGraph) -> list[Twins]:
    near = graph.adjacency()
    first: dict[bytes, int] = {}
    found = []
    for node in np.flatnonzero(graph.degree >= FEWEST_LINKS).tolist():
        key = near.neighbours(node).tobytes()
        if key in first:
            found.append(_pair(graph, first[key], node, SAME_LINKS))
        else:
            first[key] = node
    return found


def _pair(graph: TextGraph, first: int, second: int, why: str) -> Twins:
    return Twins(str(graph.names[first]), str(graph.names[second]), why)
