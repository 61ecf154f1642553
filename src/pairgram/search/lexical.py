"""Texts as weighted bags of words: BM25 and TF-IDF, scored in blocks."""

import logging
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from pairgram.search.votes import entries, summed
from pairgram.text.cleaning import cleaner

Words = Callable[[str], list[str]]
Floats = NDArray[np.floating[Any]]

PAIRS = 1 << 14  # pairs of texts held at once
K1, B = 1.2, 0.75

plain_words: Words = cleaner("words")


class LexicalIndex:
    """Texts that queries are compared with; build it with `bm25` or `tfidf`.

    Parameters
    ----------
    weight
        Sparse weights of words in texts, shape (n, v).
    vocabulary
        Word -> column of `weight`; words outside it count nothing.
    words
        How a text is cut into words.
    query_weight
        Turns the counts of a query's words, sparse of shape (m, v), into weights.
    text_weight
        Weighs the words of texts that are no part of the index; None as those of queries.

    Examples
    --------
    >>> index = LexicalIndex.bm25(["red apple", "blue boat", "red boat"])
    >>> index.scores(index.queries(["a blue boat"])).argmax()
    np.int64(1)
    """

    def __init__(
        self,
        weight: Any,
        vocabulary: dict[str, int],
        words: Words,
        query_weight: Callable[[Any], Any] | None = None,
        text_weight: "_Bm25 | _Idf | None" = None,
    ) -> None:
        self.n_texts = weight.shape[0]
        self._by_text = weight.tocsr()
        self._by_word = weight.T.tocsr()
        self._vocabulary, self._words, self._query_weight = vocabulary, words, query_weight
        self._text_weight = text_weight

    @classmethod
    def bm25(
        cls, texts: Iterable[str], words: Words = plain_words, k1: float = K1, b: float = B
    ) -> Self:
        """Σ over query words of idf · tf / (tf + k1 · (1 - b + b · length / mean length)).

        The idf is Lucene's, log(1 + (n - df + 0.5) / (df + 0.5)); a word that a query has twice
        counts twice.

        References
        ----------
        Kamphuis, de Vries, Boytsov, Lin: Which BM25 do you mean?, 2020, "Lucene (accurate)".
        """
        import bm25s
        from scipy.sparse import csc_array

        ids, vocabulary = _number([words(text) for text in texts])
        if not vocabulary:
            return cls(csc_array((len(ids), 1), dtype=np.float32), {}, words)
        # It speaks of every index on a logger of its own.
        logging.getLogger("bm25s").setLevel(logging.WARNING)
        index = bm25s.BM25(k1=k1, b=b, method="lucene")
        index.index((ids, vocabulary), create_empty_token=False, show_progress=False)
        parts = tuple(index.scores[name] for name in ("data", "indices", "indptr"))
        weight = csc_array(parts, shape=(len(ids), len(vocabulary)))
        lengths = np.fromiter(map(len, ids), np.int64, len(ids))
        as_texts = _Bm25(np.diff(weight.indptr), len(ids), float(lengths.mean()), k1, b)
        return cls(weight, vocabulary, words, text_weight=as_texts)

    @classmethod
    def tfidf(cls, texts: Iterable[str], words: Words = plain_words) -> Self:
        """Cosine of the vectors tf · (1 + log((1 + n) / (1 + df)))."""
        return cls._tfidf(*_counted([words(text) for text in texts]), words)

    @classmethod
    def shared(cls, texts: Iterable[str], words: Words = plain_words) -> Self:
        """Σ over the distinct words that both texts have of Lucene's idf; see `bm25`."""
        return cls._shared(*_counted([words(text) for text in texts]), words)

    @classmethod
    def family(cls, texts: Sequence[Sequence[str]], k1: float = K1, b: float = B) -> list[Self]:
        """`bm25`, `tfidf` and `shared` of texts given as words, which are counted once."""
        counts, vocabulary = _counted(texts)
        lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        frequency = np.bincount(counts.indices, minlength=counts.shape[1])
        as_texts = _Bm25(frequency, len(texts), float(lengths.mean()), k1, b)
        return [
            cls(as_texts(counts, lengths), vocabulary, list, text_weight=as_texts),
            cls._tfidf(counts, vocabulary, list),
            cls._shared(counts, vocabulary, list),
        ]

    @classmethod
    def _tfidf(cls, counts: Any, vocabulary: dict[str, int], words: Words) -> Self:
        frequency = np.bincount(counts.indices, minlength=counts.shape[1])
        weigh = _Tfidf((np.log((1 + counts.shape[0]) / (1 + frequency)) + 1).astype(np.float32))
        return cls(weigh(counts), vocabulary, words, weigh)

    @classmethod
    def _shared(cls, counts: Any, vocabulary: dict[str, int], words: Words) -> Self:
        count, frequency = counts.shape[0], np.bincount(counts.indices, minlength=counts.shape[1])
        idf = lucene_idf(frequency, count).astype(np.float32)
        weight = counts.copy()
        weight.data = idf[weight.indices]
        return cls(weight, vocabulary, words, _present, _Idf(idf))

    @property
    def word_weight(self) -> NDArray[np.float32]:
        """Largest weight of every word in any text, shape (v,)."""
        return np.asarray(self._by_word.max(axis=1).toarray(), np.float32).ravel()

    @property
    def weight(self) -> Any:
        """Weights of words in texts, sparse, shape (n, v)."""
        return self._by_text

    @property
    def mass(self) -> NDArray[np.float32]:
        """Sum of the weights of every text's words, shape (n,)."""
        return np.asarray(self._by_text.sum(axis=1), np.float32).ravel()

    def queries(self, texts: Iterable[str]) -> Any:
        """Weights of the queries' words, sparse, shape (m, v)."""
        known = self._vocabulary
        ids = [[known[w] for w in self._words(text) if w in known] for text in texts]
        counts = _counts(ids, self._by_word.shape[0])
        return counts if self._query_weight is None else self._query_weight(counts)

    def scores(self, queries: Any) -> Floats:
        """Scores of rows of `queries`, shape (b, v), with every text, shape (b, n)."""
        scores: Floats = (queries @ self._by_word).toarray()
        return scores

    def places(self, words: Iterable[str]) -> list[int]:
        """Numbers of those of some words that the texts have."""
        return [self._vocabulary[word] for word in words if word in self._vocabulary]

    def at(self, query: Any, texts: NDArray[np.int64]) -> Floats:
        """Scores of one query, shape (1, v), with some texts, shape (k,)."""
        weight = np.zeros(self._by_text.shape[1], np.float32)
        weight[query.indices] = query.data
        places, sizes = entries(self._by_text.indptr, texts)
        products = self._by_text.data[places] * weight[self._by_text.indices[places]]
        return summed(np.repeat(np.arange(len(texts)), sizes), products, len(texts))

    def scores_of(self, queries: Any, texts: Sequence[str]) -> Floats:
        """Scores of rows of `queries`, shape (b, v), with other texts, shape (b, m).

        Such texts are weighed by the statistics of the index and change nothing in them.
        """
        weight = self.weigh(texts)
        scores: Floats = (queries @ weight.T.tocsr()).toarray()
        return scores

    def weigh(self, texts: Sequence[str]) -> Any:
        """Weights of the words of other texts by the statistics of the index, sparse, (m, v)."""
        known, width = self._vocabulary, self._by_text.shape[1]
        cut = [self._words(text) for text in texts]
        counts = _counts([[known[w] for w in one if w in known] for one in cut], width)
        if self._text_weight is not None:
            return self._text_weight(counts, np.array([len(one) for one in cut]))
        return counts if self._query_weight is None else self._query_weight(counts)

    def pairs(self, queries: Any, rows: NDArray[np.int64], texts: NDArray[np.int64]) -> Floats:
        """Scores of rows of `queries`, shape (m, v), with single texts; all of shape (k,)."""
        scores = np.empty(len(rows), dtype=np.float64)
        for begin in range(0, len(rows), PAIRS):
            part = slice(begin, begin + PAIRS)
            common = queries[rows[part]].multiply(self._by_text[texts[part]])
            scores[part] = np.asarray(common.sum(axis=1)).ravel()
        return scores


