"""Paragraph vectors: a document's vector foretells its words (PV-DBOW)."""

import numpy as np
from numpy.typing import NDArray

from pairgram.engine import Engine
from pairgram.text.ragged import Ragged
from pairgram.training.blocks import Span
from pairgram.training.partition import Partition
from pairgram.training.sources import IntArray, chunk_pairs


class DocumentWords:
    """Pairs of a document and each of its words: skip-gram on them is PV-DBOW.

    Documents and words are numbered together, the n documents first.

    Parameters
    ----------
    words
        Word ids of each document, all below `n_words`.
    n_words
        Size of the vocabulary.
    size
        About how many pairs a chunk holds; None for `chunk_pairs`.

    References
    ----------
    Le, Mikolov, "Distributed Representations of Sentences and Documents", ICML 2014, section 2.3.
    """

    def __init__(self, words: Ragged, n_words: int, size: int | None = None) -> None:
        self.words, self.n_words = words, n_words
        wanted = chunk_pairs(len(words)) if size is None else size
        self.chunks = max(1, -(-len(words.values) // max(wanted, 1)))

    @property
    def frequency(self) -> NDArray[np.int64]:
        """How often each is a context: none of the documents, (n + n_words,)."""
        counts = np.bincount(self.words.values, minlength=self.n_words)
        return np.concatenate((np.zeros(len(self.words), np.int64), counts))

    def chunk(
        self, k: int, parts: Partition, engine: Engine, span: Span | None = None
    ) -> tuple[IntArray, IntArray]:
        """Pairs of the documents whose place in the random order is k modulo the chunks."""
        n = len(self.words)
        documents = parts.node[parts.node < n][k :: self.chunks]
        if span is not None:
            number = parts.number[documents]
            documents = documents[(number >= span[0]) & (number < span[1])]
        words = self.words.take(documents)
        center = np.repeat(parts.number[documents], words.lengths)
        return center, parts.number[n + words.values]
