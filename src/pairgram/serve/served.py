"""The model that answers, and the next one that takes its place."""

import logging
import threading
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pairgram.map import Map, make_map
from pairgram.map.files import read_table
from pairgram.models import Model, Suggestion, load
from pairgram.serve.finder import Finder

logger = logging.getLogger(__name__)


class Served:
    """A loaded model with what requests read beside it.

    Parameters
    ----------
    model
        A fitted model.
    generation
        1 for the first one, 2 for the one that follows it, …
    map_file
        Map that `pairgram map` wrote; without one, PCA draws it when it is first asked for.
    """

    def __init__(self, model: Model, generation: int = 1, map_file: Path | None = None) -> None:
        self.model, self.generation = model, generation
        self.reads_text = hasattr(model, "suggest_many")
        self._given = None if map_file is None else read_table(map_file, model.graph_.names)
        self._lock = threading.Lock()

    @cached_property
    def finder(self) -> Finder:
        """Search in ids and texts."""
        graph = self.model.graph_
        return Finder(graph.names.tolist(), graph.texts)

    @property
    def map(self) -> Map:
        """Where every node lies; the first call may take a second."""
        with self._lock:
            if self._given is None:
                vectors = self.model.vectors_.center
                self._given = make_map(vectors, self.model.graph_, method="pca")
            return self._given

    def warm(self) -> None:
        """Do once what the first request would wait for."""
        graph = self.model.graph_
        self.model.suggest(node=str(graph.names[0]), k=1)
        if self.reads_text:
            self.model.suggest("a text", k=1)
        self.finder.find("a", 1)

    def node(self, position: int) -> dict[str, Any]:
        """A node as it is listed."""
        graph = self.model.graph_
        return {
            "node": str(graph.names[position]),
            "text": "" if graph.texts is None else graph.texts[position],
            "degree": int(graph.degree[position]),
            "position": position,
        }

    def neighbours(self, position: int, most: int) -> list[dict[str, Any]]:
        """Neighbours of a node, the best-connected first."""
        graph = self.model.graph_
        near = graph.adjacency().neighbours(position)
        first = near[np.argsort(-graph.degree[near], kind="stable")][:most]
        return [self.node(other) for other in first.tolist()]

    def words(self, text: str) -> list[str]:
        """Distinct words that the model reads in a text, in order."""
        read = getattr(self.model, "words", str.split)
        return list(dict.fromkeys(read(text)))

    def is_match(self, kind: str, rule: str | None, found: Sequence[Suggestion]) -> bool | None:
        """Whether the best suggestion is good enough; None where the model cannot tell."""
        calibration = self.model.calibrations_.get(kind)
        wanted = self.model.rule_ if rule is None else rule
        if calibration is None or calibration.rule != wanted or not found:
            return None
        return bool(calibration.is_match(found[0].score))


class Holder:
    """The model being served; requests take it once and keep it to their end.

    Parameters
    ----------
    folder
        Model folder, read again by `reload`.
    map_file
        See `Served`.
    """

    def __init__(self, folder: str | Path, map_file: Path | None = None) -> None:
        self._folder, self._map_file = Path(folder), map_file
        self._lock = threading.Lock()
        self.current = self._load(1)

    def reload(self) -> Served:
        """Load the folder again; the new model answers from now on, the old one ends its work."""
        with self._lock:
            self.current = self._load(self.current.generation + 1)
            return self.current

    def _load(self, generation: int) -> Served:
        served = Served(load(self._folder), generation, self._map_file)
        served.warm()
        return served


class Question(NamedTuple):
    """What requests of one batch have in common."""

    served: Served
    about: str  # "text", "node" or "embed"
    direction: str = "both"
    rule: str | None = None


def answer(question: Question, items: Sequence[tuple[str, int]]) -> list[Any]:
    """Work through requests of one kind: (text or node id, k) each."""
    model: Any = question.served.model
    asked = {"direction": question.direction, "rule": question.rule}
    if question.about == "embed":
        return list(model.embed([text for text, _ in items]))
    if question.about == "node":
        return [model.suggest(node=name, k=k, **asked) for name, k in items]
    if not question.served.reads_text:
        return [model.suggest(text, k=k, **asked) for text, k in items]
    most = max(k for _, k in items)
    found = model.suggest_many([text for text, _ in items], k=most, **asked)
    return [one[:k] for one, (_, k) in zip(found, items, strict=True)]
