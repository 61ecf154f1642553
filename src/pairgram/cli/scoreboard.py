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
COLUMNS = ("", "rule", ">AUC_pair", ">AUC_LR", ">AP", ">pairs", ">seconds")


def show(terminal: "Terminal", cards: Mapping[str, Cards]) -> None:
    """Print one table for all models and the floors, then a verdict for each model."""
    runs = [*cards.values()]
    rows = [row for run in runs for row in _model_rows(run)]
    terminal.table(COLUMNS, [*rows, *_floor_rows(runs[0])], _title(runs[0]))
    terminal.line(_centres(runs[0]))
    for reason in {f"No {key}: {why}." for run in runs for key, why in run[0].notes.items()}:
        terminal.line(reason)
    for text in verdicts(cards).values():
        terminal.line(text)


def verdicts(cards: Mapping[str, Cards]) -> dict[str, str]:
    """Say for each method whether it beats its floors, by its mean over the seeds."""
    from pairgram.evaluation.table import verdict

    return {method: verdict(_mean_card(run)) for method, run in cards.items()}


def _title(run: Cards) -> str:
    split = run[0].split
    seeds = ", ".join(str(card.seed) for card in run)
    return (
        f"{split['share']:.0%} of the links in training, protocol '{run[0].protocol}', "
        f"seed{'s' * (len(run) > 1)} {seeds}"
    )


def _model_rows(run: Cards) -> Iterator[Row]:
    from pairgram.evaluation.table import by_rule

    card = run[0]
    for rule in by_rule(card):
        own = rule == card.rule
        area = _cell(card.metrics[f"auc_pair/{rule}"] for card in run)
        precision = _cell(card.metrics[f"ap/{rule}"] for card in run)
        if own:
            yield (
                card.method, f"{rule} (its own)", area,
                _cell(card.metrics["auc_lr"] for card in run), precision,
                "" if card.pairs is None else f"{card.pairs:,}",
                f"{fmean(_fit_seconds(c) for c in run):.1f}",
            )  # fmt: skip
        else:
            yield "", rule, area, "", precision, "", ""


def _floor_rows(run: Cards) -> Iterator[Row]:
    for name in run[0].floors:
        area = _cell(card.floors[name]["auc_pair"] for card in run)
        precision = _cell(card.floors[name]["ap"] for card in run)
        yield f"floor {name}", "", area, "", precision, "", ""


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
        values = _known(card.metrics[key] for card in run)
        metrics[key] = fmean(values) if values else None
    floors = {
        name: {key: fmean(card.floors[name][key] for card in run) for key in entry}
        for name, entry in run[0].floors.items()
    }
    return replace(run[0], metrics=metrics, floors=floors)


def _known(figures: Iterable[float | None]) -> list[float]:
    return [figure for figure in figures if figure is not None]
