"""Nodes that come, change and go without a new fit, kept in the model's folder."""

import logging
import threading
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pairgram.errors import InputError, PairgramError
from pairgram.graph import TextGraph
from pairgram.io.changes import Change, Kind
from pairgram.io.folder import GENERATION, LOG, numbered, read_config, read_folder
from pairgram.io.lock import FolderLock
from pairgram.io.log import LogWriter, read_log
from pairgram.models.additions import NEW, Additions
from pairgram.models.catalog import Catalog
from pairgram.models.estimator import Estimator
from pairgram.vectors import Vectors

if TYPE_CHECKING:
    from pairgram.io.folder import ModelFolder

logger = logging.getLogger(__name__)

Table = NDArray[np.float32]
FEWEST_ROWS, SHARE = 10_000, 10
"""The log is folded in when it has so many rows, and a row for every so many fitted nodes."""
WRITING = threading.RLock()


class Home:
    """Where a model lives on disk, and how much of it has been read.

    Attributes
    ----------
    folder
        The model folder.
    generation, log_end
        Generation of its files, and bytes of the log that the model has taken up.
    """

    def __init__(self, folder: Path, generation: int = 0, log_end: int = 0) -> None:
        self.folder, self.generation, self.log_end = folder.absolute(), generation, log_end
        self._inode = self._number()
        self.lock: FolderLock | None = None
        self.log: LogWriter | None = None

    @property
    def log_path(self) -> Path:
        """The log of this generation."""
        return self.folder / numbered(LOG, self.generation)

    def is_current(self) -> bool:
        """Whether the folder is still the same and has this generation."""
        generation = read_config(self.folder).get(GENERATION, 0)
        return generation == self.generation and self._number() == self._inode

    def _number(self) -> int:
        """Number of the folder on its disk: one that was saved anew has another."""
        try:
            return self.folder.stat().st_ino
        except OSError:
            return 0

    @property
    def writes(self) -> bool:
        """Whether this process holds the right to write."""
        return self.lock is not None and self.lock.is_mine

    def close(self) -> None:
        """Let others write."""
        if self.log is not None:
            self.log.close()
        if self.lock is not None:
            self.lock.release()
        self.lock = self.log = None


