"""What speaks for a link from a new text to a known node: words, towers, votes of neighbours."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairgram.search.exact import largest
from pairgram.search.lexical import LexicalIndex
from pairgram.search.towers import Table, Towers, neighbour_means
from pairgram.search.votes import Ballots, Votes

Floats = NDArray[np.floating[Any]]
IntArray = NDArray[np.int64]
Words = Sequence[str]

NEAR = 300
"""Best nodes by BM25 and by the towers that are looked at."""
VOTED = 150
"""Best nodes by each kind of votes that are looked at too."""
FAR_VOTERS = 200
VOTERS = (("words", 20, 3.0), ("words", 100, 4.0), ("both", 20, 4.0), ("both", 100, 8.0))
"""By what voters are near, how many vote, and how fast a vote falls."""
SMALLEST = 1e-9
FAINTEST = 1e-6
"""What is added to votes that are read as logarithms."""
KIN_VOTERS = 100
"""Nodes that vote with learned weights."""
TOGETHER = 32
"""Queries whose scores with all nodes are held at once."""

OWN = (
    "bm25", "bm25_share", "tfidf", "of_query", "of_node", "words_query", "words_node", "degree",
    "tower", "tower_gap", "tower_log_share", "latent", "latent_near", "query_query",
)  # fmt: skip
VOTES = tuple(f"{name}_{count}" for name, count, _ in VOTERS)
WIDE = tuple(name for name, (_, count, _) in zip(VOTES, VOTERS, strict=True) if count == 100)
EVEN = tuple(f"{name}_even" for name in WIDE)
FAR = tuple(f"{name}_far" for name in WIDE)
PER_VOTE = ("share", "log")
FIRST = (
    *OWN,
    *(f"{name}_{how}" for name in (*VOTES, *EVEN, *FAR) for how in PER_VOTE),
    *(f"{name}_{how}" for name in WIDE for how in ("per_root", "per_link")),
)
KIN = ("kin_share", "kin_log", "kin_log_root", "kin_log_weight", "kin_weight")
"""What votes with learned weights add."""


@dataclass(frozen=True, eq=False)
class Added:
    """Nodes that came or changed since the links were counted, m of them.

    Attributes
    ----------
    texts
        Their texts as words.
    points, near
        Latent points, and their neighbours' mean points, (m, p).
    home
        Position of the node whose links each has, -1 for none, shape (m,).
    as_query, as_node
        Vectors of the towers, (m, dim).
    """

    texts: Sequence[Words]
    points: Table
    near: Table
    home: IntArray
    as_query: Table
    as_node: Table


@dataclass(frozen=True, eq=False)
class Look:
    """One query beside the nodes worth a look, and after them all that were added.

    Attributes
    ----------
    places
        Positions of the nodes, ascending, shape (c,).
    features
        What speaks for each and for the m added ones, in the order of `FIRST`, (c + m, features).
    home
        Positions whose votes they get, -1 for none, shape (c + m,).
    tower
        The towers' scores of all nodes, shape (n,).
    """

    places: IntArray
    features: NDArray[np.float32]
    home: IntArray
    tower: Floats


@dataclass(frozen=True, eq=False)
class _Asked:
    """A query: words, their weights in the indexes, point, vector, scores of all nodes."""

    words: Words
    bm25: Any
    tfidf: Any
    shared: Any
    point: Table
    vector: Table
    lexical: Floats
    tower: Floats


class Clues:
    """Looks at the nodes of a graph for new texts.

    Parameters
    ----------
    texts
        Texts of the nodes as words, n of them.
    links
        Sparse links between the nodes, symmetric, shape (n, n).
    points
        Latent points of the texts, shape (n, p).
    towers
        The trained towers.
    vectors
        What `node_vectors` makes, where it is at hand.
    """

    def __init__(
        self,
        texts: Sequence[Words],
        links: Any,
        points: Table,
        towers: Towers,
        vectors: tuple[Table, Table, Table] | None = None,
    ) -> None:
        self.towers, self.ballots, self._points = towers, Ballots(links), points
        self._degree = self.ballots.degree
        self._bm25, self._tfidf, self._shared = LexicalIndex.family(texts)
        made = node_vectors(towers, points, links) if vectors is None else vectors
        self._near, self.as_query, self.as_node = made
        self._prior = towers.prior(self._degree)
        self._idf = self._shared.word_weight
        self._mass = self._shared.mass
        self._log_words = np.log1p([len(text) for text in texts]).astype(np.float32)
        self._log_degree = np.log1p(self._degree).astype(np.float32)
        self._rarest = float(np.log1p((len(texts) + 0.5) / 0.5))

    def add(self, texts: Sequence[Words], points: Table, home: IntArray) -> Added:
        """Make nodes that came since comparable; `home` as in `Added`."""
        near = np.where(home[:, None] >= 0, self._near[home], 0).astype(np.float32)
        vectors = self.towers.query(points), self.towers.node(points, near)
        return Added(texts, points, near, home, *vectors)

    def look(
        self, texts: Sequence[Words], points: Table, added: Added | None = None
    ) -> Iterator[Look]:
        """Look at the nodes for new texts with their points, shape (m, p)."""
        vectors = self.towers.query(points)
        kinds = [index.queries(texts) for index in (self._bm25, self._tfidf, self._shared)]  # type: ignore[arg-type]
        for begin in range(0, len(texts), TOGETHER):
            part = slice(begin, min(begin + TOGETHER, len(texts)))
            lexical = self._bm25.scores(kinds[0][part])
            tower = (self.towers.scale * vectors[part]) @ self.as_node.T
            tower += self._prior
            for at, row in enumerate(range(part.start, part.stop)):
                bm25, tfidf, shared = (kind[row : row + 1] for kind in kinds)
                mine = points[row], vectors[row], lexical[at], tower[at]
                yield self._look(_Asked(texts[row], bm25, tfidf, shared, *mine), added)

    def _look(self, asked: _Asked, added: Added | None) -> Look:
        lexical, tower = asked.lexical, asked.tower
        near = np.union1d(largest(lexical, NEAR), largest(tower, NEAR))
        likeness = self.as_query[near] @ asked.vector
        votes = dict(self._votes(near, lexical[near], likeness))
        voted = [votes[name].best(VOTED) for name in (*WIDE, *EVEN, *FAR)]
        places = np.unique(np.concatenate([near, *voted]))
        raw, home = self._known(places, asked), places
        if added is not None:
            more = self._more(added, asked)
            raw = {name: np.append(column, more[name]) for name, column in raw.items()}
            home = np.append(home, added.home)
        own = self._own(raw, asked)
        features = np.stack([*own, *self._vote_features(votes, home)], 1)
        return Look(places, features.astype(np.float32), home, tower)

    def _known(self, at: IntArray, asked: _Asked) -> dict[str, Floats]:
        """What is counted of nodes of the graph and a query, each (c,)."""
        return {
            "bm25": asked.lexical[at],
            "tfidf": self._tfidf.at(asked.tfidf, at),
            "common": self._shared.at(asked.shared, at),
            "mass": self._mass[at],
            "words": self._log_words[at],
            "degree": self._log_degree[at],
            "tower": asked.tower[at],
            "latent": self._points[at] @ asked.point,
            "latent_near": self._near[at] @ asked.point,
            "query_query": self.as_query[at] @ asked.vector,
        }

    def _more(self, added: Added, asked: _Asked) -> dict[str, Floats]:
        """The same of nodes that were added."""
        degree = np.where(added.home >= 0, self._degree[added.home], 0)
        texts: Any = added.texts
        return {
            "bm25": self._bm25.scores_of(asked.bm25, texts)[0],
            "tfidf": self._tfidf.scores_of(asked.tfidf, texts)[0],
            "common": self._shared.scores_of(asked.shared, texts)[0],
            "mass": np.array([self._mass_of(words) for words in added.texts]),
            "words": np.log1p([len(words) for words in added.texts]),
            "degree": np.log1p(degree),
            "tower": self.towers.scale * (added.as_node @ asked.vector) + self.towers.prior(degree),
            "latent": added.points @ asked.point,
            "latent_near": added.near @ asked.point,
            "query_query": added.as_query @ asked.vector,
        }

    def _own(self, raw: dict[str, Floats], asked: _Asked) -> Iterator[Floats]:
        """What a node and the query say by themselves, in the order of `OWN`."""
        tower = asked.tower
        top = float(tower.max(initial=-np.inf))
        yield raw["bm25"]
        yield raw["bm25"] / max(float(asked.lexical.max(initial=0)), SMALLEST)
        yield raw["tfidf"]
        yield raw["common"] / max(self._mass_of(asked.words), SMALLEST)
        yield raw["common"] / np.maximum(raw["mass"], SMALLEST)
        yield np.full(len(raw["bm25"]), np.log1p(len(asked.words)))
        yield raw["words"]
        yield raw["degree"]
        yield raw["tower"]
        yield raw["tower"] - top
        yield raw["tower"] - top - np.log(np.exp(tower - top).sum())
        yield raw["latent"]
        yield raw["latent_near"]
        yield raw["query_query"]

    def _mass_of(self, words: Words) -> float:
        """Σ of the idf of a text's distinct words; one that no node has is the rarest."""
        places = self._shared.places(set(words))
        return float(self._idf[places].sum()) + self._rarest * (len(set(words)) - len(places))

    def _votes(
        self, near: IntArray, lexical: Floats, likeness: Floats
    ) -> Iterator[tuple[str, Votes]]:
        """Votes by kind."""
        vote, root = self.ballots.vote, self.ballots.root
        by_words = lexical / max(float(lexical.max(initial=0)), SMALLEST)
        by_towers = np.maximum(likeness, 0) / max(float(likeness.max(initial=0)), SMALLEST)
        closeness = {"words": by_words, "both": (by_words + by_towers) / 2}
        for name, (kind, count, power) in zip(VOTES, VOTERS, strict=True):
            close = closeness[kind]
            best = largest(close, count)
            strength = (close[best] / max(float(close.max(initial=0)), SMALLEST)) ** power
            voters = near[best]
            yield name, vote(voters, strength)
            if name in WIDE:
                even = vote(voters, strength / root[voters])
                yield f"{name}_even", even
                far = even.best(FAR_VOTERS)
                yield f"{name}_far", vote(far, even.of(far) / root[far] ** 2)

    def _vote_features(self, votes: dict[str, Votes], at: IntArray) -> Iterator[Floats]:
        for name in (*VOTES, *EVEN, *FAR):
            yield _share(votes[name], at)
            yield np.log1p(8 * votes[name].of(at))
        for name in WIDE:
            yield _share(votes[name].over(self.ballots.root), at)
            yield _share(votes[name].over(np.maximum(self.ballots.degree, 1)), at)


