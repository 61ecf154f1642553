"""Bag of words: the mean of word vectors under learned weights."""

from collections.abc import Sequence

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from numpy.typing import NDArray
from torch import Tensor, nn

from pairgram.text.encoders.base import Arrays, Batch, Encoder, Plan, Texts
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

    def round_words(self) -> None:
        """Round the table, most of the encoder's bytes, to half precision."""
        with torch.no_grad():
            self.table.weight.copy_(self.table.weight.half())

    def spell(self, words: Sequence[str]) -> Ragged:
        """Hashed n-grams of words."""
        return ngram_ids(words, self.buckets)

    def plan(self, texts: Texts) -> Plan:
        """Known words, and the n-grams of the others, text by text."""
        words = texts.words
        unknown = words.values >= self.size
        if texts.dropped is not None:
            unknown = unknown | texts.dropped
        if self.without_char:
            known, spelled = Ragged(np.where(unknown, 0, words.values), words.offsets), None
        elif self.without_word:
            known, spelled = None, words
        else:
            known, spelled = words.keep(~unknown), words.keep(unknown) if unknown.any() else None
        arrays: Arrays = {}
        if spelled is not None:
            arrays |= self._grams(spelled, texts.spelling)
        if known is not None:
            arrays |= {"words": known.values.astype(np.int64), "word_offsets": known.offsets}
        read = [arrays[name] for name in ("words", "grams") if name in arrays]
        return Plan(arrays, reads={"table.weight": np.concatenate(read)})

    def _grams(self, words: Ragged, spelling: Ragged) -> Arrays:
        grams = spelling.take(words.values.astype(np.int64))
        size = grams.lengths
        return {
            "grams": grams.values.astype(np.int64) + self.size,
            "gram_offsets": grams.offsets[words.offsets],
            "gram_shares": np.repeat(np.float32(1) / size.astype(np.float32), size),
            "spelled": words.lengths,
        }

    def forward(self, batch: Batch) -> Tensor:
        """Vectors of texts, shape (b, dim)."""
        given, parts = batch.arrays, []
        if "words" in given:
            parts.append(self._known(given["words"], given["word_offsets"]))
        if "grams" in given:
            # By their n-grams, all under the weight of <unk>.
            unknown = self.log_weight[0].exp()
            total = self._sum(given["grams"], given["gram_offsets"], given["gram_shares"])
            parts.append((total * unknown, given["spelled"] * unknown))
        totals, masses = zip(*parts, strict=True)
        mass = sum(masses[1:], masses[0])
        mean = sum(totals[1:], totals[0]) / mass.clamp_min(1e-9)[:, None]  # (b, word_dim)
        vectors: Tensor = self.project(mean)
        return vectors

    def _known(self, words: Tensor, offsets: Tensor) -> tuple[Tensor, Tensor]:
        """Weighted sum of word vectors, (b, word_dim), and of the weights, (b,)."""
        weight = F.embedding(words, self.log_weight[:, None]).squeeze(1).exp()
        return self._sum(words, offsets, weight), _segment_sum(weight, offsets)

    def _sum(self, rows: Tensor, offsets: Tensor, weight: Tensor) -> Tensor:
        return F.embedding_bag(
            rows, self.table.weight, offsets[:-1], mode="sum",
            per_sample_weights=weight, sparse=self.table.sparse,
        )  # fmt: skip


def _segment_sum(values: Tensor, offsets: Tensor) -> Tensor:
    index = torch.arange(len(values), device=values.device)
    return F.embedding_bag(index, values[:, None], offsets[:-1], mode="sum").squeeze(1)
