"""Checking the cells of columns: ids, weights, dates, relations."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairgram.io.columns import number_ends
from pairgram.io.table import Source


def checked_ids(source: Source, number: int, column: Any) -> Any:
    """Arrow column of ids: strings or integers, none missing, shape (rows,)."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if pa.types.is_dictionary(kind):
        column = column.cast(kind.value_type)
        kind = column.type
    if not (
        pa.types.is_integer(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind)
    ):
        raise source.error(
            f"column {source.label(number)} must hold ids (strings or integers), found {kind}."
        )
    if column.null_count:
        raise source.error(
            f"the id in column {source.label(number)} is missing.", _first(pc.is_null(column))
        )
    if not pa.types.is_integer(kind):
        blank = pc.equal(column, "")
        if pc.any(blank).as_py():
            raise source.error(f"the id in column {source.label(number)} is empty.", _first(blank))
    return column.cast(pa.string())


def checked_weights(source: Source, number: int, column: Any) -> NDArray[np.float64]:
    """Finite numbers above 0, shape (rows,)."""
    weights = _as_numbers(column)
    if weights is None:
        row = _first_bad(column, _is_number)
        raise source.error(f"the weight must be a number, got {column[row].as_py()!r}.", row)
    bad = ~(np.isfinite(weights) & (weights > 0))
    if bad.any():
        row = int(np.argmax(bad))
        raise source.error(
            f"the weight must be a finite number above 0, got {column[row].as_py()!r}.", row
        )
    return weights


def checked_dates(source: Source, number: int, column: Any) -> NDArray[Any]:
    """Numbers as float64, dates as datetime64[s], shape (rows,); empty cells NaN or NaT."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if _is_string(column.type):
        column = pc.if_else(pc.equal(column, ""), pa.scalar(None, column.type), column)
    numbers = None if pa.types.is_temporal(column.type) else _as_numbers(column)
    if numbers is not None:
        return numbers
    for zone in (None, "UTC"):
        try:
            stamps = column.cast(pa.timestamp("s", zone), safe=False)
        except pa.ArrowException:
            continue
        return stamps.to_numpy().astype("datetime64[s]")  # type: ignore[no-any-return]
    row = _first_bad(column, _is_date)
    raise source.error(
        f"a date must be a number or an ISO date like 2024-12-31, got {column[row].as_py()!r}.", row
    )


def checked_relations(
    source: Source, number: int, column: Any
) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """Codes, shape (rows,), and their labels in order of first appearance."""
    labels, codes = number_ends(checked_ids(source, number, column))
    return codes[0].astype(np.int32), tuple(labels)


def _is_string(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _as_numbers(column: Any) -> NDArray[np.float64] | None:
    """Numbers, NaN where missing, shape (rows,); None where a cell is no number."""
    import pyarrow as pa

    try:
        cast = column.cast(pa.float64(), safe=False)
    except pa.ArrowException:
        return None
    return cast.to_numpy().astype(np.float64, copy=False)  # type: ignore[no-any-return]


def _first(mask: Any) -> int:
    return int(np.argmax(mask.to_numpy(zero_copy_only=False)))


def _first_bad(column: Any, fits: Any) -> int:
    return next((row for row, cell in enumerate(column) if not fits(cell)), 0)


def _is_number(cell: Any) -> bool:
    import pyarrow as pa

    try:
        cell.cast(pa.float64())
    except pa.ArrowException:
        return False
    return True


def _is_date(cell: Any) -> bool:
    import pyarrow as pa

    try:
        cell.cast(pa.timestamp("s"), safe=False)
    except pa.ArrowException:
        return False
    return True
