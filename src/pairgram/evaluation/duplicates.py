"""Texts that stand on both sides of a node split: new nodes whose text training knows already."""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairgram.split import Split

NEAR = 0.95  # share of common shingles from which two texts are near-identical
_SHINGLE = 2

Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Repeats:
    """Held-out nodes whose text a training node has, h of them.

    Attributes
    ----------
    exact
        Whether it has the same text, letter case, punctuation and blanks ignored, shape (h,).
    near
        Whether it has a near-identical text and none the same, shape (h,).
    """

    exact: Mask
    near: Mask

    @property
    def any(self) -> Mask:
        """Either of them, shape (h,)."""
        return self.exact | self.near

    @property
    def counts(self) -> dict[str, int]:
        """How many there are of each."""
        return {"repeated_texts": int(self.exact.sum()), "near_texts": int(self.near.sum())}


def find_repeats(split: Split) -> Repeats:
    """Held-out nodes whose text, or nearly, is a training node's; empty texts repeat nothing.

    Near-identical are texts whose sets of word pairs have a Jaccard similarity of at least 0.95:
    names of concepts are often told apart by one word, and those are different texts.
    """
    none = np.zeros(len(split.new), dtype=bool)
    if split.full.texts is None or split.train.texts is None:
        return Repeats(none, none)
    texts = split.full.texts
    known = list(_words_of(split.train.texts))
    new = list(_words_of(texts[node] for node in split.new.tolist()))
    trained = set(map(tuple, known))
    exact = np.array([bool(words) and tuple(words) in trained for words in new], dtype=bool)
    return Repeats(exact, _near(new, known) & ~exact)


def _words_of(texts: Iterable[str]) -> Iterable[list[str]]:
    """Letters and digits in one case, cut where anything else stands.

    >>> list(_words_of(["Type-2  Diabetes."]))
    [['type', '2', 'diabetes']]
    """
    for text in texts:
        plain = text if text.isascii() else unicodedata.normalize("NFKC", text)
        folded = plain.casefold()
        if not folded.isalnum():
            strange = {ord(c): " " for c in set(folded) if not c.isalnum()}
            folded = folded.translate(strange)
        yield folded.split()


def _near(new: Sequence[list[str]], known: Sequence[list[str]]) -> Mask:
    """Whether any known text shares enough of its shingles with each new one, shape (h,)."""
    from scipy.sparse import csr_array

    number: dict[tuple[str, ...], int] = {}
    rows = [{number.setdefault(s, len(number)) for s in _shingles(words)} for words in new]
    sets = [_shingles(words) for words in known]
    columns = [[number[s] for s in found if s in number] for found in sets]
    width = max(len(number), 1)
    common = csr_array(_incidence(rows, width) @ _incidence(columns, width).T)
    size_new = np.array([len(row) for row in rows])
    size_known = np.array([len(found) for found in sets])
    row = np.repeat(np.arange(len(new)), np.diff(common.indptr))
    union = size_new[row] + size_known[common.indices] - common.data
    near = np.zeros(len(new), dtype=bool)
    near[row[common.data >= NEAR * union]] = True
    return near


def _shingles(words: list[str]) -> set[tuple[str, ...]]:
    """Runs of two words; the word itself where there is but one."""
    if len(words) == 1:
        return {tuple(words)}
    return set(zip(*(words[i:] for i in range(_SHINGLE)), strict=False))


def _incidence(sets: Sequence[Iterable[int]], width: int) -> Any:
    """Ones where a set has a number, sparse, shape (m, width)."""
    from scipy.sparse import csr_array

    listed = [sorted(found) for found in sets]
    ends = np.cumsum([0, *map(len, listed)])
    numbers = np.fromiter((n for found in listed for n in found), np.int64, ends[-1])
    return csr_array((np.ones(len(numbers)), numbers, ends), shape=(len(listed), width))
