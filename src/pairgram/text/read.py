"""Texts as a ranker compares them: words, latent points and letters."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairgram.text.latent import LatentSpace, Table
from pairgram.text.letters import letter_rows

Words = Sequence[str]


@dataclass(frozen=True, eq=False)
class Read:
    """Texts as they are compared, m of them.

    Attributes
    ----------
    words
        Their words.
    points
        Latent points, shape (m, p).
    letters
        Sequences of letters, sparse, shape (m, v).
    """

    words: Sequence[Words]
    points: Table
    letters: Any

    @classmethod
    def of(
        cls,
        texts: Sequence[str],
        words: Callable[[str], Words],
        space: LatentSpace,
        points: Table | None = None,
    ) -> "Read":
        """Read texts; `points` where they are at hand."""
        cut = [words(text) for text in texts]
        at = space.vectors(cut) if points is None else points
        return cls(cut, at, letter_rows(texts))

    def some(self, rows: NDArray[np.int64]) -> "Read":
        """Those at some positions."""
        return Read([self.words[row] for row in rows], self.points[rows], self.letters[rows])
