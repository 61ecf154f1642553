"""What speaks for a link from a new text to a known node: texts, towers, levels, neighbours."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairgram.search.exact import largest
from pairgram.search.levels import levels
from pairgram.search.lexical import LexicalIndex
from pairgram.search.surroundings import Spelled, Surroundings
from pairgram.search.towers import Table, Towers, neighbour_means
from pairgram.search.votes import Ballots
from pairgram.text.cleaning import phrases
from pairgram.text.read import Read, Words

Floats = NDArray[np.floating[Any]]
IntArray = NDArray[np.int64]

NEAR = 200
"""Best nodes by words, phrases and letters, and by the towers, that are looked at."""
VOTED = 250
"""Best nodes by each kind of votes that are looked at too."""
VOTERS, FALL = 100, 6.0
"""How many of the near nodes vote, and the power by which a vote falls with closeness."""
FAR_VOTERS = 200
SMALLEST = 1e-9
TOGETHER = 32
"""Queries whose scores with all nodes are held at once."""

AROUND = ("around", "around_for", "around_given", "around_taken")
FEATURES = (
    "bm25", "bm25_share", "tfidf", "of_query", "of_node", "words_query", "words_node", "degree",
    "given", "taken", "tower", "tower_gap", "tower_log_share", "latent", "latent_near",
    "query_query", "phrase", "phrase_share", "phrase_tfidf", "close", "level", "level_gap",
    "letters", "letters_share", *AROUND,
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Added:
    """Nodes that came or changed since the links were counted, m of them.

    Attributes
    ----------
    read
        Their texts.
    weights
        Weights of their words in each index, sparse, (words, m).
    mass, log_words
        Σ of the idf of a text's words, and the logarithm of their number, (m,).
    near
        Their neighbours' mean points, (m, p).
    home
        Position of the node whose links each has, -1 for none, shape (m,).
    as_query, as_node
        Vectors of the towers, (m, dim).
    """

    read: Read
    weights: Sequence[Any]
    mass: Floats
    log_words: Floats
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
        What speaks for each and for the m added ones, in the order of `FEATURES`, shape
        (c + m, features).
    voter, voted
        Links among them, as rows of `features`: known nodes vote, those that were added are
        voted for by the links of the node whose text they change; shape (e,).
    giver, taker
        Those of these links that were given from the voter to the voted; shape (a,).
    degree
        Links that each has in the whole graph, at least 1, shape (c + m,).
    tower
        The towers' scores of all nodes, shape (n,).
    """

    places: IntArray
    features: NDArray[np.float32]
    voter: NDArray[np.int32]
    voted: NDArray[np.int32]
    giver: NDArray[np.int32]
    taker: NDArray[np.int32]
    degree: NDArray[np.float32]
    tower: Floats


@dataclass(frozen=True, eq=False)
class _Asked:
    """A query: words, their weights in each index, point, vector, scores of all nodes."""

    words: Words
    weights: tuple[Any, ...]
    point: Table
    vector: Table
    lexical: Floats
    phrases: Floats
    tower: Floats
    spelled: Spelled

    @property
    def by_text(self) -> Floats:
        """Words, phrases and letters together: the share of each of its largest score, (n,)."""
        kinds = self.lexical, self.phrases, self.spelled.scores
        shares: Floats = np.sum([scores / _most(scores) for scores in kinds], axis=0)
        return shares


