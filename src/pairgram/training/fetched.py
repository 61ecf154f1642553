"""Tables that workers hold, as last fetched: in files, so that no machine needs the memory."""

import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Table = NDArray[np.float32]


class Rows(NamedTuple):
    """Rows of a part: the number of the first, centres, and contexts unless they are the same."""

    first: int
    center: Table
    context: Table | None


class FetchedTables:
    """The latest of the tables that were written whole.

    A file loses its name when it is mapped and goes with the map, however the process ends.

    Parameters
    ----------
    shape
        Shape of a table.

    Examples
    --------
    >>> with FetchedTables((2, 3)) as fetched:
    ...     center, context = fetched.write([Rows(0, np.ones((2, 3), np.float32), None)])
    ...     float(center.sum()), context is center
    (6.0, True)
    """

    def __init__(self, shape: tuple[int, int]) -> None:
        self._shape = shape
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._writes = 0

    def __enter__(self) -> "FetchedTables":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def write(self, parts: Iterable[Rows]) -> tuple[Table, Table]:
        """Write rows in any order; give the tables, mapped: one where no part has contexts."""
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="pairgram-")
        self._writes += 1
        files = [Path(self._folder.name) / f"{name}-{self._writes}" for name in ("e", "c")]
        try:
            two = self._fill(files, parts)
            center = self._mapped(files[0])
            return center, self._mapped(files[1]) if two else center
        finally:
            for file in files:
                file.unlink(missing_ok=True)

    def close(self) -> None:
        """Remove the folder; what is still mapped can be read until it is let go."""
        if self._folder is not None:
            self._folder.cleanup()
        self._folder = None

    def _fill(self, files: list[Path], parts: Iterable[Rows]) -> bool:
        """Write the two files; return whether there are contexts."""
        two = False
        with files[0].open("wb") as center, files[1].open("wb") as context:
            for part in parts:
                place = 4 * part.first * self._shape[1]
                for file, rows in ((center, part.center), (context, part.context)):
                    if rows is not None:
                        file.seek(place)
                        file.write(np.ascontiguousarray(rows).data)
                two = two or part.context is not None
        return two

    def _mapped(self, file: Path) -> Table:
        return np.asarray(np.memmap(file, np.float32, "r", shape=self._shape))
