"""Reading edge lists."""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from pairgram.io.columns import EdgeColumns, number_ends
from pairgram.io.layout import BLANKS, is_number
from pairgram.io.plain import read_plain
from pairgram.io.table import Column, Source, open_source, read_columns
from pairgram.io.values import checked_dates, checked_ids, checked_relations, checked_weights

logger = logging.getLogger(__name__)

T = TypeVar("T")

END_NAMES = (
    ("source", "target"),
    ("src", "dst"),
    ("from", "to"),
    ("head", "tail"),
    ("subject", "object"),
)


def read_edges(
    path: str | Path,
    source: Column | None = None,
    target: Column | None = None,
    weight: Column | None = None,
    relation: Column | None = None,
    date: Column | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
) -> EdgeColumns:
    """Read an edge list: csv, tsv, white space (each also gzipped) or parquet.

    Ids are kept as the strings they are: "007" stays "007". Lines that start with ``#`` or
    ``%`` before the first row are skipped. Double quotes mean something in csv alone.

    Parameters
    ----------
    source, target
        Columns of the ends, by name or number from 0; None takes columns with the usual names,
        otherwise the first two.
    weight, relation, date
        Columns read only when asked for.
    header
        Whether the first line holds column names; None guesses.
    delimiter
        One character, a blank for runs of white space; None guesses.
    """
    extras = {"weight": weight, "relation": relation, "date": date}
    asked = [column for column in (source, target, *extras.values()) if column is not None]
    file = open_source(path, header, delimiter, f"\t,;{BLANKS}", asked)
    ends = _find_ends(file, source, target)
    numbers = {name: file.index(column) for name, column in extras.items() if column is not None}
    _notice_unread(file, [*ends, *numbers.values()])
    plain = None if numbers else read_plain(file, ends)
    if plain is not None:
        return EdgeColumns(*plain)
    columns = read_columns(file, [*ends, *numbers.values()])
    names, codes = number_ends(
        *(checked_ids(file, end, column) for end, column in zip(ends, columns[:2], strict=True))
    )
    more = dict(zip(numbers, columns[2:], strict=True))
    return EdgeColumns(
        names=names,
        source=codes[0],
        target=codes[1],
        weight=_read(checked_weights, file, numbers, more, "weight"),
        date=_read(checked_dates, file, numbers, more, "date"),
        relation=_read(checked_relations, file, numbers, more, "relation"),
    )


def _read(
    check: Callable[[Source, int, Any], T],
    file: Source,
    numbers: dict[str, int],
    columns: dict[str, Any],
    name: str,
) -> T | None:
    return check(file, numbers[name], columns[name]) if name in columns else None


def _find_ends(file: Source, source: Column | None, target: Column | None) -> tuple[int, int]:
    if file.width < 2:
        raise file.error(
            "has one column, an edge list needs two (source and target); "
            "if they are cut by another character, pass 'delimiter'."
        )
    usual = _usual_ends(file)
    first = usual[0] if source is None else file.index(source)
    second = usual[1] if target is None else file.index(target)
    if first == second:
        raise file.error(f"'source' and 'target' are both column {file.label(first)}.")
    return first, second


def _usual_ends(file: Source) -> tuple[int, int]:
    known = [name.casefold() for name in file.names or ()]
    for first, second in END_NAMES:
        if first in known and second in known:
            return known.index(first), known.index(second)
    return 0, 1


def _notice_unread(file: Source, numbers: list[int]) -> None:
    unread = [number for number in range(file.width) if number not in numbers]
    if not unread or file.layout is None:
        return
    first = unread[0]
    cells = [row[first] for row in file.layout.sample if len(row) > first]
    numeric = bool(cells) and all(map(is_number, cells))
    hint = f"; pass weight={file.label(first)} if it holds weights" if numeric else ""
    labels = ", ".join(map(file.label, unread))
    logger.warning("%s: column %s is not read%s", file.path, labels, hint)
