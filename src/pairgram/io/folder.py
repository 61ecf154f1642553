"""The model folder.

What is added to a model goes into the log `changes.log`. To fold the log into the other files,
those that change are written beside the old ones under the number of a new generation, such as
`vectors.1.safetensors`, and `config.json`, replaced in one step, says which generation counts. At
every moment the folder is the old generation with its log or the new one without.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairgram.errors import FileFormatError, PairgramError
from pairgram.io.atomic import replacing_file, replacing_folder, sync
from pairgram.io.log import read_log
from pairgram.io.tensors import map_tensors, write_tensors

FORMAT_VERSION = 1
"""Version of the folder's layout; a newer one is refused."""
CONFIG = "config.json"
WEIGHTS = "weights.safetensors"
VECTORS = "vectors.safetensors"
NODES = "nodes.parquet"
EDGES = "edges.parquet"
RELATIONS = "relations.parquet"
LOG = "changes.log"
INDEX, INDEX_NOTE = "index.faiss", "index.json"
NUMBERED = (VECTORS, NODES, EDGES, RELATIONS, LOG, INDEX, INDEX_NOTE)
"""Files that each generation has its own of."""
GENERATION = "generation"
TRIES = 10

Edges = tuple[NDArray[np.int64], NDArray[np.int64]]
# Source and target positions (k,), and the relation of each as a string.
Relations = tuple[NDArray[np.int64], NDArray[np.int64], list[str]]


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
    labels
        Node labels, shape (n,), or None.
    relations
        Source, target and relation of the typed edges, shape (k,) each, or None.
    weight, date
        Weights and dates of the edges, shape (m,) each, or None.
    changes
        Records of the log.
    log_end
        Bytes of the log that were read.
    """

    config: dict[str, Any]
    tensors: dict[str, NDArray[Any]]
    vectors: dict[str, NDArray[Any]]
    names: list[str]
    texts: list[str] | None = None
    extra: dict[str, dict[str, Any]] = field(default_factory=dict)
    edges: Edges | None = None
    labels: list[str] | None = None
    relations: Relations | None = None
    weight: NDArray[Any] | None = None
    date: NDArray[Any] | None = None
    changes: list[bytes] = field(default_factory=list)
    log_end: int = 0

    @property
    def generation(self) -> int:
        """How often the log was folded into the other files."""
        return int(self.config.get(GENERATION, 0))


@dataclass(frozen=True, eq=False)
class Nodes:
    """The numbered part of a folder: what changes when nodes come and go; see `ModelFolder`."""

    vectors: Mapping[str, NDArray[Any]]
    names: Sequence[str] | NDArray[np.object_]
    texts: Sequence[str] | None = None
    labels: Sequence[str] | None = None
    edges: tuple[NDArray[Any], NDArray[Any]] | None = None
    relations: Relations | None = None
    weight: NDArray[Any] | None = None
    date: NDArray[Any] | None = None

    def write(self, folder: Path, generation: int = 0) -> list[Path]:
        """Write the files of a generation; return their paths."""
        written = [folder / numbered(name, generation) for name in (VECTORS, NODES)]
        write_tensors(written[0], self.vectors)
        _write_nodes(written[1], list(map(str, self.names)), self.texts, self.labels)
        if self.edges is not None:
            written.append(folder / numbered(EDGES, generation))
            _write_edges(written[-1], self.edges, {"weight": self.weight, "date": self.date})
        if self.relations is not None:
            written.append(folder / numbered(RELATIONS, generation))
            _write_relations(written[-1], self.relations)
        return written


def write_folder(
    path: str | Path,
    config: Mapping[str, Any],
    tensors: Mapping[str, NDArray[Any]],
    nodes: Nodes,
    extra_json: Mapping[str, Mapping[str, Any]] | None = None,
    finish: Callable[[Path], None] | None = None,
) -> None:
    """Write a model folder; one that is there is replaced, anything else is refused.

    See `ModelFolder` for what the parts hold; `finish` may write more into the new folder.
    """
    with replacing_folder(path, is_model) as folder:
        write_json(folder / CONFIG, {**config, "format_version": FORMAT_VERSION})
        for name, content in (extra_json or {}).items():
            write_json(folder / f"{name}.json", content)
        if tensors:
            write_tensors(folder / WEIGHTS, tensors)
        nodes.write(folder)
        if finish is not None:
            finish(folder)


def write_generation(
    path: Path, nodes: Nodes, finish: Callable[[Path, int], None] | None = None
) -> int:
    """Write new numbered files and let them count; return their generation.

    Hold the folder's lock. A crash at any moment leaves the old generation or the new one.
    """
    config = read_config(path)
    generation = int(config.get(GENERATION, 0)) + 1
    _sweep(path, generation - 1)
    try:
        for file in nodes.write(path, generation):
            sync(file)
        if finish is not None:
            finish(path, generation)
        sync(path)
        with replacing_file(path / CONFIG) as temporary:
            write_json(temporary, {**config, GENERATION: generation})
        sync(path)
    except OSError as error:
        raise PairgramError(f"{path}: cannot be written: {error.strerror or error}.") from error
    _sweep(path, generation)
    return generation


def numbered(name: str, generation: int) -> str:
    """Name of a file in a generation.

    >>> numbered("vectors.safetensors", 0), numbered("vectors.safetensors", 2)
    ('vectors.safetensors', 'vectors.2.safetensors')
    """
    stem, suffix = name.split(".")
    return name if generation == 0 else f"{stem}.{generation}.{suffix}"


def read_folder(path: str | Path) -> ModelFolder:
    """Read a model folder, checking that its parts fit together."""
    path = Path(path)
    for _ in range(TRIES):
        config = read_config(path)
        try:
            found = _read_generation(path, config)
        except (FileFormatError, FileNotFoundError):
            # A writer may have folded its log in between; then the config says so.
            if read_config(path).get(GENERATION) == config.get(GENERATION):
                raise
        else:
            if read_config(path).get(GENERATION) == config.get(GENERATION):
                return found
    raise FileFormatError(path, "changes faster than it can be read; try again.")


def _read_generation(path: Path, config: dict[str, Any]) -> ModelFolder:
    generation = config.get(GENERATION, 0)
    if not isinstance(generation, int) or generation < 0:
        raise FileFormatError(path / CONFIG, f"has no sound {GENERATION}.")
    files = {name: path / numbered(name, generation) for name in NUMBERED}
    vectors = map_tensors(_present(files[VECTORS]))
    names, texts, labels = _read_nodes(_present(files[NODES]))
    for name, matrix in vectors.items():
        if matrix.ndim != 2 or len(matrix) != len(names):
            raise FileFormatError(
                files[VECTORS],
                f"{name!r} must have {len(names)} rows, one for each node, "
                f"got the shape {matrix.shape}.",
            )
    changes, log_end = read_log(files[LOG])
    edges, values = _read_edges(files[EDGES], len(names)) if files[EDGES].exists() else (None, {})
    return ModelFolder(
        config=config,
        tensors=map_tensors(path / WEIGHTS) if (path / WEIGHTS).exists() else {},
        vectors=vectors,
        names=names,
        texts=texts,
        extra={file.stem: read_json(file) for file in path.glob("*.json") if _is_extra(file)},
        edges=edges,
        labels=labels,
        relations=(
            _read_relations(files[RELATIONS], len(names)) if files[RELATIONS].exists() else None
        ),
        changes=changes,
        log_end=log_end,
        **values,
    )


def _is_extra(file: Path) -> bool:
    """Whether a JSON file is a part of its own."""
    return file.name != CONFIG and not file.name.startswith((".", "index."))


def _sweep(path: Path, generation: int) -> None:
    """Remove what belongs to other generations, or to a writing that did not end."""
    current = {numbered(name, generation) for name in NUMBERED}
    for file in path.iterdir():
        stem, _, rest = file.name.partition(".")
        is_numbered = f"{stem}.{rest.rpartition('.')[2]}" in NUMBERED
        is_leftover = file.name.startswith(f".{CONFIG}.") and file.suffix == ".tmp"
        if (is_numbered and file.name not in current) or is_leftover:
            with suppress(OSError):  # a file too many does no harm
                file.unlink()


def read_config(path: Path) -> dict[str, Any]:
    """Read the config of a model folder and check its version."""
    if not path.is_dir() or not (path / CONFIG).is_file():
        raise FileFormatError(path, f"is no pairgram model: no folder with a {CONFIG}.")
    config = read_json(path / CONFIG)
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
        return "format_version" in read_json(path / CONFIG)
    except (FileFormatError, OSError):
        return False


def _present(path: Path) -> Path:
    if not path.is_file():
        raise FileFormatError(path.parent, f"is no whole model: {path.name} is missing.")
    return path


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write a JSON object."""
    path.write_text(json.dumps(content, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object; anything else raises."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise FileFormatError(path, f"is no JSON: {error}.") from None
    if not isinstance(content, dict):
        raise FileFormatError(path, "must hold a JSON object.")
    return content


def _write_nodes(
    path: Path,
    names: list[str],
    texts: Sequence[str] | None,
    labels: Sequence[str] | None = None,
) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    columns = {"id": pa.array(names, pa.string())}
    if texts is not None:
        columns["text"] = pa.array(list(texts), pa.string())
    if labels is not None:
        columns["label"] = pa.array(list(labels), pa.string())
    parquet.write_table(pa.table(columns), path)


def _read_nodes(path: Path) -> tuple[list[str], list[str] | None, list[str] | None]:
    table = _read_table(path, "id")
    names = table.column("id").to_pylist()
    texts, labels = (
        table.column(name).to_pylist() if name in table.column_names else None
        for name in ("text", "label")
    )
    return names, texts, labels


def _write_relations(path: Path, relations: Relations) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    source, target, relation = relations
    columns = {"source": source, "target": target}
    columns["relation"] = pa.array(relation, pa.string()).dictionary_encode()
    parquet.write_table(pa.table(columns), path)


def _read_relations(path: Path, n_nodes: int) -> Relations:
    (source, target), _ = _read_edges(path, n_nodes)
    return source, target, _read_table(path, "relation").column("relation").to_pylist()


def _write_edges(
    path: Path,
    edges: tuple[NDArray[Any], NDArray[Any]],
    values: Mapping[str, NDArray[Any] | None],
) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    source, target = (np.asarray(side, dtype=np.int64) for side in edges)
    given = {name: array for name, array in values.items() if array is not None}
    parquet.write_table(pa.table({"source": source, "target": target, **given}), path)


def _read_edges(path: Path, n_nodes: int) -> tuple[Edges, dict[str, NDArray[Any]]]:
    """The ends of the edges, and their weights and dates where they have them."""
    table = _read_table(path, "source", "target")
    source, target = (
        table.column(side).to_numpy().astype(np.int64, copy=False) for side in ("source", "target")
    )
    for side in (source, target):
        if len(side) and not 0 <= side.min() <= side.max() < n_nodes:
            raise FileFormatError(path, f"has positions outside of the {n_nodes} nodes.")
    values = {
        name: table.column(name).to_numpy()
        for name in ("weight", "date")
        if name in table.column_names
    }
    return (source, target), values


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
