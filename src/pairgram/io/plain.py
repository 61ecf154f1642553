"""Edge lists of two plain columns, the usual case, read without Arrow, which is slow to import."""

import numpy as np
from numpy.typing import NDArray

from pairgram.io.layout import BLANKS, BOM, is_gzip
from pairgram.io.table import Source
from pairgram.kernels.ready import number_ids
from pairgram.kernels.sizes import NOT_PLAIN, TABLE_FULL

IntArray = NDArray[np.int64]

LARGEST = 1 << 31
FEWEST_SLOTS = 1 << 12


def read_plain(
    source: Source, ends: tuple[int, int]
) -> tuple[list[str], IntArray, IntArray] | None:
    """Distinct ids by first appearance, and both ends of every line as positions in them.

    None where the file is more than lines of two filled cells: compressed, quoted, with blank
    lines or other columns, or not UTF-8. The other reader takes these, and words their errors.
    """
    layout = source.layout
    if layout is None or ends != (0, 1) or source.width != 2 or layout.delimiter == BLANKS:
        return None
    if source.path.stat().st_size > LARGEST or is_gzip(source.path):
        return None
    data = source.path.read_bytes()
    if b"\r" in data or (layout.quoted and b'"' in data):
        return None
    begin = len(BOM) if data.startswith(BOM) else 0
    for _ in range(layout.skip):
        begin = data.find(b"\n", begin) + 1
    numbered = _number(data, begin, ord(layout.delimiter))
    if numbered is None:
        return None
    places, codes = numbered
    try:
        names = [data[a:b].decode() for a, b in places.tolist()]
    except UnicodeDecodeError:
        return None
    return names, codes[0::2].copy(), codes[1::2].copy()


def _number(data: bytes, begin: int, cut: int) -> tuple[IntArray, IntArray] | None:
    """Where the distinct ids stand, shape (n, 2), and the numbers of all, shape (2 lines,)."""
    text = np.frombuffer(data, np.uint8)
    most = 2 * (data.count(b"\n", begin) + 1)
    codes = np.empty(most, np.int64)
    slots = FEWEST_SLOTS
    while slots < most // 4:
        slots *= 2
    while True:
        table, places = np.full(slots, -1, np.int32), np.empty((slots // 2, 2), np.int64)
        known = number_ids(text, begin, cut, table, places, codes)
        if known != TABLE_FULL:
            break
        slots *= 4
    if known in (NOT_PLAIN, 0):
        return None
    lines = most // 2 - (1 if data.endswith(b"\n") else 0)
    return places[:known], codes[: 2 * lines]
