"""The word2vec formats, text and binary."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pairgram.errors import FileFormatError, InputError
from pairgram.io.table import single_blanks

Float32Array = NDArray[np.float32]
BLOCK = 65_536
"""Rows written at a time."""


def check_names(names: list[str]) -> None:
    """Raise for ids that the format cannot hold: empty ones and ones with white space."""
    for name in names:
        if not name or len(name.split()) != 1 or name != name.strip():
            raise InputError(
                f"The word2vec formats cannot hold the id {name!r}: it is empty or has white "
                "space; write .parquet or .npz instead."
            )


def write_text(path: Path, names: list[str], matrix: Float32Array) -> None:
    """Write `matrix`, shape (n, dim), one line per id."""
    import pyarrow as pa
    from pyarrow import csv

    check_names(names)
    labels = [str(number) for number in range(matrix.shape[1])]
    options = csv.WriteOptions(include_header=False, delimiter=" ")
    with path.open("wb") as stream:
        stream.write(f"{len(names)} {matrix.shape[1]}\n".encode())
        for start in range(0, len(names), BLOCK):
            block = matrix[start : start + BLOCK]
            numbers = pa.BufferOutputStream()
            csv.write_csv(pa.table(list(block.T), names=labels), numbers, options)
            lines = numbers.getvalue().to_pybytes().splitlines(keepends=True)
            rows = zip(names[start : start + BLOCK], lines, strict=True)
            stream.writelines(name.encode() + b" " + line for name, line in rows)


def read_text(path: Path) -> tuple[list[str], Float32Array]:
    """Read ids, shape (n,), and vectors, shape (n, dim)."""
    import pyarrow as pa
    from pyarrow import csv

    data = path.read_bytes()
    rows, dim = _header(path, data[: data.find(b"\n") + 1])
    labels = [f"f{number}" for number in range(dim + 1)]
    kinds = {label: pa.float32() for label in labels[1:]} | {"f0": pa.string()}
    try:
        table = csv.read_csv(
            pa.py_buffer(single_blanks(data)),
            csv.ReadOptions(skip_rows=1, column_names=labels, block_size=1 << 24),
            csv.ParseOptions(delimiter=" ", quote_char=False),
            csv.ConvertOptions(column_types=kinds, strings_can_be_null=False),
        )
    except pa.ArrowException as error:
        first = str(error).splitlines()[0]
        raise FileFormatError(path, f"is no word2vec text file: {first}") from None
    if table.num_rows != rows:
        raise FileFormatError(path, f"announces {rows} vectors, found {table.num_rows}.")
    matrix = np.empty((rows, dim), dtype=np.float32)
    for number in range(dim):
        matrix[:, number] = table.column(number + 1).to_numpy()
    return table.column(0).to_pylist(), matrix


def write_binary(path: Path, names: list[str], matrix: Float32Array) -> None:
    """Write `matrix`, shape (n, dim), as little-endian float32 after each id."""
    check_names(names)
    little = matrix.astype("<f4", copy=False)
    with path.open("wb") as stream:
        stream.write(f"{len(names)} {matrix.shape[1]}\n".encode())
        for name, row in zip(names, little, strict=True):
            stream.write(name.encode() + b" " + row.tobytes() + b"\n")


def read_binary(path: Path) -> tuple[list[str], Float32Array]:
    """Read ids, shape (n,), and vectors, shape (n, dim); with or without line ends."""
    data = path.read_bytes()
    place = data.find(b"\n") + 1
    rows, dim = _header(path, data[:place])
    if rows * (4 * dim + 2) > len(data):
        raise FileFormatError(path, f"is truncated: too short for {rows} vectors of {dim}.")
    names: list[str] = []
    matrix = np.empty((rows, dim), dtype=np.float32)
    for row in range(rows):
        blank = data.find(b" ", place)
        end = blank + 1 + 4 * dim
        if blank < 0 or end > len(data):
            raise FileFormatError(path, f"is truncated at vector {row + 1} of {rows}.")
        names.append(data[place:blank].lstrip(b"\n").decode("utf-8", "replace"))
        matrix[row] = np.frombuffer(data, dtype="<f4", count=dim, offset=blank + 1)
        place = end
    return names, matrix


def _header(path: Path, line: bytes) -> tuple[int, int]:
    words = line.split()
    if len(words) != 2 or not all(word.isdigit() for word in words) or int(words[1]) < 1:
        raise FileFormatError(path, "must start with the number of vectors and their size.", 1)
    return int(words[0]), int(words[1])
