"""Vectors out and in: parquet, npz, word2vec text and binary."""

import json
import logging
import zipfile
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pairgram.errors import FileFormatError, InputError
from pairgram.io import word2vec
from pairgram.io.atomic import replacing_file
from pairgram.io.layout import check_file

logger = logging.getLogger(__name__)

Which = Literal["center", "context"]
Format = Literal["parquet", "npz", "word2vec", "word2vec-binary"]
SUFFIXES: dict[str, Format] = {
    ".parquet": "parquet",
    ".npz": "npz",
    ".txt": "word2vec",
    ".w2v": "word2vec",
    ".bin": "word2vec-binary",
}
Float32Array = NDArray[np.float32]


def write_vectors(
    path: str | Path,
    names: NDArray[np.object_] | list[str],
    matrix: Float32Array,
    which: Which,
    format: Format | None = None,  # noqa: A002
) -> None:
    """Write one matrix of vectors, atomically.

    Parameters
    ----------
    names
        Ids, shape (n,).
    matrix
        Vectors, shape (n, dim), float32.
    which
        ``"center"`` or ``"context"``; stored in parquet and npz, and for the word2vec formats,
        which have no place for it, in a small JSON file beside.
    format
        ``"parquet"``, ``"npz"``, ``"word2vec"`` or ``"word2vec-binary"``; None goes by suffix.
    """
    path = Path(path)
    chosen = find_format(path, format)
    listed = [str(name) for name in names]
    if matrix.ndim != 2 or len(matrix) != len(listed):
        raise InputError(
            f"write_vectors: the matrix must have the shape ({len(listed)}, dim), "
            f"got {matrix.shape}."
        )
    with replacing_file(path) as temporary:
        _write(temporary, listed, np.ascontiguousarray(matrix, dtype=np.float32), which, chosen)
    if chosen.startswith("word2vec"):
        with replacing_file(_note(path)) as temporary:
            temporary.write_text(json.dumps({"matrix": which, "format": chosen}) + "\n")


def read_vectors(
    path: str | Path,
    format: Format | None = None,  # noqa: A002
) -> tuple[list[str], Float32Array, Which | None]:
    """Read ids, shape (n,), vectors, shape (n, dim), and which matrix it is, if it is known."""
    path = check_file(path)
    chosen = find_format(path, format)
    if chosen == "parquet":
        return _read_parquet(path)
    if chosen == "npz":
        return _read_npz(path)
    read = word2vec.read_text if chosen == "word2vec" else word2vec.read_binary
    names, matrix = read(path)
    note = _note(path)
    which = json.loads(note.read_text()).get("matrix") if note.is_file() else None
    return names, matrix, which


def find_format(path: Path, format: Format | None) -> Format:  # noqa: A002
    """Format by name, or by the suffix of `path`."""
    if format is None and path.suffix not in SUFFIXES:
        known = ", ".join(SUFFIXES)
        raise InputError(f"{path}: the suffix must be one of {known}, or pass 'format'.")
    if format is not None and format not in SUFFIXES.values():
        known = ", ".join(map(repr, dict.fromkeys(SUFFIXES.values())))
        raise InputError(f"The vector format must be one of {known}. Got {format!r} instead.")
    return format or SUFFIXES[path.suffix]


def _note(path: Path) -> Path:
    return path.with_name(path.name + ".json")


def _write(
    path: Path, names: list[str], matrix: Float32Array, which: Which, chosen: Format
) -> None:
    if chosen == "parquet":
        _write_parquet(path, names, matrix, which)
    elif chosen == "npz":
        _write_npz(path, names, matrix, which)
    elif chosen == "word2vec":
        word2vec.write_text(path, names, matrix)
    else:
        word2vec.write_binary(path, names, matrix)


def _write_parquet(path: Path, names: list[str], matrix: Float32Array, which: Which) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    rows = pa.FixedSizeListArray.from_arrays(pa.array(matrix.ravel()), matrix.shape[1])
    table = pa.table({"id": pa.array(names, pa.string()), "vector": rows})
    note = json.dumps({"matrix": which, "dim": matrix.shape[1]})
    parquet.write_table(table.replace_schema_metadata({"pairgram": note}), path)


def _read_parquet(path: Path) -> tuple[list[str], Float32Array, Which | None]:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        table = parquet.read_table(path)
    except (pa.ArrowException, OSError) as error:
        raise FileFormatError(path, f"cannot be read as parquet: {error}.") from None
    if not {"id", "vector"} <= set(table.column_names):
        raise FileFormatError(path, f"needs the columns id and vector, has {table.column_names}.")
    kind = table.schema.field("vector").type
    if not pa.types.is_fixed_size_list(kind):
        raise FileFormatError(path, f"'vector' must hold lists of one size, found {kind}.")
    flat = np.concatenate(
        [chunk.flatten().to_numpy() for chunk in table.column("vector").chunks]
        or [np.empty(0, dtype=np.float32)]
    )
    note = (table.schema.metadata or {}).get(b"pairgram", b"{}")
    matrix = flat.astype(np.float32, copy=False).reshape(-1, kind.list_size)
    return table.column("id").to_pylist(), matrix, json.loads(note).get("matrix")


def _write_npz(path: Path, names: list[str], matrix: Float32Array, which: Which) -> None:
    if any(name.endswith("\0") for name in names):
        raise InputError("The npz format cannot hold ids that end in NUL; write .parquet instead.")
    arrays: dict[str, Any] = {"names": np.array(names, dtype=np.str_), "vectors": matrix}
    # A stream, because savez adds .npz to other names, and the temporary one has none.
    with path.open("wb") as stream:
        np.savez(stream, matrix=np.array(which), **arrays)


def _read_npz(path: Path) -> tuple[list[str], Float32Array, Which | None]:
    if not zipfile.is_zipfile(path):
        raise FileFormatError(path, "is no npz of vectors: it is no zip archive.")
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as arrays:
            names, matrix = arrays["names"].tolist(), arrays["vectors"]
            which = str(arrays["matrix"])
    except (KeyError, ValueError, OSError, zipfile.BadZipFile) as error:
        raise FileFormatError(path, f"is no npz of vectors: {error}.") from None
    if matrix.ndim != 2 or len(matrix) != len(names):
        raise FileFormatError(path, f"has {len(names)} names and vectors of shape {matrix.shape}.")
    return (
        names,
        matrix.astype(np.float32, copy=False),
        "context" if which == "context" else "center",
    )
