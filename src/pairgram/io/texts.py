"""Reading the texts of nodes."""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pairgram.io.columns import TextColumns
from pairgram.io.table import Column, Source, open_source, read_columns
from pairgram.io.values import checked_ids

logger = logging.getLogger(__name__)


def read_texts(
    path: str | Path,
    id_column: Column | None = None,
    text_columns: Column | Sequence[Column] | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
    label_column: Column | None = None,
) -> TextColumns:
    """Read a text per id: tsv, csv (each also gzipped) or parquet.

    An id that comes twice keeps its first text, and a notice counts the others.

    Parameters
    ----------
    id_column
        By name or number from 0; None takes a column named ``id``, otherwise the first.
    text_columns
        One or several, joined by a blank where they are not empty; None takes a column named
        ``text``, otherwise all but the ids.
    header, delimiter
        As for edges.
    label_column
        Column with a label for each id; it is no text column then unless it is named as one.
    """
    wanted = _as_list(text_columns)
    named = (id_column, label_column, *(wanted or ()))
    asked = [column for column in named if column is not None]
    file = open_source(path, header, delimiter, "\t,;", asked)
    key = _named(file, "id", 0) if id_column is None else file.index(id_column)
    label = [] if label_column is None else [file.index(label_column)]
    taken = [key, *label]
    fields = _text_fields(file, taken) if wanted is None else [file.index(one) for one in wanted]
    columns = read_columns(file, [key, *label, *fields])
    ids = checked_ids(file, key, columns[0]).to_pylist()
    cells = zip([*label, *fields], columns[1:], strict=True)
    strings = [_as_strings(file, number, column) for number, column in cells]
    labels = strings[0] if label else None
    return _first_of_each(file, ids, _join(strings[len(label) :]), labels)


def _as_list(columns: Column | Sequence[Column] | None) -> list[Column] | None:
    if columns is None:
        return None
    return [columns] if isinstance(columns, (str, int)) else list(columns)


def _named(file: Source, name: str, otherwise: int) -> int:
    known = [label.casefold() for label in file.names or ()]
    return known.index(name) if name in known else otherwise


def _text_fields(file: Source, taken: Sequence[int]) -> list[int]:
    if file.width < 2:
        raise file.error(
            "has one column, texts need two (id and text); "
            "if they are cut by another character than a tab, pass 'delimiter'."
        )
    named = _named(file, "text", -1)
    rest = [number for number in range(file.width) if number not in taken]
    if named < 0 and not rest:
        raise file.error("has no column left for texts beside ids and labels.")
    return [named] if named >= 0 else rest


def _as_strings(file: Source, number: int, column: Any) -> list[str]:
    import pyarrow as pa

    try:
        return column.cast(pa.string()).fill_null("").to_pylist()  # type: ignore[no-any-return]
    except pa.ArrowException:
        label = file.label(number)
        raise file.error(f"column {label} must hold texts, found {column.type}.") from None


def _join(columns: list[list[str]]) -> list[str]:
    if len(columns) == 1:
        return columns[0]
    return [" ".join(filter(None, cells)) for cells in zip(*columns, strict=True)]


def _first_of_each(
    file: Source, ids: list[str], texts: list[str], labels: list[str] | None
) -> TextColumns:
    kept: dict[str, int] = {}
    for row, name in enumerate(ids):
        kept.setdefault(name, row)
    if len(kept) < len(ids):
        repeated = len(ids) - len(kept)
        logger.warning(
            "%s: %d rows repeat an earlier id; its first text is kept", file.path, repeated
        )
    first = list(kept.values())
    chosen = None if labels is None else [labels[row] for row in first]
    return TextColumns(list(kept), [texts[row] for row in first], chosen)
