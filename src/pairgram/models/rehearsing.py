"""Fitting of a ranking: nodes play new ones, and what would have led to their links is learned."""

import logging
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairgram.graph import TextGraph
from pairgram.models.ranking import Cut, Ranking, RankingNotes
from pairgram.models.scoring import Floats
from pairgram.search.clues import FEATURES, Clues, Look
from pairgram.search.graph_judge import GraphJudge
from pairgram.search.ranker import Ranker
from pairgram.search.towers import Towers
from pairgram.search.vote import arc_matrix, link_matrix
from pairgram.text.latent import LatentSpace
from pairgram.text.letters import letter_rows
from pairgram.text.read import Read

logger = logging.getLogger(__name__)

IntArray = NDArray[np.int64]

POINTS = 256
SHARES = ((0.2, 8000), (0.1, 22_000))
"""Nodes that play new ones: a fifth up to so many, of a large graph a tenth up to so many."""
FEWEST_QUERIES = 20
AWAY = 0.05
"""Share of the nodes that are away from the graph at a time."""
FEWEST_STEPS, LINKS_A_STEP = 50, 32
ASIDE = 0.1
"""Share of the queries that the judge is not trained with, to say how good it is."""
PARTS = {"bm25": "bm25", "tower": "tower", "closeness": "close"}


@dataclass(frozen=True, eq=False)
class Query:
    """A node that plays a new one.

    Attributes
    ----------
    node
        Its position in the graph.
    home
        Positions of the nodes that were there when it was looked at, shape (n,).
    look
        What was seen of these, without the towers' scores of all.
    wanted
        Its links among these, shape (m,).
    """

    node: int
    home: IntArray
    look: Look
    wanted: IntArray

    @property
    def is_link(self) -> NDArray[np.bool_]:
        """Which of the nodes looked at are links, shape (c,)."""
        return np.isin(self.look.places, self.wanted)


@dataclass(frozen=True, eq=False)
class Rehearsal:
    """Nodes that play new ones, looked at with towers that were trained without them.

    Attributes
    ----------
    space, towers
        Fitted on the graph, the space on all texts.
    queries
        One for each node held out.
    seconds
        Of each step.
    """

    space: LatentSpace
    towers: Towers
    queries: Sequence[Query]
    seconds: dict[str, float]

    @property
    def links(self) -> int:
        """Links of all queries, those that were not looked at included."""
        return sum(len(query.wanted) for query in self.queries)


def fit_ranking(graph: TextGraph, words: Cut, seed: int, device: Any = "cpu") -> Ranking | None:
    """Fit a ranking on a graph with texts, or None where too few nodes have links.

    Some nodes are held out to play new ones: the towers are trained without them, the ranker on
    how their links stand among all other nodes.
    """
    rehearsal = rehearse(graph, words, seed, device)
    if rehearsal is None or not any(query.is_link.any() for query in rehearsal.queries):
        return None
    judge, notes = fit_judge(rehearsal, seed, device)
    return Ranking(rehearsal.space, rehearsal.towers, Ranker(judge), notes)


def rehearse(graph: TextGraph, words: Cut, seed: int, device: Any = "cpu") -> Rehearsal | None:
    """Hold nodes out and look at what speaks for their links; None where too few can be."""
    from pairgram.training.towers import TowerSettings, train_towers

    texts = graph.texts or ()
    cut = [words(text) for text in texts]
    held = _held_out(graph, cut, seed)
    if not len(held):
        logger.info("no ranker: too few nodes have words and links to hold some out")
        return None
    clock = [time.perf_counter()]
    space = LatentSpace.fit(cut, POINTS, seed)
    points = space.vectors(cut)
    clock.append(time.perf_counter())
    links, arcs = link_matrix(graph), arc_matrix(graph)
    core = np.setdiff1d(np.arange(graph.n_nodes), held)
    inside = links[core][:, core].tocsr()
    steps = min(max(inside.nnz // LINKS_A_STEP, FEWEST_STEPS), TowerSettings.steps)
    towers = train_towers(points[core], inside, TowerSettings(steps=steps), seed, device)
    clock.append(time.perf_counter())
    read = Read(cut, points, letter_rows(texts))
    turns = np.array_split(held, -(-len(held) // max(int(AWAY * graph.n_nodes), 1)))
    queries = [query for away in turns for query in _turn(np.sort(away), read, links, arcs, towers)]
    clock.append(time.perf_counter())
    seconds = dict(zip(("latent", "towers", "looks"), np.diff(clock).tolist(), strict=True))
    return Rehearsal(space, towers, queries, seconds)


def _held_out(graph: TextGraph, cut: Sequence[Sequence[str]], seed: int) -> IntArray:
    """Nodes that play new ones, in random order: some of those with words and links."""
    usable = np.flatnonzero((graph.degree > 0) & np.array([len(words) > 0 for words in cut]))
    wanted = max(min(int(share * len(usable)), most) for share, most in SHARES)
    count = max(wanted, FEWEST_QUERIES)
    if count > len(usable) // 4:  # too few would be left to learn from
        return np.empty(0, np.int64)
    return np.random.default_rng([seed, len(usable)]).choice(usable, count, replace=False)


def _turn(away: IntArray, read: Read, links: Any, arcs: Any, towers: Towers) -> Iterator[Query]:
    """Queries of the nodes that are away, everyone else at home."""
    home = np.setdiff1d(np.arange(len(read.words)), away)
    inside, wanted = links[home][:, home].tocsr(), links[away][:, home].tocsr()
    given = arcs[home][:, home].tocsr()
    clues = Clues(read.some(home), inside, given, towers)
    nothing = np.empty(0, np.float32)
    for row, look in enumerate(clues.look(read.some(away))):
        mine = wanted.indices[wanted.indptr[row] : wanted.indptr[row + 1]].astype(np.int64)
        yield Query(int(away[row]), home, replace(look, tower=nothing), mine)


def fit_judge(rehearsal: Rehearsal, seed: int, device: Any) -> tuple[GraphJudge, RankingNotes]:
    """Train the judge on most of the queries and measure it, and what it reads, on the others."""
    from pairgram.training.graph_judge import GraphJudgeSettings, train_graph_judge

    queries = rehearsal.queries
    order = np.random.default_rng(seed).permutation(len(queries))
    aside, rest = np.split(order, [int(ASIDE * len(queries))])
    if not any(queries[i].is_link.any() for i in rest):
        aside, rest = order[:0], order
    some = [queries[i] for i in rest]
    judge = train_graph_judge(
        [query.look for query in some], [query.is_link for query in some], GraphJudgeSettings(),
        seed, device,
    )  # fmt: skip
    others = [queries[i] for i in aside] or some
    is_link, total = [query.is_link for query in others], sum(len(q.wanted) for q in others)
    columns = {name: FEATURES.index(column) for name, column in PARTS.items()}
    mrr = {
        name: mrr_of([query.look.features[:, c] for query in others], is_link, total)
        for name, c in columns.items()
    }
    mrr["whole"] = mrr_of([judge.scores(query.look) for query in others], is_link, total)
    return judge, RankingNotes(mrr, len(queries))


def mrr_of(scores: Sequence[Floats], is_link: Sequence[NDArray[np.bool_]], total: int) -> float:
    """Mean of 1 / rank of all links, other links of a query left out, ties at the mean rank."""
    found = 0.0
    for row, links in zip(scores, is_link, strict=True):
        own, others = row[links][:, None], row[~links]
        above, tied = (others > own).sum(axis=1), (others == own).sum(axis=1)
        found += float((1 / (1 + above + tied / 2)).sum())
    return found / max(total, 1)
