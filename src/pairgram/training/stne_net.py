"""STNE's module: contents of a walk read both ways, then its nodes named one after the other."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

SPREAD = 0.05


@dataclass(frozen=True, eq=False)
class Candidates:
    """Nodes that a sampled softmax looks at.

    Attributes
    ----------
    rows
        Distinct nodes, shape (r,).
    target
        Place in `rows` of each target, shape (b·L,).
    drawn
        Place in `rows` of each noise node, shape (S,).
    log_expected
        Log of how often a noise node was to be expected among the S, shape (S,).
    """

    rows: Tensor
    target: Tensor
    drawn: Tensor
    log_expected: Tensor


class StneNet(nn.Module):
    """BiLSTM encoder of contents, LSTM decoder of identities.

    Parameters
    ----------
    n_nodes
        Rows of the table of identities.
    features
        Length of a content vector.
    dim
        Length of an encoder output, half of it for each direction, and of the decoder's state.
    is_sampled
        Give the table of identities gradients of single rows.
    """

    def __init__(self, n_nodes: int, features: int, dim: int, is_sampled: bool) -> None:
        super().__init__()
        self.encoder = nn.LSTM(features, dim // 2, batch_first=True, bidirectional=True)
        self.first_hidden, self.first_cell = nn.Linear(dim, dim), nn.Linear(dim, dim)
        # It reads nothing: all that it says comes from the state that it begins with.
        self.decoder = nn.LSTM(1, dim, batch_first=True)
        self.nodes = nn.Embedding(n_nodes, dim, sparse=is_sampled)
        self.bias = nn.Embedding(n_nodes, 1, sparse=is_sampled)
        nn.init.normal_(self.nodes.weight, std=SPREAD)
        nn.init.zeros_(self.bias.weight)

    def encode(self, content: Tensor) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Outputs for contents of walks (b, L, f), shape (b, L, dim); last states, (b, dim)."""
        outputs, states = self.encoder(content)
        hidden, cell = (torch.cat((state[0], state[1]), 1) for state in states)
        return outputs, (hidden, cell)

    def decode(self, states: tuple[Tensor, Tensor], length: int) -> Tensor:
        """States of the decoder after each step, shape (b, L, dim)."""
        hidden, cell = self.first_hidden(states[0])[None], self.first_cell(states[1])[None]
        nothing = hidden.new_zeros((hidden.shape[1], length, 1))
        outputs: Tensor = self.decoder(nothing, (hidden, cell))[0]
        return outputs

    def loss(self, decoded: Tensor, target: Tensor) -> Tensor:
        """Mean of −log softmax over all nodes at the targets; decoded (m, dim), target (m,)."""
        logits = functional.linear(decoded, self.nodes.weight, self.bias.weight[:, 0])
        return functional.cross_entropy(logits, target)

    def sampled_loss(self, decoded: Tensor, among: Candidates) -> Tensor:
        """Mean of −log softmax with its sum over all nodes estimated from noise.

        With S noise nodes s of law q, exp(o_t) + Σ_{s≠t} exp(o_s)/(S·q(s)) has the mean of the sum.
        """
        rows, bias = self.nodes(among.rows), self.bias(among.rows)[:, 0]
        of_target = (decoded * rows[among.target]).sum(1) + bias[among.target]  # (m,)
        shift = bias[among.drawn] - among.log_expected
        of_noise = torch.addmm(shift, decoded, rows[among.drawn].T)  # (m, S)
        of_noise.masked_fill_(among.drawn == among.target[:, None], -torch.inf)
        rest = torch.logsumexp(of_noise, 1)
        return (torch.logaddexp(of_target, rest) - of_target).mean()


def keep_some(values: Tensor, dropout: float, random: torch.Generator) -> Tensor:
    """Zero a share of the values and enlarge the others, so that the mean stays."""
    if dropout == 0.0:
        return values
    kept = torch.rand(values.shape, generator=random, device=values.device) >= dropout
    return values * kept / (1.0 - dropout)


class Noise:
    """Draws noise nodes in proportion to their degree, which is how often walks pass them.

    Parameters
    ----------
    degree
        Degrees, shape (n,).
    count
        Noise nodes S of a batch.
    """

    def __init__(self, degree: NDArray[np.int64], count: int) -> None:
        self._running = np.cumsum(degree)
        self._log_expected = np.log(count / self._running[-1]) + np.log(np.maximum(degree, 1))
        self.count = count

    def draw(self, targets: NDArray[Any], random: np.random.Generator, device: Any) -> Candidates:
        """Noise for a batch with these targets, shape (m,)."""
        drawn = np.searchsorted(
            self._running, random.integers(self._running[-1], size=self.count), side="right"
        )
        rows, place = np.unique(np.concatenate((targets, drawn)), return_inverse=True)
        of_target, of_drawn = np.split(place, [len(targets)])
        expected = self._log_expected[drawn].astype(np.float32)
        arrays = (rows.astype(np.int64), of_target, of_drawn, expected)
        return Candidates(*(torch.from_numpy(array).to(device) for array in arrays))
