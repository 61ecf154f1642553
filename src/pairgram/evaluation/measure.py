"""Measuring a model on a split: links between known nodes, or nodes that training never saw."""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field

from pairgram.errors import InputError
from pairgram.evaluation.auc import PairResult, auc_lr, by_rule
from pairgram.evaluation.audit import audit, audit_model, audit_texts
from pairgram.evaluation.buckets import Buckets, by_degree
from pairgram.evaluation.duplicates import find_repeats
from pairgram.evaluation.link_floors import LinkFloors, ranked_floors
from pairgram.evaluation.link_ranking import rank_links
from pairgram.evaluation.protocols import UNIFORM, Trials, draw_trials
from pairgram.evaluation.scorer import (
    LinkModel,
    checked_scores,
    method_name,
    reads_text,
    words_of,
)
from pairgram.evaluation.text_floors import texts_of
from pairgram.evaluation.text_matching import NAME as TEXT_MATCHING
from pairgram.evaluation.text_matching import text_matching
from pairgram.evaluation.zero_shot import ZeroShot
from pairgram.search.lexical import Words, plain_words
from pairgram.split import Split

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Options:
    """What is measured and how; see `evaluate`."""

    seed: int = 0
    rank: int = 0
    negatives: tuple[str, ...] = (UNIFORM,)
    strict_texts: bool = False
    word_vectors: str | None = None
    device: str | None = None

    @property
    def harder(self) -> tuple[str, ...]:
        """Kinds of negatives beside the uniform ones, which are always drawn."""
        return tuple(kind for kind in self.negatives if kind != UNIFORM)


@dataclass(frozen=True, eq=False)
class Findings:
    """What was measured, before it is written on a card."""

    trials: Trials
    rule: str = ""
    metrics: dict[str, float | None] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    ties: dict[str, int] = field(default_factory=dict)
    floors: dict[str, dict[str, float]] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    buckets: Buckets = field(default_factory=dict)


def measure_links(
    model: LinkModel, split: Split, protocol: str, options: Options, seconds: dict[str, float]
) -> Findings:
    """AUCs of held-out links by all kinds of negatives; with `rank`, the ranking of links too."""
    seed = options.seed
    with _timed(seconds, "draw"):
        trials = draw_trials(split, protocol, seed)
        harder = [draw_trials(split, protocol, seed, kind) for kind in options.harder]
    _check_centers(trials)
    fit_if_needed(model, split, seconds)
    with _timed(seconds, "score"):
        rules = by_rule(model, trials)
        hard = {drawn.negatives: by_rule(model, drawn) for drawn in harder if len(drawn)}
        buckets = _buckets(model, split, trials)
    with _timed(seconds, "auc_lr"):
        own_features = getattr(model, "pair_features", None)
        area, reason = auc_lr(own_features or model.vectors_.center, trials, seed)
    with _timed(seconds, "floors"):
        floors = _link_floors(split, trials, harder, words_of(model), options.word_vectors)
    metrics = {"auc_pair": rules[model.rule_].auc_pair, "auc_lr": area, "ap": rules[model.rule_].ap}
    metrics |= _by_rule_keys(rules)
    for kind, results in hard.items():
        own = results[model.rule_]
        metrics |= {f"{kind}/auc_pair": own.auc_pair, f"{kind}/ap": own.ap}
        metrics |= _by_rule_keys(results, f"{kind}/")
    found = Findings(
        trials,
        model.rule_,
        metrics,
        notes=_lr_notes(reason, own_features is not None),
        ties={rule: result.ties for rule, result in rules.items()},
        floors=floors,
        counts={f"{drawn.negatives}/centers": len(drawn) for drawn in harder},
        buckets=buckets,
    )
    if options.rank:
        with _timed(seconds, "rank"):
            _add_ranking(found, model, split, options)
    return found


