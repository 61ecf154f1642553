"""From scores to probabilities: a calibration, how good it is, and when nothing is good enough.

A score says which of two links is likelier, not how likely either is. Platt scaling reads the
probability off it as σ(a·score + b), fitted on suggestions for validation nodes and whether they
are held-out links. It is chosen over isotonic regression because two numbers are fitted well by a
few hundred suggestions, keep the order of all scores without making ties, go on beyond the largest
score seen, and are one line of JSON.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pairgram.errors import InputError

Floats = NDArray[np.float64]
BINS = 10
_STEPS = 100


@dataclass(frozen=True)
class Calibration:
    """How the scores of one rule become probabilities.

    Attributes
    ----------
    rule
        The rule whose scores are read.
    slope, intercept
        Probability = σ(slope · score + intercept); the slope is never negative.
    threshold
        Probability of the best suggestion under which there is no good match.
    suggestions, links
        Validation suggestions it was fitted on, and how many of them were held-out links.
    """

    rule: str
    slope: float
    intercept: float
    threshold: float
    suggestions: int
    links: int

    def probability(self, scores: ArrayLike) -> Floats:
        """Probabilities of scores, same shape.

        >>> Calibration("dot", 1.0, 0.0, 0.5, 10, 5).probability([0.0]).tolist()
        [0.5]
        """
        return _sigmoid(self.slope * np.asarray(scores, dtype=np.float64) + self.intercept)

    def is_match(self, best_score: float) -> bool:
        """Whether a list whose best score this is holds a good match."""
        return bool(self.probability(best_score) >= self.threshold)

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object that `from_json` reads."""
        return asdict(self)

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "Calibration":
        """Read what `to_json` made; anything else raises `InputError`."""
        try:
            made = cls(**stored)
            numbers = [float(v) for v in (made.slope, made.intercept, made.threshold)]
        except (TypeError, ValueError):
            raise InputError("The calibration is damaged: its entries do not fit.") from None
        if not np.isfinite(numbers).all():
            raise InputError("The calibration is damaged: it holds no finite numbers.")
        return made


def fit_calibration(
    rule: str, scores: NDArray[np.floating[Any]], is_link: NDArray[np.bool_]
) -> Calibration:
    """Fit probabilities to suggestions.

    Parameters
    ----------
    rule
        The rule of the scores.
    scores
        Scores of the suggestions for every validation node, the best first, shape (q, k).
    is_link
        Whether they are held-out links, shape (q, k).
    """
    slope, intercept = platt(scores.ravel(), is_link.ravel())
    best = _sigmoid(slope * scores[:, 0].astype(np.float64) + intercept)
    threshold = best_threshold(best, np.asarray(is_link.any(axis=1)))
    links = int(np.count_nonzero(is_link))
    return Calibration(rule, slope, intercept, threshold, is_link.size, links)


def platt(scores: ArrayLike, labels: ArrayLike) -> tuple[float, float]:
    """Slope and intercept of the logistic curve through scores and labels, both of shape (m,).

    Targets are (n₁ + 1) / (n₁ + 2) and 1 / (n₀ + 2), which keeps the curve finite where the labels
    can be told apart. A slope below zero becomes zero: then scores say nothing.

    References
    ----------
    Platt: Probabilistic Outputs for Support Vector Machines, 1999; Lin, Lin, Weng: A Note on
    Platt's Probabilistic Outputs, 2007.
    """
    x, y = np.asarray(scores, dtype=np.float64), np.asarray(labels, dtype=bool)
    ones, zeros = int(y.sum()), int((~y).sum())
    if not ones or not zeros:
        raise InputError(
            f"A calibration needs suggestions that are links and some that are not. Got {ones} and "
            f"{zeros}; use a larger validation share."
        )
    target = np.where(y, (ones + 1) / (ones + 2), 1 / (zeros + 2))
    center, scale = float(x.mean()), float(x.std()) or 1.0
    z = (x - center) / scale
    a, b = 0.0, float(np.log((ones + 1) / (zeros + 1)))
    for _ in range(_STEPS):
        a, b, moved = _newton(z, target, a, b)
        if moved < 1e-10:
            break
    if a < 0:
        a, b = 0.0, float(np.log(ones / zeros))
    return a / scale, b - a * center / scale


def calibration_error(probability: ArrayLike, labels: ArrayLike, bins: int = BINS) -> float:
    """Σ over bins of (share of all) · |mean probability - share of links|, bins of equal size.

    >>> calibration_error([0.0, 0.0, 1.0, 1.0], [0, 0, 1, 1], bins=2)
    0.0
    """
    found = reliability(probability, labels, bins)
    total = sum(count for *_, count in found)
    return float(sum(count * abs(said - seen) for said, seen, count in found) / total)


def reliability(
    probability: ArrayLike, labels: ArrayLike, bins: int = BINS
) -> list[tuple[float, float, int]]:
    """Mean probability, share of links and size of every bin; bins hold equally many."""
    said, seen = np.asarray(probability, dtype=np.float64), np.asarray(labels, dtype=np.float64)
    parts = np.array_split(np.argsort(said, kind="stable"), min(bins, len(said)))
    return [(float(said[p].mean()), float(seen[p].mean()), len(p)) for p in parts if len(p)]


def best_threshold(probability: Floats, hit: NDArray[np.bool_]) -> float:
    """Smallest probability that best tells lists with a link from lists without, both (q,).

    Best is the largest sum of the shares told right among either kind.
    """
    if hit.all() or not hit.any():
        return 0.0 if hit.all() else 1.0
    levels = np.unique(probability)
    right = [
        (probability[hit] >= level).mean() + (probability[~hit] < level).mean() for level in levels
    ]
    return float(levels[int(np.argmax(right))])


def _newton(z: Floats, target: Floats, a: float, b: float) -> tuple[float, float, float]:
    """One step of Newton's method, halved until the loss falls."""
    p = _sigmoid(a * z + b)
    weight = p * (1 - p)
    gradient = np.array([np.sum((p - target) * z), np.sum(p - target)])
    mixed = np.sum(weight * z)
    hessian = np.array([[np.sum(weight * z * z), mixed], [mixed, np.sum(weight)]])
    step = np.linalg.solve(hessian + 1e-12 * np.eye(2), gradient)
    before = _loss(z, target, a, b)
    for _ in range(40):
        if _loss(z, target, a - step[0], b - step[1]) <= before:
            break
        step /= 2
    return float(a - step[0]), float(b - step[1]), float(np.abs(step).max())


def _loss(z: Floats, target: Floats, a: float, b: float) -> float:
    score = a * z + b
    return float(np.sum(np.logaddexp(0, score) - target * score))


def _sigmoid(x: Floats) -> Floats:
    probability: Floats = np.exp(-np.logaddexp(0, -x))
    return probability