class Clues:
    """Looks at the nodes of a graph for new texts.

    Parameters
    ----------
    read
        Texts of the nodes, n of them.
    links
        Sparse links between the nodes, symmetric, shape (n, n).
    arcs
        The same in the direction in which they were given, row to column.
    towers
        The trained towers.
    vectors
        What `node_vectors` makes, where it is at hand.
    """

    def __init__(
        self,
        read: Read,
        links: Any,
        arcs: Any,
        towers: Towers,
        vectors: tuple[Table, Table, Table] | None = None,
    ) -> None:
        texts, points = read.words, read.points
        self.towers, self.ballots, self._points = towers, Ballots(links), points
        self._degree = self.ballots.degree
        given_by = arcs.T.tocsr()
        self._givers = Ballots(given_by)
        self._surroundings = Surroundings(read.letters, arcs, given_by)
        self._log_given, self._log_taken = _log_sizes(arcs), _log_sizes(given_by)
        self._level = levels(arcs)
        self._bm25, self._tfidf, self._shared = LexicalIndex.family(texts)
        self._phrase, self._phrase_tfidf, _ = LexicalIndex.family([phrases(t) for t in texts])
        made = node_vectors(towers, points, links) if vectors is None else vectors
        self._near, self.as_query, self.as_node = made
        self._prior = towers.prior(self._degree)
        self._idf = self._shared.word_weight
        self._mass = self._shared.mass
        self._log_words = np.log1p([len(text) for text in texts]).astype(np.float32)
        self._log_degree = np.log1p(self._degree).astype(np.float32)
        self._rarest = float(np.log1p((len(texts) + 0.5) / 0.5))

    def add(self, read: Read, home: IntArray) -> Added:
        """Make nodes that came since comparable; `home` as in `Added`."""
        texts, points = read.words, read.points
        near = np.where(home[:, None] >= 0, self._near[home], 0).astype(np.float32)
        vectors = self.towers.query(points), self.towers.node(points, near)
        weights = [index.weigh(some).T.tocsr() for index, some in self._read_by(texts)]
        mass = np.array([self._mass_of(words) for words in texts])
        log_words = np.log1p([len(words) for words in texts])
        return Added(read, weights, mass, log_words, near, home, *vectors)

    def _read_by(self, texts: Sequence[Words]) -> list[tuple[LexicalIndex, Any]]:
        """The indexes, each with the texts as it reads them: as words, or as phrases."""
        paired = [phrases(text) for text in texts]
        single = self._bm25, self._tfidf, self._shared
        return [
            *((index, texts) for index in single),
            *((index, paired) for index in (self._phrase, self._phrase_tfidf)),
        ]

    def look(self, read: Read, added: Added | None = None) -> Iterator[Look]:
        """Look at the nodes for new texts."""
        texts, points = read.words, read.points
        vectors = self.towers.query(points)
        kinds = [index.queries(some) for index, some in self._read_by(texts)]
        for begin in range(0, len(texts), TOGETHER):
            part = slice(begin, min(begin + TOGETHER, len(texts)))
            lexical, by_phrases = (
                self._bm25.scores(kinds[0][part]),
                self._phrase.scores(kinds[3][part]),
            )
            tower = (self.towers.scale * vectors[part]) @ self.as_node.T
            tower += self._prior
            for at, row in enumerate(range(part.start, part.stop)):
                weights = tuple(kind[row : row + 1] for kind in kinds)
                asked = _Asked(
                    texts[row], weights, points[row], vectors[row], lexical[at], by_phrases[at],
                    tower[at], self._surroundings.spell(read.letters[row : row + 1]),
                )  # fmt: skip
                yield self._look(asked, added)

    def _look(self, asked: _Asked, added: Added | None) -> Look:
        places = self._worth_a_look(asked)
        raw, home = self._known(places, asked), places
        if added is not None:
            more = self._more(added, asked)
            raw = {name: np.append(column, more[name]) for name, column in raw.items()}
            home = np.append(home, added.home)
        features = np.stack([*self._own(raw, asked, len(places))], 1).astype(np.float32)
        voter, voted = _links_among(self.ballots, places, home)
        giver, taker = _links_among(self._givers, places, home)
        degree = np.where(home >= 0, np.maximum(self._degree[home], 1), 1).astype(np.float32)
        return Look(places, features, voter, voted, giver, taker, degree, asked.tower)

    def _worth_a_look(self, asked: _Asked) -> IntArray:
        """Near nodes, and those that near nodes link to, at one step and at two; ascending."""
        by_text = asked.by_text
        near = np.union1d(largest(by_text, NEAR), largest(asked.tower, NEAR))
        likeness = np.maximum(self.as_query[near] @ asked.vector, 0)
        close = by_text[near] + likeness / _most(likeness)
        best = largest(close, VOTERS)
        voters, strength = near[best], (close[best] / _most(close)) ** FALL
        vote, root = self.ballots.vote, self.ballots.root
        even = vote(voters, strength / root[voters])
        far = even.best(FAR_VOTERS)
        kinds = vote(voters, strength), even, vote(far, even.of(far) / root[far] ** 2)
        return np.unique(np.concatenate([near, *(votes.best(VOTED) for votes in kinds)]))

    def _known(self, at: IntArray, asked: _Asked) -> dict[str, Floats]:
        """What is counted of nodes of the graph and a query, each (c,)."""
        _, tfidf, shared, _, phrase_tfidf = asked.weights
        return {
            "bm25": asked.lexical[at],
            "tfidf": self._tfidf.at(tfidf, at),
            "common": self._shared.at(shared, at),
            "mass": self._mass[at],
            "words": self._log_words[at],
            "degree": self._log_degree[at],
            "given": self._log_given[at],
            "taken": self._log_taken[at],
            "level": self._level[at],
            "tower": asked.tower[at],
            "latent": self._points[at] @ asked.point,
            "latent_near": self._near[at] @ asked.point,
            "query_query": self.as_query[at] @ asked.vector,
            "phrase": asked.phrases[at],
            "phrase_tfidf": self._phrase_tfidf.at(phrase_tfidf, at),
            "letters": asked.spelled.scores[at],
            **_by_name(self._surroundings.around(asked.spelled, at)),
        }

    def _more(self, added: Added, asked: _Asked) -> dict[str, Floats]:
        """The same of nodes that were added."""
        bm25, tfidf, shared, phrase, phrase_tfidf = (
            (query @ weight).toarray()[0]
            for query, weight in zip(asked.weights, added.weights, strict=True)
        )
        linked, letters = added.home >= 0, added.read.letters
        degree = np.where(linked, self._degree[added.home], 0)
        return {
            "bm25": bm25,
            "tfidf": tfidf,
            "common": shared,
            "mass": added.mass,
            "words": added.log_words,
            "degree": np.log1p(degree),
            "given": np.where(linked, self._log_given[added.home], 0),
            "taken": np.where(linked, self._log_taken[added.home], 0),
            "level": np.where(linked, self._level[added.home], np.nan),
            "tower": self.towers.scale * (added.as_node @ asked.vector) + self.towers.prior(degree),
            "latent": added.read.points @ asked.point,
            "latent_near": added.near @ asked.point,
            "query_query": added.as_query @ asked.vector,
            "phrase": phrase,
            "phrase_tfidf": phrase_tfidf,
            "letters": self._surroundings.scores_of(asked.spelled, letters),
            **_by_name(self._surroundings.around(asked.spelled, added.home, letters)),
        }

    def _own(self, raw: dict[str, Floats], asked: _Asked, known: int) -> Iterator[Floats]:
        """What a node and the query say, in the order of `FEATURES`; known nodes come first."""
        tower = asked.tower
        top = float(tower.max(initial=-np.inf))
        by_words = raw["bm25"] / _most(asked.lexical)
        by_phrases = raw["phrase"] / _most(asked.phrases)
        by_letters = raw["letters"] / _most(asked.spelled.scores)
        likeness = np.maximum(raw["query_query"], 0)
        yield raw["bm25"]
        yield by_words
        yield raw["tfidf"]
        yield raw["common"] / max(self._mass_of(asked.words), SMALLEST)
        yield raw["common"] / np.maximum(raw["mass"], SMALLEST)
        yield np.full(len(raw["bm25"]), np.log1p(len(asked.words)))
        yield raw["words"]
        yield raw["degree"]
        yield raw["given"]
        yield raw["taken"]
        yield raw["tower"]
        yield raw["tower"] - top
        yield raw["tower"] - top - np.log(np.exp(tower - top).sum())
        yield raw["latent"]
        yield raw["latent_near"]
        yield raw["query_query"]
        yield raw["phrase"]
        yield by_phrases
        yield raw["phrase_tfidf"]
        close = (by_words + by_phrases + by_letters + likeness / _most(likeness[:known])) / 4
        yield close
        # A text, and a node without links, has the level of what is like the query.
        weight = (close[:known] / _most(close[:known])) ** FALL
        middle = (weight @ raw["level"][:known]) / max(float(weight.sum()), SMALLEST)
        level = np.where(np.isnan(raw["level"]), middle, raw["level"])
        yield level
        yield level - middle
        yield raw["letters"]
        yield by_letters
        for name in AROUND:
            yield raw[name]

    def _mass_of(self, words: Words) -> float:
        """Σ of the idf of a text's distinct words; one that no node has is the rarest."""
        places = self._shared.places(set(words))
        return float(self._idf[places].sum()) + self._rarest * (len(set(words)) - len(places))


