"""Memory of a worker's rows: in large pages where there are any, and let go part by part."""

import mmap
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

Table = NDArray[np.float32]


class Room:
    """Memory for a table, begun with a page, all zeros.

    Rows that are read at random miss fewer addresses in large pages, and NumPy asks for those only
    where one array has several megabytes, which a part has not.

    Parameters
    ----------
    rows, width
        Shape of the table.

    Examples
    --------
    >>> room = Room(1000, 32)
    >>> room.table[:] = 1
    >>> room.let_go(0, 1000)
    >>> room.table.shape
    (1000, 32)
    """

    def __init__(self, rows: int, width: int) -> None:
        size = rows * width * np.dtype(np.float32).itemsize
        # Private: shared memory would have small pages, and stay when it is let go.
        self._memory = mmap.mmap(-1, max(size, 1), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        self._advise("MADV_HUGEPAGE", 0, len(self._memory))
        self.table: Table = np.frombuffer(self._memory, np.float32, rows * width).reshape(
            rows, width
        )

    def let_go(self, first: int, end: int) -> None:
        """Give the memory of rows first .. end - 1 back; what they held is lost."""
        row = self.table.strides[0]
        # Whole pages only: those at the ends also hold rows of others.
        low = -(-first * row // mmap.PAGESIZE) * mmap.PAGESIZE
        high = end * row // mmap.PAGESIZE * mmap.PAGESIZE
        if low < high:
            self._advise("MADV_DONTNEED", low, high - low)

    def _advise(self, wish: str, begin: int, size: int) -> None:
        """Tell the system, where Python and the kernel know the wish."""
        known: Any = getattr(mmap, wish, None)
        if known is not None:
            with suppress(OSError):
                self._memory.madvise(known, begin, size)
