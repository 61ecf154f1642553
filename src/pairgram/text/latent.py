"""Texts as points of a latent space: the strongest directions of their words and letters."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairgram.errors import InputError
from pairgram.text.spelling import ngram_ids

Cut = Sequence[Sequence[str]]
Table = NDArray[np.float32]

BUCKETS = 1 << 14
FEWEST_TEXTS = 2
"""Texts that a word must be in to have a direction of its own; its letters always count."""
MOST_TEXTS = 60_000
"""Texts that the directions are found from; of more, a random part."""
EXACT_TEXTS = 1_000
"""Up to as many texts the directions are exact: their products are a small matrix."""
LETTERS = 0.5
ITERATIONS = 2
FAINTEST = 1e-30


@dataclass(frozen=True, eq=False)
class LatentSpace:
    """A linear map from TF-IDF weights of words and hashed letter n-grams to few dimensions.

    Words and letters are weighed (1 + log tf) · idf, each scaled to length 1, the letters then to
    `LETTERS`; the map is that of a truncated singular value decomposition.

    Attributes
    ----------
    words
        Known words.
    idf
        Weights of the words and then of the n-grams, shape (v + BUCKETS,).
    basis, scale
        The map, shape (v + BUCKETS, dim), in steps of a 127th of each row's largest entry, and
        these steps, shape (v + BUCKETS,): a quarter of the bytes of a model.

    References
    ----------
    Deerwester et al., "Indexing by Latent Semantic Analysis", JASIS 1990; Halko, Martinsson,
    Tropp, "Finding Structure with Randomness", SIAM Review 2011.

    Examples
    --------
    >>> space = LatentSpace.fit([["red", "apple"], ["red", "cherry"], ["blue", "boat"]], 2, 0)
    >>> close = space.vectors([["red"], ["red", "apples"], ["boat"]])
    >>> bool(close[0] @ close[1] > close[0] @ close[2])
    True
    """

    words: tuple[str, ...]
    idf: Table
    basis: NDArray[np.int8]
    scale: Table

    @classmethod
    def fit(cls, texts: Cut, dim: int, seed: int) -> "LatentSpace":
        """Find the directions of texts, given as words; at most as many as there are texts."""
        counts, distinct = _counts(texts)
        frequency = np.bincount(counts.indices, minlength=len(distinct))
        words = tuple(w for w, n in zip(distinct, frequency, strict=True) if n >= FEWEST_TEXTS)
        size = len(words) + BUCKETS
        nothing = np.empty((0, 0), np.int8), np.empty(0, np.float32)
        bare = cls(words, np.ones(size, np.float32), *nothing)
        found = bare._raw(counts, distinct)
        seen = np.bincount(found.indices, minlength=found.shape[1])
        idf = np.where(seen > 0, np.log((1 + len(texts)) / (1 + seen)) + 1, 0)
        space = cls(words, idf.astype(np.float32), *nothing)
        weighed = space._weigh(found)
        if len(texts) > MOST_TEXTS:
            drawn = np.random.default_rng(seed).choice(len(texts), MOST_TEXTS, replace=False)
            weighed = weighed[np.sort(drawn)]
        wanted = min(dim, *weighed.shape)
        # Signs are free: the towers on top learn them.
        if len(texts) <= EXACT_TEXTS:
            directions = _exact_directions(weighed, wanted)
        else:
            directions = _strong_directions(weighed, wanted, seed)
        return cls(words, space.idf, *_in_steps(directions))

    @property
    def dim(self) -> int:
        """Dimensions of the space."""
        return int(self.basis.shape[1])

    def vectors(self, texts: Cut) -> Table:
        """Points of texts, given as words, of length 1, shape (m, dim); 0 for no known letter."""
        weighed = self._weigh(self._raw(*_counts(texts)))
        return unit(np.asarray(weighed @ self._full_basis, np.float32))

    @cached_property
    def _full_basis(self) -> Table:
        full: Table = self.basis * self.scale[:, None]
        return full

    @cached_property
    def _known(self) -> dict[str, int]:
        return {word: place for place, word in enumerate(self.words)}

    def _raw(self, counts: Any, distinct: Sequence[str]) -> Any:
        """Counts of known words and n-grams, sparse, shape (m, v + BUCKETS)."""
        from scipy.sparse import csr_array, hstack

        place = np.array([self._known.get(word, -1) for word in distinct], np.int64)
        has = np.flatnonzero(place >= 0)
        ones = np.ones(len(has), np.float32)
        chosen = csr_array((ones, (has, place[has])), shape=(len(distinct), len(self.words)))
        grams = ngram_ids(distinct, BUCKETS)
        ones = np.ones(len(grams.values), np.float32)
        spelled = csr_array((ones, grams.values, grams.offsets), shape=(len(distinct), BUCKETS))
        return hstack([counts @ chosen, counts @ spelled], format="csr")

    def _weigh(self, raw: Any) -> Any:
        """TF-IDF weights of counts, words and letters each scaled, sparse."""
        from scipy.sparse import hstack

        weighed = raw.astype(np.float32)
        weighed.data = (1 + np.log(weighed.data)) * self.idf[weighed.indices]
        cut = len(self.words)
        parts = [_unit_rows(weighed[:, :cut]), LETTERS * _unit_rows(weighed[:, cut:])]
        return hstack(parts, format="csr")

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All of it as arrays that `from_arrays` reads."""
        words = np.frombuffer("\n".join(self.words).encode("utf-8", "surrogatepass"), np.uint8)
        return {"words": words, "idf": self.idf, "basis": self.basis, "scale": self.scale}

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]]) -> "LatentSpace":
        """Read what `arrays` made; what does not fit raises `InputError`."""
        joined = arrays["words"].tobytes().decode("utf-8", "surrogatepass")
        words = tuple(joined.split("\n")) if joined else ()
        idf, basis, scale = arrays["idf"], arrays["basis"], arrays["scale"]
        shapes = {idf.shape, basis.shape[:1], scale.shape}
        if shapes != {(len(words) + BUCKETS,)} or basis.dtype != np.int8:
            raise InputError("The ranker is damaged: its words do not fit its map.")
        return cls(words, idf, basis, scale)


