"""Texts as sets of letter sequences: of words, of their endings, and across words."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairgram.text.spelling import GOLDEN, MIX

LENGTH = 7
"""Letters of a sequence; blanks count, and a text has one at either end."""
BITS = 22
"""Sequences are known by so many bits of a hash."""
READ = 2000
"""Letters of a text that are read."""
TOGETHER = 1 << 22
"""Letters that are hashed at once."""
_SHIFT = np.uint64(29)


def letter_rows(texts: Sequence[str]) -> Any:
    """Which sequences of letters each text has, sparse, ones of shape (m, 2 ** BITS).

    Capital letters count as small ones, any white space as one blank; an empty text has none.

    Examples
    --------
    >>> heart, hearts, boat = letter_rows(["Heart  attack", "heart attacks", "boat"])
    >>> bool((heart * hearts).sum() > (heart * boat).sum())
    True
    """
    from scipy.sparse import csr_array

    cut = [_evened(text) for text in texts]
    sizes = np.fromiter(map(len, cut), np.int64, len(cut))
    ends = np.cumsum(sizes)
    columns, counts = [np.empty(0, np.int32)], np.zeros(len(cut), np.int64)
    begin = 0
    while begin < len(cut):
        before = ends[begin] - sizes[begin]
        end = max(int(np.searchsorted(ends, before + TOGETHER, side="right")), begin + 1)
        row, column = _distinct(cut[begin:end], sizes[begin:end])
        counts[begin:end] = np.bincount(row, minlength=end - begin)
        columns.append(column)
        begin = end
    joined = np.concatenate(columns)
    shape = len(cut), 1 << BITS
    return csr_array(
        (np.ones(len(joined), np.int8), joined, np.append(0, np.cumsum(counts))), shape
    )


def _evened(text: str) -> str:
    words = text[:READ].lower().split()
    return f" {' '.join(words)} ".ljust(LENGTH) if words else ""


def _distinct(
    cut: Sequence[str], sizes: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Rows and numbers of the distinct sequences of some texts, by row and number."""
    joined = "".join(cut).encode("utf-32-le", "surrogatepass")
    codes = np.frombuffer(joined, "<u4").astype(np.uint64)
    count = max(len(codes) - LENGTH + 1, 0)
    hashes = np.zeros(count, np.uint64)
    for step in range(LENGTH):
        hashes = hashes * GOLDEN + codes[step : step + count]
        hashes ^= hashes >> _SHIFT
    number = ((hashes * MIX) >> np.uint64(64 - BITS)).astype(np.int64)
    row = np.repeat(np.arange(len(cut)), sizes)
    whole = row[:count] == row[len(row) - count :]
    keys = np.sort((row[:count][whole] << BITS) | number[whole])
    keys = keys[np.append(True, keys[1:] != keys[:-1])[: len(keys)]]
    return keys >> BITS, (keys & ((1 << BITS) - 1)).astype(np.int32)