def _by_name(around: Floats) -> dict[str, Floats]:
    """Columns of what `Surroundings.around` gives."""
    return dict(zip(AROUND, around.T, strict=True))


def node_vectors(towers: Towers, points: Table, links: Any) -> tuple[Table, Table, Table]:
    """Neighbours' mean points (n, p), and vectors as queries and as nodes, both (n, dim)."""
    near = neighbour_means(links, points)
    return near, towers.query(points), towers.node(points, near)


def _links_among(
    ballots: Ballots, places: IntArray, home: IntArray
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Links from places to all rows, which have the links of their `home`; both (e,)."""
    rows = np.flatnonzero(home >= 0)
    at, linked = ballots.links_of(home[rows])
    spot = np.minimum(np.searchsorted(places, linked), max(len(places) - 1, 0))
    here = places[spot] == linked if len(places) else np.zeros(len(linked), bool)
    return spot[here].astype(np.int32), rows[at[here]].astype(np.int32)


def _log_sizes(rows: Any) -> NDArray[np.float32]:
    """Log(1 + entries) of each row of a sparse matrix."""
    sizes: NDArray[np.float32] = np.log1p(np.diff(rows.indptr)).astype(np.float32)
    return sizes


def _most(scores: Floats) -> float:
    """The largest of some scores, never 0."""
    return max(float(scores.max(initial=0)), SMALLEST)
