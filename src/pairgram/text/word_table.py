"""Words with given vectors: a text is the mean of its words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairgram.errors import InputError
from pairgram.text.cleaning import CLEANINGS, cleaner

Table = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class WordTable:
    """Vectors of words that nobody trains.

    Attributes
    ----------
    cleaning
        How texts are cut into words.
    words
        The words, the most frequent first where the source has an order.
    vectors
        Shape (words, dim).

    Examples
    --------
    >>> table = WordTable("words", ("red", "boat"), np.array([[1, 0], [0, 3]], np.float32))
    >>> table.means(["The red, red boat", "zebra"]).tolist()
    [[0.6666666865348816, 1.0], [0.0, 0.0]]
    """

    cleaning: str
    words: tuple[str, ...]
    vectors: Table

    @cached_property
    def ids(self) -> dict[str, int]:
        """Row of every word; the first where a word comes twice."""
        return {word: len(self.words) - 1 - i for i, word in enumerate(reversed(self.words))}

    def means(self, texts: Sequence[str]) -> Table:
        """Mean vector of the known words of each text, zero where there are none, (m, dim)."""
        from scipy.sparse import csr_array

        cut, ids = cleaner(self.cleaning), self.ids
        rows = [[ids[word] for word in cut(text) if word in ids] for text in texts]
        lengths = np.fromiter(map(len, rows), np.int64, len(rows))
        values = np.fromiter((word for row in rows for word in row), np.int64, lengths.sum())
        ends = np.concatenate(([0], np.cumsum(lengths)))
        share = np.repeat(1 / np.maximum(lengths, 1), lengths).astype(np.float32)
        weights = csr_array((share, values, ends), shape=(len(rows), len(self.words)))
        means: Table = weights @ self.vectors
        return means

    def to_json(self) -> dict[str, Any]:
        """Return all but the vectors as a JSON object."""
        return {"cleaning": self.cleaning, "words": list(self.words)}

    @classmethod
    def from_json(cls, content: Mapping[str, Any], vectors: Table) -> "WordTable":
        """Read what `to_json` made; anything else raises `InputError`."""
        words, cleaning = content.get("words"), content.get("cleaning")
        fits = isinstance(words, list) and vectors.ndim == 2 and len(words) == len(vectors)
        if not fits or cleaning not in CLEANINGS:
            raise InputError("The vocabulary is damaged: its parts do not fit together.")
        return cls(str(cleaning), tuple(words or ()), vectors)
