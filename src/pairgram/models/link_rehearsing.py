"""Fitting of a ranking of links: links that training never saw are looked at as if asked for."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pairgram.graph import TextGraph
from pairgram.models.link_ranking import LinkNotes, LinkRanking
from pairgram.models.ps import PS
from pairgram.models.ranking import Cut, Table
from pairgram.models.rehearsing import mrr_of
from pairgram.models.scoring import Floats
from pairgram.search.link_clues import FEATURES, LinkClues
from pairgram.search.towers import neighbour_means
from pairgram.search.vote import link_matrix

if TYPE_CHECKING:
    from pairgram.vectors import Vectors

logger = logging.getLogger(__name__)

IntArray = NDArray[np.int64]
Mask = NDArray[np.bool_]

STRUCTURE_DIM = 64
ORDER, TIMES, PAIRS_PER_NODE, MOST_PAIRS, FEWEST_EPOCHS = 3, 2, 1000, 40_000_000, 5
"""Of the structure's vectors: pairs of a node in training, and of all nodes together."""
HIDDEN, MEMBERS = 64, 2
MOST_QUERIES, FEWEST_LINKS = 2000, 50
HARD, RANDOM = 200, 100
"""Nodes of a query that are drawn from those worth a look, and from all."""
PARTS = {"vectors": "symmetric", "structure": "structure_symmetric", "paths": "far_log_even"}


@dataclass(frozen=True, eq=False)
class Held:
    """Nodes with held-back links, beside nodes that they might link to.

    Attributes
    ----------
    nodes
        The nodes, ascending, shape (q,).
    others
        Of each node those that it might link to, shape (c,).
    features
        What speaks for each of these, shape (c, features).
    is_link
        Which of them are held-back links, shape (c,).
    is_random
        Which were drawn from all nodes, shape (c,).
    """

    nodes: IntArray
    others: Sequence[IntArray]
    features: Sequence[Table]
    is_link: Sequence[Mask]
    is_random: Sequence[Mask]


