"""How a delimited text file is laid out: comments, delimiter, header, columns."""

import csv
import gzip
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO

from pairgram.errors import FileFormatError

BLANKS = " "
"""The delimiter that stands for runs of blanks and tabs."""
SAMPLE = 100
"""Lines that the guesses look at."""
BOM = b"\xef\xbb\xbf"
HEADER_WORDS = frozenset(
    word
    for words in (
        ("source", "target", "src", "dst", "from", "to", "head", "tail", "subject", "object"),
        ("node", "node1", "node2", "id", "id1", "id2", "name", "weight", "relation", "type"),
        ("label", "date", "time", "year", "text", "title", "abstract", "description"),
    )
    for word in words
)


@dataclass(frozen=True)
class Layout:
    """Where the rows of a file start and how they are cut.

    Attributes
    ----------
    skip
        Lines before the first row: comments, blank lines and the header.
    header
        Column names, or None.
    width
        Columns in the first line.
    sample
        Cells of the first rows.
    """

    path: Path
    delimiter: str
    skip: int
    header: tuple[str, ...] | None
    width: int
    sample: list[list[str]]

    @property
    def quoted(self) -> bool:
        """Whether double quotes keep delimiters and line ends inside a cell."""
        return has_quotes(self.delimiter)


def has_quotes(delimiter: str) -> bool:
    """Whether double quotes mean something in files cut by this character."""
    return delimiter not in ("\t", BLANKS)


def check_file(path: str | Path) -> Path:
    """Raise one line unless `path` is a file with something in it."""
    path = Path(path)
    if path.is_dir():
        raise FileFormatError(path, "is a folder, expected a file.")
    if not path.exists():
        raise FileFormatError(path, "no such file.")
    try:
        with path.open("rb") as stream:
            empty = not stream.read(1)
    except OSError as error:
        raise FileFormatError(path, f"cannot be read: {error.strerror}.") from None
    if empty:
        raise FileFormatError(path, "is empty.")
    return path


def is_gzip(path: Path) -> bool:
    """Whether the file's first bytes are gzip's, whatever its name says."""
    with path.open("rb") as stream:
        return stream.read(2) == b"\x1f\x8b"


def is_parquet(path: Path) -> bool:
    """Whether the file's first bytes are parquet's, or its name says so."""
    with path.open("rb") as stream:
        return stream.read(4) == b"PAR1" or path.suffix in (".parquet", ".pq")


@contextmanager
def open_lines(path: Path) -> Iterator[Iterator[bytes]]:
    """Lines of a plain or gzipped file without their ends; the file is closed with the block."""
    stream: IO[bytes]
    with gzip.open(path, "rb") if is_gzip(path) else path.open("rb") as stream:  # type: ignore[assignment]
        yield _raw_lines(path, stream)


def _raw_lines(path: Path, stream: IO[bytes]) -> Iterator[bytes]:
    try:
        for number, line in enumerate(stream):
            yield (line.removeprefix(BOM) if number == 0 else line).rstrip(b"\r\n")
    except (EOFError, gzip.BadGzipFile, OSError, zlib.error) as error:
        raise FileFormatError(path, f"cannot be read to its end: {error}.") from None


def split_line(line: str, delimiter: str) -> list[str]:
    """Cells of one line.

    >>> split_line(" a  b ", BLANKS), split_line('a,"b, c"', ",")
    (['a', 'b'], ['a', 'b, c'])
    """
    if delimiter == BLANKS:
        return line.split()
    if delimiter == "\t":
        return line.split("\t")
    return next(csv_rows([line], delimiter), (1, []))[1]


def csv_rows(lines: Iterable[str], delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Rows of quoted text, and the number of the line, from 1, in which each starts."""
    limit = csv.field_size_limit(sys.maxsize)
    reader = csv.reader((f"{line}\n" for line in lines), delimiter=delimiter)
    try:
        start = 1
        for cells in reader:
            if cells:
                yield start, cells
            start = reader.line_num + 1
    finally:
        csv.field_size_limit(limit)


def find_layout(
    path: Path, header: bool | None, delimiter: str | None, guesses: str, named: bool
) -> Layout:
    """Find out how a file is laid out.

    Parameters
    ----------
    header
        Whether the first line holds column names; None guesses.
    delimiter
        One character, a blank for runs of white space; None guesses.
    guesses
        Delimiters to try where the file's suffix does not settle it, best first.
    named
        Whether columns were asked for by name, so there must be a header.
    """
    skip, lines = _first_lines(path)
    if not lines:
        raise FileFormatError(path, "holds no rows, only comments or blank lines.")
    cut = delimiter or _guess_delimiter(path, lines[0], guesses)
    if len(cut) != 1:
        raise FileFormatError(path, f"'delimiter' must be one character, got {cut!r}.")
    rows = _sample_rows(lines, cut)
    first = rows[0]
    has_header = header if header is not None else (named or _looks_like_header(rows))
    return Layout(
        path=path,
        delimiter=cut,
        skip=skip + int(has_header),
        header=tuple(cell.strip() for cell in first) if has_header else None,
        width=len(first),
        sample=rows[1:] if has_header else rows,
    )


def _first_lines(path: Path) -> tuple[int, list[str]]:
    """Count the comment and blank lines at the start and return some lines after them."""
    skip = 0
    with open_lines(path) as lines:
        for line in lines:
            if line.strip() and not line.startswith((b"#", b"%")):
                rest = [other for other in islice(lines, SAMPLE) if other.strip()]
                return skip, [other.decode("utf-8", "replace") for other in (line, *rest)]
            skip += 1
    return skip, []


def _sample_rows(lines: list[str], delimiter: str) -> list[list[str]]:
    if not has_quotes(delimiter):
        return [split_line(line, delimiter) for line in lines]
    rows = [cells for _, cells in csv_rows(lines, delimiter)]
    # The sample may end inside a quoted cell.
    return rows[:-1] if len(rows) > 1 and len(lines) > SAMPLE else rows


def _guess_delimiter(path: Path, line: str, guesses: str) -> str:
    suffixes = path.suffixes
    if ".tsv" in suffixes[-2:]:
        return "\t"
    if ".csv" in suffixes[-2:]:
        guesses = ",;\t"
    cut = next((guess for guess in guesses if guess in line), guesses[0])
    padded = cut == "\t" and any(cell != cell.strip(" ") for cell in line.split(cut))
    return BLANKS if padded and BLANKS in guesses else cut


def _looks_like_header(rows: list[list[str]]) -> bool:
    first, others = rows[0], rows[1:]
    words = [cell.strip().casefold() for cell in first[:2]]
    if words[0] == "id" or (len(words) == 2 and HEADER_WORDS.issuperset(words)):
        return True
    if not others or any(len(row) != len(first) for row in others):
        return False
    columns = zip(first, zip(*others, strict=True), strict=True)
    return any(not is_number(name) and all(map(is_number, cells)) for name, cells in columns)


def is_number(cell: str) -> bool:
    """Whether a cell reads as a number.

    >>> is_number("007"), is_number("1e-3"), is_number("D012")
    (True, True, False)
    """
    try:
        float(cell)
    except ValueError:
        return False
    return True
