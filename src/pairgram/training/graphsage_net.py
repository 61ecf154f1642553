"""GraphSAGE's module: two layers, each of a node and the mean of its neighbours."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

Nodes = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Bags:
    """Neighbours of some nodes, end to end.

    Attributes
    ----------
    ids
        Rows of a table, shape (total,).
    offsets
        Where the neighbours of each node begin, shape (m,).
    empty
        Nodes without any, shape (m, 1).
    """

    ids: Tensor
    offsets: Tensor
    empty: Tensor

    @classmethod
    def of(cls, ids: NDArray[Any], lengths: NDArray[np.int64], device: Any) -> "Bags":
        """Put neighbours, as many a node as `lengths` says, on a device."""
        place = torch.from_numpy(np.stack((np.cumsum(lengths) - lengths, lengths))).to(device)
        there = torch.from_numpy(ids.astype(np.int64)).to(device)
        return cls(there, place[0], (place[1] == 0)[:, None])


class SageNet(nn.Module):
    """h_v = ‖relu(W·[x_v ; mean x_u])‖ and z_v = W'·[h_v ; mean h_u], u the neighbours of v.

    Instead of a mean over none stands a vector that is learnt, one a layer.

    Parameters
    ----------
    features
        Length of x.
    dim
        Length of h and z.
    negatives
        Noise nodes K of a link: training starts at "as likely as one of them".
    """

    def __init__(self, features: int, dim: int, negatives: int = 1) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(2 * features, dim), nn.Linear(2 * dim, dim)
        self.no_features = nn.Parameter(torch.zeros(features))
        self.no_hidden = nn.Parameter(torch.zeros(dim))
        # Of the loss alone: it leaves the order of scores as it is.
        self.constant = nn.Parameter(torch.full((1,), -math.log(negatives)))

    def hidden(self, own: Tensor, table: Tensor, near: Bags) -> Tensor:
        """Vectors h of nodes with features `own`, (m, f), and neighbours in `table`, (m, dim)."""
        both = torch.cat((own, mean_of(table, near, self.no_features)), 1)
        return functional.normalize(torch.relu(self.first(both)), dim=1)

    def forward(self, own: Tensor, table: Tensor, near: Bags) -> Tensor:
        """Vectors z of nodes with h `own`, (m, dim), and neighbours in `table`, (m, dim)."""
        found: Tensor = self.second(torch.cat((own, mean_of(table, near, self.no_hidden)), 1))
        return found

    def alone(self, own: Tensor) -> Tensor:
        """Vectors z of nodes that have features, (m, features), and no neighbours."""
        hidden = torch.cat((own, self.no_features.expand(len(own), -1)), 1)
        hidden = functional.normalize(torch.relu(self.first(hidden)), dim=1)
        found: Tensor = self.second(torch.cat((hidden, self.no_hidden.expand(len(own), -1)), 1))
        return found


def mean_of(table: Tensor, near: Bags, otherwise: Tensor) -> Tensor:
    """Mean of the neighbours' rows of a table, `otherwise` where there are none, (m, width)."""
    mean = functional.embedding_bag(near.ids, table, near.offsets, mode="mean")
    return torch.where(near.empty, otherwise, mean)


def link_loss(
    left: Tensor, right: Tensor, noise: Tensor, known: Tensor, constant: Tensor, negatives: int
) -> Tensor:
    """Σ over links and both their ends −log σ(z_u·z_v + c) − K·mean log σ(−z_u·z_n − c).

    Parameters
    ----------
    left, right
        z of the ends, both (b, dim).
    noise
        z of the noise nodes, shape (m, dim).
    known
        Which (end, noise node) are links, left out of the loss; left ends first, (2b, m).
    constant
        c.
    negatives
        K.
    """
    linked = -2 * functional.logsigmoid((left * right).sum(1) + constant).sum()
    score = torch.cat((left, right)) @ noise.T + constant  # (2b, m)
    apart = functional.softplus(score).masked_fill(known, 0.0).sum()
    return linked + negatives / max(len(noise), 1) * apart
