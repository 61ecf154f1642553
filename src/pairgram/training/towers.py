"""Training of the two towers: every part of the nodes in turn plays the new ones."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from numpy.typing import NDArray
from torch import Tensor, nn

from pairgram.search.towers import Table, Towers, neighbour_means
from pairgram.search.votes import entries

IntArray = NDArray[np.int64]

LEAST_RATE, WARM = 0.05, 0.05
MASKED = -1e9


@dataclass(frozen=True)
class TowerSettings:
    """How towers are trained.

    Attributes
    ----------
    dim, hidden
        Length of the vectors, and width of the layer beside each linear map.
    dropout
        Share of a point's entries left out in training.
    parts
        Parts of the nodes that play new ones in turn.
    batch_size
        Links of a batch; fewer where there are few links.
    drawn
        Nodes drawn at random beside the batch's own, to be told from the true ones.
    steps
        Batches in all.
    learning_rate
        First rate of Adam; it rises in the first twentieth, then falls linearly.
    """

    dim: int = 128
    hidden: int = 256
    dropout: float = 0.1
    parts: int = 5
    batch_size: int = 1024
    drawn: int = 256
    steps: int = 700
    learning_rate: float = 4e-3


class TowerNet(nn.Module):
    """The two towers as a module; see `Towers`."""

    def __init__(self, points: int, settings: TowerSettings) -> None:
        super().__init__()
        dim, hidden = settings.dim, settings.hidden
        self.query, self.own, self.near = (nn.Linear(points, dim, bias=False) for _ in range(3))
        self.query_in, self.query_out = nn.Linear(points, hidden), nn.Linear(hidden, dim)
        self.node_in, self.node_out = nn.Linear(2 * points, hidden), nn.Linear(hidden, dim)
        self.log_scale = nn.Parameter(torch.tensor(math.log(20.0)))
        self.prior = nn.Parameter(torch.tensor([0.5, 0.0]))
        self.dropout = nn.Dropout(settings.dropout)
        with torch.no_grad():
            # As if all were one tower of the texts' strongest directions.
            for layer, share in ((self.query, 1.0), (self.own, 1.0), (self.near, 0.5)):
                layer.weight.zero_().fill_diagonal_(share)
            for layer in (self.query_out, self.node_out):
                nn.init.zeros_(layer.weight)
                nn.init.zeros_(layer.bias)

    def forward(self, query: Tensor, own: Tensor, near: Tensor, log_degree: Tensor) -> Tensor:
        """Scores of queries, points of shape (b, p), with nodes, shape (c, p); (b, c)."""
        query, own, near = self.dropout(query), self.dropout(own), self.dropout(near)
        q = self.query(query) + self.query_out(self.query_in(query).relu())
        both = torch.cat([own, near], 1)
        x = self.own(own) + self.near(near) + self.node_out(self.node_in(both).relu())
        product = F.normalize(q, dim=1) @ F.normalize(x, dim=1).T
        prior = self.prior[0] * log_degree + self.prior[1] * (log_degree == 0)
        return self.log_scale.exp() * product + prior


def train_towers(
    points: Table, links: Any, settings: TowerSettings, seed: int, device: Any = "cpu"
) -> Towers:
    """Minimise the cross-entropy of true links among those of a batch and drawn nodes.

    A query belongs to one part of the nodes; what it is compared with is described by the graph
    without that part, as the whole graph will describe it to a new node. Nodes come into a batch
    as often as they have links, which is taken off their scores (log-q correction); other known
    links of a query are masked.

    Parameters
    ----------
    points
        Latent points of the nodes' texts, shape (n, p).
    links
        Sparse links between the nodes, symmetric, shape (n, n).
    settings
        Sizes and rates.
    seed
        Seed of the start, the parts and the draws.
    device
        Where to work.

    References
    ----------
    Yi et al., "Sampling-Bias-Corrected Neural Modeling for Large Corpus Item Recommendations",
    RecSys 2019, for the correction.
    """
    random = np.random.default_rng(seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        net = TowerNet(points.shape[1], settings).to(device)
        batches = _Batches(points, links, settings, random, device)
        optimizer = torch.optim.Adam(net.parameters(), lr=settings.learning_rate, betas=(0.9, 0.99))
        for step in range(settings.steps if batches.possible else 0):
            rate = min(1.0, (step + 1) / (WARM * settings.steps)) * (
                1 - (1 - LEAST_RATE) * step / settings.steps
            )
            optimizer.param_groups[0]["lr"] = settings.learning_rate * rate
            loss = batches.loss(net)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
    return Towers({name: a.detach().cpu().numpy() for name, a in net.state_dict().items()})


class _Batches:
    """Draws batches: links from nodes of one part to nodes of the others."""

    def __init__(
        self, points: Table, links: Any, settings: TowerSettings, random: Any, device: Any
    ) -> None:
        self._links, self._random, self._device = links, random, device
        self._part = random.integers(0, settings.parts, links.shape[0])
        self._drawn = min(settings.drawn, links.shape[0])
        self._points = torch.from_numpy(points).to(device)
        coo = links.tocoo()
        self._views = [
            _View(part, self._part, links, coo, points, device) for part in range(settings.parts)
        ]
        sizes = np.array([len(view.source) for view in self._views], np.float64)
        self.possible = bool(sizes.sum() > 0)
        self._chance = sizes / max(sizes.sum(), 1)
        self._size = int(min(max(links.nnz // 50, 64), settings.batch_size))
        self._place = np.full(links.shape[0], -1, np.int64)

    def loss(self, net: TowerNet) -> Tensor:
        """Loss of the next batch."""
        view = self._views[self._random.choice(len(self._views), p=self._chance)]
        picked = self._random.integers(0, len(view.source), min(self._size, len(view.source)))
        source, target = view.source[picked], view.target[picked]
        own, place = np.unique(target, return_inverse=True)
        nodes, log_chance = self._nodes(view, own, len(picked))
        known = self._known(source, nodes, place)
        where = torch.from_numpy(nodes).to(self._device)
        scores = net(
            self._points[torch.from_numpy(source).to(self._device)],
            self._points[where], view.near[where], view.log_degree[where],
        )  # fmt: skip
        scores = scores - torch.from_numpy(log_chance).to(self._device)
        # A drawn node of the queries' own part is no node of this graph.
        barred = torch.from_numpy(self._part[nodes] == view.part).to(self._device)
        scores = scores.masked_fill(barred, MASKED)
        row, column = (torch.from_numpy(side).to(self._device) for side in known)
        scores = scores.index_put((row, column), scores.new_tensor(MASKED))
        return F.cross_entropy(scores, torch.from_numpy(place).to(self._device))

    def _nodes(
        self, view: "_View", own: IntArray, links: int
    ) -> tuple[IntArray, NDArray[np.float32]]:
        """Nodes to tell apart, those of the links first, and how often each comes, as log."""
        drawn = self._random.choice(self._links.shape[0], self._drawn, replace=False)
        drawn = drawn[~np.isin(drawn, own)]
        often = links * view.share[own] + self._drawn / self._links.shape[0]
        rest = np.full(len(drawn), self._drawn / self._links.shape[0])
        chance = np.log(np.minimum(np.concatenate([often, rest]), 1))
        return np.concatenate([own, drawn]).astype(np.int64), chance.astype(np.float32)

    def _known(
        self, source: IntArray, nodes: IntArray, place: IntArray
    ) -> tuple[IntArray, IntArray]:
        """Rows and columns of known links beside the one that is looked for."""
        self._place[nodes] = np.arange(len(nodes))
        places, sizes = entries(self._links.indptr, source)
        row, column = (
            np.repeat(np.arange(len(source)), sizes),
            self._place[self._links.indices[places]],
        )
        self._place[nodes] = -1
        keep = (column >= 0) & (column != place[row])
        return row[keep], column[keep]


class _View:
    """The graph as it was before the nodes of one part came."""

    def __init__(
        self, part: int, of: IntArray, links: Any, coo: Any, points: Table, device: Any
    ) -> None:
        from scipy.sparse import diags_array

        self.part = part
        here = of == part
        crossing = here[coo.row] & ~here[coo.col]
        self.source = coo.row[crossing].astype(np.int64)
        self.target = coo.col[crossing].astype(np.int64)
        stays = diags_array((~here).astype(np.float32))
        left = (stays @ links @ stays).tocsr()
        degree = np.asarray(left.sum(axis=1)).ravel()
        self.near = torch.from_numpy(neighbour_means(left, points)).to(device)
        self.log_degree = torch.from_numpy(np.log1p(degree).astype(np.float32)).to(device)
        counts = np.bincount(self.target, minlength=len(of)).astype(np.float64)
        self.share = counts / max(counts.sum(), 1)
