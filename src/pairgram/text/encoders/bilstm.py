"""The paper's encoder: a BiLSTM over characters inside a BiLSTM over words."""

from collections.abc import Sequence

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from pairgram.text.encoders.base import Batch, Encoder, Rows
from pairgram.text.ragged import Ragged
from pairgram.text.spelling import character_ids

FEATURE_BLOCK = 1 << 14


class BiLstmEncoder(Encoder):
    """e = tanh(W·h + b), h the mean output of BiLSTM([e^w ; e^w']) over the words of a text.

    e^w is a word's own vector (that of <unk> for an unknown word), e^w' = BiLSTM over its
    characters, the last states of both directions.

    Parameters
    ----------
    size
        Words of the vocabulary.
    characters
        Known characters.
    dim
        Length of a text's vector.
    word_dim, char_dim
        Lengths of a word's and a character's vector; e^w' is twice as long as the latter.
    without_char, without_word
        Leave e^w' or e^w out.
    """

    def __init__(
        self,
        size: int,
        characters: str,
        dim: int,
        word_dim: int,
        char_dim: int,
        without_char: bool = False,
        without_word: bool = False,
    ) -> None:
        super().__init__()
        self.size, self.characters, self.dim = size, characters, dim
        self.without_char, self.without_word = without_char, without_word
        width = 0
        if not without_word:
            self.word = nn.Embedding(size, word_dim, sparse=True)
            nn.init.normal_(self.word.weight, std=word_dim**-0.5)
            width += word_dim
        if not without_char:
            self.char = nn.Embedding(len(characters) + 1, char_dim)
            self.char_lstm = nn.LSTM(char_dim, char_dim, bidirectional=True)
            width += 2 * char_dim
        hidden = max(1, dim // 2)
        self.word_lstm = nn.LSTM(width, hidden, bidirectional=True)
        self.project = nn.Linear(2 * hidden, dim)

    def word_table(self) -> Tensor:
        """The table of word vectors, shape (V, word_dim)."""
        return self.word.weight

    def spell(self, words: Sequence[str]) -> Ragged:
        """Characters of words."""
        return character_ids(words, self.characters)

    def features(self, spelling: Rows) -> Tensor | None:
        """e^w' of every word, shape (words, 2 char_dim)."""
        if self.without_char:
            return None
        count, device = len(spelling.offsets) - 1, spelling.offsets.device
        blocks = [
            self._spelled(spelling.take(torch.arange(b, min(b + FEATURE_BLOCK, count)).to(device)))
            for b in range(0, count, FEATURE_BLOCK)
        ]
        return torch.cat(blocks)

    def forward(self, batch: Batch) -> Tensor:
        """Vectors of texts, shape (b, dim)."""
        ids = batch.words.values
        parts = []
        if not self.without_word:
            unknown = ids >= self.size
            if batch.dropped is not None:
                unknown = unknown | batch.dropped
            parts.append(self.word(ids.masked_fill(unknown, 0)))
        if not self.without_char:
            parts.append(self._characters(ids, batch))
        x = torch.cat(parts, 1)  # (total, width)
        if len(ids) == 0:
            mean = x.new_zeros(len(batch.words.offsets) - 1, self.project.in_features)
        else:
            packed, order = _pack(x, batch.words)
            states, _ = self.word_lstm(packed)
            # Row order[i] of the words is row i of the states.
            place = torch.empty_like(order)
            place[order] = torch.arange(len(order), device=order.device)
            mean = F.embedding_bag(place, states.data, batch.words.offsets[:-1], mode="mean")
        vectors: Tensor = torch.tanh(self.project(mean))
        return vectors

    def _characters(self, ids: Tensor, batch: Batch) -> Tensor:
        """e^w' of each word, shape (total, 2 char_dim), worked out once a distinct word."""
        if batch.features is not None:
            return F.embedding(ids, batch.features)
        distinct, inverse = torch.unique(ids, return_inverse=True)
        return F.embedding(inverse, self._spelled(batch.spelling.take(distinct)))

    def _spelled(self, spelling: Rows) -> Tensor:
        if len(spelling.offsets) == 1:
            return self.char.weight.new_zeros(0, 2 * self.char.embedding_dim)
        longest_first = torch.argsort(spelling.lengths, descending=True, stable=True)
        packed, _ = _pack(self.char(spelling.values), spelling)
        _, (last, _) = self.char_lstm(packed)  # (2, words, char_dim), longest first
        both = last.transpose(0, 1).flatten(1)
        return F.embedding(torch.argsort(longest_first), both)


def _pack(x: Tensor, rows: Rows) -> tuple[PackedSequence, Tensor]:
    """Rows of vectors, (total, width), as the recurrent layers want them, without padding.

    Returns also which row of `x` each row of the packed data is. Empty rows take no part; the
    sequences come longest first, equal ones in their order.
    """
    lengths = rows.lengths
    rank = torch.argsort(torch.argsort(lengths, descending=True, stable=True))
    place = torch.arange(len(x), device=x.device) - torch.repeat_interleave(
        rows.offsets[:-1], lengths
    )
    order = torch.argsort(place * len(lengths) + torch.repeat_interleave(rank, lengths))
    return PackedSequence(F.embedding(order, x), torch.bincount(place).cpu()), order