class _Idf:
    """Weights of the words of further texts; see `LexicalIndex.shared`."""

    def __init__(self, idf: NDArray[np.float32]) -> None:
        self._idf = idf

    def __call__(self, counts: Any, lengths: NDArray[np.int64]) -> Any:
        """Idf of every word that a text has, sparse, shape (m, v)."""
        weight = counts.tocsr().astype(np.float32)
        weight.data = self._idf[weight.indices]
        return weight


class _Tfidf:
    """Weights of the words of texts and of queries; see `LexicalIndex.tfidf`."""

    def __init__(self, idf: NDArray[np.float32]) -> None:
        self._idf = idf

    def __call__(self, counts: Any) -> Any:
        """Weights of length 1 by text, sparse, shape (m, v)."""
        weight = counts.tocsr().astype(np.float32)
        weight.data *= self._idf[weight.indices]
        row = np.repeat(np.arange(weight.shape[0]), np.diff(weight.indptr))
        length = np.sqrt(summed(row, weight.data**2, weight.shape[0]))
        weight.data /= length[row].astype(np.float32)
        return weight


class _Bm25:
    """Weights of the words of further texts; see `LexicalIndex.bm25`."""

    def __init__(self, frequency: Any, count: int, mean: float, k1: float, b: float) -> None:
        self._idf = lucene_idf(frequency, count)
        self._mean, self._k1, self._b = max(mean, 1e-9), k1, b

    def __call__(self, counts: Any, lengths: NDArray[np.int64]) -> Any:
        """Weights, sparse of shape (m, v), of counts of texts with so many words, shape (m,)."""
        weight = counts.tocsr().astype(np.float32)
        row = np.repeat(np.arange(weight.shape[0]), np.diff(weight.indptr))
        scale = self._k1 * (1 - self._b + self._b * lengths[row] / self._mean)
        weight.data = (self._idf[weight.indices] * weight.data / (weight.data + scale)).astype(
            np.float32
        )
        return weight


