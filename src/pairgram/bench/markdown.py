"""Pieces of Markdown pages."""

from collections.abc import Iterable, Sequence
from typing import Any

from pairgram.bench.figures import Line, Spread, missing_cells
from pairgram.bench.spec import Row, Table
from pairgram.bench.store import Store

NONE = "–"
FLOOR_LABELS = {
    "common_neighbours": "common neighbours",
    "resource_allocation": "resource allocation",
    "tfidf": "TF-IDF",
    "bm25": "BM25",
    "vote+bm25": "vote + BM25",
    "text_matching": "Text Matching",
}


def grid(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Lines of a table; columns named with a leading '>' are flushed right.

    >>> grid(["a", ">b"], [["x", "1"]])
    ['| a | b |', '| --- | ---: |', '| x | 1 |']
    """
    names = [column.removeprefix(">") for column in columns]
    rule = ["---:" if column.startswith(">") else "---" for column in columns]
    return [_row(names), _row(rule), *map(_row, rows)]


def number(value: Spread | float | None, form: str = ",.0f") -> str:
    """Write a mean, or a plain number, with a format; a dash where there is none."""
    if value is None:
        return NONE
    return format(value.mean if isinstance(value, Spread) else value, form)


def figure(value: Spread | None) -> str:
    """Write mean ± sd; a dash where there is none."""
    return NONE if value is None else str(value)


def floor_label(name: str) -> str:
    """Write the name of a floor.

    >>> floor_label("bm25")
    'floor BM25'
    """
    return f"floor {FLOOR_LABELS.get(name, name)}"


def published_cells(row: Row, method: str) -> list[str]:
    """Write the paper's AUC_LR and AUC_pair, with the row that they are of where it is another."""
    pair = row.published.get(method)
    if pair is None:
        return [NONE, NONE]
    other = f" ({row.stands_in_for})" if row.stands_in_for else ""
    return [NONE if value is None else f"{value:.4f}{other}" for value in pair]


def settings(parameters: dict[str, Any]) -> str:
    """Write parameters in one line.

    >>> settings({"order": 3, "times": 2})
    'order 3, times 2'
    """
    return ", ".join(f"{name} {value}" for name, value in parameters.items()) or NONE


def seeds(table: Table) -> str:
    """Write the seeds of a table."""
    return _listed(table.seeds)


def heading(table: Table, page_command: str) -> list[str]:
    """Title of a page and how it was made."""
    return [
        f"# {table.title}",
        "",
        f"Generated from the cards in `cards/{table.name}/`; do not edit. "
        f"`{page_command}` runs the missing cells and writes this page.",
        "",
    ]


def missing_section(table: Table, store: Store) -> list[str]:
    """Every cell without a card, with the reason."""
    found = missing_cells(table, store)
    lines = ["## Missing cells", ""]
    if not found:
        return [*lines, "None.", ""]
    for (row, reason), methods in found.items():
        listed = "; ".join(f"{m} seeds {_listed(seeds)}" for m, seeds in methods.items())
        lines.append(f"- {row} ({listed}): {reason}")
    return [*lines, ""]


def notes_section(table: Table, lines: Iterable[Line]) -> list[str]:
    """Print the notes of the spec, and what makes a mean doubtful."""
    listed = list(lines)
    notes = [f"- {note}" for note in table.notes]
    notes += [
        f"- {line.row.name}, {line.label}: the seeds have {line.variants} different settings; "
        "run the table again."
        for line in listed
        if line.variants > 1
    ]
    notices = {
        (line.row.name, line.label, notice)
        for line in listed
        for card in line.cards.values()
        for notice in card.get("notices", ())
    }
    notes += [f"- {row}, {label}: {notice}" for row, label, notice in sorted(notices)]
    return ["## Notes", "", *notes, ""] if notes else []


def surroundings_section(lines: Iterable[Line]) -> list[str]:
    """Machines and versions behind the cards."""
    found = dict.fromkeys(
        _surroundings(card) for line in lines for card in line.cards.values()
    )  # a dict keeps their order
    return ["## Measured on", "", *(f"- {entry}" for entry in found), ""] if found else []


def _surroundings(card: dict[str, Any]) -> str:
    machine, versions = card["machine"], card["versions"]
    packages = ", ".join(f"{name} {version}" for name, version in versions.items())
    return (
        f"{machine['cpu']}, {machine['system']}, {machine['cores']} cores, "
        f"{card['threads']} threads a fit; {packages}"
    )


def _listed(seeds: Sequence[int]) -> str:
    return ", ".join(map(str, seeds))


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
