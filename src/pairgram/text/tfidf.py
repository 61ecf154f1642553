"""Texts as TF-IDF vectors, and the few directions that hold most of them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairgram.text.tokens import known_words
from pairgram.text.vocabulary import Vocabulary

ALL_WORDS = 1 << 20
POWER_ITERATIONS = 4


def tfidf(texts: Sequence[str], vocabulary: Vocabulary) -> Any:
    """Rows tf · idf scaled to length 1, sparse, shape (m, V); unknown words count nothing.

    Examples
    --------
    >>> vocabulary = Vocabulary.fit(["red apple", "red boat"])
    >>> tfidf(["red", "zebra"], vocabulary).toarray().tolist()
    [[0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]
    """
    from scipy.sparse import csr_array

    words = known_words(texts, vocabulary, ALL_WORDS)
    weight = vocabulary.idf[words.values].astype(np.float64)
    counts = csr_array((weight, words.values, words.offsets), shape=(len(words), len(vocabulary)))
    counts.sum_duplicates()
    length = np.sqrt(counts.multiply(counts).sum(axis=1))
    counts.data /= np.repeat(length, np.diff(counts.indptr))
    return counts


def directions(rows: Any, count: int, seed: int) -> NDArray[np.float64]:
    """The `count` directions of words that hold most of the rows' squared length, shape (V, f).

    They come from a randomised singular value decomposition; there are fewer, f, where the rows or
    the words are fewer than asked for.
    """
    from sklearn.utils.extmath import randomized_svd

    most = min(count, *rows.shape)
    found = randomized_svd(rows, most, n_iter=POWER_ITERATIONS, random_state=seed % 2**32)
    axes: NDArray[np.float64] = found[2].T
    return axes
