"""The model folder."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairgram.errors import FileFormatError
from pairgram.io.atomic import replacing_folder
from pairgram.io.tensors import map_tensors, write_tensors

FORMAT_VERSION = 1
"""Version of the folder's layout; a newer one is refused."""
CONFIG = "config.json"
WEIGHTS = "weights.safetensors"
VECTORS = "vectors.safetensors"
NODES = "nodes.parquet"
EDGES = "edges.parquet"

Edges = tuple[NDArray[np.int64], NDArray[np.int64]]


@dataclass(frozen=True)
class ModelFolder:
    """What a model folder holds.

    Attributes
    ----------
    config
        Method, parameters, seed and the like, with ``format_version``.
    tensors
        Weights by name; empty for a model without any.
    vectors
        ``center`` and maybe ``context``, shape (n, dim), mapped into memory.
    names
        Node ids, shape (n,).
    texts
        Node texts, shape (n,), or None.
    extra
        Other JSON files by name without the suffix, such as ``card``.
    edges
        Source and target positions of the training graph, shape (m,) each, or None.
    """

    config: dict[str, Any]
    tensors: dict[str, NDArray[Any]]
    vectors: dict[str, NDArray[Any]]
    names: list[str]
    texts: list[str] | None = None
    extra: dict[str, dict[str, Any]] = field(default_factory=dict)
    edges: Edges | None = None


def write_folder(
    path: str | Path,
    config: Mapping[str, Any],
    tensors: Mapping[str, NDArray[Any]],
    vectors: Mapping[str, NDArray[Any]],
    names: Sequence[str] | NDArray[np.object_],
    texts: Sequence[str] | None = None,
    extra_json: Mapping[str, Mapping[str, Any]] | None = None,
    edges: tuple[NDArray[Any], NDArray[Any]] | None = None,
) -> None:
    """Write a model folder; one that is there is replaced, anything else is refused.

    See `ModelFolder` for what the parts hold.
    """
    listed = [str(name) for name in names]
    with replacing_folder(path, is_model) as folder:
        _write_json(folder / CONFIG, {**config, "format_version": FORMAT_VERSION})
        for name, content in (extra_json or {}).items():
            _write_json(folder / f"{name}.json", content)
        if tensors:
            write_tensors(folder / WEIGHTS, tensors)
        write_tensors(folder / VECTORS, vectors)
        _write_nodes(folder / NODES, listed, texts)
        if edges is not None:
            _write_edges(folder / EDGES, edges)


def read_folder(path: str | Path) -> ModelFolder:
    """Read a model folder, checking that its parts fit together."""
    path = Path(path)
    config = read_config(path)
    vectors = map_tensors(_present(path / VECTORS))
    names, texts = _read_nodes(_present(path / NODES))
    for name, matrix in vectors.items():
        if matrix.ndim != 2 or len(matrix) != len(names):
            raise FileFormatError(
                path / VECTORS,
                f"{name!r} must have {len(names)} rows, one for each node, "
                f"got the shape {matrix.shape}.",
            )
    return ModelFolder(
        config=config,
        tensors=map_tensors(path / WEIGHTS) if (path / WEIGHTS).exists() else {},
        vectors=vectors,
        names=names,
        texts=texts,
        extra={file.stem: _read_json(file) for file in path.glob("*.json") if file.name != CONFIG},
        edges=_read_edges(path / EDGES, len(names)) if (path / EDGES).exists() else None,
    )


def read_config(path: Path) -> dict[str, Any]:
    """Read the config of a model folder and check its version."""
    if not path.is_dir() or not (path / CONFIG).is_file():
        raise FileFormatError(path, f"is no pairgram model: no folder with a {CONFIG}.")
    config = _read_json(path / CONFIG)
    version = config.get("format_version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise FileFormatError(path / CONFIG, "is no pairgram config: it has no format_version.")
    if version > FORMAT_VERSION:
        raise FileFormatError(
            path,
            f"was written by a newer pairgram (format {version}, this one reads up to "
            f"{FORMAT_VERSION}); upgrade pairgram to load it.",
        )
    return config


def is_model(path: Path) -> bool:
    """Whether a folder is a model folder of any version."""
    try:
        return "format_version" in _read_json(path / CONFIG)
    except (FileFormatError, OSError):
        return False


def _present(path: Path) -> Path:
    if not path.is_file():
        raise FileFormatError(path.parent, f"is no whole model: {path.name} is missing.")
    return path


def _write_json(path: Path, content: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(content, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def _read_json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise FileFormatError(path, f"is no JSON: {error}.") from None
    if not isinstance(content, dict):
        raise FileFormatError(path, "must hold a JSON object.")
    return content


def _write_nodes(path: Path, names: list[str], texts: Sequence[str] | None) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    columns = {"id": pa.array(names, pa.string())}
    if texts is not None:
        columns["text"] = pa.array(list(texts), pa.string())
    parquet.write_table(pa.table(columns), path)


def _read_nodes(path: Path) -> tuple[list[str], list[str] | None]:
    table = _read_table(path, "id")
    names = table.column("id").to_pylist()
    if "text" not in table.column_names:
        return names, None
    return names, table.column("text").to_pylist()


def _write_edges(path: Path, edges: tuple[NDArray[Any], NDArray[Any]]) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    source, target = (np.asarray(side, dtype=np.int64) for side in edges)
    parquet.write_table(pa.table({"source": source, "target": target}), path)


def _read_edges(path: Path, n_nodes: int) -> Edges:
    table = _read_table(path, "source", "target")
    source, target = (
        table.column(side).to_numpy().astype(np.int64, copy=False) for side in ("source", "target")
    )
    for side in (source, target):
        if len(side) and not 0 <= side.min() <= side.max() < n_nodes:
            raise FileFormatError(path, f"has positions outside of the {n_nodes} nodes.")
    return source, target


def _read_table(path: Path, *columns: str) -> Any:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        table = parquet.read_table(path)
    except (pa.ArrowException, OSError) as error:
        first = str(error).splitlines()[0] if str(error) else "damaged"
        raise FileFormatError(path, f"cannot be read as parquet: {first}.") from None
    if not set(columns) <= set(table.column_names):
        raise FileFormatError(path, f"needs the columns {columns}, has {table.column_names}.")
    return table
