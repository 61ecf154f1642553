"""Words and characters of the training texts, with counts."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairgram.errors import InputError
from pairgram.text.cleaning import CLEANINGS, Cleaner, cleaner

UNKNOWN = "<unk>"


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """What training has seen of words; a word's id is its place in `words`.

    Attributes
    ----------
    cleaning
        How texts are cut into words.
    words
        ``<unk>`` first, then words by falling count, ties in order of the alphabet.
    counts
        How often each word occurs; of ``<unk>``, all rarer words together, shape (V,).
    documents
        In how many texts each word occurs, shape (V,).
    characters
        Distinct characters of all words, rarer ones too, in order of the alphabet.
    n_texts
        Texts that it was fitted on.
    n_distinct
        Distinct words met, those too rare for an id too.

    Examples
    --------
    >>> vocabulary = Vocabulary.fit(["red apple", "red boat"], min_count=2)
    >>> vocabulary.words, vocabulary.counts.tolist()
    (('<unk>', 'red'), [2, 2])
    """

    cleaning: str
    words: tuple[str, ...]
    counts: NDArray[np.int64]
    documents: NDArray[np.int64]
    characters: str
    n_texts: int
    n_distinct: int

    @classmethod
    def fit(cls, texts: Iterable[str], cleaning: str = "words", min_count: int = 1) -> "Vocabulary":
        """Count the words of texts; words rarer than `min_count` share ``<unk>``."""
        cut, counts, documents, n_texts = cleaner(cleaning), Counter[str](), Counter[str](), 0
        rare_texts = 0
        for text in texts:
            words = cut(text)
            counts.update(words)
            documents.update(set(words))
            n_texts += 1
        kept = sorted(
            (word for word, count in counts.items() if count >= min_count),
            key=lambda word: (-counts[word], word),
        )
        rare = counts.total() - sum(counts[word] for word in kept)
        rare_texts = min(n_texts, documents.total() - sum(documents[word] for word in kept))
        return cls(
            cleaning,
            (UNKNOWN, *kept),
            np.array([rare, *(counts[word] for word in kept)], np.int64),
            np.array([rare_texts, *(documents[word] for word in kept)], np.int64),
            "".join(sorted(set(chain.from_iterable(counts)))),
            n_texts,
            len(counts),
        )

    @cached_property
    def ids(self) -> dict[str, int]:
        """Id of every word but ``<unk>``, which a text cannot name."""
        return {word: number for number, word in enumerate(self.words) if number}

    @property
    def cut(self) -> Cleaner:
        """The function that cuts a text into words."""
        return cleaner(self.cleaning)

    @property
    def idf(self) -> NDArray[np.float32]:
        """Rarity log((1 + texts) / (1 + texts with the word)) + 1, shape (V,)."""
        rarity = np.log((1 + self.n_texts) / (1 + self.documents)) + 1
        return rarity.astype(np.float32)

    @property
    def fingerprints(self) -> dict[str, str]:
        """Sha256 of the words with their counts, and of the document frequencies."""
        words = "\n".join((self.cleaning, *self.words, self.characters)).encode()
        return {
            "vocabulary": hashlib.sha256(words + self.counts.tobytes()).hexdigest(),
            "document frequencies": hashlib.sha256(
                f"{self.n_texts}".encode() + self.documents.tobytes()
            ).hexdigest(),
        }

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object that `from_json` reads."""
        return {
            "cleaning": self.cleaning,
            "words": list(self.words),
            "counts": self.counts.tolist(),
            "documents": self.documents.tolist(),
            "characters": self.characters,
            "n_texts": self.n_texts,
            "n_distinct": self.n_distinct,
        }

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "Vocabulary":
        """Read what `to_json` made; anything else raises `InputError`."""
        try:
            made = cls(
                content["cleaning"],
                tuple(content["words"]),
                np.array(content["counts"], np.int64),
                np.array(content["documents"], np.int64),
                content["characters"],
                content["n_texts"],
                content["n_distinct"],
            )
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"The vocabulary is damaged: {error!r}.") from None
        sizes = {len(made.words), len(made.counts), len(made.documents)}
        if made.cleaning not in CLEANINGS or made.words[:1] != (UNKNOWN,) or len(sizes) != 1:
            raise InputError("The vocabulary is damaged: its parts do not fit together.")
        return made

    def __len__(self) -> int:
        return len(self.words)
