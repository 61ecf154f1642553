"""Training of CANE on links and noise, and what it gives: text vectors of pairs."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from pairgram.graph import TextGraph
from pairgram.text.ragged import Ragged
from pairgram.training.cane_net import CaneBatch, CaneNet, Weights, WordRows, loss_of_pairs
from pairgram.training.settings import noise_mass
from pairgram.training.text import attach
from pairgram.training.text_optimizer import TextOptimizer
from pairgram.training.text_state import TextProgress

Table = NDArray[np.float32]
Nodes = NDArray[np.int64]

NO_CLIP = float("inf")
LOSS_EVERY = 10
"""Turns between two looks at the loss, each of which waits for the device."""
BLOCK_PRODUCTS, DEVICE_PRODUCTS = 1 << 21, 1 << 26
"""Products of words of two texts that are held at once when vectors are read, on a CPU or not."""


@dataclass(frozen=True)
class CaneSettings:
    """Parameters of the loss and its descent."""

    weights: Weights
    negatives: int
    epochs: int
    learning_rate: float
    batch_size: int
    seed: int


class CaneFeed:
    """Links of a graph in both directions, shuffled every epoch, with noise nodes.

    Parameters
    ----------
    graph
        The training graph.
    settings
        Size of a batch, noise, seed.
    """

    def __init__(self, graph: TextGraph, settings: CaneSettings) -> None:
        near = graph.adjacency()
        self.center = np.repeat(np.arange(graph.n_nodes), np.diff(near.indptr))
        self.context = near.indices.astype(np.int64)
        self.settings = settings
        self.batches = -(-len(self.center) // settings.batch_size)
        self._noise = np.cumsum(noise_mass(graph.degree))
        self._shuffled: tuple[int, Nodes] | None = None

    def batch(self, turn: int) -> CaneBatch:
        """Return the batch of a turn, a function of the seed and the turn alone."""
        size, seed = self.settings.batch_size, self.settings.seed
        epoch, k = divmod(turn, self.batches)
        chosen = self._order(epoch)[k * size : (k + 1) * size]
        drawn = np.random.Generator(np.random.PCG64([seed, epoch, k])).random(
            (self.settings.negatives, len(chosen))
        )
        noise = np.searchsorted(self._noise, drawn * self._noise[-1], side="right")
        center = self.center[chosen]
        left = np.tile(center, 1 + self.settings.negatives)
        right = np.concatenate((self.context[chosen], noise.ravel()))
        nodes, rows = np.unique(np.concatenate((left, right)), return_inverse=True)
        return CaneBatch(nodes, rows[: len(left)], rows[len(left) :], len(chosen))

    def _order(self, epoch: int) -> Nodes:
        """Links in the order of an epoch, shape (2m,)."""
        if self._shuffled is None or self._shuffled[0] != epoch:
            random = np.random.Generator(np.random.PCG64([self.settings.seed, epoch]))
            self._shuffled = epoch, random.permutation(len(self.center))
        return self._shuffled[1]


def train(
    net: CaneNet,
    words: Ragged,
    feed: CaneFeed,
    device: Any,
    progress: TextProgress | None = None,
    after_turn: Callable[[TextProgress, int], None] | None = None,
) -> TextProgress:
    """Train in place with Adam at a constant rate.

    Parameters
    ----------
    net
        The module; it ends on `device`.
    words
        Known words of every node's text.
    feed
        Links and noise.
    device
        Where to work.
    progress, after_turn
        As in the training of TGE.
    """
    settings = feed.settings
    net.to(device)
    for table in (net.structure, net.words):
        table.sparse = torch.device(device).type != "mps"  # it has no sparse gradients
    optimizer = TextOptimizer(net, "adam", settings.learning_rate, NO_CLIP)
    state = TextProgress() if progress is None else progress
    attach(state, net, optimizer)
    texts = WordRows(words, net.words.num_embeddings, device)
    weights, turns = settings.weights.matrix(device), settings.epochs * feed.batches
    began = time.perf_counter()
    while state.turn < turns:
        batch = feed.batch(state.turn)
        pairs = texts.pairs(batch)
        loss = loss_of_pairs(net, texts, pairs, weights)
        (loss / batch.links).backward()
        optimizer.step(touched={"structure.weight": pairs.nodes, "words.weight": pairs.words})
        last = (state.turn + 1) % feed.batches == 0
        if last or state.turn % LOSS_EVERY == 0:
            state.loss = float(loss.detach()) / batch.links
        state.count(batch.links, len(batch.nodes))
        state.epoch += int(last)
        now = time.perf_counter()
        state.seconds["train"] += now - began
        began = now
        if after_turn is not None:
            after_turn(state, turns)
    return state


class PairTexts:
    """Reads pairs of texts with a trained module.

    Parameters
    ----------
    net
        The module, on `device`.
    words
        Known words of the texts.
    device
        Where to work.
    """

    def __init__(self, net: CaneNet, words: Ragged, device: Any) -> None:
        self._net, self._device = net, device
        self._texts = WordRows(words, net.words.num_embeddings, device)
        on_cpu = torch.device(device).type == "cpu"
        self._products = BLOCK_PRODUCTS if on_cpu else DEVICE_PRODUCTS
        with torch.no_grad():
            self._filters = net.filters(torch.arange(net.words.num_embeddings, device=device))

    def read(self, left: Nodes, right: Nodes) -> tuple[Table, Table]:
        """Text vectors of the pairs of rows of `words`, each in view of the other, (b, dim)."""
        found, ends = np.empty((2, len(left), self._net.dim), np.float32), np.stack((left, right))
        with torch.no_grad():
            for part, width in self._parts(ends):
                ids = self._texts.ids(torch.from_numpy(ends[:, part]).to(self._device), width)
                found[:, part] = self._net.read(self._filters, ids).cpu().numpy()
        return found[0], found[1]

    def means(self, rows: Nodes, counts: Nodes, others: Nodes) -> Table:
        """Mean text vectors of rows, each in view of as many of `others` as `counts` says."""
        if not len(rows):
            return np.zeros((0, self._net.dim), np.float32)
        text, _ = self.read(np.repeat(rows, counts), others)
        sums = np.add.reduceat(text, np.cumsum(counts) - counts, axis=0)
        found: Table = (sums / counts[:, None]).astype(np.float32)
        return found

    def means_over(self, rows: Nodes, others: Nodes) -> Table:
        """Mean text vectors of rows, each in view of all `others`."""
        every = np.full(len(rows), len(others))
        return self.means(rows, every, np.tile(others, len(rows)))

    def _parts(self, ends: Nodes) -> Iterator[tuple[Nodes, int]]:
        """Pairs of like lengths together, as many as fit in a block, and the longest length."""
        longest = np.maximum(self._texts.lengths[ends].max(0), 1)
        order = np.argsort(longest, kind="stable")
        longest = longest[order]
        block = np.cumsum(longest * np.maximum(longest, 2 * self._net.dim)) // self._products
        if len(order):
            for part in np.split(order, np.flatnonzero(np.diff(block)) + 1):
                longest, width = longest[len(part) :], int(longest[len(part) - 1])
                yield part, width
