"""Ids of a plain edge list, numbered as they come."""

import numpy as np

from pairgram.kernels.jit import njit
from pairgram.kernels.sizes import NOT_PLAIN, TABLE_FULL

_NEWLINE = 10
_SEED, _FACTOR = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)
_SHIFT = np.uint64(29)


@njit(cache=True, nogil=True, no_cfunc_wrapper=True)
def number_ids(text, begin, cut, table, places, codes):
    """Number the distinct ids of lines "a<cut>b" by first appearance; return how many there are.

    codes[2i] and codes[2i + 1] are the numbers of line i. Id c begins at places[c, 0] of the bytes
    `text` and ends before places[c, 1]. `table`, a power of two of -1, finds an id by its hash
    (FNV-1a, linear probing); it is TABLE_FULL when there is no more room in it or in `places`.
    Lines of another form make the text NOT_PLAIN.
    """
    mask = table.shape[0] - 1
    known, token, at, size = 0, 0, begin, text.shape[0]
    while at < size:
        start, code = at, _SEED
        while at < size and text[at] != cut and text[at] != _NEWLINE:
            code = (code ^ np.uint64(text[at])) * _FACTOR
            at += 1
        last = token & 1 == 1
        if at == start or (at == size and not last) or (at < size and (text[at] == cut) == last):
            return NOT_PLAIN
        slot = np.int64((code ^ code >> _SHIFT) & np.uint64(mask))
        while table[slot] >= 0 and not _same(text, places, table[slot], start, at):
            slot = (slot + 1) & mask
        if table[slot] < 0:
            if known == places.shape[0]:
                return TABLE_FULL
            places[known, 0], places[known, 1] = start, at
            table[slot] = known
            known += 1
        codes[token] = table[slot]
        token += 1
        at += 1
    return known if token & 1 == 0 else NOT_PLAIN


@njit(cache=True, nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _same(text, places, known, start, end):
    """Whether text[start:end] is the id of a number."""
    begin = places[known, 0]
    if places[known, 1] - begin != end - start:
        return False
    equal = True
    for k in range(end - start):
        equal &= text[begin + k] == text[start + k]
    return equal