def fit_links(
    graph: TextGraph,
    smaller: TextGraph,
    vectors: "Vectors",
    points: Table,
    words: Cut,
    seed: int,
    threads: int | None = None,
    device: Any = "cpu",
) -> tuple[LinkRanking, list[NDArray[np.float16]]] | None:
    """Fit a ranking of the links between known nodes, or None where it would not help.

    Parameters
    ----------
    graph
        The training graph.
    smaller
        The graph without the links that were held back: all that is counted and learned of the
        structure comes from it.
    vectors
        Vectors that were trained on `smaller`.
    points
        Latent points of the texts, shape (n, p).
    words
        How a text is cut into words.
    seed, threads, device
        As those of the model.

    Returns
    -------
    The ranking, and vectors of the structure alone, centre and context, both (n, dim).
    """
    kept = link_matrix(smaller)
    away = (link_matrix(graph) - kept).tocsr()
    away.eliminate_zeros()
    if away.nnz // 2 < FEWEST_LINKS:
        logger.info("no ranker of links: %d held back are too few to learn from", away.nnz // 2)
        return None
    structure = structure_vectors(smaller, seed, threads)
    near = neighbour_means(kept, points.astype(np.float32))
    tables: dict[str, NDArray[Any]] = {
        "center": vectors.center,
        "context": vectors.center if vectors.context is None else vectors.context,
        "structure_center": structure[0], "structure_context": structure[1],
        "points": points, "near": near.astype(np.float16),
    }  # fmt: skip
    clues = LinkClues([words(text) for text in graph.texts or ()], kept, tables)
    held = look_at(clues, kept, away, seed)
    ranking = _fit_judge(held, seed, device)
    return None if ranking is None else (ranking, structure)


def structure_vectors(
    graph: TextGraph, seed: int, threads: int | None = None
) -> list[NDArray[np.float16]]:
    """Centre and context vectors of the links alone, both (n, dim), by PS."""
    wanted = min(PAIRS_PER_NODE * graph.n_nodes, MOST_PAIRS)
    epochs = max(wanted // max(TIMES * ORDER * len(graph.adjacency().indices), 1), FEWEST_EPOCHS)
    model = PS(STRUCTURE_DIM, ORDER, TIMES, epochs=epochs, seed=seed, threads=threads)
    found = model.fit(graph).vectors_
    context = found.center if found.context is None else found.context
    return [found.center.astype(np.float16), context.astype(np.float16)]


def look_at(clues: LinkClues, kept: Any, away: Any, seed: int) -> Held:
    """Look at nodes with held-back links.

    Parameters
    ----------
    clues
        What speaks for links, held-back ones not counted.
    kept, away
        Sparse links that are counted and that were held back, both symmetric, shape (n, n).
    seed
        Seed of all draws.
    """
    random = np.random.default_rng([seed, away.nnz])
    nodes = np.flatnonzero(np.diff(away.indptr))
    if len(nodes) > MOST_QUERIES:
        nodes = np.sort(random.choice(nodes, MOST_QUERIES, replace=False))
    targets, drawn = [], []
    for node, (places, _) in zip(nodes.tolist(), clues.worth(nodes), strict=True):
        links = _row(away, node)
        barred = np.concatenate([_row(kept, node), links, [node]])
        worth = np.setdiff1d(places, barred)
        others = np.setdiff1d(random.integers(0, clues.size, RANDOM), barred)
        hard = random.choice(worth, min(HARD, len(worth)), replace=False)
        kinds = [links, np.setdiff1d(hard, others), others]
        targets.append(np.concatenate(kinds))
        drawn.append(np.repeat([0, 1, 2], [len(kind) for kind in kinds]))
    sizes = [len(some) for some in targets]
    features = clues.pairs(np.repeat(nodes, sizes), np.concatenate(targets))
    parts = np.split(features, np.cumsum(sizes)[:-1])
    return Held(nodes, targets, parts, [kind == 0 for kind in drawn], [kind == 2 for kind in drawn])


def _fit_judge(held: Held, seed: int, device: Any) -> LinkRanking | None:
    """Fit a judge; None where it is no better than the vectors on links it was not trained with."""
    from pairgram.training.ranker import JudgeSettings, train_judge

    links = sum(int(mask.sum()) for mask in held.is_link)
    scores = {
        name: [rows[:, FEATURES.index(column)] for rows in held.features]
        for name, column in PARTS.items()
    }
    scores["whole"] = judged_by_the_other(held, seed, device)
    mrr = {name: mrr_of(rows, held.is_link, links) for name, rows in scores.items()}
    auc = {name: _auc(rows, held) for name, rows in scores.items()}
    if mrr["whole"] <= mrr["vectors"]:
        logger.info("no ranker of links: it is no better than the vectors alone")
        return None
    settings = JudgeSettings(hidden=HIDDEN, members=MEMBERS)
    judge = train_judge(held.features, held.is_link, settings, seed, device)
    return LinkRanking(judge, LinkNotes(mrr, auc, len(held.features), links))


def judged_by_the_other(held: Held, seed: int, device: Any) -> list[Floats]:
    """Scores of every query by a judge that was trained on the other half of the queries.

    A link may be one of two queries and looks the same from either: where they are in different
    halves, it is left out of the training.
    """
    from pairgram.training.ranker import JudgeSettings, halves, train_judge

    settings = JudgeSettings(hidden=HIDDEN, members=1)
    scores: list[Floats] = [np.empty(0)] * len(held.features)
    for train, test in halves(len(held.features), seed):
        features, is_link = [], []
        for i in train.tolist():
            stays = ~(held.is_link[i] & np.isin(held.others[i], held.nodes[test]))
            features.append(held.features[i][stays])
            is_link.append(held.is_link[i][stays])
        known = any(mask.any() for mask in is_link)
        judge = train_judge(features, is_link, settings, seed, device) if known else None
        for i in test.tolist():
            rows = held.features[i]
            scores[i] = np.zeros(len(rows)) if judge is None else judge.scores(rows)
    return scores


def _auc(scores: Sequence[Floats], held: Held) -> float:
    """Share of pairs of a query's link and a random node that are in order, ties one half."""
    right, total = 0.0, 0
    for row, links, others in zip(scores, held.is_link, held.is_random, strict=True):
        own, drawn = row[links][:, None], row[others]
        right += float((own > drawn).sum() + (own == drawn).sum() / 2)
        total += own.size * drawn.size
    return right / max(total, 1)


def _row(matrix: Any, node: int) -> IntArray:
    found: IntArray = matrix.indices[matrix.indptr[node] : matrix.indptr[node + 1]]
    return found.astype(np.int64)
