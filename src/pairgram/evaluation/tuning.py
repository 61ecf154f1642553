"""Tuning on a validation split only: successive halving over drawn settings."""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pairgram.errors import InputError, PairgramError, ParameterError
from pairgram.evaluation.report import evaluate
from pairgram.evaluation.table import by_rule
from pairgram.search.ranker import RANKED
from pairgram.split import Split, validation_split

_LOG = logging.getLogger(__name__)

KEEP_ONE_IN = 3
RESOURCES = ("epochs", "per_edge")  # what a trial of an early round gets less of
DEFAULT_EPOCHS = 20  # where a preset decides and the caller gave none
METRICS = ("auc_pair", "auc_lr", "mrr")

Choices = Sequence[Any]

# Values to draw from, by parameter; those that a method does not have are left out.
SPACE: dict[str, Choices] = {
    "learning_rate": (0.0125, 0.025, 0.05, 0.1, 0.2),
    "l2": (0.0, 0.003, 0.01, 0.03, 0.1),
    "order": (1, 2, 3, 4),
    "times": (1, 2, 4, 8),
    "window": (1, 3, 5, 10),
    "p": (0.25, 0.5, 1.0, 2.0, 4.0),
    "q": (0.25, 0.5, 1.0, 2.0, 4.0),
    "negatives": (5, 10),
}
TEXT_SPACE: dict[str, Choices] = {
    "learning_rate": (0.001, 0.002, 0.005, 0.01, 0.02),
    "l2": (0.0, 0.0001, 0.001, 0.01),
    "order": (1, 2, 3),
    "times": (1, 2, 4),
    "word_dropout": (0.0, 0.1, 0.3),
}


@dataclass
class Trial:
    """A setting with what every round gave it.

    Attributes
    ----------
    parameters
        Laid over those that the caller fixed.
    scores
        Resource -> score on validation.
    rule
        Rule with the best score of its last round.
    seconds
        Spent on it in all rounds.
    reason
        Why it ended without a score, or None.
    """

    parameters: dict[str, Any]
    scores: dict[float, float] = field(default_factory=dict)
    rule: str | None = None
    seconds: float = 0.0
    reason: str | None = None

    @property
    def score(self) -> float | None:
        """Score of its last round."""
        return None if not self.scores else list(self.scores.values())[-1]


@dataclass(frozen=True)
class Tuned:
    """The best setting of the last round, and all trials.

    Attributes
    ----------
    chosen
        Parameters of the best trial, its rule included.
    score
        Its score on validation.
    metric, split_hash, seconds
        What was maximised, on which validation split, and what it took.
    stopped
        Whether the budget ended before the last round.
    """

    chosen: dict[str, Any]
    score: float
    metric: str
    split_hash: str
    seconds: float
    stopped: bool
    trials: list[Trial]


def tune(
    build: Callable[[Mapping[str, Any]], Any],
    split: Split,
    space: Mapping[str, Choices],
    *,
    metric: str = "auc_pair",
    trials: int = 9,
    seconds: float = 600.0,
    share: float = 0.05,
    seed: int = 0,
) -> Tuned:
    """Search settings on a validation split of `split.train`; the split's own tests stay unseen.

    Every setting is first trained for a ninth of its epochs; the best third of each round goes on
    with three times as many. The first setting is the caller's own, so that what is chosen was
    better than it on validation.

    Parameters
    ----------
    build
        Makes an unfitted model from parameters laid over the caller's own.
    split
        The split whose tests are for later.
    space
        Parameter -> values to draw from.
    metric
        "auc_pair" (the best rule's), "auc_lr" or "mrr" (the best rule's).
    trials, seconds
        Budget: settings of the first round, and when no further training begins.
    share, seed
        Share of the validation split, and seed of it, of the draws and of the evaluation.

    References
    ----------
    Jamieson, Talwalkar: Non-stochastic Best Arm Identification and Hyperparameter Optimization,
    2016.
    """
    if metric not in METRICS:
        raise ParameterError(f"The 'metric' of tune must be one of {METRICS}. Got {metric!r}.")
    validation = validation_split(split, share, seed)
    search = _Search(build, validation, metric, time.perf_counter() + seconds, seed)
    listed = [Trial(parameters) for parameters in draw(space, trials, seed)]
    began = time.perf_counter()
    stopped = search.halve(listed)
    ranked = [trial for trial in listed if trial.score is not None]
    if not ranked:
        reasons = {trial.reason for trial in listed if trial.reason}
        raise PairgramError(f"No setting could be trained: {'; '.join(sorted(map(str, reasons)))}.")
    best = max(ranked, key=lambda trial: (max(trial.scores), trial.score))
    chosen = dict(best.parameters)
    if best.rule is not None and best.rule != RANKED:  # which a model has or has not, by itself
        chosen["rule"] = best.rule
    spent = time.perf_counter() - began
    return Tuned(chosen, float(best.score or 0.0), metric, validation.hash, spent, stopped, listed)


