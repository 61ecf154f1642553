"""Reading columns of a file, delimited text or parquet, into Arrow."""

import gzip
import logging
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pairgram.errors import FileFormatError
from pairgram.io.faults import find_fault, line_of_row
from pairgram.io.layout import BLANKS, Layout, check_file, find_layout, is_gzip, is_parquet

logger = logging.getLogger(__name__)

Column = str | int
BLOCK_BYTES = 1 << 24
"""Largest row that the fast reader takes."""


@dataclass(frozen=True)
class Source:
    """A file whose columns are known and whose rows are not read yet.

    Attributes
    ----------
    names
        Column names, or None in a text file without a header.
    width
        Number of columns.
    layout
        How the text is cut, or None for parquet.
    """

    path: Path
    names: tuple[str, ...] | None
    width: int
    layout: Layout | None

    def error(self, message: str, row: int | None = None) -> FileFormatError:
        """Make an error that names the line (or the parquet row) of a row, counted from 0."""
        if row is None:
            return FileFormatError(self.path, message)
        if self.layout is None:
            return FileFormatError(self.path, f"row {row + 1}: {message}")
        return FileFormatError(self.path, message, line_of_row(self.layout, row))

    def index(self, column: Column) -> int:
        """Return the number of a column given by name or number."""
        if isinstance(column, str) and self.names and column in self.names:
            return self.names.index(column)
        if isinstance(column, int) or column.isdecimal():
            number = int(column)
            if 0 <= number < self.width:
                return number
            raise self.error(f"has no column {number}, its columns are 0 to {self.width - 1}.")
        known = ", ".join(self.names) if self.names else "unnamed, use numbers from 0"
        raise self.error(f"has no column {column!r}; its columns are {known}.")

    def label(self, number: int) -> str:
        """Name of a column for messages."""
        return repr(self.names[number]) if self.names else str(number)


def open_source(
    path: str | Path,
    header: bool | None,
    delimiter: str | None,
    guesses: str,
    asked: list[Column],
) -> Source:
    """Look at a file's columns.

    Parameters
    ----------
    header, delimiter
        As the user gave them; None guesses.
    guesses
        Delimiters to try for a text file of unknown suffix.
    asked
        Columns that the user named; names mean that there is a header.
    """
    path = check_file(path)
    if is_parquet(path):
        names = _parquet_names(path)
        return Source(path, names, len(names), None)
    named = any(isinstance(column, str) and not column.isdecimal() for column in asked)
    layout = find_layout(path, header, delimiter, guesses, named)
    if layout.header is not None and header is None and not named:
        logger.info("%s: took its first line for a header: %s", path, ", ".join(layout.header))
    return Source(path, layout.header, layout.width, layout)


def read_columns(source: Source, numbers: list[int]) -> list[Any]:
    """Read columns as Arrow chunked arrays, strings for text files, shape (rows,) each."""
    if source.layout is None:
        return _read_parquet(source, numbers)
    return _read_text(source.layout, numbers)


def _read_text(layout: Layout, numbers: list[int]) -> list[Any]:
    import pyarrow as pa
    from pyarrow import csv

    labels = [f"f{number}" for number in numbers]
    if layout.sample and len(layout.sample[0]) != layout.width:
        raise find_fault(layout) or _unreadable(layout.path, "columns differ")
    try:
        table = csv.read_csv(
            _stream(layout),
            csv.ReadOptions(
                autogenerate_column_names=True, skip_rows=layout.skip, block_size=BLOCK_BYTES
            ),
            csv.ParseOptions(
                delimiter=layout.delimiter,
                quote_char='"' if layout.quoted else False,
                newlines_in_values=layout.quoted,
            ),
            csv.ConvertOptions(
                column_types=dict.fromkeys(labels, pa.string()),
                include_columns=labels,
                strings_can_be_null=False,
            ),
        )
    except (pa.ArrowException, OSError, EOFError, zlib.error) as error:
        if "Empty CSV" in str(error):
            raise FileFormatError(layout.path, "holds no rows after its header.") from None
        raise find_fault(layout) or _unreadable(layout.path, error) from None
    return [table.column(label) for label in labels]


def _stream(layout: Layout) -> Any:
    import pyarrow as pa

    if layout.delimiter != BLANKS:
        compression = "gzip" if is_gzip(layout.path) else None
        return pa.input_stream(str(layout.path), compression=compression)
    opener = gzip.open if is_gzip(layout.path) else open
    with opener(layout.path, "rb") as stream:
        return pa.py_buffer(single_blanks(stream.read()))


def single_blanks(data: bytes) -> bytes:
    r"""Turn runs of blanks into one and drop those at line ends; lines stay lines.

    >>> single_blanks(b" a \t b\nc  d \n")
    b'a b\nc d\n'
    """
    data = data.replace(b"\r\n", b"\n").replace(b"\t", b" ")
    while b"  " in data:
        data = data.replace(b"  ", b" ")
    return data.replace(b"\n ", b"\n").replace(b" \n", b"\n").strip(b" ")


def _parquet_names(path: Path) -> tuple[str, ...]:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        return tuple(parquet.read_schema(path).names)
    except (pa.ArrowException, OSError) as error:
        raise _unreadable(path, error, "parquet") from None


def _read_parquet(source: Source, numbers: list[int]) -> list[Any]:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        names = [source.names[number] for number in numbers] if source.names else []
        table = parquet.read_table(source.path, columns=names)
    except (pa.ArrowException, OSError) as error:
        raise _unreadable(source.path, error, "parquet") from None
    if not table.num_rows:
        raise source.error("holds no rows.")
    return [table.column(name) for name in names]


def _unreadable(path: Path, error: object, kind: str = "text") -> FileFormatError:
    first = str(error).strip().splitlines()[0] if str(error).strip() else "unknown reason"
    return FileFormatError(path, f"cannot be read as {kind}: {first}.")
