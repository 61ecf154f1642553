"""What speaks for a link between two known nodes: vectors, paths between them, words."""

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairgram.search.exact import largest
from pairgram.search.lexical import LexicalIndex
from pairgram.search.towers import Table
from pairgram.search.vote import POWER
from pairgram.search.votes import Ballots, Votes, entries, summed

Floats = NDArray[np.floating[Any]]
IntArray = NDArray[np.int64]
Words = Sequence[str]

BLOCK = 1 << 13
"""Pairs that are looked at at once."""
STEPS = 1 << 20
"""Paths of two steps that are held at once, those of one node always."""
MOST_LINKS = 1000
"""Links of a node that paths of three steps go along: hubs say little and cost much."""
AT_ONCE = 32
"""Nodes whose scores with all nodes are held at once."""
NEAR, VOTED = 200, 150
"""Best nodes by words and by vectors, and by each kind of votes, that are worth a look."""
FAR_VOTERS, WORD_VOTERS = 300, 20
SMALLEST, FAINTEST = 1e-9, 1e-4

VECTORS = ("symmetric", "lopsided", "dot", "cosine", "contexts")
DEGREES = ("degrees", "degrees_lopsided")
PATHS = ("common", "adamic_adar", "allocation", "far", "far_even")
PER_PATH = ("count", "log", "log_even")
WORDS = (
    "bm25", "bm25_lopsided", "bm25_share", "bm25_share_lopsided", "tfidf", "common_words",
    "common_words_lopsided", "words", "words_lopsided",
)  # fmt: skip
POINTS = ("latent", "latent_near", "latent_near_lopsided", "near_near")
FEATURES = (
    *VECTORS, *(f"structure_{name}" for name in VECTORS), *DEGREES,
    *(f"{name}_{how}" for name in PATHS for how in PER_PATH), *WORDS, *POINTS,
)  # fmt: skip
TABLES = ("center", "context", "structure_center", "structure_context", "points", "near")
"""Arrays with a row for every node that are read."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Nodes that came or changed since the links were counted, m of them.

    Attributes
    ----------
    texts
        Their texts as words.
    tables
        Arrays by the names of `TABLES`, each with m rows.
    home
        Position of the node whose links each has, -1 for none, shape (m,).
    """

    texts: Sequence[Words]
    tables: Mapping[str, Table]
    home: IntArray


