"""CANE's module: a vector of its own for every node, and texts read with each other in view."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from pairgram.text.encoders import Rows
from pairgram.text.ragged import Ragged

SPREAD = 0.3
NEVER = -1e9


@dataclass(frozen=True, eq=False)
class Padded:
    """Texts side by side: word ids, 0 where a text is over, and a one for every word, (m, L)."""

    ids: Tensor
    mask: Tensor


class WordRows:
    """Word ids of texts on a device.

    Parameters
    ----------
    words
        Word ids of each text.
    device
        Where they go.
    """

    def __init__(self, words: Ragged, device: Any) -> None:
        self.lengths, self.device = words.lengths, device
        filled = words if len(words.values) else Ragged(np.zeros(1, np.int32), words.offsets)
        self._rows = Rows.of(filled, device)

    def pad(self, texts: NDArray[np.int64]) -> Padded:
        """Return some of the texts, padded to the longest of them, at least to one word."""
        width = max(1, int(self.lengths[texts].max(initial=0)))
        rows = torch.from_numpy(texts).to(self.device)
        begin, end = self._rows.offsets[rows, None], self._rows.offsets[rows + 1, None]
        at = begin + torch.arange(width, device=self.device)
        mask = at < end
        ids = self._rows.values[at.clamp(max=len(self._rows.values) - 1)] * mask
        return Padded(ids, mask)


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
        self.with_attention = with_attention
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

    def windows(self, texts: Padded, filters: tuple[Tensor, Tensor] | None = None) -> Tensor:
        """Filters over each word and the next, zero where a text is over, shape (m, L, dim).

        `filters` are those of all words, where they are at hand.
        """
        if filters is None:
            words, place = torch.unique(texts.ids, return_inverse=True)
            filters = self.filters(words)
        else:
            place = texts.ids
        mask = texts.mask.unsqueeze(2)
        second = functional.pad((filters[1][place] * mask)[:, 1:], (0, 0, 0, 1))
        return torch.tanh(filters[0][place] + second) * mask

    def read(
        self, windows: Tensor, mask: Tensor, left: Tensor, right: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Text vectors of the pairs (left, right), each in view of the other, both (b, dim)."""
        if not self.with_attention:
            largest = windows.masked_fill(~mask.unsqueeze(2), -1.0).amax(1)
            text = largest * mask.any(1, keepdim=True)
            return text[left], text[right]
        turned = windows @ self.attention  # (m, L, dim)
        first, second = windows[left], windows[right]
        affinity = torch.tanh(turned[left] @ second.mT)  # (b, L, L)
        length = mask.sum(1).clamp(min=1).to(windows.dtype)
        return (
            _weighted(first, affinity.sum(2) / length[right, None], mask[left]),
            _weighted(second, affinity.sum(1) / length[left, None], mask[right]),
        )


def _weighted(windows: Tensor, score: Tensor, mask: Tensor) -> Tensor:
    """Mean of the windows under the softmax of their scores, shape (b, dim)."""
    weight = torch.softmax(score.masked_fill(~mask, NEVER), 1)
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
    texts: Padded,
    left: Tensor,
    right: Tensor,
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
    own = net.structure(nodes)
    s_left, s_right = own[left], own[right]
    t_left, t_right = net.read(net.windows(texts), texts.mask, left, right)

    def part(u: Tensor, v: Tensor) -> Tensor:
        return -functional.logsigmoid(sign * (u * v).sum(1)).sum()

    cross = part(t_left, s_right) + part(s_left, t_right)
    return (
        weights.structure * part(s_left, s_right)
        + weights.text * part(t_left, t_right)
        + weights.cross * cross
    )
