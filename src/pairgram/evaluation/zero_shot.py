"""Zero-shot: nodes that training never heard of, placed by their text alone."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairgram.errors import InputError
from pairgram.evaluation.auc import PairResult, auc_lr, compare
from pairgram.evaluation.buckets import Buckets, by_degree
from pairgram.evaluation.device import DeviceBlocks
from pairgram.evaluation.protocols import NODE_PROTOCOLS, ZERO_SHOT, Trials, draw_trials
from pairgram.evaluation.ranking import Queries, Ranked, rank, zero_shot_queries
from pairgram.evaluation.scorer import NewNodes, Scores, TextModel, method_name
from pairgram.evaluation.text_floors import TextFloors, fit_weight, query_texts, texts_of
from pairgram.metrics import Places, ranking
from pairgram.search.lexical import Words
from pairgram.split import Split

Mask = NDArray[np.bool_]

NO_DUPLICATES = "_nodup"


@dataclass(frozen=True, eq=False)
class Figures:
    """Metrics by report key, None where a note says why, and what was counted on the way."""

    metrics: dict[str, float | None] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    buckets: Buckets = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Tried:
    """Trials of one kind with the scores of their positives and negatives by rule."""

    prefix: str
    trials: Trials
    scores: dict[str, tuple[Scores, Scores]]


class ZeroShot:
    """The draws of one zero-shot evaluation, for a model and for the floors.

    Parameters
    ----------
    split
        A split of nodes.
    repeated
        Whether training has the text of each held-out node, shape (h,).
    seed
        Seed of the draws.
    harder
        Kinds of negatives beside the uniform ones, for links to training nodes.
    device
        Device of torch that the model's ranking is made on; None is NumPy.
    """

    def __init__(
        self,
        split: Split,
        repeated: Mask,
        seed: int,
        harder: Sequence[str] = (),
        device: str | None = None,
    ) -> None:
        self.split, self.seed, self.device = split, seed, device
        drawn = {kind: draw_trials(split, ZERO_SHOT, seed, kind) for kind in harder}
        self.harder = {kind: trials for kind, trials in drawn.items() if len(trials)}
        self.trials = {
            protocol.removeprefix(ZERO_SHOT).lstrip("/"): draw_trials(split, protocol, seed)
            for protocol in NODE_PROTOCOLS
        }
        self.queries = zero_shot_queries(split)
        self._fresh = np.ones(split.full.n_nodes, dtype=bool)
        self._fresh[split.new[repeated]] = False

    @property
    def main(self) -> Trials:
        """Trials with training nodes, those of the plain keys."""
        return self.trials[""]

    @property
    def counts(self) -> dict[str, int]:
        """Queries, links ranked, and centres of the other kinds."""
        kinds = {f"{name}/centers": len(trials) for name, trials in self.trials.items() if name}
        kinds |= {f"{kind}/centers": len(trials) for kind, trials in self.harder.items()}
        counts = {"queries": len(self.queries), "ranked_links": len(self.queries.row)}
        return {"new_nodes": len(self.split.new), **counts, **kinds}

    def model_figures(self, model: TextModel) -> tuple[Figures, dict[str, int]]:
        """Metrics of a fitted model, and its ties by rule."""
        placed = self._place(model)
        rules = tuple(dict.fromkeys((placed.rule, *placed.rules)))
        tried = [self._try(placed, name, rules) for name in self.trials]
        table = self._center_table(model, placed)
        ranked = self._rank(placed, rules)
        found = Figures()
        for suffix, keep in self._subsets():
            for group in tried:
                _add_pairs(found, group, placed.rule, rules, table, keep, suffix, self.seed)
            _add_ranking(found, ranked, self.queries, placed.rule, keep, suffix)
        for kind, trials in self.harder.items():
            hard = self._try_trials(placed, trials, f"{kind}/", rules)
            _add_hard(found, hard, placed.rule)
        found.buckets.update(by_degree(self.split, self.main, *tried[0].scores[placed.rule]))
        ties = {rule: compare(*tried[0].scores[rule]).ties for rule in rules}
        return found, ties

    def floor_figures(self, words: Words) -> dict[str, dict[str, float]]:
        """Metrics of every floor that needs no more than texts and training links."""
        words = cache(words)  # two indexes of two graphs read the same texts
        weight = fit_weight(self.split, words)
        texts = query_texts(self.split, self.queries)
        floors = TextFloors(self.split.train, texts, words, weight)
        found = {
            name: dict(self._floor(ranked))
            for name, ranked in rank(floors, self.queries, self._picks()).items()
        }
        found["vote+bm25"]["weight"] = weight
        return found

    def _picks(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Query and training position of all positives and negatives, sorted by query."""
        groups = [self.main, *self.harder.values()]
        center = np.concatenate([np.repeat(trials.center, 2) for trials in groups])
        ends = [np.stack([trials.positive, trials.negative], axis=1).ravel() for trials in groups]
        row = np.searchsorted(self.queries.node, center)
        self._order = np.argsort(row, kind="stable")
        other = np.searchsorted(self.split.kept, np.concatenate(ends))
        return row[self._order], other[self._order]

    def _floor(self, ranked: Ranked) -> Iterator[tuple[str, float]]:
        scores = np.empty(len(ranked.picked))
        scores[self._order] = ranked.picked
        yield from self._hard_floor(scores[2 * len(self.main) :])
        positive, negative = scores[: 2 * len(self.main)].reshape(-1, 2).T
        for suffix, keep in self._subsets():
            chosen = keep[self.main.center]
            if chosen.any():
                for key, value in asdict(compare(positive[chosen], negative[chosen])).items():
                    yield f"{key}{suffix}", value
            for key, value in _ranking(ranked.places, self.queries, keep).items():
                yield f"{key}{suffix}", value

    def _hard_floor(self, scores: Scores) -> Iterator[tuple[str, float]]:
        begin = 0
        for kind, trials in self.harder.items():
            positive, negative = scores[begin : begin + 2 * len(trials)].reshape(-1, 2).T
            begin += 2 * len(trials)
            result = compare(positive, negative)
            yield f"{kind}/auc_pair", result.auc_pair
            yield f"{kind}/ap", result.ap

    def _subsets(self) -> Iterator[tuple[str, Mask]]:
        """All nodes, then those whose text training does not have; shape (n,)."""
        yield "", np.ones(self.split.full.n_nodes, dtype=bool)
        yield NO_DUPLICATES, self._fresh

    def _place(self, model: TextModel) -> NewNodes:
        texts = texts_of(self.split.full)
        placed = model.place([texts[node] for node in self.split.new.tolist()])
        if len(placed.center) != len(self.split.new):
            raise InputError(
                f"{method_name(model)}.place must give one vector a text, {len(self.split.new)} "
                f"of them. Got {len(placed.center)}."
            )
        return placed

    def _center_table(self, model: TextModel, placed: NewNodes) -> NDArray[np.float32]:
        """Centre vectors of old and new nodes at their full positions, shape (n, dim)."""
        known = model.vectors_.center
        table = np.empty((self.split.full.n_nodes, known.shape[1]), dtype=np.float32)
        table[self.split.kept], table[self.split.new] = known, placed.center
        return table

    def _try(self, placed: NewNodes, name: str, rules: Sequence[str]) -> Tried:
        possible = rules if name == "" else [r for r in rules if r in placed.rules_between]
        prefix = f"{name}/" if name else ""
        return self._try_trials(placed, self.trials[name], prefix, possible)

    def _try_trials(
        self, placed: NewNodes, trials: Trials, prefix: str, rules: Sequence[str]
    ) -> Tried:
        scores = {
            rule: (
                self._score(placed, trials.center, trials.positive, rule),
                self._score(placed, trials.center, trials.negative, rule),
            )
            for rule in rules
        }
        return Tried(prefix, trials, scores)

    def _score(
        self, placed: NewNodes, center: NDArray[np.int64], other: NDArray[np.int64], rule: str
    ) -> Scores:
        """Scores of new centres with old and new nodes, shape (k,)."""
        new = self.split.new
        row, is_new = np.searchsorted(new, center), np.isin(other, new)
        scores = np.empty(len(center))
        if is_new.any():
            scores[is_new] = placed.between(row[is_new], np.searchsorted(new, other[is_new]), rule)
        if not is_new.all():
            old = np.searchsorted(self.split.kept, other[~is_new])
            scores[~is_new] = placed.pairs(row[~is_new], old, rule)
        return scores

    def _rank(self, placed: NewNodes, rules: Sequence[str]) -> dict[str, Ranked]:
        """Ranking under every rule; queries are those of the held-out nodes that have links."""
        rows = np.searchsorted(self.split.new, self.queries.node)
        terms = getattr(placed, "terms", None)
        if self.device is not None and terms is not None:
            return rank(self._on_device(terms, rules, rows), self.queries)

        def blocks(block: slice) -> Mapping[str, Scores]:
            wanted = rows[block]
            around = slice(int(wanted[0]), int(wanted[-1]) + 1)
            inside = wanted - around.start
            return {rule: placed.block(around, rule)[inside] for rule in rules}

        return rank(blocks, self.queries)

    def _on_device(
        self, terms: Callable[[str], Any], rules: Sequence[str], rows: NDArray[np.int64]
    ) -> Callable[[slice], Mapping[str, Any]]:
        scorers = {}
        for rule in rules:
            pairs, bias = terms(rule)
            chosen = [(left[rows], right) for left, right in pairs]
            scorers[rule] = DeviceBlocks(chosen, bias, str(self.device))
        return lambda block: {rule: scorer(block) for rule, scorer in scorers.items()}