def lucene_idf(frequency: NDArray[Any], count: int) -> NDArray[np.float64]:
    """Log(1 + (count - df + 0.5) / (df + 0.5)) of words that so many of the texts have.

    >>> lucene_idf(np.array([0, 2]), 2).round(2).tolist()
    [1.79, 0.18]
    """
    return np.log1p((count - frequency + 0.5) / (frequency + 0.5))


def _present(counts: Any) -> Any:
    """Ones where there is a count."""
    there = counts.copy()
    there.data = np.ones_like(there.data)
    return there


def _number(texts: Sequence[Sequence[str]]) -> tuple[list[list[int]], dict[str, int]]:
    """Words as integers in order of first appearance, and which is which."""
    vocabulary: dict[str, int] = {}
    ids = [[vocabulary.setdefault(word, len(vocabulary)) for word in text] for text in texts]
    return ids, vocabulary


def _counted(texts: Sequence[Sequence[str]]) -> tuple[Any, dict[str, int]]:
    """How often a text has a word, sparse, shape (n, v), and the words."""
    ids, vocabulary = _number(texts)
    return _counts(ids, max(len(vocabulary), 1)), vocabulary


def _counts(ids: Sequence[Sequence[int]], width: int) -> Any:
    """How often a text has a word, sparse, shape (m, width)."""
    from scipy.sparse import csr_array

    ends = np.cumsum([0, *map(len, ids)])
    columns = np.fromiter((word for text in ids for word in text), np.int64, ends[-1])
    ones = np.ones(len(columns), dtype=np.float32)
    counts = csr_array((ones, columns, ends), shape=(len(ids), width))
    counts.sum_duplicates()
    return counts