class Keeping(Estimator):
    """Base of all models: what they hold beside the fitted nodes."""

    graph_: TextGraph
    vectors_: Vectors
    _additions_: Additions | None = None
    _home_: Home | None = None
    _catalogs_: Mapping[str, Catalog] = MappingProxyType({})

    @abstractmethod
    def _catalog(self, direction: str = "both") -> Catalog:
        """All nodes at this moment."""

    @abstractmethod
    def _check_fitted(self) -> None:
        """Raise unless fitted."""

    @abstractmethod
    def _vectors_of_new(self, texts: Sequence[str]) -> tuple[Table, Table | None]:
        """Vectors of nodes that come, both (m, dim)."""

    @abstractmethod
    def _vectors_of_changed(
        self, ids: Sequence[str], texts: Sequence[str]
    ) -> tuple[Table, Table | None]:
        """Vectors of known nodes that get other texts, both (m, dim)."""

    @abstractmethod
    def _fold(self) -> None:
        """Fold what was added into the tables and the folder."""

    @abstractmethod
    def _take_folder(self, path: Path, folder: "ModelFolder") -> None:
        """Take up all parts of a folder."""

    @property
    def size_(self) -> int:
        """Nodes that can be suggested now."""
        catalog = self._catalog()
        return int(catalog.size - np.count_nonzero(catalog.hidden))

    def has(self, node: str) -> bool:
        """Whether there is such a node now."""
        return self._catalog().has(node)

    @property
    def added_(self) -> dict[str, str]:
        """Nodes that came or changed since the fit, and their texts."""
        catalog = self._catalog()
        shown = np.flatnonzero(~catalog.hidden[catalog.n_fitted :]) + catalog.n_fitted
        return {catalog.name(v): catalog.text(v) for v in shown.tolist()}

    def node_text(self, node: str) -> str:
        """Text of a node, also of one that was added."""
        catalog = self._catalog()
        return catalog.text(catalog.position(node))

    def add(self, texts: Mapping[str, str], labels: Mapping[str, str] | None = None) -> list[str]:
        """Add nodes by their texts; they can be suggested and asked for at once.

        A model that was loaded or saved keeps them in its folder: when this returns, they are on
        disk. All of them are added or, when something is wrong, none.

        Parameters
        ----------
        texts
            Id -> text of nodes that the model does not have.
        labels
            Id -> label of some of them.

        Returns
        -------
        list
            The ids.
        """
        return self._change("add", _checked("add", texts), labels)

    def update(
        self, texts: Mapping[str, str], labels: Mapping[str, str] | None = None
    ) -> list[str]:
        """Give nodes other texts; they keep their links, and their label unless one is given."""
        return self._change("update", _checked("update", texts), labels)

    def remove(self, nodes: Iterable[str]) -> list[str]:
        """Take nodes away; they are neither suggested nor counted as neighbours any more."""
        listed = [nodes] if isinstance(nodes, str) else list(nodes)
        if len(set(listed)) < len(listed):
            raise InputError("remove needs distinct ids. Got one of them twice.")
        return self._change("remove", dict.fromkeys(listed, ""), None)

    def refresh(self) -> bool:
        """Take up what another process has written into the folder; True when something came."""
        home = self._home_
        if home is None or home.writes:
            return False
        with WRITING:
            if not home.is_current():
                self._take_folder(home.folder, read_folder(home.folder))
                return True
            records, home.log_end = read_log(home.log_path, home.log_end)
            self._replay(records)
            if not home.is_current():  # folded in while we read
                return self.refresh()
            return bool(records)

    def compact(self) -> None:
        """Fold what was added, changed and removed into the fitted tables, and into the folder."""
        with WRITING:
            self._begin()
            if not self._held():
                return
            self._fold()

    def close(self) -> None:
        """Let another process write into the folder; the next change takes the right again."""
        if self._home_ is not None:
            self._home_.close()

    def _held(self) -> Additions:
        """What came since the fit."""
        if self._additions_ is None:
            self._additions_ = Additions.none(self.vectors_.dim)
        return self._additions_

    def _begin(self) -> None:
        """Take the right to write, and what others wrote before."""
        self._check_fitted()
        home = self._home_
        if home is None:
            return
        if home.writes:
            home.log = home.log or LogWriter(home.log_path)
            return
        home.lock = home.log = None
        lock = FolderLock(home.folder)
        try:
            self.refresh()
            now = self._home_
            if now is None:
                raise PairgramError(f"{home.folder}: is no longer the folder of this model.")
            now.log = LogWriter(now.log_path)
            now.lock = lock
        except BaseException:
            lock.release()
            raise

    def _change(
        self, kind: Kind, texts: dict[str, str], labels: Mapping[str, str] | None
    ) -> list[str]:
        with WRITING:
            self._begin()
            catalog = self._catalog()
            _check_known(kind, texts, catalog)
            if not texts:
                return []
            change = self._make_change(kind, texts, _labels(kind, texts, labels), catalog)
            home = self._home_
            if home is not None and home.log is not None:
                home.log.append(change.to_bytes())
                home.log_end = home.log.end
            self._apply(change)
            self._fold_when_large()
            return list(texts)

    def _make_change(
        self, kind: Kind, texts: dict[str, str], labels: Mapping[str, str], catalog: Catalog
    ) -> Change:
        ids = tuple(texts)
        if kind == "remove":
            return Change(kind, ids)
        written = tuple(texts.values())
        if kind == "add":
            vectors = self._vectors_of_new(written)
            marked = tuple(labels.get(name, "") for name in ids)
        else:
            vectors = self._vectors_of_changed(ids, written)
            marked = tuple(
                labels[name] if name in labels else catalog.label(catalog.position(name))
                for name in ids
            )
        return Change(kind, ids, written, marked, *vectors)

    def _apply(self, change: Change) -> None:
        found = ((name, self.graph_.find(name)) for name in change.ids)
        positions = {name: v for name, v in found if v is not None}
        self._additions_ = self._held().apply(change, positions)
        self._catalogs_ = {}

    def _replay(self, records: Iterable[bytes]) -> None:
        for record in records:
            self._apply(Change.from_bytes(record))

    def _fold_when_large(self) -> None:
        rows = self._held().size
        if rows < FEWEST_ROWS or rows * SHARE < self.graph_.n_nodes:
            return
        try:
            self.compact()
        except PairgramError as error:  # the change itself is safe in the log
            logger.warning("the log could not be folded in: %s", error)

    def _forget(self) -> None:
        """Start afresh: nothing added, no folder."""
        self.close()
        self._additions_ = self._home_ = None
        self._catalogs_ = {}

    def __getstate__(self) -> dict[str, Any]:
        """Copies and forked workers have no right to write; they read."""
        state = dict(self.__dict__)
        home = state.get("_home_")
        if home is not None:
            state["_home_"] = Home(home.folder, home.generation, home.log_end)
        held = self._additions_
        if held is not None:  # a copy that adds adds for itself
            state["_additions_"] = replace(held, rows=copy(held.rows))
        return state


