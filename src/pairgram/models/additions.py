"""Nodes that came, changed or went since the fit; readers of one moment need no lock."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairgram.io.changes import Change

Table = NDArray[np.float32]
NEW = -1


class Rows:
    """Rows that only grow: what is there stays where it is, whoever looks at it."""

    def __init__(self, dim: int) -> None:
        self.names: list[str] = []
        self.texts: list[str] = []
        self.labels: list[str] = []
        self._tables = {name: np.empty((0, dim), np.float32) for name in ("center", "context")}
        self._home = np.empty(0, np.int64)

    def extend(self, change: Change, home: NDArray[np.int64]) -> None:
        """Append the nodes of a change; `home` as in `Additions`, shape (m,)."""
        begin, end = len(self.names), len(self.names) + len(change.ids)
        if end > len(self._home):
            self._grow(max(end, 2 * len(self._home)))
        for name, given in (("center", change.center), ("context", change.context)):
            self._tables[name][begin:end] = np.nan if given is None else given
        self._home[begin:end] = home
        self.texts += change.texts
        self.labels += change.labels or [""] * len(change.ids)
        self.names += change.ids

    def __copy__(self) -> "Rows":
        """Rows that grow for themselves."""
        copied = object.__new__(Rows)
        copied.names, copied.texts, copied.labels = self.names[:], self.texts[:], self.labels[:]
        copied._tables = {name: table.copy() for name, table in self._tables.items()}
        copied._home = self._home.copy()
        return copied

    def table(self, name: str, size: int) -> Table:
        """The first rows of a table, shape (size, dim); rows without a vector are NaN."""
        return self._tables[name][:size]

    def home(self, size: int) -> NDArray[np.int64]:
        """The first homes, shape (size,)."""
        return self._home[:size]

    def _grow(self, capacity: int) -> None:
        for name, table in self._tables.items():
            larger = np.empty((capacity, table.shape[1]), np.float32)
            larger[: len(table)] = table
            self._tables[name] = larger
        home = np.empty(capacity, np.int64)
        home[: len(self._home)] = self._home
        self._home = home


@dataclass(frozen=True, eq=False)
class Additions:
    """What a model holds beside its fitted nodes, at one moment.

    Attributes
    ----------
    rows
        Nodes that were added or changed, in order; a node that changed twice has two rows.
    size
        Rows that count at this moment, m of them.
    alive
        Whether a row is the current one of its node, shape (m,).
    row_of
        Name -> current row; rows from `size` on are of later moments.
    gone
        Fitted nodes that went or have a row now, position -> row or `NEW`.
    """

    rows: Rows
    size: int = 0
    alive: NDArray[np.bool_] = field(default_factory=lambda: np.empty(0, bool))
    row_of: dict[str, int] = field(default_factory=dict)
    gone: dict[int, int] = field(default_factory=dict)

    @classmethod
    def none(cls, dim: int) -> "Additions":
        """Nothing added yet."""
        return cls(Rows(dim))

    def __bool__(self) -> bool:
        return bool(self.size or self.gone)

    @property
    def center(self) -> Table:
        """Centre vectors of the rows, shape (m, dim)."""
        return self.rows.table("center", self.size)

    @property
    def context(self) -> Table:
        """Context vectors of the rows, NaN where a node has none, shape (m, dim)."""
        return self.rows.table("context", self.size)

    @property
    def home(self) -> NDArray[np.int64]:
        """Fitted position whose links a row has, `NEW` for a new node, shape (m,)."""
        return self.rows.home(self.size)

    def row(self, name: str) -> int | None:
        """Current row of a node, None where it has none."""
        found = self.row_of.get(name)
        return None if found is None or found >= self.size else found

    def apply(self, change: Change, positions: dict[str, int]) -> "Additions":
        """Return what there is after a change.

        Parameters
        ----------
        change
            Checked by the caller: nodes to add are new, the others are there.
        positions
            Fitted position of the nodes of the change that have one.
        """
        if change.kind == "add":
            home = np.full(len(change.ids), NEW, np.int64)
            return self._extended(change, home, self.row_of, self.gone, self.alive)
        row_of, gone, alive = dict(self.row_of), dict(self.gone), self.alive.copy()
        home = np.array([self._home_of(name, positions) for name in change.ids], np.int64)
        for offset, name in enumerate(change.ids):
            before = row_of.pop(name, None)
            if before is not None:
                alive[before] = False
            if home[offset] != NEW:
                stays = change.kind == "update"
                gone[int(home[offset])] = self.size + offset if stays else NEW
        if change.kind == "remove":
            return replace(self, alive=alive, row_of=row_of, gone=gone)
        return self._extended(change, home, row_of, gone, alive)

    def _home_of(self, name: str, positions: dict[str, int]) -> int:
        row = self.row(name)
        return positions.get(name, NEW) if row is None else int(self.home[row])

    def _extended(
        self,
        change: Change,
        home: NDArray[np.int64],
        row_of: dict[str, int],
        gone: dict[int, int],
        alive: NDArray[np.bool_],
    ) -> "Additions":
        self.rows.extend(change, home)
        row_of.update((name, self.size + i) for i, name in enumerate(change.ids))
        more = np.ones(len(change.ids), bool)
        return Additions(self.rows, self.size + len(more), np.append(alive, more), row_of, gone)


def as_positions(gone: dict[int, Any]) -> NDArray[np.int64]:
    """Fitted positions that no longer count, shape (k,)."""
    return np.fromiter(gone, np.int64, len(gone))
