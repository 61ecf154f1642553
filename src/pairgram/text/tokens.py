"""Texts as word ids: one flat array, made once."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain

import numpy as np

from pairgram.text.cleaning import Cleaner, beginning, cutter
from pairgram.text.ragged import Ragged
from pairgram.text.stopwords import STOP_WORDS
from pairgram.text.vocabulary import Vocabulary

MAX_WORDS = 512
# A text of so many characters for each word that is kept is cut into words piece by piece.
LONG = 64


@dataclass(frozen=True, eq=False)
class Tokens:
    """Texts as word ids.

    Attributes
    ----------
    ids
        Words of each text. An id below the size of the vocabulary is a known word; the id
        size + j is the unknown word ``unknown[j]``, whose letters still count.
    unknown
        Distinct words that the vocabulary lacks, in order of first appearance.
    empty
        Texts without a word.
    cut
        Texts longer than the limit, cut there.
    """

    ids: Ragged
    unknown: tuple[str, ...]
    empty: int
    cut: int

    def __len__(self) -> int:
        return len(self.ids)


STOP = -1


class _GrowingIds(dict[str, int]):
    """Ids of the words met: a mark for stop words, the next id for every unknown word."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        super().__init__()
        self.unknown: list[str] = []
        self._known, self._size = vocabulary.ids, len(vocabulary)

    def __missing__(self, word: str) -> int:
        number = STOP if word in STOP_WORDS else self._known.get(word)
        if number is None:
            number = self._size + len(self.unknown)
            self.unknown.append(word)
        self[word] = number
        return number


def tokenize(texts: Iterable[str], vocabulary: Vocabulary, max_words: int = MAX_WORDS) -> Tokens:
    """Cut texts into words and look up their ids.

    Parameters
    ----------
    texts
        Any texts.
    vocabulary
        Known words.
    max_words
        Words of a text that are kept.

    Examples
    --------
    >>> vocabulary = Vocabulary.fit(["red apple"])
    >>> tokens = tokenize(["green apple", ""], vocabulary)
    >>> tokens.ids[0].tolist(), tokens.unknown, tokens.empty
    ([3, 1], ('green',), 1)
    """
    cut, ids = cutter(vocabulary.cleaning), _GrowingIds(vocabulary)
    long = LONG * max_words
    rows = [cut(text) if len(text) < long else _first(text, cut, max_words) for text in texts]
    values = np.fromiter(map(ids.__getitem__, chain.from_iterable(rows)), np.int32)
    row = np.repeat(np.arange(len(rows)), np.fromiter(map(len, rows), np.int64, len(rows)))
    meant = values != STOP
    values, row = values[meant], row[meant]
    lengths = np.bincount(row, minlength=len(rows))
    place = np.arange(len(values)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return Tokens(
        Ragged.from_lengths(values[place < max_words], np.minimum(lengths, max_words)),
        tuple(ids.unknown),
        int(np.count_nonzero(lengths == 0)),
        int(np.count_nonzero(lengths > max_words)),
    )


def known_words(texts: Iterable[str], vocabulary: Vocabulary, max_words: int) -> Ragged:
    """Ids of the words of each text, of its first `max_words`, that the vocabulary has.

    >>> known_words(["green apple"], Vocabulary.fit(["red apple"]), 8).values.tolist()
    [1]
    """
    words = tokenize(texts, vocabulary, max_words).ids
    known = words.values < len(vocabulary)
    row = np.repeat(np.arange(len(words)), words.lengths)[known]
    return Ragged.from_lengths(words.values[known], np.bincount(row, minlength=len(words)))


def _first(text: str, cut: Cleaner, max_words: int) -> list[str]:
    """Words of the shortest part tried that has more than are kept, or of the whole text."""
    size = LONG * max_words // 4
    while True:
        part = beginning(text, size)
        words = cut(part)
        if len(part) == len(text) or sum(word not in STOP_WORDS for word in words) > max_words:
            return words
        size *= 4