def _add_pairs(
    found: Figures,
    group: Tried,
    own: str,
    rules: Sequence[str],
    table: NDArray[np.float32],
    keep: Mask,
    suffix: str,
    seed: int,
) -> None:
    """Add the AUCs of the centres of a mask over all nodes, shape (n,)."""
    chosen = keep[group.trials.center]
    name = f"{group.prefix}auc_pair{suffix}"
    if not chosen.any():
        found.metrics[name] = None
        found.notes[name] = "there is no such centre"
        return
    results = {
        rule: compare(positive[chosen], negative[chosen])
        for rule, (positive, negative) in group.scores.items()
    }
    area, reason = auc_lr(table, _subset(group.trials, chosen), seed)
    _add_own(found, group.prefix, suffix, results.get(own), area)
    if reason is not None and f"{group.prefix}auc_lr" not in found.notes:
        found.notes[f"{group.prefix}auc_lr{suffix}"] = reason
    for rule, result in results.items():
        found.metrics[f"{name}/{rule}"] = result.auc_pair
        found.metrics[f"{group.prefix}ap{suffix}/{rule}"] = result.ap
    for rule in rules:
        if rule not in results and not suffix:
            found.notes[f"{name}/{rule}"] = (
                f"the model cannot score two new nodes by it, {len(chosen)} centres left out"
            )


