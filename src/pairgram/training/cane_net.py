"""CANE's module: a vector of its own for every node, and texts read with each other in view."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from pairgram.text.encoders import to_device
from pairgram.text.ragged import Ragged, distinct

SPREAD = 0.3
NEVER = -1e9
GROUPS = 4
GROUP_PRODUCTS = 1 << 21
"""Products of words of two texts below which cutting pairs by length costs more than it saves."""


@dataclass(frozen=True, eq=False)
class Texts:
    """Some texts end to end on a device.

    Attributes
    ----------
    ids
        Word ids, shape (total,).
    goes_on
        One where the next word is of the same text, else zero, shape (total, 1).
    offsets
        Where texts begin, shape (m + 1,).
    lengths
        Words of each text, shape (m,).
    words, rows
        Distinct words, shape (w,), and the one of each word id, shape (total,); both empty where
        they were not asked for.
    """

    ids: Tensor
    goes_on: Tensor
    offsets: Tensor
    lengths: NDArray[np.int64]
    words: Tensor
    rows: Tensor

    def place(self, rows: Tensor, width: int) -> Tensor:
        """Where the first words of texts are, `total` beyond their ends, shape (b, width)."""
        begin, end = self.offsets[rows, None], self.offsets[rows + 1, None]
        at = begin + torch.arange(width, device=begin.device)
        return torch.where(at < end, at, len(self.ids))


class WordRows:
    """Word ids of all texts, given out on a device.

    Parameters
    ----------
    words
        Word ids of each text.
    device
        Where they go.
    """

    def __init__(self, words: Ragged, device: Any) -> None:
        self.lengths, self._words, self._device = words.lengths, words, device
        self._n_words = int(words.values.max(initial=-1)) + 1

    def take(self, texts: NDArray[np.int64], distinct_too: bool = True) -> Texts:
        """Return some of the texts, in their order; nothing waits for the device."""
        taken = self._words.take(texts)
        goes_on = np.ones((len(taken.values), 1), np.float32)
        # The word before each beginning is the last of its text; before the first there is none.
        goes_on[taken.offsets[1:][taken.lengths > 0] - 1] = 0.0
        ids = taken.values.astype(np.int64)
        words, rows = distinct(ids if distinct_too else ids[:0], self._n_words)
        arrays: dict[str, NDArray[Any]] = {
            "ids": ids, "goes_on": goes_on, "offsets": taken.offsets, "words": words, "rows": rows,
        }  # fmt: skip
        return Texts(**to_device(arrays, self._device), lengths=self.lengths[texts])


class CaneNet(nn.Module):
    """Structure vectors, and a convolution over words with mutual attention.

    Parameters
    ----------
    n_nodes, n_words
        Rows of the two tables.
    dim
        Length of a structure vector and of a text vector.
    with_attention
        Let a text be read in view of the other; otherwise the largest value of each filter counts.
    """

    def __init__(self, n_nodes: int, n_words: int, dim: int, with_attention: bool) -> None:
        super().__init__()
        self.dim, self.with_attention = dim, with_attention
        self.structure = nn.Embedding(n_nodes, dim, sparse=True)
        self.words = nn.Embedding(n_words, dim, sparse=True)
        # A filter sees a word and the next one.
        self.here, self.following = nn.Linear(dim, dim), nn.Linear(dim, dim, bias=False)
        self.attention = nn.Parameter(torch.empty(dim, dim))
        for weight in (self.words.weight, self.here.weight, self.following.weight, self.attention):
            nn.init.normal_(weight, std=SPREAD)
        nn.init.zeros_(self.here.bias)
        nn.init.normal_(self.structure.weight, std=dim**-0.5)

    def filters(self, words: Tensor) -> tuple[Tensor, Tensor]:
        """What a filter takes from words as the first and as the second, both (w, dim)."""
        read = self.words(words)
        return self.here(read), self.following(read)

    def windows(self, texts: Texts, filters: tuple[Tensor, Tensor] | None = None) -> Tensor:
        """Filters over each word and the next, and a row of zeros, shape (total + 1, dim).

        `filters` are those of all words, where they are at hand.
        """
        place = texts.ids
        if filters is None:
            filters, place = self.filters(texts.words), texts.rows
        second = _rows(filters[1], place.roll(-1)) * texts.goes_on
        return functional.pad(torch.tanh(_rows(filters[0], place) + second), (0, 0, 0, 1))

    def read(
        self, windows: Tensor, texts: Texts, left: NDArray[np.int64], right: NDArray[np.int64]
    ) -> tuple[Tensor, Tensor]:
        """Text vectors of the pairs (left, right), each in view of the other, both (b, dim)."""
        # Pairs of like lengths together, so that little is spent on padding.
        sizes = texts.lengths[np.stack((left, right))]  # (2, b)
        order = np.argsort(sizes.max(0), kind="stable")
        arrays = {"ends": np.stack((left, right))[:, order], "back": np.argsort(order)}
        moved = to_device(arrays, windows.device)
        if not self.with_attention:
            text = self._largest(windows, texts)
            found = (_rows(text, ends) for ends in moved["ends"])
        else:
            groups = np.array_split(np.arange(len(order)), _groups(sizes))
            widths = [np.maximum(1, sizes[:, order[group]].max(1, initial=0)) for group in groups]
            ends = moved["ends"].split([len(group) for group in groups], 1)
            parts = [self._attend(windows, texts, *job) for job in zip(ends, widths, strict=True)]
            found = (torch.cat(side) for side in zip(*parts, strict=True))
        return tuple(_rows(side, moved["back"]) for side in found)

    def _attend(
        self, windows: Tensor, texts: Texts, ends: Tensor, widths: NDArray[np.int64]
    ) -> tuple[Tensor, Tensor]:
        """Text vectors of pairs, (2, b) rows of `texts`, that have no more words than `widths`."""
        at, other = (texts.place(*side) for side in zip(ends, widths.tolist(), strict=True))
        end = len(texts.ids)
        first, second = (_rows(windows, place, end) for place in (at, other))  # (b, L, dim)
        affinity = torch.tanh(first @ self.attention @ second.mT)  # (b, L, L'), zero beyond an end
        sizes = [(place < end).sum(1, keepdim=True).clamp(min=1) for place in (at, other)]
        return (
            _weighted(first, affinity.sum(2) / sizes[1], at < end),
            _weighted(second, affinity.sum(1) / sizes[0], other < end),
        )

    def _largest(self, windows: Tensor, texts: Texts) -> Tensor:
        """Largest value of each filter in each text, zero for a text without words, (m, dim)."""
        every = torch.arange(len(texts.lengths), device=windows.device)
        at = texts.place(every, max(1, int(texts.lengths.max(initial=0))))
        is_word = (at < len(texts.ids)).unsqueeze(2)
        largest = _rows(windows, at, len(texts.ids)).masked_fill(~is_word, -1.0).amax(1)
        return largest * is_word.any(1)


def _rows(table: Tensor, rows: Tensor, beyond: int | None = None) -> Tensor:
    """Rows of a table, of which `beyond` is all zeros and has no gradient.

    That of a plain index adds up equal rows one after the other, and padding is one row.
    """
    return functional.embedding(rows, table, padding_idx=beyond)


def _groups(sizes: NDArray[np.int64]) -> int:
    """Groups of like lengths that pairs of texts of these sizes, (2, b), are worth cutting into."""
    pairs, longest = len(sizes[0]), int(sizes.max(initial=1))
    return max(1, min(GROUPS, pairs, pairs * longest * longest // GROUP_PRODUCTS))


def _weighted(windows: Tensor, score: Tensor, is_word: Tensor) -> Tensor:
    """Mean of the windows under the softmax of their scores, shape (b, dim)."""
    weight = torch.softmax(score.masked_fill(~is_word, NEVER), 1)
    return torch.einsum("bl,bld->bd", weight, windows)


@dataclass(frozen=True)
class Weights:
    """Weights of the parts of the loss: s·s, t·t, and s·t with t·s."""

    structure: float
    text: float
    cross: float


def loss_of_pairs(
    net: CaneNet,
    nodes: Tensor,
    texts: Texts,
    left: NDArray[np.int64],
    right: NDArray[np.int64],
    sign: Tensor,
    weights: Weights,
) -> Tensor:
    """Sum of −log σ(±x) over pairs for x = s_u·s_v, t_u·t_v, t_u·s_v and s_u·t_v.

    Parameters
    ----------
    nodes, texts
        Nodes of the batch, shape (m,), and their texts.
    left, right
        Rows of `nodes`, shape (b,).
    sign
        1 for a link and -1 for noise, shape (b,).
    """
    ends = to_device({"ends": np.stack((left, right))}, nodes.device)["ends"]
    s_left, s_right = _rows(net.structure(nodes), ends)
    t_left, t_right = net.read(net.windows(texts), texts, left, right)

    def part(u: Tensor, v: Tensor) -> Tensor:
        return -functional.logsigmoid(sign * (u * v).sum(1)).sum()

    cross = part(t_left, s_right) + part(s_left, t_right)
    return (
        weights.structure * part(s_left, s_right)
        + weights.text * part(t_left, t_right)
        + weights.cross * cross
    )