class LinkClues:
    """Looks at pairs of nodes; (u, v) and (v, u) look the same.

    Parameters
    ----------
    texts
        Texts of the nodes as words, n of them.
    links
        Sparse links between the nodes, symmetric, shape (n, n).
    tables
        Arrays by the names of `TABLES`: vectors of the method, vectors of the structure alone,
        points of the texts and mean points of the neighbours, each with n rows.
    """

    def __init__(
        self, texts: Sequence[Words], links: Any, tables: Mapping[str, NDArray[Any]]
    ) -> None:
        self.ballots, self.size = Ballots(links), len(texts)
        self._links = links
        self._tables = {name: _Stack(tables[name]) for name in TABLES}
        self._index = LexicalIndex.family(texts)
        self._asking = [index.queries(texts) for index in self._index]  # type: ignore[arg-type]
        self._weight = [index.weight for index in self._index]
        self._count_words(texts)
        # A row without links follows those of the nodes: the home of what has none.
        self._begin = np.append(links.indptr, links.indptr[-1]).astype(np.int64)
        self._home = np.arange(self.size)
        self._degree = np.append(self.ballots.degree, 0)
        row = np.repeat(np.arange(self.size), self.ballots.degree)
        self._keys = row * (self.size + 1) + links.indices
        self._walked = _thinned(links)
        self._walk_begin = np.append(self._walked.indptr, self._walked.indptr[-1]).astype(np.int64)
        self._steps = np.append(self._walked @ np.diff(self._walked.indptr), 0)

    def with_rows(self, rows: Rows) -> "LinkClues":
        """The same nodes and, after them, those that came since."""
        from scipy.sparse import vstack

        more = copy(self)
        more._tables = {n: _Stack(self._tables[n].known, rows.tables[n]) for n in TABLES}
        texts: Any = rows.texts
        asking = [index.queries(texts) for index in self._index]
        weight = [index.weigh(texts) for index in self._index]
        more._asking = [vstack(p, "csr") for p in zip(self._asking, asking, strict=True)]
        more._weight = [vstack(p, "csr") for p in zip(self._weight, weight, strict=True)]
        more._home = np.append(self._home, np.where(rows.home < 0, self.size, rows.home))
        more._count_words(texts, self._log_words)
        return more

    def _count_words(self, texts: Sequence[Words], before: Floats | None = None) -> None:
        """Lengths of texts, their BM25 with themselves, and the idf of all their words."""
        mine = np.log1p([len(text) for text in texts])
        self._log_words = mine if before is None else np.append(before, mine)
        self._own = _row_sums(self._asking[0].multiply(self._weight[0]))
        self._mass = _row_sums(self._weight[2])

    def pairs(self, source: IntArray, target: IntArray) -> Table:
        """What speaks for the links (source, target), shape (m, features); see `FEATURES`."""
        found = np.empty((len(source), len(FEATURES)), np.float32)
        for begin in range(0, len(source), BLOCK):
            u, v = source[begin : begin + BLOCK], target[begin : begin + BLOCK]
            parts = (
                self._vectors(u, v, "center", "context"),
                self._vectors(u, v, "structure_center", "structure_context"),
                self._degrees(u, v), self._paths(u, v), self._words(u, v), self._points(u, v),
            )  # fmt: skip
            for at, column in enumerate(column for part in parts for column in part):
                found[begin : begin + BLOCK, at] = column
        return found

    def worth(self, nodes: IntArray) -> Iterator[tuple[IntArray, Floats]]:
        """What is worth a look for each of some nodes.

        Yields
        ------
        places
            Positions, ascending: what a signal ranks high, and all rows, shape (c,).
        by_vectors
            Product of the node's centre vector with every node's context vector, shape (n,).
        """
        for begin in range(0, len(nodes), AT_ONCE):
            some = nodes[begin : begin + AT_ONCE]
            by_vectors = self._tables["center"][some] @ self._tables["context"].known.T
            by_words = self._index[0].scores(self._asking[0][some])
            for row, home in enumerate(self._home[some].tolist()):
                best = [largest(part, NEAR) for part in (by_vectors[row], by_words[row])]
                voted = [votes.best(VOTED) for votes in self._votes(home, by_words[row])]
                rows = np.arange(self.size, len(self._home))
                yield np.unique(np.concatenate([*best, *voted, rows])), by_vectors[row]

    def _votes(self, home: int, by_words: Floats) -> Iterator[Votes]:
        """Votes of a node's neighbours, of those around them, and of nodes of similar text."""
        ballots = self.ballots
        linked = self._links.indices[self._begin[home] : self._begin[home + 1]].astype(np.int64)
        yield ballots.vote(linked, 1 / np.maximum(ballots.degree[linked], 1))
        even = ballots.vote(linked, 1 / ballots.root[linked])
        yield even
        voters = even.best(FAR_VOTERS)
        yield ballots.vote(voters, even.of(voters) / ballots.root[voters])
        alike = largest(by_words, WORD_VOTERS + 1)
        alike = alike[alike != home]  # most like a text is the text itself
        strength = by_words[alike] / max(float(by_words[alike].max(initial=0)), SMALLEST)
        yield ballots.vote(alike, strength**POWER)

    def _vectors(self, u: IntArray, v: IntArray, center: str, context: str) -> Iterator[Floats]:
        e_u, e_v = self._tables[center][u], self._tables[center][v]
        c_u, c_v = self._tables[context][u], self._tables[context][v]
        ahead, back, dot = _dot(e_u, c_v), _dot(c_u, e_v), _dot(e_u, e_v)
        yield ahead + back
        yield np.abs(ahead - back)
        yield dot
        yield dot / np.maximum(np.sqrt(_dot(e_u, e_u) * _dot(e_v, e_v)), SMALLEST)
        yield _dot(c_u, c_v)

    def _degrees(self, u: IntArray, v: IntArray) -> Iterator[Floats]:
        yield from _both(*(np.log1p(self._degree[self._home[nodes]]) for nodes in (u, v)))

    def _paths(self, u: IntArray, v: IntArray) -> Iterator[Floats]:
        home_u, home_v = self._home[u], self._home[v]
        degree_u, degree_v = self._degree[home_u], self._degree[home_v]
        even = np.sqrt(np.maximum(degree_u * degree_v, 1))
        for count in (*self._common(home_u, home_v), *self._far(home_u, home_v)):
            yield count
            yield np.log(count + FAINTEST)
            yield np.log(count / even + FAINTEST)

    def _common(self, u: IntArray, v: IntArray) -> Iterator[Floats]:
        """Σ over common neighbours w of 1, of 1 / log(1 + d_w) and of 1 / d_w, each (m,)."""
        fewer = self._degree[u] < self._degree[v]
        u, v = np.where(fewer, v, u), np.where(fewer, u, v)
        places, sizes = entries(self._begin, v)
        pair, between = np.repeat(np.arange(len(u)), sizes), self._links.indices[places]
        hit = _found(self._keys, u[pair] * (self.size + 1) + between) >= 0
        pair, degree = pair[hit], self._degree[between[hit]]
        for value in (np.ones(len(pair)), 1 / np.log1p(degree), 1 / degree):
            yield summed(pair, value, len(u))

    def _far(self, u: IntArray, v: IntArray) -> Iterator[Floats]:
        """Σ over paths u, a, b, v of 1 / √(d_a d_b), and of 1 / (d_a d_b), each (m,)."""
        found = np.zeros((2, len(u)))
        homes, row = np.unique(u, return_inverse=True)
        group = np.cumsum(self._steps[homes]) // STEPS
        for number in np.unique(group).tolist():
            begin, end = np.searchsorted(group, [number, number + 1])
            mine = np.flatnonzero((row >= begin) & (row < end))
            found[:, mine] = self._far_of(homes[begin:end], row[mine] - begin, v[mine])
        yield from found

    def _far_of(self, homes: IntArray, row: IntArray, v: IntArray) -> Floats:
        """The same for pairs of (homes[row], v), shape (2, m)."""
        keys, values = self._two_steps(homes)
        places, sizes = entries(self._walk_begin, v)
        pair, last = np.repeat(np.arange(len(v)), sizes), self._walked.indices[places]
        at = _found(keys, row[pair] * (self.size + 1) + last)
        hit = at >= 0
        pair, at, degree = pair[hit], at[hit], self._degree[last[hit]]
        weights = values[:, at] / np.stack([np.sqrt(degree), degree])
        return np.stack([summed(pair, weight, len(v)) for weight in weights])

    def _two_steps(self, homes: IntArray) -> tuple[IntArray, Floats]:
        """Keys of (row, b), ascending, and Σ over paths u, a, b of 1 / √d_a and 1 / d_a, (2, k)."""
        linked = self._walked.indices
        first, sizes = entries(self._walk_begin, homes)
        middle = linked[first].astype(np.int64)
        second, more = entries(self._walk_begin, middle)
        row = np.repeat(np.repeat(np.arange(len(homes)), sizes), more)
        keys, at = np.unique(row * (self.size + 1) + linked[second], return_inverse=True)
        degree = np.repeat(self._degree[middle], more)
        weights = 1 / np.sqrt(degree), 1 / degree
        return keys, np.stack([summed(at, weight, len(keys)) for weight in weights])

    def _words(self, u: IntArray, v: IntArray) -> Iterator[Floats]:
        (bm25, tfidf, shared), weight = self._asking, self._weight
        ahead = _row_sums(bm25[u].multiply(weight[0][v]))
        back = _row_sums(bm25[v].multiply(weight[0][u]))
        yield from _both(ahead, back)
        own_u, own_v = (np.maximum(self._own[nodes], SMALLEST) for nodes in (u, v))
        yield from _both(ahead / own_u, back / own_v)
        yield _row_sums(tfidf[u].multiply(weight[1][v]))
        common = _row_sums(shared[u].multiply(weight[2][v]))
        yield from _both(*(common / np.maximum(self._mass[nodes], SMALLEST) for nodes in (u, v)))
        yield from _both(self._log_words[u], self._log_words[v])

    def _points(self, u: IntArray, v: IntArray) -> Iterator[Floats]:
        points, near = self._tables["points"], self._tables["near"]
        p_u, p_v, n_u, n_v = points[u], points[v], near[u], near[v]
        yield _dot(p_u, p_v)
        yield from _both(_dot(p_u, n_v), _dot(n_u, p_v))
        yield _dot(n_u, n_v)


