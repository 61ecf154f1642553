"""Models on disk."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pairgram import params
from pairgram.calibration import Calibration
from pairgram.errors import FileFormatError, InputError, PairgramError, ParameterError
from pairgram.graph import TextGraph
from pairgram.io.atomic import sync
from pairgram.io.folder import (
    INDEX,
    INDEX_NOTE,
    ModelFolder,
    Nodes,
    is_model,
    numbered,
    read_folder,
    read_json,
    write_folder,
    write_generation,
    write_json,
)
from pairgram.io.lock import FolderLock
from pairgram.models.keeping import Home, merged
from pairgram.models.ranking import BESIDE
from pairgram.search.relations import RelationModel
from pairgram.vectors import Vectors

CALIBRATION, RELATIONS = "calibration", "relations"

if TYPE_CHECKING:
    from pairgram.models.base import Model


def save(model: "Model", path: Path) -> None:
    """Write a fitted model to a folder, what was added to it folded in."""
    fold_in_memory(model)
    config = {
        "method": model.method,
        "params": params.plain(model.get_params()),
        "fingerprint": model.fingerprint_,
        "directed": model.graph_.directed,
        "stats": model.stats_,
    }
    extra = {**model._extra_json(), **model._extra_parts()}
    if model.calibrations_:
        extra = {**extra, CALIBRATION: {k: c.to_json() for k, c in model.calibrations_.items()}}
    if model.relations_ is not None:
        extra = {**extra, RELATIONS: {"names": list(model.relations_.names)}}
    model.close()
    lock = FolderLock(path) if is_model(path) else None
    try:
        write_folder(
            path, config, _all_weights(model), _nodes(model), extra,
            lambda folder: _write_index(model, folder, 0),
        )  # fmt: skip
    finally:
        if lock is not None:
            lock.release()
    model._home_ = Home(path)


def fold(model: "Model") -> None:
    """Fold what was added into the tables of a model, and into its folder where it has one."""
    fold_in_memory(model)
    home = model._home_
    if home is None:
        return
    try:
        generation = write_generation(
            home.folder, _nodes(model), lambda folder, number: _write_index(model, folder, number)
        )
    except BaseException:
        # Which generation counts is for the disk to say: the next change looks there first.
        home.close()
        raise
    lock, home.lock = home.lock, None
    home.close()
    model._home_ = now = Home(home.folder, generation)
    now.lock = lock


def fold_in_memory(model: "Model") -> None:
    """Make what was added, changed and removed part of the tables of a model."""
    held = model._held()
    if not held:
        return
    graph, vectors = merged(model.graph_, model.vectors_, held)
    # At once: others may read meanwhile; see `of_one_moment`.
    folded: dict[str, Any] = {
        "graph_": graph, "vectors_": vectors, "_additions_": None, "_catalogs_": {},
        **model._folded_parts(held),
    }  # fmt: skip
    model.__dict__.update(folded)
    if model.index_ is not None:
        model.build_index(model.index_.rule)


def load(path: str | Path, folded: bool = False) -> "Model":
    """Read a model folder; vectors are mapped into memory, not read.

    Parameters
    ----------
    path
        Folder that `Model.save` wrote.
    folded
        Make what was added since part of `graph_` and `vectors_`; the folder stays as it is.
    """
    model = _read(Path(path), read_folder(path))
    if folded:
        fold_in_memory(model)
    return model


def take(model: "Model", path: Path, folder: ModelFolder) -> None:
    """Let a model take up its folder, parameters included, at once; another method is refused."""
    read = _read(path, folder)
    if type(read) is not type(model):
        raise PairgramError(
            f"{path}: holds {type(read).__name__} now, no {type(model).__name__}: load it again."
        )
    model.close()
    model.__dict__ = read.__dict__


def _read(path: Path, folder: ModelFolder) -> "Model":
    """The model of a folder."""
    model = _empty_model(path, folder)
    model._forget()
    model.graph_ = _graph(path, folder)
    center, context = folder.vectors["center"], folder.vectors.get("context")
    model.vectors_ = Vectors(center, context, model.graph_.names)
    model.fingerprint_ = folder.config["fingerprint"]
    model.stats_ = folder.config.get("stats", {})
    model._home_ = Home(path, folder.generation, folder.log_end)
    try:
        stored = folder.extra.get(CALIBRATION, {})
        model.calibrations_ = {kind: Calibration.from_json(c) for kind, c in stored.items()}
        tensors = dict(folder.tensors)
        _take_relations(model, tensors.pop(RELATIONS, None), folder.extra.get(RELATIONS))
        more = {name: tensors.pop(name) for name in list(tensors) if name.startswith(BESIDE)}
        model._take_parts(tensors, folder.extra)
        model._take_extra(folder.extra)
        model._take_more(more, folder.vectors, folder.extra)
        model._replay(folder.changes)
    except InputError as error:
        raise FileFormatError(path, f"is damaged: {error}") from None
    _take_index(model, path, folder.generation)
    return model


def _nodes(model: "Model") -> Nodes:
    graph, vectors = model.graph_, model.vectors_
    tables = {"center": vectors.center, **model._more_tables()}
    if vectors.context is not None:
        tables["context"] = vectors.context
    typed = graph.relation
    relations = None
    if typed is not None:
        relations = (typed.source, typed.target, [typed.names[code] for code in typed.code])
    return Nodes(
        tables, graph.names, graph.texts, graph.labels, (graph.source, graph.target), relations,
        graph.weight, graph.date,
    )  # fmt: skip


def _all_weights(model: "Model") -> dict[str, NDArray[Any]]:
    return {**model._weights(), **_relation_weights(model), **model._more_weights()}


def _relation_weights(model: "Model") -> dict[str, NDArray[Any]]:
    named = model.relations_
    return {} if named is None else {RELATIONS: named.weight}


def _take_relations(
    model: "Model", weight: NDArray[Any] | None, note: Mapping[str, Any] | None
) -> None:
    model._relations_ = None
    if weight is not None and note is not None:
        names = tuple(map(str, note.get("names", ())))
        model._relations_ = RelationModel(names, weight).check(model.vectors_.dim)


def _write_index(model: "Model", folder: Path, generation: int) -> None:
    index = model.index_
    if index is not None:
        index.save(folder / numbered(INDEX, generation))
        sync(folder / numbered(INDEX, generation))
        write_json(folder / numbered(INDEX_NOTE, generation), {"rule": index.rule})
        sync(folder / numbered(INDEX_NOTE, generation))


def _take_index(model: "Model", path: Path, generation: int) -> None:
    note = path / numbered(INDEX_NOTE, generation)
    model.index_ = None
    if note.exists():
        from pairgram.search.ann import AnnIndex

        rule = str(read_json(note).get("rule"))
        model.index_ = AnnIndex(rule, len(model.vectors_), path / numbered(INDEX, generation))


def _empty_model(path: Path, folder: ModelFolder) -> "Model":
    from pairgram.models.registry import METHODS

    method = folder.config.get("method")
    if method not in METHODS:
        raise FileFormatError(
            path, f"holds the method {method!r}; this pairgram knows {', '.join(METHODS)}."
        )
    given = folder.config.get("params")
    complete = "center" in folder.vectors and {"fingerprint", "directed"} <= set(folder.config)
    if not complete or not isinstance(given, dict):
        raise FileFormatError(
            path, "is incomplete: centre vectors, fingerprint, directed or params are missing."
        )
    model = METHODS[method]()
    try:
        model.set_params(**given)
        model._check_params()
    except ParameterError as error:
        raise FileFormatError(path, f"holds parameters that do not fit: {error}") from None
    return model


def _graph(path: Path, folder: ModelFolder) -> TextGraph:
    if folder.edges is None:
        raise FileFormatError(path, "holds no edges, so known links cannot be left out.")
    source, target, relation = folder.relations or (*folder.edges, None)
    graph = TextGraph.from_edges(
        source, target, names=np.array(folder.names, dtype=object), texts=folder.texts,
        relation=relation, directed=bool(folder.config["directed"]),
    )  # fmt: skip
    ends = zip((graph.source, graph.target), folder.edges, strict=True)
    if not all(np.array_equal(built, kept) for built, kept in ends):
        raise FileFormatError(path, "is damaged: its relations are those of other edges.")
    graph = graph.with_values(folder.weight, folder.date)
    return graph if folder.labels is None else graph.with_labels(folder.labels)