def _add_own(
    found: Figures, prefix: str, suffix: str, result: PairResult | None, area: float | None
) -> None:
    found.metrics[f"{prefix}auc_pair{suffix}"] = None if result is None else result.auc_pair
    found.metrics[f"{prefix}auc_lr{suffix}"] = area
    found.metrics[f"{prefix}ap{suffix}"] = None if result is None else result.ap


def _add_hard(found: Figures, group: Tried, own: str) -> None:
    """Add the AUCs under harder negatives."""
    for rule, scores in group.scores.items():
        result = compare(*scores)
        for key, value in (("auc_pair", result.auc_pair), ("ap", result.ap)):
            found.metrics[f"{group.prefix}{key}/{rule}"] = value
            if rule == own:
                found.metrics[f"{group.prefix}{key}"] = value


def _add_ranking(
    found: Figures,
    ranked: Mapping[str, Ranked],
    queries: Queries,
    own: str,
    keep: Mask,
    suffix: str,
) -> None:
    """Add the ranking metrics of the queries of a mask over all nodes, shape (n,)."""
    for rule, result in ranked.items():
        for key, value in _ranking(result.places, queries, keep).items():
            if rule == own:
                found.metrics[f"{key}{suffix}"] = value
            found.metrics[f"{key}{suffix}/{rule}"] = value


def _ranking(places: Places, queries: Queries, keep: Mask) -> dict[str, float]:
    chosen = keep[queries.node][queries.row]
    if not chosen.any():
        return {}
    names = ("above", "tied", "first", "size")
    subset = Places(*(getattr(places, name)[chosen] for name in names))
    return ranking(subset, queries.row[chosen])


def _subset(trials: Trials, chosen: Mask) -> Trials:
    return replace(
        trials,
        center=trials.center[chosen],
        positive=trials.positive[chosen],
        negative=trials.negative[chosen],
    )
