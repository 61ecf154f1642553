"""Letters of a query in the texts of nodes, and in those of their neighbours."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairgram.kernels.ready import count_around, list_terms, sum_terms
from pairgram.search.lexical import K1, B, lucene_idf
from pairgram.search.votes import entries

Floats = NDArray[np.floating[Any]]
IntArray = NDArray[np.int64]

COMMON, FEW = 0.1, 1000
"""A sequence of letters counts where at most this share of the texts have it, or at most `FEW`."""
LISTED = 1 << 22
"""Texts that a query's sequences are looked up in, each counted as often as it comes: of a long
query in a huge graph the rarest sequences count."""
OWN = 3.0
"""A node's own text counts as those of so many neighbours."""
PRIOR = 100.0
"""Neighbours, besides the real ones, whose texts are as all texts are."""
MOST = 4096
"""Neighbours of a node that are read in either direction; of more, so many evenly spaced."""


@dataclass(frozen=True, eq=False)
class Spelled:
    """What a query has in common with the texts.

    Attributes
    ----------
    terms
        Its sequences of letters that are in few texts, shape (k,).
    first, found
        Those that node v has are terms[found[first[v] : first[v + 1]]].
    scores
        BM25 of each text, every sequence counted once, shape (n,).
    """

    terms: IntArray
    first: IntArray
    found: NDArray[np.int32]
    scores: NDArray[np.float32]


class Surroundings:
    """Nodes by the letters of their texts and of the texts that they are linked to.

    Do those that a node is linked to speak as the query does? A paper's own abstract need not
    name what it is cited for; the abstracts that cite it do.

    Parameters
    ----------
    letters
        Sequences of letters of each text, sparse, shape (n, v); see `letter_rows`.
    given, taken
        Sparse links, each row's node to those that it gave a link to, and to those that it has one
        from, both (n, n).
    """

    def __init__(self, letters: Any, given: Any, taken: Any) -> None:
        self._begin, self._nodes = _rows(letters.T.tocsr())
        self._ways = _rows(given), _rows(taken)
        self.n_nodes = letters.shape[0]
        self._most = max(COMMON * self.n_nodes, FEW)
        self._sizes = np.diff(letters.indptr)
        self._mean = max(float(self._sizes.mean()) if self.n_nodes else 0.0, 1.0)

    def spell(self, query: Any) -> Spelled:
        """Find the letters of a query, sparse of shape (1, v), in the texts."""
        number = np.sort(query.indices.astype(np.int64))
        frequency = self._frequency(number)
        order = np.argsort(frequency, kind="stable")
        rare = (frequency[order] <= self._most) & (np.cumsum(frequency[order]) <= LISTED)
        terms = np.sort(number[order[rare & (frequency[order] > 0)]])
        first = np.zeros(self.n_nodes + 2, np.int64)
        found = np.empty(int(self._frequency(terms).sum()), np.int32)
        list_terms(terms, self._begin, self._nodes, first, found)
        sums = np.empty(self.n_nodes, np.float32)
        sum_terms(first, found, self._idf(terms), sums)
        return Spelled(terms, first, found, sums * self._evened(self._sizes))

    def scores_of(self, spelled: Spelled, letters: Any) -> Floats:
        """The same BM25 of other texts, sparse of shape (m, v), by the statistics of the nodes."""
        common = _common(letters, spelled.terms)
        scores: Floats = (common @ self._idf(spelled.terms)) * self._evened(np.diff(letters.indptr))
        return scores

    def around(self, spelled: Spelled, home: IntArray, letters: Any = None) -> Floats:
        """How much more often the query's letters come up around nodes than anywhere, (c, 4).

        Σ over its sequences of log ((a + m p) / ((d + m) p)): p is the share of all texts that
        have one, a the number among a node's d neighbours, its own text counted `OWN` times,
        m = `PRIOR`. In this order: among all neighbours; only the sequences that do come up more
        often there; among those that the node gave a link to; among those that it has one from.

        Parameters
        ----------
        spelled
            The query.
        home
            Nodes whose neighbours are meant, -1 for none, shape (c,).
        letters
            Texts of the nodes themselves, sparse, shape (c, v); None for those of `home`.
        """
        own = OWN * (_own(spelled, home) if letters is None else _common(letters, spelled.terms))
        counts, degrees = [], []
        for begin, near in self._ways:
            some = np.zeros_like(own)
            count_around(home, begin, near, MOST, spelled.first, spelled.found, some)
            counts.append(some)
            degree = np.where(home < 0, 0, begin[home + 1] - begin[home])
            degrees.append(np.minimum(degree, MOST).astype(np.float32))
        (given, taken), (gave, took) = counts, degrees
        share = (self._frequency(spelled.terms) / max(self.n_nodes, 1)).astype(np.float32)
        every = _log_ratios(given + taken + own, gave + took + OWN, share)
        return np.stack(
            [
                every.sum(1), np.maximum(every, 0).sum(1),
                _log_ratios(given + own, gave + OWN, share).sum(1),
                _log_ratios(taken + own, took + OWN, share).sum(1),
            ],
            axis=1,
        )  # fmt: skip

    def _frequency(self, terms: IntArray) -> IntArray:
        """Texts that have a sequence, shape (k,)."""
        return self._begin[terms + 1] - self._begin[terms]

    def _idf(self, terms: IntArray) -> NDArray[np.float32]:
        return lucene_idf(self._frequency(terms), self.n_nodes).astype(np.float32)

    def _evened(self, sizes: NDArray[Any]) -> NDArray[np.float32]:
        """What a sequence counts in texts with so many of them."""
        weight: NDArray[np.float32] = (1 / (1 + K1 * (1 - B + B * sizes / self._mean))).astype(
            np.float32
        )
        return weight


def _log_ratios(
    counts: NDArray[np.float32], degree: NDArray[np.float32], share: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Log ((count + m · share) / ((degree + m) · share)) with m = `PRIOR`, shape (c, k)."""
    ratios = np.log(counts * (1 / (PRIOR * share)) + np.float32(1))
    ratios -= np.log1p(degree / np.float32(PRIOR))[:, None]
    return ratios


def _own(spelled: Spelled, nodes: IntArray) -> NDArray[np.float32]:
    """Which nodes have which of the query's terms, shape (c, k)."""
    has = np.zeros((len(nodes), len(spelled.terms)), np.float32)
    places, sizes = entries(spelled.first, nodes)
    has[np.repeat(np.arange(len(nodes)), sizes), spelled.found[places]] = 1
    return has


def _common(letters: Any, terms: IntArray) -> NDArray[np.float32]:
    """Which texts, sparse of shape (m, v), have which of some ascending terms, shape (m, k)."""
    found = np.zeros((letters.shape[0], len(terms)), np.float32)
    row = np.repeat(np.arange(letters.shape[0]), np.diff(letters.indptr))
    at = np.minimum(np.searchsorted(terms, letters.indices), max(len(terms) - 1, 0))
    has = terms[at] == letters.indices if len(terms) else np.zeros(len(row), bool)
    found[row[has], at[has]] = 1
    return found


def _rows(matrix: Any) -> tuple[IntArray, NDArray[np.int32]]:
    return matrix.indptr.astype(np.int64, copy=False), matrix.indices.astype(np.int32, copy=False)
