"""One score from several: the learned one, BM25, votes of similar texts, and a degree prior."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairgram.errors import InputError

Floats = NDArray[np.floating[Any]]
IntArray = NDArray[np.integer[Any]]

LEARNED, BM25, VOTE, DEGREE = "learned", "bm25", "vote", "degree"
PARTS = (LEARNED, BM25, VOTE, DEGREE)
FUSED = "fused"
GRID = (0.0, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)
SWEEPS = 3


@dataclass(frozen=True)
class Fusion:
    """Weights of the parts, and how good they were on validation.

    Attributes
    ----------
    rule
        The rule of the learned score.
    weights
        Weight of every part, none below 0.
    mrr
        MRR on validation, of every part alone and of all together under "fused".
    queries
        Validation queries.
    """

    rule: str
    weights: dict[str, float]
    mrr: dict[str, float]
    queries: int

    def combine(self, parts: Mapping[str, Floats]) -> Floats:
        """Weighted sum of the scaled parts, shape (b, n)."""
        used = [name for name in PARTS if self.weights[name]]
        total: Floats = sum(self.weights[name] * scaled(name, parts[name]) for name in used)  # type: ignore[assignment]
        return total

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object that `from_json` reads."""
        return asdict(self)

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "Fusion":
        """Read what `to_json` made; anything else raises `InputError`."""
        try:
            made = cls(**stored)
            weights = np.array([float(made.weights[name]) for name in PARTS])
        except (TypeError, ValueError, KeyError):
            raise InputError("The fusion is damaged: its entries do not fit.") from None
        if not np.isfinite(weights).all() or (weights < 0).any() or not weights.any():
            raise InputError("The fusion is damaged: its weights are no weights.")
        return made


def scaled(name: str, scores: Floats) -> Floats:
    """A part on a common scale, row by row, shape (b, n); the order in a row stays.

    The learned score is centred and divided by its standard deviation, the others are divided by
    their maximum.
    """
    if name == LEARNED:
        spread = scores.std(axis=1, keepdims=True)
        centred: Floats = scores - scores.mean(axis=1, keepdims=True)
        return centred / np.where(spread > 0, spread, 1)
    largest = scores.max(axis=1, keepdims=True)
    divided: Floats = scores / np.where(largest > 0, largest, 1)
    return divided


@dataclass(frozen=True, eq=False)
class Candidates:
    """The nodes worth looking at for each of q queries, at most c, with their scaled parts.

    Attributes
    ----------
    values
        Scaled parts, shape (q, c, parts).
    counts
        Whether an entry is a candidate that is no true link, shape (q, c).
    row, place
        Query and entry of every true link, shape (l,).
    """

    values: NDArray[np.float32]
    counts: NDArray[np.bool_]
    row: IntArray
    place: IntArray

    def mrr(self, weights: Sequence[float]) -> float:
        """Mean of 1 / rank of the links among the candidates, ties at the mean rank."""
        score = self.values @ np.asarray(weights, np.float32)
        own = score[self.row, self.place][:, None]
        others = np.where(self.counts, score, -np.inf)[self.row]
        above = np.count_nonzero(others > own, axis=1)
        tied = np.count_nonzero(others == own, axis=1)
        return float((1 / (1 + above + tied / 2)).mean())


def search_weights(candidates: Candidates, starts: Sequence[int]) -> Iterator[tuple[float, ...]]:
    """Promising weights: from each part alone, one weight after the other to its best value.

    Parameters
    ----------
    candidates
        What is ranked.
    starts
        Parts to start from, the best first.
    """
    count = candidates.values.shape[2]
    for start in starts:
        weights = [float(part == start) for part in range(count)]
        best = candidates.mrr(weights)
        for _ in range(SWEEPS):
            before = best
            for part in (p for p in range(count) if p != start):
                tried = [(*weights[:part], value, *weights[part + 1 :]) for value in GRID]
                found = [candidates.mrr(one) for one in tried]
                if max(found) > best:
                    best, weights = max(found), list(tried[int(np.argmax(found))])
            if best == before:
                break
        yield tuple(weights)
