"""Fine-tuning of a sentence encoder on links: the other links of a batch are the negatives."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from pairgram.graph import TextGraph
from pairgram.text.encoders import Encoder, Texts, encode
from pairgram.text.encoders.encode import batches
from pairgram.text.ragged import Ragged
from pairgram.training.text import attach, densify, load_weights, weights_of
from pairgram.training.text_batches import KnownLinks
from pairgram.training.text_descent import LAST_RATE
from pairgram.training.text_optimizer import TextOptimizer
from pairgram.training.text_state import TextProgress
from pairgram.training.text_validation import Trials

Nodes = NDArray[np.int64]

CLIP = 1.0
RISES = 0.1
"""Share of an epoch in which the rate rises."""
QUERIES, POOL = 1_000, 20_000
"""Links of a validation, and most nodes that they are ranked among."""
TIE = 1e-6
"""Cosines this near are equal: those of one text read twice differ by rounding."""
DEVICE_WORDS = 1 << 16
"""Pieces whose activations a device holds at once for the gradient."""


@dataclass(frozen=True)
class TuneSettings:
    """Parameters of the loss and its descent."""

    epochs: int
    patience: int
    learning_rate: float
    temperature: float
    batch_size: int
    seed: int
    epoch_links: int | None = None


@dataclass(frozen=True, eq=False)
class LinkBatch:
    """Links of a batch.

    Attributes
    ----------
    nodes
        Distinct nodes, shape (m,).
    left, right
        Rows of `nodes`, shape (b,).
    known
        Which (left, right) are linked, or one node, the batch's own links left out, shape (b, b).
    """

    nodes: Nodes
    left: Nodes
    right: Nodes
    known: NDArray[np.bool_]


class LinkFeed:
    """Links of a graph, shuffled every epoch; as many of them as an epoch takes.

    Parameters
    ----------
    graph
        The training graph.
    settings
        Size of a batch and of an epoch, seed.
    """

    def __init__(self, graph: TextGraph, settings: TuneSettings) -> None:
        self.settings, self._links = settings, KnownLinks(graph.adjacency())
        apart = graph.source != graph.target
        self._ends = np.stack((graph.source[apart], graph.target[apart])).astype(np.int64)
        links = self._ends.shape[1]
        self._taken = min(links, settings.epoch_links or links)
        self.batches = -(-self._taken // settings.batch_size)
        self._shuffled: tuple[int, Nodes] | None = None

    def batch(self, turn: int) -> LinkBatch:
        """Return the batch of a turn, a function of the seed and the turn alone."""
        epoch, k = divmod(turn, self.batches)
        size = self.settings.batch_size
        left, right = self._ends[:, self._order(epoch)[k * size : (k + 1) * size]]
        known = self._links.between(left, right)
        np.fill_diagonal(known, False)
        nodes, rows = np.unique(np.concatenate((left, right)), return_inverse=True)
        return LinkBatch(nodes, rows[: len(left)], rows[len(left) :], known)

    def _order(self, epoch: int) -> Nodes:
        if self._shuffled is None or self._shuffled[0] != epoch:
            random = np.random.Generator(np.random.PCG64([self.settings.seed, epoch]))
            self._shuffled = epoch, random.permutation(self._ends.shape[1])[: self._taken]
        return self._shuffled[1]


def link_loss(left: Tensor, right: Tensor, known: Tensor, temperature: float) -> Tensor:
    """Mean over links of −log softmax of cos(u, v)/t among the batch, from both ends.

    Parameters
    ----------
    left, right
        Vectors of the links' ends, both (b, dim).
    known
        Pairs that are no negatives, shape (b, b).
    temperature
        t.
    """
    u, v = functional.normalize(left, dim=1), functional.normalize(right, dim=1)
    score = (u @ v.T / temperature).masked_fill(known, -torch.inf)  # (b, b)
    own = torch.arange(len(score), device=score.device)
    return (functional.cross_entropy(score, own) + functional.cross_entropy(score.T, own)) / 2


def tune(
    encoder: Encoder,
    words: Ragged,
    feed: LinkFeed,
    ranking: "LinkRanking | None",
    device: Any,
    progress: TextProgress | None = None,
    after_turn: Callable[[TextProgress, int], None] | None = None,
) -> TextProgress:
    """Train in place with Adam until the validation's MRR stops rising.

    Parameters
    ----------
    encoder
        Ends on `device` with the best weights seen, those of the start among them.
    words
        Pieces of every node's text.
    feed
        Links.
    ranking
        Validation, or None to run all epochs.
    device
        Where to work; on a CUDA card products are in bfloat16.
    progress, after_turn
        As in the training of TGE.
    """
    settings = feed.settings
    encoder.to(device)
    densify(encoder, device)
    optimizer = TextOptimizer(encoder, "adam", settings.learning_rate, CLIP)
    state = TextProgress() if progress is None else progress
    attach(state, encoder, optimizer)
    turns = settings.epochs * feed.batches
    began = time.perf_counter()
    if ranking is not None and not state.scores:
        _judge(state, encoder, ranking)
    while state.turn < turns and not state.has_stalled(settings.patience):
        batch = feed.batch(state.turn)
        state.loss = descend(encoder, words.take(batch.nodes), batch, settings, device)
        optimizer.step(_rate(state.turn, feed.batches, turns))
        last = (state.turn + 1) % feed.batches == 0
        state.count(len(batch.left), len(batch.nodes))
        state.epoch += int(last)
        if last and ranking is not None:
            _judge(state, encoder, ranking)
        now = time.perf_counter()
        state.seconds["train"] += now - began
        began = now
        if after_turn is not None:
            after_turn(state, turns)
    if state.best:
        load_weights(encoder, state.best)
    return state


def descend(
    encoder: Encoder, texts: Ragged, batch: LinkBatch, settings: TuneSettings, device: Any
) -> float:
    """Gradients of a batch, however many texts the device can hold at once; return its loss.

    Vectors are made without a graph, then their gradients; then part after part is encoded again
    and given its gradient. A batch of one part is encoded once.
    """
    encoder.train()
    on_cpu = torch.device(device).type == "cpu"
    parts = list(batches(texts.lengths, encoder.words_at_once if on_cpu else DEVICE_WORDS))

    def read(rows: Nodes) -> Tensor:
        taken = Texts(texts.take(rows), encoder.spell(()))
        with torch.autocast("cuda", torch.bfloat16, enabled=torch.device(device).type == "cuda"):
            return encoder(encoder.batch(taken, device)).float()

    with torch.set_grad_enabled(len(parts) == 1):
        found = [read(rows) for rows in parts]
    order = torch.from_numpy(np.argsort(np.concatenate(parts))).to(device)
    leaf = torch.cat(found).detach().requires_grad_()
    vectors = leaf[order]  # (m, dim)
    ends = torch.from_numpy(np.stack((batch.left, batch.right))).to(device)
    known = torch.from_numpy(batch.known).to(device)
    loss = link_loss(vectors[ends[0]], vectors[ends[1]], known, settings.temperature)
    loss.backward()
    gradients = leaf.grad.split([len(rows) for rows in parts])
    for rows, vector, gradient in zip(parts, found, gradients, strict=True):
        (vector if vector.requires_grad else read(rows)).backward(gradient)
    return float(loss.detach())


class LinkRanking:
    """MRR of links that were held back, among nodes that are not linked to their centre.

    Parameters
    ----------
    graph
        The graph with all its links.
    trials
        The links held back.
    words
        Pieces of every node's text.
    seed
        Seed of the draw of the nodes, where there are more than are ranked.
    device
        Where to work.
    """

    def __init__(
        self, graph: TextGraph, trials: Trials, words: Ragged, seed: int, device: Any
    ) -> None:
        center, positive = trials.center[:QUERIES], trials.positive[:QUERIES]
        drawn = np.random.Generator(np.random.PCG64([seed, 2])).permutation(graph.n_nodes)
        pool = np.union1d(drawn[:POOL], np.concatenate((center, positive)))
        self._center, self._positive = (np.searchsorted(pool, ends) for ends in (center, positive))
        self._known = KnownLinks(graph.adjacency()).between(center, pool)
        self._words, self._device = words.take(pool), device

    def score(self, encoder: Encoder) -> float:
        """Mean over the links of 1/rank, ties at the mean rank."""
        encoder.eval()
        found = encode(encoder, self._words, encoder.spell(()), self._device)
        unit = functional.normalize(torch.from_numpy(found), dim=1).numpy()
        block = unit[self._center] @ unit.T  # (q, pool)
        own = block[np.arange(len(block)), self._positive][:, None]
        block[self._known] = -np.inf
        tied = np.abs(block - own) <= TIE
        rank = 1 + ((block > own) & ~tied).sum(1) + tied.sum(1) / 2
        return float(np.mean(1 / rank))


def _judge(state: TextProgress, encoder: Encoder, ranking: LinkRanking) -> None:
    """Score, and keep the weights if they are the best so far; the first are those of the start."""
    state.scores.append(ranking.score(encoder))
    if state.best_epoch == len(state.scores):
        state.best = weights_of(encoder)


def _rate(turn: int, batches_of_epoch: int, turns: int) -> float:
    """Share of the learning rate at a turn: it rises quickly, then falls to a tenth."""
    risen = min(1.0, (turn + 1) / max(1.0, RISES * batches_of_epoch))
    return risen * (1.0 - (1.0 - LAST_RATE) * turn / turns)
