"""The ranker of a model: how it is fitted, kept, and asked for the links of new texts."""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairgram.errors import InputError
from pairgram.graph import TextGraph
from pairgram.models.placed import Placed
from pairgram.models.scoring import Floats, IntArray
from pairgram.search.clues import FIRST, Added, Clues, Look, node_vectors
from pairgram.search.ranker import RANKED, Judge, Ranker
from pairgram.search.towers import Towers
from pairgram.search.vote import link_matrix
from pairgram.text.latent import LatentSpace

logger = logging.getLogger(__name__)

Table = NDArray[np.float32]
Cut = Callable[[str], list[str]]

POINTS = 256
SHARE, MOST_QUERIES, FEWEST_QUERIES = 0.05, 2000, 20
FEWEST_STEPS, LINKS_A_STEP = 50, 32
BESIDE = "ranking/"
"""Beginning of the names of its weights in a model folder."""
MOST_KEPT = 1 << 28
PARTS = {"bm25": "bm25", "tower": "tower", "vote": "words_20_share"}
TABLES = ("rank_points", "rank_near", "rank_query", "rank_node")


@dataclass(frozen=True)
class RankingNotes:
    """How good the parts were on the nodes that were held out to train the ranker.

    Attributes
    ----------
    mrr
        MRR by part: BM25, votes, towers, one look and two, each on queries that it was not
        trained with; links that were never looked at count 0.
    queries
        Held-out nodes.
    """

    mrr: dict[str, float]
    queries: int


