"""Fitting of a ranking: nodes play new ones, and what would have led to their links is learned."""

import logging
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pairgram.graph import TextGraph
from pairgram.models.ranking import Cut, Ranking, RankingNotes, Table
from pairgram.models.scoring import Floats
from pairgram.search.clues import FIRST, KIN, Clues, Look, with_kin
from pairgram.search.ranker import Judge, Ranker
from pairgram.search.towers import Towers
from pairgram.search.vote import link_matrix
from pairgram.search.votes import Ballots
from pairgram.text.latent import LatentSpace

if TYPE_CHECKING:
    from pairgram.training.voters import Carried

logger = logging.getLogger(__name__)

IntArray = NDArray[np.int64]

POINTS = 256
SHARE, MOST_QUERIES, FEWEST_QUERIES = 0.2, 4000, 20
AWAY = 0.05
"""Share of the nodes that are away from the graph at a time."""
FEWEST_STEPS, LINKS_A_STEP = 50, 32
MOST_ROUNDS = 2
"""Times that voters are learned at most, each time with what was voted before."""
KIN_LOG = KIN.index("kin_log") - len(KIN)
PARTS = {"bm25": "bm25", "tower": "tower", "vote": "words_20_share"}


@dataclass(frozen=True, eq=False)
class Query:
    """A node that plays a new one.

    Attributes
    ----------
    look
        What was seen, without the towers' scores of all nodes.
    ballots
        The graph that it was seen in, this node and others away.
    wanted
        Positions of its links there, shape (m,).
    """

    look: Look
    ballots: Ballots
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
    ranker, notes = _fit_ranker(rehearsal, seed, device)
    return Ranking(rehearsal.space, rehearsal.towers, ranker, notes)


