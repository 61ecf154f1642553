"""The page of the table of ratios."""

from typing import Any

from pairgram.bench.figures import Line, Spread, lines_of, spread
from pairgram.bench.markdown import (
    NONE,
    grid,
    heading,
    missing_section,
    notes_section,
    number,
    seeds,
    surroundings_section,
)
from pairgram.bench.spec import Row, Table
from pairgram.bench.store import Store

WALKS, PAIRS = "node2vec", "ps"


def ratios_page(table: Table, store: Store, command: str) -> str:
    """Return the page: r by formula and counted, beside the published one."""
    lines = lines_of(table, store)
    parts = [
        *heading(table, command),
        "r = pairs of random walks / pairs of Pairs Sampling. By formula: "
        "(2L − W − 1)·W·T·\\|V\\| over N·O·d̄·\\|V\\|, with the paper's mean degree d̄ and with that "
        "of our training graph (duplicate and reciprocal edge lines merged). Counted: real samples "
        "of both on the same split; walks from a node without a link give none, and a branch of "
        "Pairs Sampling ends where nothing lies farther from the centre, so both stay under their "
        f"formulas. Means over seeds {seeds(table)}.",
        "",
        *_ratios(table, lines),
        *_counts(table, lines),
        *notes_section(table, lines.values()),
        *missing_section(table, store),
        *surroundings_section(lines.values()),
    ]
    return "\n".join(parts).rstrip() + "\n"


def walk_bound(length: int, window: int, times: int) -> int:
    """Window pairs of a node's walks, (2L − W − 1)·W·T.

    >>> walk_bound(length=80, window=5, times=10)
    7700
    """
    return (2 * length - window - 1) * window * times


def ratio_by_formula(row: Row, mean_degree: float) -> float:
    """Ratio r = (2L − W − 1)·W·T / (N·O·d̄)."""
    pairs = row.parameters[PAIRS]
    per_node: float = pairs["times"] * pairs["order"] * mean_degree
    return walk_bound(**row.parameters[WALKS]) / per_node


def counted_ratio(walks: Line, pairs: Line) -> Spread | None:
    """Ratio of real samples, seed by seed; cards of another split are left out."""
    common = [
        (walks.cards[seed], pairs.cards[seed])
        for seed in walks.cards.keys() & pairs.cards.keys()
        if walks.cards[seed]["split"] == pairs.cards[seed]["split"]
    ]
    return spread(walk["pairs"] / pair["pairs"] for walk, pair in common)


def _ratios(table: Table, lines: dict[tuple[str, str], Line]) -> list[str]:
    columns = [
        "dataset", ">L", ">T", ">W", ">O", ">N", ">d̄ published", ">d̄ ours", ">r published",
        ">r formula, published d̄", ">r formula, our d̄", ">r counted",
    ]  # fmt: skip
    rows = (
        _ratio_row(row, lines[row.name, WALKS], lines[row.name, PAIRS])
        for row in table.rows.values()
    )
    return ["## Ratios", "", *grid(columns, rows), ""]


def _ratio_row(row: Row, walks: Line, pairs: Line) -> list[str]:
    w, p = row.parameters[WALKS], row.parameters[PAIRS]
    theirs, ours = row.published.get("mean_degree"), pairs.over(_mean_degree)
    other = f" ({row.stands_in_for})" if row.stands_in_for else ""
    counted = counted_ratio(walks, pairs)
    return [
        row.name,
        *map(str, (w["length"], w["times"], w["window"], p["order"], p["times"])),
        NONE if theirs is None else f"{theirs:.2f}{other}",
        number(ours, ".2f"),
        NONE if theirs is None else f"{row.published['r']:.2f}{other}",
        NONE if theirs is None else f"{ratio_by_formula(row, theirs):.2f}",
        NONE if ours is None else f"{ratio_by_formula(row, ours.mean):.2f}",
        NONE if counted is None else _with_deviation(counted),
    ]


def _counts(table: Table, lines: dict[tuple[str, str], Line]) -> list[str]:
    columns = [
        "dataset", ">nodes", ">without a link", ">RW pairs, formula", ">RW pairs, counted",
        ">PS pairs, formula", ">PS pairs, counted", ">RW s", ">PS s", ">seeds",
    ]  # fmt: skip
    rows = [
        _count_row(table, row, lines[row.name, WALKS], lines[row.name, PAIRS])
        for row in table.rows.values()
        if lines[row.name, WALKS].cards and lines[row.name, PAIRS].cards
    ]
    return ["## Samples", "", *grid(columns, rows), ""] if rows else []


def _count_row(table: Table, row: Row, walks: Line, pairs: Line) -> list[str]:
    split = next(iter(pairs.cards.values()))["split"]
    settings = row.parameters[PAIRS]
    bound = settings["times"] * settings["order"] * split["mean_degree"] * split["nodes"]
    seconds = [line.over(lambda card: card["seconds"]["count"]) for line in (walks, pairs)]
    return [
        row.name,
        number(split["nodes"]),
        number(pairs.over(lambda card: card["split"]["isolated"])),
        number(walk_bound(**row.parameters[WALKS]) * split["nodes"]),
        number(walks.over(lambda card: card["pairs"])),
        number(bound),
        number(pairs.over(lambda card: card["pairs"])),
        *(number(value, ".2f") for value in seconds),
        f"{len(walks.cards.keys() & pairs.cards.keys())} of {len(walks.row.seeds)}",
    ]


def _mean_degree(card: dict[str, Any]) -> float:
    return float(card["split"]["mean_degree"])


def _with_deviation(value: Spread) -> str:
    return f"{value.mean:.2f}" + ("" if value.sd is None else f" ± {value.sd:.2f}")