class _Stack:
    """Rows of a table and, after them, rows that came since; read some at a time."""

    def __init__(self, known: NDArray[Any], added: Table | None = None) -> None:
        self.known, self._added = known, added

    def __getitem__(self, at: IntArray) -> Table:
        """Rows, shape (m, dim)."""
        if self._added is None or not len(self._added):
            return self.known[at].astype(np.float32, copy=False)
        old, size = at < len(self.known), len(self.known)
        rows = np.empty((len(at), self.known.shape[1]), np.float32)
        rows[old], rows[~old] = self.known[at[old]], self._added[at[~old] - size]
        return rows


def _thinned(links: Any) -> Any:
    """Links without most of those of hubs: a link stays that is kept by both its ends."""
    from scipy.sparse import csr_array

    degree = np.diff(links.indptr)
    if degree.max(initial=0) <= MOST_LINKS:
        return links
    row = np.repeat(np.arange(len(degree)), degree)
    place = np.arange(len(row)) - links.indptr[row]
    share = np.minimum(MOST_LINKS / np.maximum(degree, 1), 1)[row]
    stays = np.floor((place + 1) * share) > np.floor(place * share)  # evenly spread
    kept = csr_array((stays.astype(np.float32), links.indices, links.indptr), shape=links.shape)
    kept = kept.multiply(kept.T).tocsr()
    kept.eliminate_zeros()
    kept.sort_indices()
    return kept


def _both(one: Floats, other: Floats) -> tuple[Floats, Floats]:
    """Sum and difference of what two ends say, whichever comes first."""
    return one + other, np.abs(one - other)


def _dot(left: Table, right: Table) -> Floats:
    products: Floats = np.einsum("ij,ij->i", left, right)
    return products


def _row_sums(matrix: Any) -> Floats:
    return np.asarray(matrix.sum(axis=1), np.float64).ravel()


def _found(keys: IntArray, wanted: IntArray) -> IntArray:
    """Places of keys, ascending, -1 for what is none of them, shape (m,)."""
    if not len(keys):
        return np.full(len(wanted), -1)
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[at] == wanted, at, -1)
