"""Rows of unequal length in one flat array."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

MARKED_AT_MOST = 16
"""Marks are quicker than sorting while there are not more of them than so many for each id."""


@dataclass(frozen=True, eq=False)
class Ragged:
    """Row i is ``values[offsets[i] : offsets[i + 1]]``.

    Attributes
    ----------
    values
        All rows end to end, int32, shape (total,).
    offsets
        Where rows begin, int64, shape (rows + 1,).

    Examples
    --------
    >>> rows = Ragged.from_lengths(np.array([5, 6, 7], np.int32), [2, 0, 1])
    >>> [rows[i].tolist() for i in range(len(rows))]
    [[5, 6], [], [7]]
    """

    values: NDArray[np.int32]
    offsets: NDArray[np.int64]

    @classmethod
    def from_lengths(
        cls, values: NDArray[np.int32], lengths: Iterable[int] | NDArray[np.int64]
    ) -> "Ragged":
        """Rows of the given lengths."""
        # An array would be walked through one by one.
        sizes = lengths if isinstance(lengths, np.ndarray) else np.fromiter(lengths, np.int64)
        offsets = np.zeros(len(sizes) + 1, np.int64)
        np.cumsum(sizes, out=offsets[1:])
        return cls(values, offsets)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Length of each row, shape (rows,)."""
        return np.diff(self.offsets)

    def take(self, rows: NDArray[np.int64]) -> "Ragged":
        """Return the given rows, in their order."""
        lengths = self.lengths[rows]
        ends = np.cumsum(lengths)
        place = np.arange(int(lengths.sum())) - np.repeat(ends - lengths, lengths)
        values = self.values[np.repeat(self.offsets[rows], lengths) + place]
        return Ragged.from_lengths(values, lengths)

    def keep(self, mask: NDArray[np.bool_]) -> "Ragged":
        """Return all rows with the values of a mask, shape (total,), only."""
        before = np.concatenate(([0], np.cumsum(mask)))
        return Ragged(self.values[mask], before[self.offsets])

    def join(self, more: "Ragged") -> "Ragged":
        """Return these rows and then `more`."""
        offsets = np.concatenate((self.offsets, more.offsets[1:] + self.offsets[-1]))
        return Ragged(np.concatenate((self.values, more.values)), offsets)

    def join_some(self, wanted: NDArray[np.int64], more: "Ragged") -> "Ragged":
        """Return what `join` does with all of these rows empty but the wanted ones, ascending."""
        some = self.take(wanted)
        lengths = np.zeros(len(self) + len(more), np.int64)
        lengths[wanted], lengths[len(self) :] = some.lengths, more.lengths
        return Ragged.from_lengths(np.concatenate((some.values, more.values)), lengths)

    def __getitem__(self, row: int) -> NDArray[np.int32]:
        return self.values[self.offsets[row] : self.offsets[row + 1]]

    def __len__(self) -> int:
        return len(self.offsets) - 1


def distinct(ids: NDArray[np.int64], count: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the distinct ids, all below `count`, ascending, and where each id is among them.

    >>> [part.tolist() for part in distinct(np.array([7, 2, 7]), 9)]
    [[2, 7], [1, 0, 1]]
    """
    if count > MARKED_AT_MOST * len(ids):
        found, place = np.unique(ids, return_inverse=True)
        return found, place
    met = np.zeros(count, bool)
    met[ids] = True
    return np.flatnonzero(met), (np.cumsum(met) - 1)[ids]