@dataclass(frozen=True, eq=False)
class Ranking:
    """A latent space, towers and a ranker, fitted on one graph."""

    space: LatentSpace
    towers: Towers
    ranker: Ranker
    notes: RankingNotes

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All arrays but those of nodes, by name."""
        parts = {
            "space": self.space.arrays(),
            "towers": self.towers.weights,
            "ranker": self.ranker.arrays(),
        }
        return {f"{p}/{name}": a for p, arrays in parts.items() for name, a in arrays.items()}

    def to_json(self) -> dict[str, Any]:
        """The rest, as a JSON object."""
        return asdict(self.notes)

    @classmethod
    def load(cls, arrays: Mapping[str, NDArray[Any]], stored: Mapping[str, Any]) -> "Ranking":
        """Read what the two gave; what does not fit raises `InputError`."""
        parts: dict[str, dict[str, NDArray[Any]]] = {"space": {}, "towers": {}, "ranker": {}}
        try:
            for name, array in arrays.items():
                part, _, rest = name.partition("/")
                parts[part][rest] = array
            space = LatentSpace.from_arrays(parts["space"])
            notes = RankingNotes(**stored)
        except (KeyError, TypeError, UnicodeDecodeError):
            raise InputError("The ranker is damaged: parts of it are missing.") from None
        return cls(space, Towers(parts["towers"]), Ranker.from_arrays(parts["ranker"]), notes)


class Board:
    """A ranking beside the nodes of a graph, ready to be asked.

    Parameters
    ----------
    ranking
        What was fitted.
    graph
        The graph, n nodes with texts.
    words
        How a text is cut into words.
    tables
        Arrays of the nodes by the names of `TABLES`, as a folder keeps them; None makes them.
    """

    def __init__(
        self,
        ranking: Ranking,
        graph: TextGraph,
        words: Cut,
        tables: Mapping[str, NDArray[Any]] | None = None,
    ) -> None:
        self.ranking, self.graph, self._words = ranking, graph, words
        self._links = link_matrix(graph)
        self.tables = dict(tables or self._make_tables())
        self._clues: Clues | None = None
        self._added: tuple[int, Added] | None = None

    def scores(
        self, texts: Sequence[str], rows: Sequence[str] = (), home: IntArray | None = None
    ) -> Floats:
        """Scores of new texts with all nodes, and with m rows that came since; (q, n + m)."""
        cut = [self._words(text) for text in texts]
        points = self.ranking.space.vectors(cut)
        added = self._add(rows, home) if home is not None and len(rows) else None
        return self.ranking.ranker.scores(self._ready(), cut, points, added)

    def _ready(self) -> Clues:
        if self._clues is None:
            points, *vectors = (self.tables[name] for name in TABLES)
            cut = [self._words(text) for text in self.graph.texts or ()]
            self._clues = Clues(
                cut, self._links, points, self.ranking.towers, (vectors[0], vectors[1], vectors[2])
            )
        return self._clues

    def _add(self, rows: Sequence[str], home: IntArray) -> Added:
        """The rows, read once for as long as they are the same."""
        key = hash((tuple(rows), home.tobytes()))
        if self._added is None or self._added[0] != key:
            cut = [self._words(text) for text in rows]
            points = self.ranking.space.vectors(cut)
            self._added = key, self._ready().add(cut, points, home.astype(np.int64))
        return self._added[1]

    def _make_tables(self) -> dict[str, NDArray[Any]]:
        cut = [self._words(text) for text in self.graph.texts or ()]
        points = self.ranking.space.vectors(cut)
        near, *vectors = node_vectors(self.ranking.towers, points, self._links)
        # Of points few rows are read at a time: half precision is enough.
        halved = points.astype(np.float16), near.astype(np.float16)
        return dict(zip(TABLES, (*halved, *vectors), strict=True))


class RankedPlaced(Placed):
    """New texts whose links are scored by `ranked`, or by any rule that the model has."""

    def __init__(self, placed: Placed, texts: Sequence[str], board: Board) -> None:
        self.__dict__.update(placed.__dict__)
        self._under, self._texts, self._board = placed, list(texts), board
        self.rules, self.rule = (*placed.rules, RANKED), RANKED
        self._kept: dict[int, NDArray[np.float32]] = {}

    # Ranked scores are no products of tables, so nobody else can add them up.
    terms = None  # type: ignore[assignment]

    def block(self, rows: slice, rule: str | None = None) -> Floats:
        """Scores of some new nodes with every known one, shape (b, n)."""
        if (rule or self.rule) != RANKED:
            return self._under.block(rows, rule)
        return np.stack([self._row(row) for row in range(*rows.indices(len(self._texts)))])

    def _row(self, row: int) -> NDArray[np.float32]:
        """Scores of one new node, kept as long as they are few: an evaluation asks again."""
        found = self._kept.get(row)
        if found is None:
            found = self._board.scores(self._texts[row : row + 1])[0].astype(np.float32)
            if (len(self._kept) + 1) * len(found) <= MOST_KEPT:
                self._kept[row] = found
        return found

    def pairs(self, rows: IntArray, target: IntArray, rule: str | None = None) -> Floats:
        """Scores of new nodes with known ones at positions `target`, all of shape (k,)."""
        if (rule or self.rule) != RANKED:
            return self._under.pairs(rows, target, rule)
        scores = np.empty(len(rows))
        for row in np.unique(rows).tolist():
            mine = rows == row
            scores[mine] = self._row(row)[target[mine]]
        return scores

    def between(self, rows: IntArray, others: IntArray, rule: str | None = None) -> Floats:
        """Scores of new nodes with other new ones, all of shape (k,)."""
        return self._under.between(rows, others, rule)


@dataclass(frozen=True, eq=False)
class Rehearsal:
    """Nodes that play new ones, looked at with towers that were trained without them.

    Attributes
    ----------
    space, towers, clues
        Fitted on the graph, its latent space on all texts.
    looks
        One for each held-out node.
    is_link
        Which of the nodes looked at are links, one mask for each look.
    links
        Number of their links, those that were not looked at included.
    seconds
        Of each step.
    """

    space: LatentSpace
    towers: Towers
    clues: Clues
    looks: Sequence[Look]
    is_link: Sequence[NDArray[np.bool_]]
    links: int
    seconds: dict[str, float]


def fit_ranking(graph: TextGraph, words: Cut, seed: int, device: Any = "cpu") -> Ranking | None:
    """Fit a ranking on a graph with texts, or None where too few nodes have links.

    Some nodes are held out to play new ones: the towers are trained without them, the ranker on
    how their links stand among all other nodes.
    """
    rehearsal = rehearse(graph, words, seed, device)
    if rehearsal is None:
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
    links, core = link_matrix(graph), np.setdiff1d(np.arange(graph.n_nodes), held)
    inside, wanted = links[core][:, core].tocsr(), links[held][:, core].tocsr()
    steps = min(max(inside.nnz // LINKS_A_STEP, FEWEST_STEPS), TowerSettings.steps)
    towers = train_towers(points[core], inside, TowerSettings(steps=steps), seed, device)
    clock.append(time.perf_counter())
    clues = Clues([cut[node] for node in core], inside, points[core], towers)
    looks = list(clues.look([cut[node] for node in held], points[held]))
    clock.append(time.perf_counter())
    is_link = [np.isin(look.places, _row(wanted, i)) for i, look in enumerate(looks)]
    seconds = dict(zip(("latent", "towers", "looks"), np.diff(clock).tolist(), strict=True))
    return Rehearsal(space, towers, clues, looks, is_link, int(wanted.nnz), seconds)


def _held_out(graph: TextGraph, cut: Sequence[Sequence[str]], seed: int) -> NDArray[np.int64]:
    """Nodes that play new ones, ascending: some of those with words and links."""
    usable = np.flatnonzero((graph.degree > 0) & np.array([len(words) > 0 for words in cut]))
    count = min(max(int(SHARE * len(usable)), FEWEST_QUERIES), MOST_QUERIES)
    if count > len(usable) // 4:  # too few would be left to learn from
        return np.empty(0, np.int64)
    drawn = np.random.default_rng([seed, len(usable)]).choice(usable, count, replace=False)
    return np.sort(drawn)


def _fit_ranker(rehearsal: Rehearsal, seed: int, device: Any) -> tuple[Ranker, RankingNotes]:
    """Fit both judges; what the second reads of the first comes from queries it never saw."""
    from pairgram.training.ranker import JudgeSettings, train_judge

    looks, is_link, total = rehearsal.looks, rehearsal.is_link, rehearsal.links
    features = [look.features for look in looks]
    first = judged_by_the_other(features, is_link, seed, device)
    second_features = [
        rehearsal.clues.look_again(look, scores) for look, scores in zip(looks, first, strict=True)
    ]
    second = judged_by_the_other(second_features, is_link, seed, device)
    columns = {name: FIRST.index(column) for name, column in PARTS.items()}
    mrr = {name: mrr_of([f[:, c] for f in features], is_link, total) for name, c in columns.items()}
    mrr |= {"first": mrr_of(first, is_link, total), "second": mrr_of(second, is_link, total)}
    settings = JudgeSettings()
    judge, again = train_judge(features, is_link, settings, seed, device), None
    if mrr["second"] > mrr["first"]:
        again = train_judge(second_features, is_link, settings, seed, device)
    return Ranker(judge, again), RankingNotes(mrr, len(looks))


def judged_by_the_other(
    features: Sequence[Table], is_link: Sequence[NDArray[np.bool_]], seed: int, device: Any
) -> list[Floats]:
    """Scores of every query by a judge that was trained on the other half of the queries."""
    from pairgram.training.ranker import JudgeSettings, halves, train_judge

    scores: list[Floats] = [np.empty(0)] * len(features)
    for train, test in halves(len(features), seed):
        some = [features[i] for i in train], [is_link[i] for i in train]
        judge: Judge = train_judge(*some, JudgeSettings(members=1), seed, device)
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


def _row(links: Any, row: int) -> NDArray[Any]:
    found: NDArray[Any] = links.indices[links.indptr[row] : links.indptr[row + 1]]
    return found
