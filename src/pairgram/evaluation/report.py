"""`evaluate`: a model on a split, with the floors beside it."""

import logging
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

from pairgram.errors import InputError
from pairgram.evaluation import card as cards
from pairgram.evaluation.auc import PairResult, auc_lr, by_rule, compare
from pairgram.evaluation.audit import audit, audit_model
from pairgram.evaluation.card import Card
from pairgram.evaluation.floors import FLOORS
from pairgram.evaluation.protocols import Trials, draw_trials
from pairgram.evaluation.scorer import LinkModel, method_name
from pairgram.evaluation.table import render, verdict
from pairgram.split import Split

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Report(Mapping[str, float | None]):
    """Metrics of one evaluation by key; as text, a table with the floors and the verdict.

    Keys are `auc_pair`, `auc_lr` and `ap` under the model's own rule, and `auc_pair/RULE` and
    `ap/RULE` for each of its rules. A value is None where `card.notes` says why.

    Attributes
    ----------
    card
        All that is known about the evaluation; `Report(Card.read(path))` prints it again.
    """

    card: Card

    @property
    def floors(self) -> dict[str, float]:
        """AUC_pair of every floor."""
        return {name: values["auc_pair"] for name, values in self.card.floors.items()}

    @property
    def left_out(self) -> dict[str, int]:
        """Reason -> number of centres not scored."""
        return self.card.left_out

    @property
    def verdict(self) -> str:
        """Whether the model beats its floors, in words."""
        return verdict(self.card)

    def __getitem__(self, key: str) -> float | None:
        return self.card.metrics[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.card.metrics)

    def __len__(self) -> int:
        return len(self.card.metrics)

    def __str__(self) -> str:
        return render(self.card)


def evaluate(model: LinkModel, split: Split, protocol: str | None = None, seed: int = 0) -> Report:
    """Score a model on the held-out links of a split.

    A model that is not fitted is fitted on `split.train` first. A fitted one must have been
    fitted on exactly that graph.

    Parameters
    ----------
    model
        Any model of pairgram, or a class with the same names.
    split
        An edge split.
    protocol
        "seen" (None means this one) or "all".
    seed
        Seed of the drawn positives and negatives and of the halves of AUC_LR.

    Raises
    ------
    LeakError
        The split shares links between its sides, or the model has seen another graph.
    InputError
        No centre can be scored.
    """
    audit(split)
    seconds: dict[str, float] = {}
    with _timed(seconds, "draw"):
        trials = draw_trials(split, "seen" if protocol is None else protocol, seed)
    _check_centers(trials)
    if not model.is_fitted:
        _LOG.info("fitting %s on the training side", method_name(model))
        with _timed(seconds, "fit"):
            model.fit(split.train)
    audit_model(model, split)
    with _timed(seconds, "score"):
        rules = by_rule(model, trials)
    with _timed(seconds, "auc_lr"):
        area, reason = auc_lr(model.vectors_.center, trials, seed)
    with _timed(seconds, "floors"):
        floors = _score_floors(split, trials)
    metrics = _metrics(model.rule_, rules, area)
    notes = {} if reason is None else {"auc_lr": reason}
    return Report(_card(model, split, trials, rules, metrics, notes, floors, seconds))


def _check_centers(trials: Trials) -> None:
    if not len(trials):
        reasons = ", ".join(f"{count} {reason}" for reason, count in trials.left_out.items())
        raise InputError(
            f"Protocol '{trials.protocol}' has no centre to score ({reasons}); keep another share "
            "of the links or choose another protocol."
        )


def _score_floors(split: Split, trials: Trials) -> dict[str, PairResult]:
    return {
        name: compare(
            score(split.train, trials.center, trials.positive),
            score(split.train, trials.center, trials.negative),
        )
        for name, score in FLOORS.items()
    }


def _metrics(own: str, rules: dict[str, PairResult], area: float | None) -> dict[str, float | None]:
    metrics = {"auc_pair": rules[own].auc_pair, "auc_lr": area, "ap": rules[own].ap}
    for rule, result in rules.items():
        metrics |= {f"auc_pair/{rule}": result.auc_pair, f"ap/{rule}": result.ap}
    return metrics


def _card(
    model: LinkModel,
    split: Split,
    trials: Trials,
    rules: dict[str, PairResult],
    metrics: dict[str, float | None],
    notes: dict[str, str],
    floors: dict[str, PairResult],
    seconds: dict[str, float],
) -> Card:
    stats: dict[str, Any] = getattr(model, "stats_", None) or {}
    return Card(
        method=method_name(model),
        parameters=dict(model.get_params()),
        rule=model.rule_,
        split=_split_entry(split),
        protocol=trials.protocol,
        seed=trials.seed,
        candidates=trials.candidates,
        counts=_counts(split, trials),
        left_out=dict(trials.left_out),
        ties={rule: result.ties for rule, result in rules.items()},
        metrics=metrics,
        notes=notes,
        floors={name: asdict(result) for name, result in floors.items()},
        pairs=stats.get("pairs"),
        updates=stats.get("updates"),
        seconds={**stats.get("seconds", {}), **seconds},
        peak_memory=cards.peak_memory(),
        versions=cards.versions(),
        machine=cards.machine(),
    )


def _split_entry(split: Split) -> dict[str, Any]:
    return {
        "hash": split.hash,
        "kind": split.kind,
        "share": split.share,
        "seed": split.seed,
        "fingerprint": split.full.fingerprint,
    }


def _counts(split: Split, trials: Trials) -> dict[str, int]:
    return {
        "nodes": split.full.n_nodes,
        "train_links": split.train.n_edges,
        "held_out_links": len(split.held_out),
        "centers": len(trials),
    }


@contextmanager
def _timed(seconds: dict[str, float], phase: str) -> Iterator[None]:
    start = time.perf_counter()
    yield
    seconds[phase] = time.perf_counter() - start
