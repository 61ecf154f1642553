"""Models on disk."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pairgram import params
from pairgram.calibration import Calibration
from pairgram.errors import FileFormatError, InputError, ParameterError
from pairgram.graph import TextGraph
from pairgram.io.folder import ModelFolder, read_folder, write_folder
from pairgram.vectors import Vectors

CALIBRATION = "calibration"

if TYPE_CHECKING:
    from pairgram.models.base import Model


def save(model: "Model", path: Path) -> None:
    """Write a fitted model to a folder."""
    graph, vectors = model.graph_, model.vectors_
    tables = {"center": vectors.center}
    if vectors.context is not None:
        tables["context"] = vectors.context
    config = {
        "method": model.method,
        "params": params.plain(model.get_params()),
        "fingerprint": model.fingerprint_,
        "directed": graph.directed,
        "stats": model.stats_,
    }
    extra = model._extra_json()
    if model.calibrations_:
        extra = {**extra, CALIBRATION: {k: c.to_json() for k, c in model.calibrations_.items()}}
    write_folder(
        path, config, model._weights(), tables, graph.names, graph.texts, extra,
        edges=(graph.source, graph.target),
    )  # fmt: skip


def load(path: str | Path) -> "Model":
    """Read a model folder; vectors are mapped into memory, not read.

    Parameters
    ----------
    path
        Folder that `Model.save` wrote.
    """
    folder = read_folder(path)
    model = _empty_model(Path(path), folder)
    model.graph_ = _graph(Path(path), folder)
    center, context = folder.vectors["center"], folder.vectors.get("context")
    model.vectors_ = Vectors(center, context, model.graph_.names)
    model.fingerprint_ = folder.config["fingerprint"]
    model.stats_ = folder.config.get("stats", {})
    try:
        stored = folder.extra.get(CALIBRATION, {})
        model.calibrations_ = {kind: Calibration.from_json(c) for kind, c in stored.items()}
        model._take_parts(folder.tensors, folder.extra)
    except InputError as error:
        raise FileFormatError(path, f"is damaged: {error}") from None
    return model


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
    names = np.array(folder.names, dtype=object)
    return TextGraph.from_edges(
        *folder.edges, names=names, texts=folder.texts, directed=bool(folder.config["directed"])
    )
