"""Measuring a model on a split: links between known nodes, or nodes that training never saw."""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass

from pairgram.errors import InputError
from pairgram.evaluation.auc import PairResult, auc_lr, by_rule, compare
from pairgram.evaluation.audit import audit, audit_model, audit_texts
from pairgram.evaluation.duplicates import find_repeats
from pairgram.evaluation.floors import FLOORS
from pairgram.evaluation.link_ranking import rank_floors, rank_links
from pairgram.evaluation.protocols import Trials, draw_trials
from pairgram.evaluation.scorer import LinkModel, method_name, reads_text, words_of
from pairgram.evaluation.text_floors import texts_of
from pairgram.evaluation.zero_shot import ZeroShot
from pairgram.search.lexical import Words, plain_words
from pairgram.split import Split

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Findings:
    """What was measured, before it is written on a card."""

    trials: Trials
    rule: str
    metrics: dict[str, float | None]
    notes: dict[str, str]
    ties: dict[str, int]
    floors: dict[str, dict[str, float]]
    counts: dict[str, int]


def measure_links(
    model: LinkModel, split: Split, protocol: str, seed: int, limit: int, seconds: dict[str, float]
) -> Findings:
    """AUCs of held-out links, and with a `limit` the ranking of the links of so many nodes."""
    with _timed(seconds, "draw"):
        trials = draw_trials(split, protocol, seed)
    _check_centers(trials)
    _fit(model, split, seconds)
    with _timed(seconds, "score"):
        rules = by_rule(model, trials)
    with _timed(seconds, "auc_lr"):
        area, reason = auc_lr(model.vectors_.center, trials, seed)
    with _timed(seconds, "floors"):
        floors = _score_floors(split, trials)
    found = Findings(
        trials,
        model.rule_,
        metrics=_metrics(model.rule_, rules, area),
        notes={} if reason is None else {"auc_lr": reason},
        ties={rule: result.ties for rule, result in rules.items()},
        floors={name: asdict(result) for name, result in floors.items()},
        counts={},
    )
    if limit:
        with _timed(seconds, "rank"):
            _add_ranking(found, model, split, limit)
    return found


def _add_ranking(found: Findings, model: LinkModel, split: Split, limit: int) -> None:
    trials = found.trials
    by_rule, floors, queries = rank_links(model, split, trials.protocol, limit, trials.seed)
    found.metrics.update(by_rule[found.rule])
    for rule, metrics in by_rule.items():
        found.metrics.update({f"{key}/{rule}": value for key, value in metrics.items()})
    for name, metrics in floors.items():
        found.floors.setdefault(name, {}).update(metrics)
    found.counts.update(queries=len(queries), ranked_links=len(queries.row))


def measure_new(
    model: LinkModel, split: Split, seed: int, strict_texts: bool, seconds: dict[str, float]
) -> Findings:
    """AUCs and ranking of held-out nodes, with and without repeated texts."""
    if not reads_text(model):
        raise InputError(
            f"{method_name(model)} cannot place the text of a new node, so it has no zero-shot "
            "score; choose a model that reads texts."
        )
    texts_of(split.full)
    with _timed(seconds, "draw"):
        repeats = find_repeats(split)
        draws = ZeroShot(split, repeats.any, seed)
    if strict_texts:
        audit_texts(repeats)
    _check_centers(draws.main)
    _fit(model, split, seconds)
    with _timed(seconds, "score"):
        found, ties = draws.model_figures(model)
    with _timed(seconds, "floors"):
        floors = draws.floor_figures(words_of(model))
    counts = draws.counts | repeats.counts
    rule = next(iter(ties))
    return Findings(draws.main, rule, found.metrics, found.notes, ties, floors, counts)


def measure_floors(
    split: Split, protocol: str, seed: int, limit: int = 0, words: Words = plain_words
) -> Findings:
    """The floors alone, under the draws that a model with the same seed would get."""
    audit(split)
    if not split.of_nodes:
        trials = draw_trials(split, protocol, seed)
        _check_centers(trials)
        floors = {name: asdict(result) for name, result in _score_floors(split, trials).items()}
        counts = {}
        if limit:
            ranked, queries = rank_floors(split, protocol, limit, seed, words)
            for name, metrics in ranked.items():
                floors.setdefault(name, {}).update(metrics)
            counts = {"queries": len(queries), "ranked_links": len(queries.row)}
        return Findings(trials, "", {}, {}, {}, floors, counts)
    repeats = find_repeats(split)
    draws = ZeroShot(split, repeats.any, seed)
    _check_centers(draws.main)
    floors = draws.floor_figures(words)
    return Findings(draws.main, "", {}, {}, {}, floors, draws.counts | repeats.counts)


def _fit(model: LinkModel, split: Split, seconds: dict[str, float]) -> None:
    """Fit the model on the training side where it is not fitted, and see what it was fitted on."""
    if not model.is_fitted:
        _LOG.info("fitting %s on the training side", method_name(model))
        with _timed(seconds, "fit"):
            model.fit(split.train)
    audit_model(model, split)


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


@contextmanager
def _timed(seconds: dict[str, float], phase: str) -> Iterator[None]:
    start = time.perf_counter()
    yield
    seconds[phase] = time.perf_counter() - start
