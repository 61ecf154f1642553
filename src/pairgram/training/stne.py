"""Trains STNE on walks that are drawn again whenever they are needed, and never kept."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pairgram.graph import TextGraph
from pairgram.sampling.walks import WalkSampler
from pairgram.training.stne_net import Noise, StneNet, keep_some
from pairgram.training.text import attach
from pairgram.training.text_optimizer import TextOptimizer
from pairgram.training.text_state import TextProgress

CLIP = 5.0
LOSS_EVERY = 10
BLOCK_WALKS = 1 << 12
"""Walks that are read at once when vectors are made."""

Nodes = NDArray[np.int64]
Table = NDArray[np.float32]


@dataclass(frozen=True)
class StneSettings:
    """Parameters of the walks, the loss and its descent; `samples` is 0 for the whole softmax."""

    length: int
    times: int
    epochs: int
    learning_rate: float
    dropout: float
    batch_size: int
    samples: int
    seed: int


class WalkFeed:
    """Walks from every node that has a link, in batches, shuffled in every round and epoch.

    Parameters
    ----------
    graph
        The training graph.
    settings
        Length, rounds, size of a batch, seed.
    """

    def __init__(self, graph: TextGraph, settings: StneSettings) -> None:
        self.settings, self.starts = settings, np.flatnonzero(graph.degree > 0)
        self._sampler = WalkSampler(graph, settings.length, seed=settings.seed)
        self._in_round = -(-len(self.starts) // settings.batch_size)
        self.batches = settings.times * self._in_round
        self._shuffled: tuple[tuple[int, int], Nodes] | None = None

    def batch(self, turn: int) -> Nodes:
        """Return the walks of a turn, a function of the seed and the turn alone, shape (b, L)."""
        epoch, k = divmod(turn, self.batches)
        number, part = divmod(k, self._in_round)
        size = self.settings.batch_size
        return self._walk(self._order(epoch, number)[part * size : (part + 1) * size], number)

    def blocks(self) -> Iterator[Nodes]:
        """All walks of an epoch, in blocks of shape (b, L)."""
        for number in range(self.settings.times):
            for begin in range(0, len(self.starts), BLOCK_WALKS):
                yield self._walk(self.starts[begin : begin + BLOCK_WALKS], number)

    def _order(self, epoch: int, number: int) -> Nodes:
        """Starts in the order of a round of an epoch."""
        if self._shuffled is None or self._shuffled[0] != (epoch, number):
            random = np.random.Generator(np.random.PCG64([self.settings.seed, epoch, number]))
            self._shuffled = (epoch, number), random.permutation(self.starts)
        return self._shuffled[1]

    def _walk(self, starts: Nodes, number: int) -> Nodes:
        walks = self._sampler.walk(starts, np.full(len(starts), number))
        return walks.astype(np.int64)


def train(
    net: StneNet,
    content: Table,
    feed: WalkFeed,
    degree: Nodes,
    device: Any,
    progress: TextProgress | None = None,
    after_turn: Callable[[TextProgress, int], None] | None = None,
) -> TextProgress:
    """Train in place with Adam at a constant rate.

    Parameters
    ----------
    net
        The module; it ends on `device`.
    content
        Content vectors of all nodes, shape (n, f).
    feed
        The walks.
    degree
        Degrees, shape (n,), behind the noise of the sampled softmax.
    device
        Where to work.
    progress, after_turn
        As in the training of TGE.
    """
    settings = feed.settings
    net.to(device)
    read = torch.from_numpy(content).to(device)  # (n, f)
    noise = Noise(degree, settings.samples) if settings.samples else None
    optimizer = TextOptimizer(net, "adam", settings.learning_rate, CLIP)
    state = TextProgress() if progress is None else progress
    attach(state, net, optimizer)
    random, turns = torch.Generator(device), settings.epochs * feed.batches
    began = time.perf_counter()
    while state.turn < turns:
        walks = feed.batch(state.turn)  # (b, L)
        nodes = torch.from_numpy(walks).to(device)
        random.manual_seed(hash_of(settings.seed, state.turn))
        _, states = net.encode(read[nodes])
        hidden = keep_some(states[0], settings.dropout, random)
        decoded = net.decode((hidden, states[1]), settings.length)  # (b, L, dim)
        decoded = keep_some(decoded, settings.dropout, random).flatten(0, 1)
        touched: dict[str, Tensor] = {}
        if noise is None:
            loss = net.loss(decoded, nodes.flatten())
        else:
            draws = np.random.Generator(np.random.PCG64([settings.seed, state.turn]))
            among = noise.draw(walks.ravel(), draws, device)
            loss = net.sampled_loss(decoded, among)
            touched = {"nodes.weight": among.rows, "bias.weight": among.rows}
        loss.backward()
        optimizer.step(touched=touched)
        last = (state.turn + 1) % feed.batches == 0
        if last or state.turn % LOSS_EVERY == 0:
            state.loss = float(loss.detach())
        state.count(walks.size, len(walks))
        state.epoch += int(last)
        now = time.perf_counter()
        state.seconds["train"] += now - began
        began = now
        if after_turn is not None:
            after_turn(state, turns)
    return state


def hash_of(seed: int, turn: int) -> int:
    """Seed of the draws of one turn, below 2^63."""
    return int(np.random.SeedSequence([seed, turn]).generate_state(1, np.uint64)[0] >> 1)


def node_vectors(net: StneNet, content: Table, feed: WalkFeed, device: Any) -> Table:
    """Mean encoder output over the walks' visits of each node, shape (n, dim).

    A node without a link is read in a walk of its own, of length one.
    """
    read = torch.from_numpy(content).to(device)
    dim = 2 * net.encoder.hidden_size
    wide = torch.float32 if torch.device(device).type == "mps" else torch.float64  # it has none
    total = torch.zeros((len(content), dim), dtype=wide, device=device)
    visits = np.zeros(len(content), np.int64)
    with torch.no_grad():
        for walks in feed.blocks():
            nodes = torch.from_numpy(walks).to(device)
            outputs, _ = net.encode(read[nodes])
            total.index_add_(0, nodes.flatten(), outputs.flatten(0, 1).to(wide))
            visits += np.bincount(walks.ravel(), minlength=len(visits))
    sums = total.cpu().numpy()
    alone = np.flatnonzero(visits == 0)
    sums[alone] = text_vectors(net, content[alone], device)
    found: Table = (sums / np.maximum(visits, 1)[:, None]).astype(np.float32)
    return found


def text_vectors(net: StneNet, content: Table, device: Any) -> Table:
    """Encoder outputs for walks of one node each, from contents (m, f), shape (m, dim)."""
    found = np.empty((len(content), 2 * net.encoder.hidden_size), np.float32)
    with torch.no_grad():
        for begin in range(0, len(content), BLOCK_WALKS):
            rows = slice(begin, begin + BLOCK_WALKS)
            single = torch.from_numpy(content[rows, None]).to(device)  # (b, 1, f)
            found[rows] = net.encode(single)[0][:, 0].cpu().numpy()
    return found
