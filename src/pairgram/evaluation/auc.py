"""The two AUCs of a model over drawn trials."""

import logging
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairgram.errors import InputError
from pairgram.evaluation.protocols import Trials
from pairgram.evaluation.scorer import LinkModel, Scores, checked_scores
from pairgram.metrics import auc_pair, average_precision, roc_auc

_LOG = logging.getLogger(__name__)

PairFeatures = Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.floating[Any]]]

FEWEST_CENTERS = 10
_HALVES = int.from_bytes(b"halves", "big")  # a stream of its own, whatever else uses the seed


@dataclass(frozen=True)
class PairResult:
    """Scores of one rule or floor over the trials.

    Attributes
    ----------
    auc_pair
        Share of trials whose positive scores above its negative, ties one half.
    ap
        Average precision of positives and negatives pooled.
    ties
        Trials whose two scores are equal.
    """

    auc_pair: float
    ap: float
    ties: int


def compare(positive: Scores, negative: Scores) -> PairResult:
    """Metrics of the positives' and negatives' scores, both of shape (k,)."""
    pooled, labels = _pool(positive, negative)
    return PairResult(
        auc_pair=auc_pair(positive, negative),
        ap=average_precision(pooled, labels),
        ties=int(np.count_nonzero(positive == negative)),
    )


def by_rule(model: LinkModel, trials: Trials) -> dict[str, PairResult]:
    """Compare under every rule of the model, its own first."""
    rules = dict.fromkeys((model.rule_, *model.rules_))
    return {
        rule: compare(
            checked_scores(model, trials.center, trials.positive, rule),
            checked_scores(model, trials.center, trials.negative, rule),
        )
        for rule in rules
    }


def auc_lr(
    vectors: NDArray[np.floating[Any]] | PairFeatures, trials: Trials, seed: int = 0
) -> tuple[float | None, str | None]:
    """ROC AUC of a logistic regression on the products of the two ends' vectors.

    Half of the centres, drawn by node, train a StandardScaler and an L2 logistic regression
    (C = 1) on element-wise products, positives 1 and negatives 0; the area is that of the other
    half's pooled scores.

    Parameters
    ----------
    vectors
        Centre vectors, shape (n, dim); or a function of the two ends of pairs, both (m,), that
        gives features to take in place of the products, shape (m, f).
    trials
        Positives and negatives.
    seed
        Seed of the halves.

    Returns
    -------
    The area and None, or None and the reason why there is none.
    """
    if len(trials) < FEWEST_CENTERS:
        return None, f"{len(trials)} centres are too few for AUC_LR, it needs {FEWEST_CENTERS}"
    rng = np.random.Generator(np.random.PCG64([int(seed), _HALVES]))
    shuffled = rng.permutation(len(trials))
    train, test = np.split(shuffled, [len(trials) // 2])
    classifier = _fit_logistic(*_products(vectors, trials, train))
    features, labels = _products(vectors, trials, test)
    return roc_auc(classifier.decision_function(features), labels), None


def _products(
    vectors: NDArray[np.floating[Any]] | PairFeatures, trials: Trials, rows: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Element-wise products of both kinds of pairs, shape (2r, dim), and labels, shape (2r,)."""

    def of(left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.floating[Any]]:
        if callable(vectors):
            return vectors(left, right)
        return vectors[left].astype(np.float64) * vectors[right]

    center = trials.center[rows]
    features = np.concatenate(
        [of(center, trials.positive[rows]), of(center, trials.negative[rows])], dtype=np.float64
    )
    if not np.isfinite(features).all():
        raise InputError("AUC_LR: the centre vectors must be finite. Got NaN or infinity.")
    return features, np.repeat([1, 0], len(rows))


def _fit_logistic(features: NDArray[np.float64], labels: NDArray[np.int64]) -> Any:
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    classifier = make_pipeline(
        StandardScaler(copy=False), LogisticRegression(C=1.0, solver="lbfgs", max_iter=1000)
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        classifier.fit(features, labels)
    for warning in caught:
        _LOG.warning("AUC_LR: %s", str(warning.message).splitlines()[0])
    return classifier


def _pool(positive: Scores, negative: Scores) -> tuple[Scores, NDArray[np.int64]]:
    labels = np.repeat([1, 0], [len(positive), len(negative)])
    return np.concatenate([positive, negative]), labels
