"""Letters of words as numbers: character ids, and hashed character n-grams."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pairgram.text.ragged import Ragged

MAX_LETTERS = 24
SHORTEST, LONGEST = 3, 5
BOUNDARY = 0
GOLDEN, MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)
_SHIFT = np.uint64(31)


def character_ids(words: Sequence[str], characters: str) -> Ragged:
    """Characters of each word: 1 + place in `characters`, 0 for one that is not there.

    Words are cut after 24 characters; an empty word has the one character 0.

    >>> character_ids(["ab", "b?"], "ab")[1].tolist()
    [2, 0]
    """
    codes, lengths = _codes(words, MAX_LETTERS)
    known = np.frombuffer(characters.encode("utf-32-le", "surrogatepass"), "<u4")
    place = np.searchsorted(known, codes)
    found = place < len(known)
    found[found] = known[place[found]] == codes[found]
    ids = np.where(found, place + 1, 0).astype(np.int32)
    return Ragged.from_lengths(ids, lengths)


def ngram_ids(words: Sequence[str], buckets: int) -> Ragged:
    """Hashed 3- to 5-grams of each word between two boundary marks, ids in [0, buckets).

    A word of one letter has one 3-gram; words are cut after 24 characters.
    """
    codes, lengths = _codes(words, MAX_LETTERS)
    padded, sizes = _with_boundaries(codes, lengths)
    row = np.repeat(np.arange(len(words)), sizes)
    ends = np.cumsum(sizes)
    left = np.repeat(ends, sizes) - np.arange(len(padded))  # characters from here to the end
    hashes = np.zeros(len(padded), np.uint64)
    values, rows, starts = [], [], []
    for step in range(LONGEST):
        here = np.roll(padded, -step).astype(np.uint64)
        hashes = _mix(hashes * GOLDEN + here + np.uint64(1))
        if step + 1 >= SHORTEST:
            whole = left > step
            values.append((hashes[whole] % np.uint64(buckets)).astype(np.int32))
            rows.append(row[whole])
            starts.append(np.flatnonzero(whole))
    by_row = np.lexsort((np.concatenate(starts), np.concatenate(rows)))
    counts = np.bincount(np.concatenate(rows), minlength=len(words))
    return Ragged.from_lengths(np.concatenate(values)[by_row], counts)


def _codes(words: Sequence[str], most: int) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Code points of all words end to end, and the length of each, at least 1."""
    cut = [word[:most] or "\0" for word in words]
    joined = "".join(cut).encode("utf-32-le", "surrogatepass")
    return np.frombuffer(joined, "<u4"), np.fromiter(map(len, cut), np.int64, len(cut))


def _with_boundaries(
    codes: NDArray[np.uint32], lengths: NDArray[np.int64]
) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    ends = np.cumsum(lengths)
    at = np.concatenate((ends - lengths, ends))
    padded = np.insert(codes, np.sort(at, kind="stable"), BOUNDARY)
    return padded, lengths + 2


def _mix(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    x = (x ^ (x >> _SHIFT)) * MIX
    return x ^ (x >> _SHIFT)