def unit(rows: Table) -> Table:
    """Rows scaled to length 1; zero rows stay zero."""
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    scaled: Table = (rows / np.where(length > 0, length, 1)).astype(np.float32)
    return scaled


def _strong_directions(weighed: Any, wanted: int, seed: int) -> NDArray[Any]:
    """Directions of the largest singular values, nearly, shape (v, wanted)."""
    from sklearn.utils.extmath import randomized_svd

    _, _, turned = randomized_svd(
        weighed, wanted, n_iter=ITERATIONS, random_state=seed % 2**32, flip_sign=False
    )
    directions: NDArray[Any] = turned.T
    return directions


def _exact_directions(weighed: Any, wanted: int) -> NDArray[Any]:
    """Directions of the largest singular values, shape (v, wanted); 0 for values that are 0."""
    rows = weighed.astype(np.float64)
    squares, turned = np.linalg.eigh((rows @ rows.T).toarray())
    strongest = slice(None, -wanted - 1, -1)
    values, turned = np.sqrt(np.maximum(squares[strongest], 0)), turned[:, strongest]
    there = values > 1e-6 * values.max(initial=0)  # squares have eight digits fewer
    directions: NDArray[Any] = rows.T @ (turned / np.where(there, values, np.inf))
    return directions


def _in_steps(rows: NDArray[Any]) -> tuple[NDArray[np.int8], Table]:
    """Rows as whole numbers of steps, -127 to 127, and the step of each row; 1 for rows of 0."""
    step = np.abs(rows).max(axis=1, initial=0) / 127
    step = np.where(step > FAINTEST, step, 1).astype(np.float32)
    return np.rint(rows / step[:, None]).astype(np.int8), step


def _unit_rows(weights: Any) -> Any:
    """Sparse rows scaled to length 1; zero rows stay zero."""
    from scipy.sparse import diags_array

    length = np.sqrt(np.asarray(weights.multiply(weights).sum(axis=1)).ravel())
    return (diags_array((1 / np.where(length > 0, length, 1)).astype(np.float32)) @ weights).tocsr()


def _counts(texts: Cut) -> tuple[Any, list[str]]:
    """How often each text has each of the distinct words, sparse, and the words."""
    from scipy.sparse import csr_array

    places: dict[str, int] = {}
    ids = [places.setdefault(word, len(places)) for text in texts for word in text]
    ends = np.cumsum([0, *map(len, texts)])
    ones = np.ones(len(ids), np.float32)
    shape = (len(texts), max(len(places), 1))
    counts = csr_array((ones, np.array(ids, np.int64), ends), shape=shape)
    counts.sum_duplicates()
    return counts, list(places) or [""]
