"""Finding the line at fault, in files that the fast reader refused."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

from pairgram.errors import FileFormatError
from pairgram.io.layout import Layout, csv_rows, open_lines, split_line


@contextmanager
def open_rows(layout: Layout) -> Iterator[Iterator[tuple[int, list[str]]]]:
    """Every row's cells and the line it starts in, from 1; the file is closed with the block."""
    with open_lines(layout.path) as lines:
        yield _rows(layout, _decoded(layout.path, islice(lines, layout.skip, None), layout.skip))


def _rows(layout: Layout, lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, list[str]]]:
    if not layout.quoted:
        for number, line in lines:
            if line.strip():
                yield number, split_line(line, layout.delimiter)
        return
    texts = (line for _, line in lines)
    for start, cells in csv_rows(texts, layout.delimiter):
        yield layout.skip + start, cells


def line_of_row(layout: Layout, row: int) -> int | None:
    """Line in which a row, counted from 0, starts."""
    with open_rows(layout) as rows:
        found = next(islice(rows, row, None), None)
    return None if found is None else found[0]


def find_fault(layout: Layout) -> FileFormatError | None:
    """Return the error of the first line that is no UTF-8 or has another number of columns."""
    try:
        with open_rows(layout) as rows:
            for number, cells in rows:
                if len(cells) != layout.width:
                    message = f"expected {layout.width} columns, found {len(cells)}."
                    return FileFormatError(layout.path, message, number)
    except FileFormatError as error:
        return error
    return None


def _decoded(path: Path, lines: Iterator[bytes], skip: int) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(lines, start=skip + 1):
        try:
            yield number, line.decode("utf-8")
        except UnicodeDecodeError as error:
            message = f"is not UTF-8 (byte 0x{line[error.start]:02x}); convert the file first."
            raise FileFormatError(path, message, number) from None
