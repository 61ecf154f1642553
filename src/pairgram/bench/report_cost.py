"""The cost section of a page: samples, updates, seconds and memory of every fit."""

from typing import Any

from pairgram.bench.figures import Line
from pairgram.bench.markdown import grid, number
from pairgram.bench.spec import FLOORS

Card = dict[str, Any]

COLUMNS = [
    "dataset", "method", ">pairs", ">times PS's pairs", ">updates", ">encoder passes", ">sample s",
    ">train s", ">fit s", ">peak MB", "fitted on",
]  # fmt: skip
ABOUT = (
    "Means over seeds. Pairs are distinct samples; updates count every epoch; encoder passes are "
    "texts read in training. Compiling is not part of the seconds. Peak memory is that of the "
    "whole process at the end of the fit, Python and libraries included."
)


def cost_section(lines: dict[tuple[str, str], Line]) -> list[str]:
    """Return the section; nothing where there is no card."""
    rows = [
        _row(line, lines.get((line.row.name, "ps")))
        for line in lines.values()
        if line.cards and line.method != FLOORS
    ]
    return ["## Cost", "", ABOUT, "", *grid(COLUMNS, rows), ""] if rows else []


def fitted_on(card: Card) -> str:
    """Device or CPU that a card's model was fitted on."""
    said = _said(card)
    if said.get("here", True):
        return str(said.get("device") or card["machine"]["cpu"])
    return str(said.get("machine") or said.get("device") or "another machine")


def _row(line: Line, ps: Line | None) -> list[str]:
    pairs = line.over(lambda card: card["pairs"])
    reference = None if ps is None else ps.over(lambda card: card["pairs"])
    ratio = pairs.mean / reference.mean if pairs and reference else None
    phases = [
        number(line.over(lambda card, name=phase: card["seconds"].get(name)), ".2f")  # type: ignore[misc]
        for phase in ("sample", "train", "fit")
    ]
    return [
        line.row.name,
        line.label,
        number(pairs),
        number(ratio, ".1f"),
        number(line.over(lambda card: card["updates"])),
        number(line.over(lambda card: _said(card).get("passes"))),
        *phases,
        number(line.over(_peak_megabytes)),
        ", ".join(sorted({fitted_on(card) for card in line.cards.values()})),
    ]


def _peak_megabytes(card: Card) -> float | None:
    peak = card["peak_memory"].get("fit") or _said(card).get("peak_memory")
    return None if peak is None else peak / 1e6


def _said(card: Card) -> dict[str, Any]:
    found: dict[str, Any] = card.get("fit", {})
    return found
