"""Bag of words: the mean of word vectors under learned weights."""

from collections.abc import Sequence

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from numpy.typing import NDArray
from torch import Tensor, nn

from pairgram.text.encoders.base import Batch, Encoder, Rows
from pairgram.text.ragged import Ragged
from pairgram.text.spelling import ngram_ids

BUCKETS = 1 << 15


class BagEncoder(Encoder):
    """e = W·Σ a_w v_w / Σ a_w + b over the words w of a text, a_w > 0 learned.

    An unknown word has the mean vector of its hashed character n-grams and the weight of <unk>.

    Parameters
    ----------
    idf
        Rarity of each word, where the weights start, shape (V,).
    dim
        Length of a text's vector.
    word_dim
        Length of a word's vector; equal to `dim`, there is no W and no b.
    without_char
        Unknown words are <unk>, whatever their letters.
    without_word
        All words are their n-grams, under equal weights.
    buckets
        Rows for hashed n-grams.
    """

    def __init__(
        self,
        idf: NDArray[np.float32],
        dim: int,
        word_dim: int,
        without_char: bool = False,
        without_word: bool = False,
        buckets: int = BUCKETS,
    ) -> None:
        super().__init__()
        self.size, self.dim, self.buckets = len(idf), dim, buckets
        self.without_char, self.without_word = without_char, without_word
        rows = self.size + (0 if without_char else buckets)
        self.table = nn.Embedding(rows, word_dim, sparse=True)
        nn.init.uniform_(self.table.weight, -0.5 / word_dim**0.5, 0.5 / word_dim**0.5)
        self.log_weight = nn.Parameter(torch.from_numpy(np.log(idf)))
        self.project = nn.Identity() if word_dim == dim else nn.Linear(word_dim, dim)

    def word_table(self) -> Tensor:
        """The table whose first `size` rows are the word vectors."""
        return self.table.weight

    def spell(self, words: Sequence[str]) -> Ragged:
        """Hashed n-grams of words."""
        return ngram_ids(words, self.buckets)

    def forward(self, batch: Batch) -> Tensor:
        """Vectors of texts, shape (b, dim)."""
        words = batch.words
        unknown = words.values >= self.size
        if batch.dropped is not None:
            unknown = unknown | batch.dropped
        if self.without_char:
            ids = words.values.masked_fill(unknown, 0)
            total, mass = self._known(Rows(ids, words.offsets))
        elif self.without_word:
            total, mass = self._spelled(words, batch.spelling)
        else:
            total, mass = self._known(words.keep(~unknown))
            if bool(unknown.any()):
                more, weight = self._spelled(words.keep(unknown), batch.spelling)
                total, mass = total + more, mass + weight
        mean = total / mass.clamp_min(1e-9)[:, None]  # (b, word_dim)
        vectors: Tensor = self.project(mean)
        return vectors

    def _known(self, words: Rows) -> tuple[Tensor, Tensor]:
        """Weighted sum of word vectors, (b, word_dim), and of the weights, (b,)."""
        weight = F.embedding(words.values, self.log_weight[:, None]).squeeze(1).exp()
        return self._sum(words, weight), _segment_sum(weight, words.offsets)

    def _spelled(self, words: Rows, spelling: Rows) -> tuple[Tensor, Tensor]:
        """Return the same for words by their n-grams, all under the weight of <unk>."""
        grams = spelling.take(words.values)
        size = grams.lengths
        by_text = Rows(grams.values + self.size, grams.offsets[words.offsets])
        unknown = self.log_weight[0].exp()
        share = torch.repeat_interleave(1.0 / size, size) * unknown
        return self._sum(by_text, share), words.lengths * unknown

    def _sum(self, rows: Rows, weight: Tensor) -> Tensor:
        return F.embedding_bag(
            rows.values, self.table.weight, rows.offsets[:-1], mode="sum",
            per_sample_weights=weight, sparse=self.table.sparse,
        )  # fmt: skip


def _segment_sum(values: Tensor, offsets: Tensor) -> Tensor:
    index = torch.arange(len(values), device=values.device)
    return F.embedding_bag(index, values[:, None], offsets[:-1], mode="sum").squeeze(1)
