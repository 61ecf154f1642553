"""The paper's encoder: a BiLSTM over characters inside a BiLSTM over words."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from pairgram.text.encoders.base import Arrays, Batch, Encoder, Plan, Texts
from pairgram.text.encoders.device import to_device
from pairgram.text.ragged import Ragged, distinct
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

    @property
    def has_features(self) -> bool:
        """Whether characters are read."""
        return not self.without_char

    def features(self, spelling: Ragged, device: Any = "cpu") -> Tensor | None:
        """e^w' of every word, shape (words, 2 char_dim)."""
        if self.without_char:
            return None
        blocks = []
        for begin in range(0, len(spelling), FEATURE_BLOCK):
            rows = np.arange(begin, min(begin + FEATURE_BLOCK, len(spelling)))
            arrays, steps = _spelling_plan(spelling.take(rows))
            given = to_device(arrays, device)
            blocks.append(F.embedding(given["rank"], self._spelled(given, torch.from_numpy(steps))))
        return torch.cat(blocks)

    def plan(self, texts: Texts) -> Plan:
        """Order of the words for the recurrent layers, and the letters of each distinct one."""
        words = texts.words
        ids = words.values.astype(np.int64)
        order, place, steps, _ = _packing(words)
        arrays: Arrays = {"order": order, "place": place, "offsets": words.offsets}
        sizes, reads = {"steps": steps}, {}
        if not self.without_word:
            unknown = words.values >= self.size
            if texts.dropped is not None:
                unknown = unknown | texts.dropped
            arrays["words"] = np.where(unknown, 0, ids)
            reads["word.weight"] = arrays["words"]
        if not self.without_char and texts.featured:
            arrays["spelled"] = ids
        elif not self.without_char:
            met, inverse = distinct(ids, len(texts.spelling))
            letters, sizes["letter_steps"] = _spelling_plan(texts.spelling.take(met))
            arrays |= {f"letter_{name}": array for name, array in letters.items()}
            arrays["spelled"] = letters["rank"][inverse]
        return Plan(arrays, sizes, reads)

    def forward(self, batch: Batch) -> Tensor:
        """Vectors of texts, shape (b, dim)."""
        given, steps = batch.arrays, batch.sizes["steps"]
        parts = []
        if not self.without_word:
            parts.append(self.word(given["words"]))
        if not self.without_char:
            parts.append(self._characters(batch))
        x = torch.cat(parts, 1)  # (total, width)
        if len(x) == 0:
            mean = x.new_zeros(len(given["offsets"]) - 1, self.project.in_features)
        else:
            states, _ = self.word_lstm(_packed(x, given["order"], given["place"], steps))
            # Row order[i] of the words is row i of the states.
            mean = F.embedding_bag(
                given["place"], states.data, given["offsets"][:-1], mode="mean"
            )  # (b, 2 hidden)
        vectors: Tensor = torch.tanh(self.project(mean))
        return vectors

    def _characters(self, batch: Batch) -> Tensor:
        """e^w' of each word, shape (total, 2 char_dim), worked out once a distinct word."""
        spelled = batch.features
        if spelled is None:
            letters = {name: batch.arrays[f"letter_{name}"] for name in ("ids", "order", "place")}
            spelled = self._spelled(letters, batch.sizes["letter_steps"])
        return F.embedding(batch.arrays["spelled"], spelled)

    def _spelled(self, letters: Mapping[str, Tensor], steps: Tensor) -> Tensor:
        """e^w' of words, the longest first."""
        if len(steps) == 0:
            return self.char.weight.new_zeros(0, 2 * self.char.embedding_dim)
        x = self.char(letters["ids"])
        _, (last, _) = self.char_lstm(_packed(x, letters["order"], letters["place"], steps))
        both: Tensor = last.transpose(0, 1).flatten(1)  # from (2, words, char_dim)
        return both


class _Permuted(torch.autograd.Function):
    """x[order], whose gradient is g[place], `place` being the inverse of `order`."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, order: Tensor, place: Tensor) -> Tensor:
        ctx.save_for_backward(place)
        return x.index_select(0, order)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        (place,) = ctx.saved_tensors
        return gradient.index_select(0, place), None, None


def _packed(x: Tensor, order: Tensor, place: Tensor, steps: Tensor) -> PackedSequence:
    return PackedSequence(_Permuted.apply(x, order, place), steps)


def _packing(
    rows: Ragged,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """How rows of vectors come to the recurrent layers, without padding.

    Empty rows take no part; the sequences come longest first, equal ones in their order.

    Returns
    -------
    order, place
        Which of all values each packed one is, and the inverse, both (total,).
    steps
        Sequences that have an element at each step, shape (longest,).
    rank
        Place of each row among the sequences, shape (rows,).
    """
    lengths = rows.lengths
    longest_first = np.argsort(-lengths, kind="stable")
    ordered = lengths[longest_first]
    longest = int(ordered[0]) if len(ordered) else 0
    step, which = np.nonzero(np.arange(longest)[:, None] < ordered)
    order = rows.offsets[longest_first][which] + step
    steps = np.bincount(step, minlength=longest)
    return order, _inverse(order), steps, _inverse(longest_first)


def _spelling_plan(spelling: Ragged) -> tuple[Arrays, NDArray[np.int64]]:
    """What `_spelled` reads, the place of each word in its result, and the words at each step."""
    order, place, steps, rank = _packing(spelling)
    ids = spelling.values.astype(np.int64)
    return {"ids": ids, "order": order, "place": place, "rank": rank}, steps


def _inverse(order: NDArray[np.int64]) -> NDArray[np.int64]:
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return place