def kin_weights(look: Look, scores: Floats) -> Floats:
    """Weights e^score of nodes and added ones, those of the nodes summing to 1, (c + m,)."""
    known = scores[: len(look.places)]
    weight: Floats = np.exp(scores - known.max(initial=-np.inf))
    return weight / max(float(weight[: len(known)].sum()), SMALLEST)


def with_kin(ballots: Ballots, look: Look, features: Table, scores: Floats) -> Table:
    """Features and what the nodes vote whose learned scores, shape (c + m,), are highest.

    Node x gets Σ over the voters w of weight_w · [x linked to w] / d_w: the chance that it is
    drawn from the links of a node that is drawn by its weight.
    """
    weight = kin_weights(look, scores)
    best = largest(weight[: len(look.places)], KIN_VOTERS)
    voters = look.places[best]
    votes = ballots.vote(voters, weight[best] / np.maximum(ballots.degree[voters], 1))
    mine = votes.of(look.home)
    root = np.where(look.home >= 0, ballots.root[look.home], 1)
    more = [
        _share(votes, look.home), np.log(mine + FAINTEST), np.log(mine / root + FAINTEST),
        np.log(weight + SMALLEST), weight,
    ]  # fmt: skip
    return np.hstack([features, np.stack(more, 1).astype(np.float32)])


def node_vectors(towers: Towers, points: Table, links: Any) -> tuple[Table, Table, Table]:
    """Neighbours' mean points (n, p), and vectors as queries and as nodes, both (n, dim)."""
    near = neighbour_means(links, points)
    return near, towers.query(points), towers.node(points, near)


def _share(votes: Votes, nodes: IntArray) -> Floats:
    """Votes of some nodes as shares of the most that any node has."""
    share: Floats = votes.of(nodes) / max(votes.most, SMALLEST)
    return share
