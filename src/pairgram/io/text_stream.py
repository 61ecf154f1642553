"""Parquet files of ids and texts, read piece by piece; results in numbered files."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from pairgram.errors import FileFormatError, InputError
from pairgram.io.atomic import replacing_file
from pairgram.io.pair_files import SHARD

REPEATED = ["nodes.list.element"]
"""Columns whose values come again and again."""

Piece = tuple[int, str, int]
Work = Callable[[list[str], list[str]], Any]


def pieces_of(source: Path, id_column: str, text_column: str) -> list[Piece]:
    """Row groups of a parquet file, or of all in a folder: number, file, row group."""
    files = sorted(source.glob("*.parquet")) if source.is_dir() else [source]
    if not files:
        raise InputError(f"{source}: there is no parquet file in this folder.")
    found: list[tuple[str, int]] = []
    for file in files:
        opened = _opened(file)
        for column in (id_column, text_column):
            if column not in opened.schema_arrow.names:
                names = ", ".join(opened.schema_arrow.names)
                raise FileFormatError(file, f"has no column {column!r}, it has {names}.")
        found += [(str(file), group) for group in range(opened.num_row_groups)]
    if not found:
        raise InputError(f"{source}: holds no texts.")
    return [(number, *place) for number, place in enumerate(found)]


def write_piece(piece: Piece, columns: tuple[str, str], folder: Path, work: Work, rows: int) -> int:
    """Write the tables that `work` makes of the ids and texts of a piece, `rows` at a time."""
    number, file, group = piece
    done, writer = 0, None
    with replacing_file(folder / SHARD.format(number)) as temporary:
        try:
            for ids, texts in _batches(Path(file), group, columns, rows):
                table = work(ids, texts)
                writer = writer or _writer(temporary, table)
                writer.write_table(table)
                done += len(ids)
            if writer is None:
                table = work([], [])
                writer = _writer(temporary, table)
        finally:
            if writer is not None:
                writer.close()
    return done


def vector_table(ids: Sequence[str], vectors: Any) -> Any:
    """Columns id and vector, from vectors of shape (m, dim)."""
    rows = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), vectors.shape[1])
    return pa.table({"id": pa.array(ids, pa.string()), "vector": rows})


def suggestion_table(ids: Sequence[str], found: Sequence[Sequence[tuple[str, float]]]) -> Any:
    """Columns id, nodes and scores: for every id a list of each, best first."""
    nodes = pa.array([[node for node, _ in one] for one in found], pa.list_(pa.string()))
    scores = pa.array([[score for _, score in one] for one in found], pa.list_(pa.float32()))
    return pa.table({"id": pa.array(ids, pa.string()), "nodes": nodes, "scores": scores})


def _writer(file: Path, table: Any) -> Any:
    # Numbers of vectors hardly repeat: a dictionary of them takes six times as long to write, and
    # half as much room again.
    return parquet.ParquetWriter(file, table.schema, use_dictionary=REPEATED)


def _opened(file: Path) -> Any:
    try:
        return parquet.ParquetFile(file)
    except (pa.ArrowException, OSError) as error:
        raise FileFormatError(file, f"cannot be read as parquet: {error}.") from None


def _batches(
    file: Path, group: int, columns: tuple[str, str], rows: int
) -> Iterator[tuple[list[str], list[str]]]:
    read = _opened(file).iter_batches(rows, row_groups=[group], columns=list(columns))
    for batch in read:
        ids, texts = (batch.column(name).cast(pa.string()) for name in columns)
        yield ids.to_pylist(), texts.fill_null("").to_pylist()
