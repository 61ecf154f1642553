"""Texts that stand on both sides of a node split: new nodes whose text training knows already."""

import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from pairgram.split import Split

NEAR = 0.95  # share of common shingles from which two texts are near-identical
BLOCK = 1 << 16

Mask = NDArray[np.bool_]
Ints = NDArray[np.int64]


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
    known = list(words_of(split.train.texts))
    new = list(words_of(texts[node] for node in split.new.tolist()))
    trained = set(map(" ".join, known))
    exact = np.array([bool(words) and " ".join(words) in trained for words in new], dtype=bool)
    pairs = near_pairs(shingles([*new, *known]), len(new))
    near = none.copy()
    near[pairs[:, 0]] = True
    return Repeats(exact, near & ~exact)


def words_of(texts: Iterable[str]) -> Iterator[list[str]]:
    """Letters and digits in one case, cut where anything else stands.

    >>> list(words_of(["Type-2  Diabetes."]))
    [['type', '2', 'diabetes']]
    """
    for text in texts:
        plain = text if text.isascii() else unicodedata.normalize("NFKC", text)
        folded = plain.casefold()
        if not folded.isalnum():
            strange = {ord(c): " " for c in set(folded) if not c.isalnum()}
            folded = folded.translate(strange)
        yield folded.split()


@dataclass(frozen=True, eq=False)
class Shingles:
    """Sets of numbered word pairs, the rarest of a text first.

    Attributes
    ----------
    rank
        Rarity of the pairs of all texts one after the other, ascending in a text, shape (s,).
    ends
        Where the pairs of each text begin and end, shape (m + 1,).
    """

    rank: Ints
    ends: Ints

    @property
    def size(self) -> Ints:
        """Number of pairs of every text, shape (m,)."""
        return np.diff(self.ends)


def shingles(texts: list[list[str]]) -> Shingles:
    """Runs of two words of every text, each once; the word itself where there is but one."""
    number: dict[str, int] = {}
    flat = [number.setdefault(word, len(number)) for word in chain.from_iterable(texts)]
    words = np.array(flat, dtype=np.int64)
    length = np.array([len(text) for text in texts], dtype=np.int64)
    text = np.repeat(np.arange(len(texts)), length)
    # A pair is two words of one text; a lone word is paired with none.
    inside = np.append(text[1:] == text[:-1], False) if len(text) else np.zeros(0, dtype=bool)
    lone = (length == 1)[text]
    following = np.append(words[1:], 0) if len(words) else words
    key = words * (len(number) + 1) + np.where(lone, len(number), following)
    return _by_rarity(text[inside | lone], key[inside | lone], len(texts))


def near_pairs(sets: Shingles, first: int | None = None) -> Ints:
    """Pairs (a, b) of near-identical sets, a < first <= b, each once; shape (p, 2).

    Without `first` all pairs a < b.

    Exact, by the prefix filter: of two sets with a Jaccard similarity of at least t, ordered alike,
    one of the first |A| - ceil(t |A|) + 1 members of A is among the same prefix of B.

    References
    ----------
    Chaudhuri, Ganti, Kaushik: A Primitive Operator for Similarity Joins in Data Cleaning, 2006.
    """
    size = sets.size
    reach = np.where(size > 0, size - np.ceil(NEAR * size).astype(np.int64) + 1, 0)
    owner = np.repeat(np.arange(len(size)), reach)
    offset = np.arange(len(owner)) - (np.cumsum(reach) - reach)[owner]
    member = sets.rank[sets.ends[owner] + offset]
    met = _meetings(owner, member, first)
    small, large = np.sort(size[met], axis=1).T
    met = met[small >= NEAR * large]
    distinct = np.unique(met[:, 0] * len(size) + met[:, 1])
    found = np.stack(np.divmod(distinct, max(len(size), 1)), axis=1)
    common = _common(sets, found)
    near: Ints = found[common >= NEAR * (size[found].sum(axis=1) - common)]
    return near


def _common(sets: Shingles, pairs: Ints) -> Ints:
    """How many members the two sets of each pair share, shape (p,)."""
    top = int(sets.rank.max(initial=0)) + 1
    # Ascending, as the members of a set are.
    every = np.repeat(np.arange(len(sets.size)), sets.size) * top + sets.rank
    common = np.zeros(len(pairs), dtype=np.int64)
    for begin in range(0, len(pairs), BLOCK):
        one, two = pairs[begin : begin + BLOCK].T
        count = sets.size[one]
        pair = np.repeat(np.arange(len(one)), count)
        offset = np.arange(len(pair)) - (np.cumsum(count) - count)[pair]
        wanted = two[pair] * top + sets.rank[sets.ends[one][pair] + offset]
        place = np.minimum(np.searchsorted(every, wanted), len(every) - 1)
        common[begin : begin + BLOCK] = np.bincount(
            pair[every[place] == wanted], minlength=len(one)
        )
    return common


def _by_rarity(text: Ints, key: Ints, count: int) -> Shingles:
    _, shared, uses = np.unique(key, return_inverse=True, return_counts=True)
    rarity = np.empty(len(uses), dtype=np.int64)
    rarity[np.argsort(uses, kind="stable")] = np.arange(len(uses))
    distinct = np.unique(text * max(len(uses), 1) + rarity[shared])
    owner, rank = distinct // max(len(uses), 1), distinct % max(len(uses), 1)
    return Shingles(rank, np.searchsorted(owner, np.arange(count + 1)))


def _meetings(owner: Ints, member: Ints, first: int | None) -> Ints:
    """Pairs of an owner under `first` and one from it on that have a member in common."""
    every = np.ones(len(owner), dtype=bool)
    left, right = (every, every) if first is None else (owner < first, owner >= first)
    order = np.argsort(member[right], kind="stable")
    members, others = member[right][order], owner[right][order]
    begin = np.searchsorted(members, member[left], side="left")
    end = np.searchsorted(members, member[left], side="right")
    many = end - begin
    one = np.repeat(owner[left], many)
    spot = np.arange(len(one)) - np.repeat(np.cumsum(many) - many, many) + np.repeat(begin, many)
    two = others[spot]
    return np.stack([one[one < two], two[one < two]], axis=1)
