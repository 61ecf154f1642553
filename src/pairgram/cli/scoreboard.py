"""Evaluations side by side: the models, the floors, and the verdicts in words."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import fmean, stdev
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pairgram.cli.terminal import Terminal
    from pairgram.evaluation import Card

Cards = Sequence["Card"]
Row = tuple[str, ...]
_SHARES = ("called", "matched", "unmatched")


def show(terminal: "Terminal", cards: Mapping[str, Cards]) -> None:
    """Print one table for all models and the floors, then a verdict for each model."""
    from pairgram.evaluation.table import repeats

    runs = [*cards.values()]
    rows = [row for run in runs for row in _model_rows(run)]
    terminal.table(_columns(runs[0]), [*rows, *_floor_rows(runs[0])], _title(runs[0]))
    terminal.line(_centres(runs[0]))
    if "repeated_texts" in runs[0][0].counts:
        terminal.line(repeats(runs[0][0]))
    reasons = (f"No {key}: {why}." for run in runs for key, why in run[0].notes.items())
    for reason in dict.fromkeys(reasons):
        terminal.line(reason)
    for text in verdicts(cards).values():
        terminal.line(text)
    for run in runs:
        if run[0].calibration is not None:
            terminal.line(_calibration(run[0]))


def _calibration(card: "Card") -> str:
    """Say how well probabilities fit, and what "no good match" is worth."""
    seen = card.calibration or {}
    fitted = seen["calibration"]
    shares = {key: "none" if seen[key] is None else f"{seen[key]:.0%}" for key in _SHARES}
    return (
        f"{card.method}: the probabilities of suggestions are off by {seen['ece']:.4f} (ECE, "
        f"test); at a threshold of {fitted['threshold']:.3f} a match is claimed for "
        f"{shares['called']} of the nodes, right for {shares['matched']} of them; of the others "
        f"{shares['unmatched']} had one."
    )


def verdicts(cards: Mapping[str, Cards]) -> dict[str, str]:
    """Say for each method whether it beats its floors, by its mean over the seeds."""
    from pairgram.evaluation.table import verdict

    return {method: verdict(_mean_card(run)) for method, run in cards.items()}


def _title(run: Cards) -> str:
    split = run[0].split
    seeds = ", ".join(str(card.seed) for card in run)
    share = f"{split['share']:.0%} of the links in training"
    if split["kind"] == "nodes":
        share = f"{1 - split['share']:.2%} of the nodes held out"
    return f"{share}, protocol '{run[0].protocol}', seed{'s' * (len(run) > 1)} {seeds}"


def _columns(run: Cards) -> Row:
    from pairgram.evaluation.table import columns

    return ("", "rule", *(f">{name}" for name in columns(run[0]).values()), ">pairs", ">seconds")


def _model_rows(run: Cards) -> Iterator[Row]:
    from pairgram.evaluation.table import by_rule, columns, others

    card, shown = run[0], columns(run[0])
    metrics = [card.metrics for card in run]
    for rule in by_rule(card):
        if rule == card.rule:
            yield (
                card.method, f"{rule} (its own)", *_cells(metrics, shown),
                "" if card.pairs is None else f"{card.pairs:,}",
                f"{fmean(_fit_seconds(c) for c in run):.1f}",
            )  # fmt: skip
        else:
            yield "", rule, *_cells(metrics, [f"{key}/{rule}" for key in shown]), "", ""
    for words, (prefix, suffix) in others(card).items():
        yield "", words, *_cells(metrics, [f"{prefix}{key}{suffix}" for key in shown]), "", ""


def _floor_rows(run: Cards) -> Iterator[Row]:
    from pairgram.evaluation.table import columns

    for name in run[0].floors:
        cells = _cells([card.floors[name] for card in run], columns(run[0]))
        yield f"floor {name}", "", *cells, "", ""


def _cells(figures: Sequence[Mapping[str, float | None]], keys: Iterable[str]) -> list[str]:
    """One cell for each key, empty where a row has no such figure."""
    return [
        _cell(values.get(key) for values in figures) if key in figures[0] else "" for key in keys
    ]


def _cell(figures: Iterable[float | None]) -> str:
    """Mean over the seeds, and the standard deviation where there are several."""
    values = _known(figures)
    if not values:
        return "none"
    spread = f" ± {stdev(values):.4f}" if len(values) > 1 else ""
    return f"{fmean(values):.4f}{spread}"


def _fit_seconds(card: "Card") -> float:
    return card.seconds.get("sample", 0.0) + card.seconds.get("train", 0.0)


def _centres(run: Cards) -> str:
    card = run[0]
    reasons = ", ".join(f"{count:,} {reason}" for reason, count in card.left_out.items() if count)
    left_out = f"; left out: {reasons}" if reasons else ""
    which = f" (seed {card.seed})" if len(run) > 1 else ""
    return f"Centres scored{which}: {card.counts['centers']:,}{left_out}."


def _mean_card(run: Cards) -> "Card":
    metrics = {}
    for key in run[0].metrics:
        values = _known(card.metrics.get(key) for card in run)
        metrics[key] = fmean(values) if values else None
    floors = {
        name: {
            key: fmean(card.floors[name][key] for card in run if key in card.floors[name])
            for key in entry
        }
        for name, entry in run[0].floors.items()
    }
    return replace(run[0], metrics=metrics, floors=floors)


def _known(figures: Iterable[float | None]) -> list[float]:
    return [figure for figure in figures if figure is not None]