def rehearse(graph: TextGraph, words: Cut, seed: int, device: Any = "cpu") -> Rehearsal | None:
    """Hold nodes out and look at what speaks for their links; None where too few can be."""
    from pairgram.training.towers import TowerSettings, train_towers

    cut = [words(text) for text in graph.texts or ()]
    held = _held_out(graph, cut, seed)
    if not len(held):
        logger.info("no ranker: too few nodes have words and links to hold some out")
        return None
    clock = [time.perf_counter()]
    space = LatentSpace.fit(cut, POINTS, seed)
    points = space.vectors(cut)
    clock.append(time.perf_counter())
    links = link_matrix(graph)
    core = np.setdiff1d(np.arange(graph.n_nodes), held)
    inside = links[core][:, core].tocsr()
    steps = min(max(inside.nnz // LINKS_A_STEP, FEWEST_STEPS), TowerSettings.steps)
    towers = train_towers(points[core], inside, TowerSettings(steps=steps), seed, device)
    clock.append(time.perf_counter())
    turns = np.array_split(held, -(-len(held) // max(int(AWAY * graph.n_nodes), 1)))
    queries = [
        query for away in turns for query in _turn(np.sort(away), cut, links, points, towers)
    ]
    clock.append(time.perf_counter())
    seconds = dict(zip(("latent", "towers", "looks"), np.diff(clock).tolist(), strict=True))
    return Rehearsal(space, towers, queries, seconds)


def _held_out(graph: TextGraph, cut: Sequence[Sequence[str]], seed: int) -> IntArray:
    """Nodes that play new ones, in random order: some of those with words and links."""
    usable = np.flatnonzero((graph.degree > 0) & np.array([len(words) > 0 for words in cut]))
    count = min(max(int(SHARE * len(usable)), FEWEST_QUERIES), MOST_QUERIES)
    if count > len(usable) // 4:  # too few would be left to learn from
        return np.empty(0, np.int64)
    return np.random.default_rng([seed, len(usable)]).choice(usable, count, replace=False)


def _turn(
    away: IntArray, cut: Sequence[Sequence[str]], links: Any, points: Table, towers: Towers
) -> Iterator[Query]:
    """Queries of the nodes that are away, everyone else at home."""
    home = np.setdiff1d(np.arange(len(cut)), away)
    inside, wanted = links[home][:, home].tocsr(), links[away][:, home].tocsr()
    clues = Clues([cut[node] for node in home], inside, points[home], towers)
    nothing = np.empty(0, np.float32)
    for row, look in enumerate(clues.look([cut[node] for node in away], points[away])):
        mine = wanted.indices[wanted.indptr[row] : wanted.indptr[row + 1]].astype(np.int64)
        yield Query(replace(look, tower=nothing), clues.ballots, mine)


def _fit_ranker(rehearsal: Rehearsal, seed: int, device: Any) -> tuple[Ranker, RankingNotes]:
    """Fit voters, as often as it helps, and judge.

    What the judge reads of voters comes from voters that never saw the query.
    """
    from pairgram.training.ranker import Descent, JudgeSettings, train_judge
    from pairgram.training.voters import train_voters

    queries, total = rehearsal.queries, rehearsal.links
    is_link = [query.is_link for query in queries]
    features = [query.look.features for query in queries]
    columns = {name: FIRST.index(column) for name, column in PARTS.items()}
    mrr = {name: mrr_of([f[:, c] for f in features], is_link, total) for name, c in columns.items()}
    judged = judged_by_the_other(features, is_link, seed, device)
    mrr["whole"] = mrr_of(judged, is_link, total)
    carried, voters = [carried_by(query) for query in queries], list[Judge]()
    while len(voters) < MOST_ROUNDS and any(mine.links for mine in carried):
        more = voted_by_the_other(queries, features, carried, seed, device)
        found = mrr_of(judged_by_the_other(more, is_link, seed, device), is_link, total)
        if found <= mrr["whole"]:
            break
        voters.append(train_voters(features, carried, Descent(), seed, device))
        features, mrr["whole"] = more, found
        mrr["learned votes"] = mrr_of([f[:, KIN_LOG] for f in features], is_link, total)
    judge = train_judge(features, is_link, JudgeSettings(), seed, device)
    return Ranker(tuple(voters), judge), RankingNotes(mrr, len(queries))


def voted_by_the_other(
    queries: Sequence[Query],
    features: Sequence[Table],
    carried: "Sequence[Carried]",
    seed: int,
    device: Any,
) -> list[Table]:
    """Features with the votes of voters that were trained on the other half of the queries."""
    from pairgram.training.ranker import Descent, halves
    from pairgram.training.voters import train_voters

    more: list[Table] = [np.empty((0, 0), np.float32)] * len(queries)
    for train, test in halves(len(queries), seed):
        some = [features[i] for i in train], [carried[i] for i in train]
        voter = train_voters(*some, Descent(), seed, device)
        for i in test.tolist():
            query, rows = queries[i], features[i]
            more[i] = with_kin(query.ballots, query.look, rows, voter.scores(rows))
    return more


def carried_by(query: Query) -> "Carried":
    """Which of a query's links the nodes that were looked at have."""
    from pairgram.training.voters import Carried

    voter, linked = query.ballots.links_of(query.look.places)
    spot = np.minimum(np.searchsorted(query.wanted, linked), max(len(query.wanted) - 1, 0))
    hit = query.wanted[spot] == linked if len(query.wanted) else np.zeros(len(linked), bool)
    found, link = np.unique(linked[hit], return_inverse=True)
    degree = query.ballots.degree[query.look.places[voter[hit]]]
    return Carried(voter[hit], link, (1 / degree).astype(np.float32), len(found))


def judged_by_the_other(
    features: Sequence[Table], is_link: Sequence[NDArray[np.bool_]], seed: int, device: Any
) -> list[Floats]:
    """Scores of every query by a judge that was trained on the other half of the queries."""
    from pairgram.training.ranker import JudgeSettings, halves, train_judge

    scores: list[Floats] = [np.empty(0)] * len(features)
    for train, test in halves(len(features), seed):
        some = [features[i] for i in train], [is_link[i] for i in train]
        judge = train_judge(*some, JudgeSettings(members=1), seed, device)
        for i in test.tolist():
            scores[i] = judge.scores(features[i])
    return scores


def mrr_of(scores: Sequence[Floats], is_link: Sequence[NDArray[np.bool_]], total: int) -> float:
    """Mean of 1 / rank of all links, other links of a query left out, ties at the mean rank."""
    found = 0.0
    for row, links in zip(scores, is_link, strict=True):
        own, others = row[links][:, None], row[~links]
        above, tied = (others > own).sum(axis=1), (others == own).sum(axis=1)
        found += float((1 / (1 + above + tied / 2)).sum())
    return found / max(total, 1)