def measure_new(
    model: LinkModel, split: Split, options: Options, seconds: dict[str, float]
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
        draws = ZeroShot(split, repeats.any, options.seed, options.harder, options.device)
    if options.strict_texts:
        audit_texts(repeats)
    _check_centers(draws.main)
    fit_if_needed(model, split, seconds)
    with _timed(seconds, "score"):
        found, ties = draws.model_figures(model)
    with _timed(seconds, "floors"):
        floors = draws.floor_figures(words_of(model))
        floors |= _matching_of_new(split, draws, options.word_vectors)
    return Findings(
        draws.main,
        next(iter(ties)),
        found.metrics,
        found.notes,
        ties,
        floors,
        draws.counts | repeats.counts,
        found.buckets,
    )


def measure_floors(
    split: Split, protocol: str, options: Options, words: Words = plain_words
) -> Findings:
    """The floors alone, under the draws that a model with the same seed would get."""
    audit(split)
    if split.of_nodes:
        repeats = find_repeats(split)
        draws = ZeroShot(split, repeats.any, options.seed, options.harder, options.device)
        _check_centers(draws.main)
        floors = draws.floor_figures(words)
        floors |= _matching_of_new(split, draws, options.word_vectors)
        return Findings(draws.main, floors=floors, counts=draws.counts | repeats.counts)
    trials = draw_trials(split, protocol, options.seed)
    _check_centers(trials)
    harder = [draw_trials(split, protocol, options.seed, kind) for kind in options.harder]
    floors = _link_floors(split, trials, harder, words, options.word_vectors)
    found = Findings(trials, floors=floors)
    if options.rank:
        ranked, queries = ranked_floors(
            split, protocol, options.rank, options.seed, words, options.word_vectors
        )
        _merge(floors, ranked)
        found.counts.update(queries=len(queries), ranked_links=len(queries.row))
    return found


def fit_if_needed(model: LinkModel, split: Split, seconds: dict[str, float]) -> None:
    """Fit the model on the training side where it is not fitted, and see what it was fitted on."""
    if not model.is_fitted:
        _LOG.info("fitting %s on the training side", method_name(model))
        with _timed(seconds, "fit"):
            model.fit(split.train)
    audit_model(model, split)


def _lr_notes(reason: str | None, own_features: bool) -> dict[str, str]:
    """Why there is no AUC_LR, and where its features come from if not from the vectors."""
    notes = {} if reason is None else {"auc_lr": reason}
    if own_features:
        notes["features of auc_lr"] = "the model's own for every pair"
    return notes


def _add_ranking(found: Findings, model: LinkModel, split: Split, options: Options) -> None:
    protocol, seed = found.trials.protocol, found.trials.seed
    by_rule, queries = rank_links(model, split, protocol, options.rank, seed, options.device)
    found.metrics.update(by_rule[found.rule])
    for rule, metrics in by_rule.items():
        found.metrics.update({f"{key}/{rule}": value for key, value in metrics.items()})
    ranked, _ = ranked_floors(
        split, protocol, options.rank, seed, words_of(model), options.word_vectors
    )
    _merge(found.floors, ranked)
    found.counts.update(queries=len(queries), ranked_links=len(queries.row))


def _merge(floors: dict[str, dict[str, float]], more: dict[str, dict[str, float]]) -> None:
    for name, metrics in more.items():
        floors.setdefault(name, {}).update(metrics)


def _link_floors(
    split: Split, trials: Trials, harder: list[Trials], words: Words, word_vectors: str | None
) -> dict[str, dict[str, float]]:
    scorer = LinkFloors(split, words, word_vectors)
    found = {name: dict(asdict(result)) for name, result in scorer.compare(trials).items()}
    for drawn in harder:
        if len(drawn):
            for name, result in scorer.compare(drawn).items():
                found[name] |= {
                    f"{drawn.negatives}/auc_pair": result.auc_pair,
                    f"{drawn.negatives}/ap": result.ap,
                }
    return found


def _matching_of_new(
    split: Split, draws: ZeroShot, word_vectors: str | None
) -> dict[str, dict[str, float]]:
    if word_vectors is None:
        return {}
    figures, ties = draws.model_figures(text_matching(word_vectors, split.train))
    rule = next(iter(ties))
    plain = {key: value for key, value in figures.metrics.items() if "/" not in key}
    hard = {f"{kind}/auc_pair" for kind in draws.harder}
    plain |= {key: value for key, value in figures.metrics.items() if key in hard}
    known = {key: value for key, value in plain.items() if value is not None}
    return {TEXT_MATCHING: known | {"ties": ties[rule]}}


def _buckets(model: LinkModel, split: Split, trials: Trials) -> Buckets:
    positive, negative = (
        checked_scores(model, trials.center, other, model.rule_)
        for other in (trials.positive, trials.negative)
    )
    return by_degree(split, trials, positive, negative)


def _by_rule_keys(rules: dict[str, PairResult], prefix: str = "") -> dict[str, float | None]:
    keys: dict[str, float | None] = {}
    for rule, result in rules.items():
        keys |= {f"{prefix}auc_pair/{rule}": result.auc_pair, f"{prefix}ap/{rule}": result.ap}
    return keys


def _check_centers(trials: Trials) -> None:
    if not len(trials):
        reasons = ", ".join(f"{count} {reason}" for reason, count in trials.left_out.items())
        raise InputError(
            f"Protocol '{trials.protocol}' has no centre to score ({reasons}); keep another share "
            "of the links or choose another protocol."
        )


@contextmanager
def _timed(seconds: dict[str, float], phase: str) -> Iterator[None]:
    start = time.perf_counter()
    yield
    seconds[phase] = time.perf_counter() - start