def merged(graph: TextGraph, vectors: Vectors, held: Additions) -> tuple[TextGraph, Vectors]:
    """Graph and vectors with the additions folded in: fitted nodes in order, then new ones."""
    moved = {v: row for v, row in held.gone.items() if row != NEW}
    keep, rows = survivors(graph.n_nodes, held)
    store = held.rows
    whole = graph.with_texts(
        {v: store.texts[row] for v, row in moved.items()},
        {v: store.labels[row] for v, row in moved.items()},
    ) if moved else graph  # fmt: skip
    whole = whole if keep.all() else whole.induced(keep)
    new = [[part[row] for row in rows] for part in (store.names, store.texts, store.labels)]
    whole = whole.with_nodes(*new) if len(rows) else whole

    def table(fitted: Table | None, added: Table) -> Table | None:
        if fitted is None:
            return None
        together = np.array(fitted)
        together[list(moved)] = added[list(moved.values())]
        return np.concatenate([together[keep], added[rows]])

    center = table(vectors.center, held.center)
    assert center is not None
    return whole, Vectors(center, table(vectors.context, held.context), whole.names)


def survivors(n_nodes: int, held: Additions) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Which fitted nodes stay, shape (n,), and the rows of the new nodes that follow them."""
    keep = np.ones(n_nodes, bool)
    keep[[v for v, row in held.gone.items() if row == NEW]] = False
    return keep, np.flatnonzero(held.alive & (held.home == NEW))


def _checked(who: str, texts: Mapping[str, str]) -> dict[str, str]:
    if not isinstance(texts, Mapping):
        raise InputError(f"{who} needs a mapping of ids to texts. Got {type(texts).__name__}.")
    for name, text in texts.items():
        if not isinstance(name, str) or not name or not isinstance(text, str):
            raise InputError(f"{who} needs strings for ids and texts. Got {name!r}: {text!r}.")
        if not text.strip():
            raise InputError(f"{who}: the text of {name!r} is empty; a node is placed by its text.")
        for part in (name, text):
            try:
                part.encode("utf-8")
            except UnicodeEncodeError:
                raise InputError(f"{who}: {name!r} holds a character that is no text.") from None
    return dict(texts)


def _check_known(kind: Kind, texts: Mapping[str, str], catalog: Catalog) -> None:
    for name in texts:
        if kind != "add":
            catalog.position(name)
        elif catalog.has(name):
            raise InputError(
                f"add: the model has a node {name!r} already; update gives it another text."
            )


def _labels(
    kind: Kind, texts: Mapping[str, str], labels: Mapping[str, str] | None
) -> Mapping[str, str]:
    stray = [name for name in labels or {} if name not in texts]
    if stray:
        raise InputError(f"{kind}: there is a label for {stray[0]!r} but no text.")
    return labels or {}
