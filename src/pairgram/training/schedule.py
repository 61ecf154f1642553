"""How long training runs, and at which rate: a fixed number of epochs, or until a score levels."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

LEAST = 1e-3


class Judge(Protocol):
    """Scores vectors in the middle of training; higher is better."""

    @property
    def nodes(self) -> NDArray[np.int64]:
        """Nodes whose vectors it reads."""

    def score(self, center: NDArray[Any], context: NDArray[Any]) -> float:
        """Score from the vectors of `nodes`, both (len(nodes), dim)."""


@dataclass(frozen=True)
class Schedule:
    """Turns of a training and the rate in each, as a function of the epochs' scores.

    Without patience the rate falls linearly over all epochs. With it the rate stays level until
    the score has not risen for `patience` epochs, then falls linearly for half as many epochs as
    it was level: few epochs are enough where few pairs have said all they can, and the descent at
    the end takes the noise of the level rate out again.

    Attributes
    ----------
    epochs
        Most passes over the pairs.
    chunks
        Turns of an epoch.
    patience
        Epochs without a better score; 0 for none of this.

    Examples
    --------
    >>> Schedule(epochs=4, chunks=1).share(1, [])
    0.75
    >>> watched = Schedule(epochs=30, chunks=1, patience=1)
    >>> watched.turns([0.5]), watched.turns([0.5, 0.6, 0.7, 0.7])
    (30, 6)
    """

    epochs: int
    chunks: int
    patience: int = 0

    def turns(self, scores: Sequence[float]) -> int:
        """Turns in all, as far as the scores of the epochs done tell."""
        level = self._level(scores)
        return self.chunks * (self.epochs if level is None else level + max(1, level // 2))

    def share(self, turn: float, scores: Sequence[float]) -> float:
        """Share of the first rate after so many turns, over 0 and at most 1."""
        turns, level = self.turns(scores), 0
        if self.patience:
            level = self._level(scores) or self._longest
        done = (turn - level * self.chunks) / (turns - level * self.chunks)
        return max(min(1.0, 1.0 - done), LEAST)

    @property
    def _longest(self) -> int:
        """Most level epochs: the descent of a third must still fit in."""
        return self.epochs - -(-self.epochs // 3)

    def _level(self, scores: Sequence[float]) -> int | None:
        """Epochs done when the score had not risen for long enough; None if it has."""
        best = 0
        for epoch, score in enumerate(scores[: self._longest]):
            if score > scores[best]:
                best = epoch
            if self.patience and epoch - best >= self.patience:
                return epoch + 1
        return None
