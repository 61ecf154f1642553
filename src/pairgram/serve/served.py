"""The model that answers, and the next one that takes its place."""

import gc
import threading
import weakref
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pairgram.map import Map, make_map
from pairgram.map.files import read_table
from pairgram.models import Model, Suggestion, load
from pairgram.serve.finder import Finder
from pairgram.serve.memory import give_back

Item = tuple[str, Any]

MOST_LABELS = 200


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
        self.graph = model.graph_  # as it was loaded: the map is of its nodes
        self.fingerprint = model.fingerprint_
        self.reads_text = hasattr(model, "suggest_many")
        self._given = None if map_file is None else read_table(map_file, model.graph_.names)
        self._vectors, self._lock = model.vectors_.center, threading.Lock()

    @cached_property
    def _finder(self) -> Finder:
        return Finder(self.graph.names.tolist(), self.graph.texts)

    def find(self, typed: str, most: int) -> list[str]:
        """Ids of nodes by what is typed: that very id, then nodes that were added, then others."""
        added = self.model.added_
        found = [typed] if self.model.has(typed) else []
        found += Finder(list(added), list(added.values())).find(typed, most)
        known = self._finder.find(typed, most + len(found))
        listed = dict.fromkeys([*found, *(name for name in known if self.model.has(name))])
        return list(listed)[:most]

    @cached_property
    def labels(self) -> list[str]:
        """Labels of nodes, the first of them in order."""
        return sorted(set(self.graph.labels or ()) - {""})[:MOST_LABELS]

    @property
    def map(self) -> Map:
        """Where every node lies; the first call may take a second."""
        with self._lock:
            if self._given is None:
                vectors = self._vectors
                self._given = make_map(vectors, self.graph, method="pca")
            return self._given

    def warm(self) -> None:
        """Do once what the first request would wait for."""
        self.model.suggest(node=str(self.graph.names[0]), k=1)
        if self.reads_text:
            model: Any = self.model
            model.suggest_many(["a text", "another"], k=1)
            model.suggest("a text", k=1)
        self.find("a", 1)

    def node(self, name: str) -> dict[str, Any]:
        """A node as it is listed; an unknown one raises `UnknownNodeError`."""
        text, position = self.model.node_text(name), self.graph.find(name)
        degree = 0 if position is None else int(self.graph.degree[position])
        return {"node": name, "text": text, "degree": degree, "position": position}

    def node_at(self, position: int) -> dict[str, Any]:
        """The node at a place of the map, as it was when the model was loaded."""
        name, texts = str(self.graph.names[position]), self.graph.texts
        if self.model.has(name):
            return self.node(name)
        text = "" if texts is None else texts[position]
        return {"node": name, "text": text, "degree": 0, "position": position}

    def neighbours(self, position: int | None, most: int) -> list[dict[str, Any]]:
        """Neighbours of a node, the best-connected first."""
        if position is None:
            return []
        near = self.graph.adjacency().neighbours(position)
        first = near[np.argsort(-self.graph.degree[near], kind="stable")][:most]
        names = (str(self.graph.names[other]) for other in first.tolist())
        return [self.node(name) for name in names if self.model.has(name)]

    def words(self, text: str) -> list[str]:
        """Distinct words that the model reads in a text, in order."""
        read = getattr(self.model, "words", str.split)
        return list(dict.fromkeys(read(text)))

    def is_match(
        self, about: str, said: str, rule: str | None, found: Sequence[Suggestion]
    ) -> bool | None:
        """Whether the best suggestion is good enough; None where the model cannot tell."""
        wanted = self.model.rule_ if rule is None else rule
        kind = self.model.kind_asked(said, wanted) if about == "node" else about
        calibration = self.model.calibrations_.get(kind)
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
        self._ending: list[weakref.ref[Served]] = []
        self.current = self._load(1)

    def reload(self) -> Served:
        """Load the folder again; the new model answers from now on, the old one ends its work."""
        with self._lock:
            before = self.current
            self.current = self._load(before.generation + 1)
            before.model.close()  # the new one may write now
            self._ending.append(weakref.ref(before))
            return self.current

    def tidy(self) -> None:
        """Give the memory of models that have ended since back to the system."""
        with self._lock:
            if not self._ending:
                return
            gc.collect()  # models hold themselves
            left = [old for old in self._ending if old() is not None]
            ended, self._ending = len(left) < len(self._ending), left
        if ended:
            give_back()

    def add(self, texts: Mapping[str, str]) -> tuple[list[str], int]:
        """Add nodes; gives their ids and the number of nodes there are then."""
        with self._lock:
            added = self.current.model.add(texts)
            return added, self.current.model.size_

    def close(self) -> None:
        """Let go of the folder."""
        self.current.model.close()

    def _load(self, generation: int) -> Served:
        served = Served(load(self._folder), generation, self._map_file)
        served.warm()
        return served


class Question(NamedTuple):
    """What requests of one batch have in common."""

    served: Served
    about: str  # "text", "node", "embed", "explain text", "explain node" or "refresh"
    rule: str | None = None
    direction: str = "both"
    prefix: tuple[str, ...] | None = None
    label: tuple[str, ...] | None = None


def answer(question: Question, items: Sequence[Item]) -> list[Any]:
    """Work through requests of one kind: a text or node id each, with a k or a target."""
    model: Any = question.served.model
    if question.about == "embed":
        return list(model.embed([text for text, _ in items]))
    if question.about == "refresh":
        return [model.refresh()] * len(items)
    if question.about.startswith("explain "):
        kind = question.about.removeprefix("explain ")
        return [model.explain(target, rule=question.rule, **{kind: q}) for q, target in items]
    return _suggest(question, items)


def _suggest(question: Question, items: Sequence[Item]) -> list[Any]:
    model: Any = question.served.model
    asked = question._asdict()
    about = asked.pop("about")
    del asked["served"]
    if about == "node" or not question.served.reads_text:
        return [model.suggest(**{about: query}, k=k, **asked) for query, k in items]
    most = max(k for _, k in items)
    found = model.suggest_many([text for text, _ in items], k=most, **asked)
    return [one[:k] for one, (_, k) in zip(found, items, strict=True)]
