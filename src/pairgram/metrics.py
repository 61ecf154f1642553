"""Link-prediction metrics: arrays in, numbers out."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pairgram.errors import InputError


def auc_pair(positive: ArrayLike, negative: ArrayLike) -> float:
    """Share of trials whose positive scores above its negative, ties counted one half.

    Parameters
    ----------
    positive
        Scores of the true links, shape (m,).
    negative
        Scores of the non-links they are compared with, shape (m,).

    Examples
    --------
    >>> auc_pair([0.9, 0.5, 0.1], [0.2, 0.5, 0.3])
    0.5
    """
    positive = _scores("auc_pair", "positive", positive)
    negative = _scores("auc_pair", "negative", negative)
    _same_length("auc_pair", "positive", positive, "negative", negative)
    wins = int(np.count_nonzero(positive > negative))
    ties = int(np.count_nonzero(positive == negative))
    return (2 * wins + ties) / (2 * len(positive))


def roc_auc(scores: ArrayLike, labels: ArrayLike) -> float:
    """Area under the ROC curve, by mean ranks: P(score of a 1 > score of a 0) + P(equal) / 2.

    Parameters
    ----------
    scores
        Any real scores, shape (m,).
    labels
        0 or 1 (or bool), shape (m,); both must occur.

    Examples
    --------
    >>> roc_auc([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1])
    0.75
    """
    scores, truth = _labelled("roc_auc", scores, labels)
    ones = int(np.count_nonzero(truth))
    zeros = len(truth) - ones
    if not ones or not zeros:
        raise InputError(f"roc_auc: labels must hold both 0 and 1. Got {ones} ones, {zeros} zeros.")
    doubled = _doubled_mean_ranks(scores)
    # Twice the rank sum is an integer, so integer arithmetic keeps the area exact.
    above = int(doubled[truth].sum()) - ones * (ones + 1)
    return above / (2 * ones * zeros)


def average_precision(scores: ArrayLike, labels: ArrayLike) -> float:
    """Σ over thresholds of (recall gained) · precision; equal scores share one threshold.

    Parameters
    ----------
    scores
        Any real scores, shape (m,).
    labels
        0 or 1 (or bool), shape (m,); at least one 1.

    Examples
    --------
    >>> average_precision([0.9, 0.8, 0.7], [1, 0, 1])
    0.8333333333333333
    """
    scores, truth = _labelled("average_precision", scores, labels)
    ones = int(np.count_nonzero(truth))
    if not ones:
        raise InputError("average_precision: labels must hold at least one 1. Got none.")
    order = np.argsort(-scores, kind="stable")
    ordered = scores[order]
    last_of_value = np.append(ordered[1:] != ordered[:-1], True)
    found = np.cumsum(truth[order])[last_of_value]
    taken = np.flatnonzero(last_of_value) + 1
    gained = np.diff(found, prepend=0)
    return float(np.sum(gained * (found / taken)) / ones)


def _doubled_mean_ranks(scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """Twice the 1-based rank of every score, equal scores at their mean rank; shape (m,)."""
    _, value, size = np.unique(scores, return_inverse=True, return_counts=True)
    end = np.cumsum(size)
    doubled: NDArray[np.int64] = (2 * end - size + 1)[value]
    return doubled


def _labelled(
    owner: str, scores: ArrayLike, labels: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    checked = _scores(owner, "scores", scores)
    given = np.asarray(labels)
    _same_length(owner, "scores", checked, "labels", given)
    if not np.all((given == 0) | (given == 1)):
        raise InputError(f"{owner}: labels must be 0 or 1. Got {np.unique(given)[:4]}.")
    return checked, given.astype(bool)


def _scores(owner: str, name: str, values: ArrayLike) -> NDArray[np.float64]:
    scores = np.asarray(values, dtype=np.float64)
    if scores.ndim != 1 or not len(scores):
        raise InputError(f"{owner}: {name} must be a non-empty row. Got shape {scores.shape}.")
    missing = int(np.count_nonzero(np.isnan(scores)))
    if missing:
        raise InputError(
            f"{owner}: {name} must be numbers. Got NaN in {missing} of {len(scores)}; "
            "the model that gave them diverged or was fed NaN."
        )
    return scores


def _same_length(
    owner: str, first: str, one: NDArray[np.float64], second: str, two: NDArray[np.generic]
) -> None:
    if one.shape != two.shape:
        raise InputError(
            f"{owner}: {first} and {second} must have one shape. Got {one.shape} and {two.shape}."
        )
