"""Training of GraphSAGE on links and noise, with sampled neighbours; vectors from all of them."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pairgram.graph import TextGraph
from pairgram.kernels.fanout import draw_fanout
from pairgram.training.graphsage_net import Bags, SageNet, link_loss
from pairgram.training.settings import noise_mass
from pairgram.training.text import attach
from pairgram.training.text_batches import KnownLinks, Noise
from pairgram.training.text_optimizer import TextOptimizer
from pairgram.training.text_state import TextProgress

Table = NDArray[np.float32]
Nodes = NDArray[np.int64]

NO_CLIP = float("inf")
NOBODY = -1
LOSS_EVERY = 10
"""Turns between two looks at the loss, each of which waits for the device."""
# Sub-streams of the seed.
NEAR, FAR, ROOT_FAR = 0, 1, 2


@dataclass(frozen=True)
class SageSettings:
    """Parameters of the sampling, the loss and its descent."""

    neighbours: int
    far_neighbours: int
    alone: float
    negatives: int
    epochs: int
    learning_rate: float
    batch_size: int
    seed: int


@dataclass(frozen=True, eq=False)
class SageBatch:
    """Links and noise of a batch with sampled neighbourhoods.

    Attributes
    ----------
    roots
        Left ends, right ends, then noise nodes, shape (2b + m,).
    links
        b.
    known
        Which (end, noise node) are linked, shape (2b, m).
    near
        Neighbours of the roots, -1 for none, shape (2b + m, S).
    inner
        Distinct nodes of `near`, ascending, shape (k,).
    root_far, inner_far
        Neighbours of the roots and of `inner` for the first layer, (2b + m, S'), (k, S').
    """

    roots: Nodes
    links: int
    known: NDArray[np.bool_]
    near: Nodes
    inner: Nodes
    root_far: Nodes
    inner_far: Nodes


class SageFeed:
    """Links of a graph, shuffled every epoch, with noise nodes and neighbours of all.

    The other end of a link is no neighbour while the link is learnt, or its score would read the
    answer; nor is one neighbour of a noise node, so that being one short says nothing.

    Parameters
    ----------
    graph
        The training graph.
    settings
        Sizes and seed.
    """

    def __init__(self, graph: TextGraph, settings: SageSettings) -> None:
        self.settings, self._near = settings, graph.adjacency()
        self._links = KnownLinks(self._near)
        apart = graph.source != graph.target
        self._ends = np.stack((graph.source[apart], graph.target[apart])).astype(np.int64)
        self.batches = -(-self._ends.shape[1] // settings.batch_size)
        self._noise = Noise(noise_mass(graph.degree))
        self._shuffled: tuple[int, Nodes] | None = None

    def batch(self, turn: int) -> SageBatch:
        """Return the batch of a turn, a function of the seed and the turn alone."""
        size, seed = self.settings.batch_size, self.settings.seed
        epoch, k = divmod(turn, self.batches)
        left, right = self._ends[:, self._order(epoch)[k * size : (k + 1) * size]]
        random = np.random.Generator(np.random.PCG64([seed, epoch, k]))
        noise = self._noise.draw(random, (len(left),))
        ends = np.concatenate((left, right))
        roots = np.concatenate((ends, noise))
        avoid = np.concatenate((right, left, self._one_of(noise, random)))
        rows = np.arange(len(roots))
        alone = random.random(len(roots)) < self.settings.alone
        near, root_far = (
            self._draw(roots, avoid, rows, 3 * turn + stream, count)
            for stream, count in (
                (NEAR, self.settings.neighbours), (ROOT_FAR, self.settings.far_neighbours)
            )
        )  # fmt: skip
        near[alone] = root_far[alone] = NOBODY
        inner = np.unique(near[near >= 0])
        nobody = np.full(len(inner), NOBODY)
        inner_far = self._draw(inner, nobody, inner, 3 * turn + FAR, self.settings.far_neighbours)
        known = self._links.between(ends, noise)
        return SageBatch(roots, len(left), known, near, inner, root_far, inner_far)

    def _draw(self, nodes: Nodes, avoid: Nodes, rows: Nodes, turn: int, count: int) -> Nodes:
        out = np.empty((len(nodes), count), np.int64)
        near = self._near
        draw_fanout(nodes, avoid, rows, turn, self.settings.seed, near.indptr, near.indices, out)
        return out

    def _one_of(self, nodes: Nodes, random: np.random.Generator) -> Nodes:
        """A neighbour of each node, drawn at random; all of them have one."""
        begin, end = self._near.indptr[nodes], self._near.indptr[nodes + 1]
        at = begin + (random.random(len(nodes)) * (end - begin)).astype(np.int64)
        return self._near.indices[at].astype(np.int64)

    def _order(self, epoch: int) -> Nodes:
        if self._shuffled is None or self._shuffled[0] != epoch:
            random = np.random.Generator(np.random.PCG64([self.settings.seed, epoch]))
            self._shuffled = epoch, random.permutation(self._ends.shape[1])
        return self._shuffled[1]


def train(
    net: SageNet,
    features: Table,
    feed: SageFeed,
    device: Any,
    progress: TextProgress | None = None,
    after_turn: Callable[[TextProgress, int], None] | None = None,
) -> TextProgress:
    """Train in place with Adam at a constant rate.

    Parameters
    ----------
    net
        The module; it ends on `device`.
    features
        Features of every node, shape (n, f).
    feed
        Links, noise and neighbours.
    device
        Where to work.
    progress, after_turn
        As in the training of TGE.
    """
    settings = feed.settings
    net.to(device)
    optimizer = TextOptimizer(net, "adam", settings.learning_rate, NO_CLIP)
    state = TextProgress() if progress is None else progress
    attach(state, net, optimizer)
    table, turns = torch.from_numpy(features).to(device), settings.epochs * feed.batches
    began = time.perf_counter()
    while state.turn < turns:
        batch = feed.batch(state.turn)
        loss = loss_of(net, table, batch, settings.negatives)
        (loss / batch.links).backward()
        optimizer.step()
        last = (state.turn + 1) % feed.batches == 0
        if last or state.turn % LOSS_EVERY == 0:
            state.loss = float(loss.detach()) / batch.links
        state.count(batch.links, len(batch.roots))
        state.epoch += int(last)
        now = time.perf_counter()
        state.seconds["train"] += now - began
        began = now
        if after_turn is not None:
            after_turn(state, turns)
    return state


def loss_of(net: SageNet, table: Tensor, batch: SageBatch, negatives: int) -> Tensor:
    """Loss of a batch, summed over its links."""
    z = sampled_vectors(net, table, batch)
    left, right, noise = z.split([batch.links, batch.links, len(z) - 2 * batch.links])
    known = torch.from_numpy(batch.known).to(z.device)
    return link_loss(left, right, noise, known, net.constant, negatives)


def sampled_vectors(net: SageNet, table: Tensor, batch: SageBatch) -> Tensor:
    """Vectors z of the roots of a batch from their sampled neighbours, shape (roots, dim)."""
    device = table.device
    inner = net.hidden(_rows(table, batch.inner), table, _bags(batch.inner_far, device))
    own = net.hidden(_rows(table, batch.roots), table, _bags(batch.root_far, device))
    place = np.where(batch.near >= 0, np.searchsorted(batch.inner, batch.near), NOBODY)
    if not len(inner):  # nobody has a neighbour
        inner = inner.new_zeros(1, inner.shape[1])
    z: Tensor = net(own, inner, _bags(place, device))
    return z


def node_vectors(net: SageNet, features: Table, graph: TextGraph, device: Any) -> Table:
    """Vectors z of all nodes from all their neighbours, shape (n, dim)."""
    near = graph.adjacency()
    bags = Bags.of(near.indices, np.diff(near.indptr), device)
    with torch.no_grad():
        table = torch.from_numpy(features).to(device)
        hidden = net.hidden(table, table, bags)
        found: Table = net(hidden, hidden, bags).cpu().numpy()
    return found


def _rows(table: Tensor, nodes: Nodes) -> Tensor:
    return table[torch.from_numpy(nodes).to(table.device)]


def _bags(drawn: Nodes, device: Any) -> Bags:
    """Neighbours without the places where there is none."""
    there = drawn >= 0
    return Bags.of(drawn[there], there.sum(1), device)