def draw(space: Mapping[str, Choices], trials: int, seed: int) -> list[dict[str, Any]]:
    """Different settings from a space; the first is empty, the caller's own.

    >>> draw({"order": (1, 2)}, 9, seed=0)
    [{}, {'order': 2}, {'order': 1}]
    """
    rng = np.random.Generator(np.random.PCG64(int(seed)))
    found: list[dict[str, Any]] = [{}]
    for _ in range(20 * trials):
        if len(found) >= trials or not space:
            break
        setting = {name: values[int(rng.integers(len(values)))] for name, values in space.items()}
        if setting not in found:
            found.append(setting)
    return found


def space_of(model: Any, fixed: Mapping[str, Any] | None = None) -> dict[str, Choices]:
    """Values to draw from for the parameters that a model has and the caller has not fixed."""
    known = model.get_params()
    whole = TEXT_SPACE if "encoder" in known else SPACE
    taken = fixed or {}
    return {name: values for name, values in whole.items() if name in known and name not in taken}


@dataclass
class _Search:
    """Trains and scores trials, round by round."""

    build: Callable[[Mapping[str, Any]], Any]
    split: Split
    metric: str
    end: float
    seed: int

    def halve(self, trials: list[Trial]) -> bool:
        """Run all rounds; return whether the budget ended them early."""
        alive = trials
        for number, part in enumerate(self._parts()):
            for trial in alive:
                if time.perf_counter() >= self.end and (number or trial is not trials[0]):
                    return True
                self._run(trial, part)
            scored = [trial for trial in alive if part in trial.scores]
            scored.sort(key=lambda trial: -trial.scores[part])
            alive = scored[: max(1, len(scored) // KEEP_ONE_IN)]
        return False

    def _parts(self) -> list[float]:
        resource, whole = self._resource()
        if resource is None:
            return [1.0]
        parts = [1 / KEEP_ONE_IN**2, 1 / KEEP_ONE_IN, 1.0]
        return [part for part in parts if whole * part >= 1]

    def _resource(self) -> tuple[str | None, float]:
        given = self.build({}).get_params()
        for name in RESOURCES:
            if name in given:
                return name, float(given[name] or DEFAULT_EPOCHS)
        return None, 1.0

    def _run(self, trial: Trial, part: float) -> None:
        name, whole = self._resource()
        own = dict(trial.parameters)
        if name is not None and part < 1:
            own[name] = max(1, round(whole * part))
        began = time.perf_counter()
        try:
            report = evaluate(
                self.build(own).fit(self.split.train), self.split, seed=self.seed,
                rank=500 if self.metric == "mrr" and not self.split.of_nodes else 0,
            )  # fmt: skip
            trial.scores[part], trial.rule = self._score(report.card)
        except InputError as error:
            trial.reason = str(error)
        trial.seconds += time.perf_counter() - began
        _LOG.info("%s at %.2f: %s", trial.parameters, part, trial.scores.get(part, trial.reason))

    def _score(self, card: Any) -> tuple[float, str | None]:
        rules = by_rule(card, "auc_pair" if self.metric == "auc_lr" else self.metric)
        rule = max(rules, key=lambda name: rules[name])
        if self.metric != "auc_lr":
            return rules[rule], rule
        if card.metrics["auc_lr"] is None:
            raise InputError("too few validation links for AUC_LR")
        return float(card.metrics["auc_lr"]), rule
