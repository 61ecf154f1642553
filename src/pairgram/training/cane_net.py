"""CANE's module: a vector of its own for every node, and texts read with each other in view."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from pairgram.text.encoders import to_device
from pairgram.text.ragged import Ragged

SPREAD = 0.3
NEVER = -1e9
CUTS: tuple[float, ...] = (0.25, 0.5, 0.75)
DEVICE_CUTS: tuple[float, ...] = (0.875,)
"""Where pairs are cut by length, on a CPU or not: elsewhere every launch costs the same."""
UNCUT_PRODUCTS = 1 << 22
"""Products of words of two texts that a device computes at once."""

Nodes = NDArray[np.int64]
Group = tuple[slice, int]


@dataclass(frozen=True, eq=False)
class CaneBatch:
    """Links of a batch and their noise.

    Attributes
    ----------
    nodes
        Distinct nodes, shape (m,).
    left, right
        Rows of `nodes`, links first, shape (b + b·K,).
    links
        b.
    """

    nodes: Nodes
    left: Nodes
    right: Nodes
    links: int


@dataclass(frozen=True, eq=False)
class Pairs:
    """A batch on a device, its pairs sorted by the longer of the two texts.

    Attributes
    ----------
    nodes, words
        Distinct nodes, shape (m,), and distinct words of their texts, shape (w,).
    place
        Row of `words` of every known word, w where it is not among them, shape (n_words + 1,).
    ends
        Rows of `nodes`, shape (2, b).
    sign
        1 for a link and -1 for noise, shape (b,).
    groups
        Pairs of like lengths, and words of the longest text among them.
    """

    nodes: Tensor
    words: Tensor
    place: Tensor
    ends: Tensor
    sign: Tensor
    groups: list[Group]


class WordRows:
    """Word ids of all texts on a device.

    Parameters
    ----------
    words
        Word ids of each text.
    n_words
        Known words.
    device
        Where they go.
    """

    def __init__(self, words: Ragged, n_words: int, device: Any) -> None:
        self.lengths, self._words, self._n_words = words.lengths, words, n_words
        self._device, self._on_cpu = device, torch.device(device).type == "cpu"
        # What stands behind the last word is no word.
        ids = np.append(words.values, n_words).astype(np.int64)
        moved = to_device({"ids": ids, "offsets": words.offsets}, device)
        self._ids, self._offsets = moved["ids"], moved["offsets"]

    def ids(self, texts: Tensor, width: int) -> Tensor:
        """First words of texts of any shape, `n_words` beyond their ends, shape (..., width)."""
        at = self._offsets[texts].unsqueeze(-1) + torch.arange(width, device=texts.device)
        end = self._offsets[texts + 1].unsqueeze(-1)
        return self._ids[torch.where(at < end, at, len(self._ids) - 1)]

    def pairs(self, batch: CaneBatch) -> Pairs:
        """Bring a batch to the device; nothing waits for it."""
        met = np.zeros(self._n_words, bool)
        met[self._words.take(batch.nodes).values] = True
        words = np.flatnonzero(met)
        place = np.full(self._n_words + 1, len(words))
        place[words] = np.arange(len(words))
        ends = np.stack((batch.left, batch.right))
        order, groups = self.by_length(batch.nodes[ends])
        sign = np.where(order < batch.links, 1.0, -1.0).astype(np.float32)
        arrays: dict[str, NDArray[Any]] = {
            "nodes": batch.nodes, "words": words, "place": place, "ends": ends[:, order],
            "sign": sign,
        }  # fmt: skip
        return Pairs(**to_device(arrays, self._device), groups=groups)

    def by_length(self, ends: Nodes) -> tuple[Nodes, list[Group]]:
        """Order of pairs of texts, shape (2, b), by the longer one, and groups of them."""
        longest = self.lengths[ends].max(0)
        order = np.argsort(longest, kind="stable")
        longest = np.maximum(longest[order], 1)
        is_small = len(order) * int(longest.max(initial=0)) ** 2 <= UNCUT_PRODUCTS
        cuts = CUTS if self._on_cpu else () if is_small else DEVICE_CUTS
        at = [0, *(int(cut * len(order)) for cut in cuts), len(order)]
        spans = [slice(*span) for span in pairwise(at) if span[0] < span[1]]
        return order, [(span, int(longest[span.stop - 1])) for span in spans]


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

    def filters(self, words: Tensor) -> Tensor:
        """What a filter takes from words as the first and as the second, (w + 1, 2·dim).

        The last row is zero: what it takes where there is no word.
        """
        read = self.words(words)
        return functional.pad(torch.cat((self.here(read), self.following(read)), 1), (0, 0, 0, 1))

    def read(self, filters: Tensor, ids: Tensor) -> Tensor:
        """Text vectors of pairs of texts, each in view of the other, shape (2, b, dim).

        Parameters
        ----------
        filters
            Those of all words that occur.
        ids
            Rows of `filters`, the last one beyond the end of a text, shape (2, b, L).
        """
        beyond = len(filters) - 1
        here, following = _rows(filters, ids, beyond).chunk(2, 3)
        windows = torch.tanh(here + functional.pad(following[:, :, 1:], (0, 0, 0, 1)))
        is_word = ids < beyond  # (2, b, L)
        if not self.with_attention:
            largest = windows.masked_fill(~is_word.unsqueeze(3), -1.0).amax(2)
            return largest * is_word.any(2, keepdim=True)
        # Beyond an end windows are zero, and so is what they have to do with others.
        affinity = torch.tanh(windows[0] @ self.attention @ windows[1].mT)  # (b, L, L)
        sizes = is_word.sum(2, keepdim=True).clamp(min=1)
        seen = torch.stack((affinity.sum(2), affinity.sum(1))) / sizes.flip(0)
        weight = torch.softmax(seen.masked_fill(~is_word, NEVER), 2)
        return (weight.unsqueeze(2) @ windows).squeeze(2)


def _rows(table: Tensor, rows: Tensor, beyond: int | None = None) -> Tensor:
    """Rows of a table; the row `beyond` is given no gradient.

    That of a plain index adds up equal rows one after the other, and all padding is one row.
    """
    return functional.embedding(rows, table, padding_idx=beyond)


@dataclass(frozen=True)
class Weights:
    """Weights of the parts of the loss: s·s, t·t, and s·t with t·s."""

    structure: float
    text: float
    cross: float

    def matrix(self, device: Any) -> Tensor:
        """Weights by the left and the right vector, shape (2, 2)."""
        rows = ((self.structure, self.cross), (self.cross, self.text))
        return torch.tensor(rows, device=device)


def loss_of_pairs(net: CaneNet, texts: WordRows, pairs: Pairs, weights: Tensor) -> Tensor:
    """Sum of −log σ(±x) over pairs for x = s_u·s_v, s_u·t_v, t_u·s_v and t_u·t_v.

    Parameters
    ----------
    net
        The module.
    texts, pairs
        Texts of all nodes, and the pairs of a batch.
    weights
        Those of the four parts, shape (2, 2).
    """
    filters, found = net.filters(pairs.words), []
    for span, width in pairs.groups:
        ids = texts.ids(pairs.nodes[pairs.ends[:, span]], width)
        found.append(net.read(filters, pairs.place[ids]))
    structure = _rows(net.structure(pairs.nodes), pairs.ends)  # (2, b, dim)
    left, right = torch.stack((structure, torch.cat(found, 1)), 2)  # (b, 2, dim)
    score = pairs.sign[:, None, None] * (left @ right.mT)  # (b, 2, 2)
    return -(weights * functional.logsigmoid(score)).sum()
