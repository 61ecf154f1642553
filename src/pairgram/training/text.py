"""Text-driven training: an encoder and context vectors from sampled pairs."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from pairgram.text.encoders import encode, encode_planned, plan
from pairgram.training.text_descent import descend, rate_share, vectors_of
from pairgram.training.text_feed import Feed, TextSettings, TextTask
from pairgram.training.text_net import TextNet
from pairgram.training.text_optimizer import TextOptimizer
from pairgram.training.text_state import Arrays, TextProgress
from pairgram.training.text_validation import Trials

Table = NDArray[np.float32]

LOSS_EVERY = 10
"""Turns between two looks at the loss, each of which waits for the device."""


def train(
    net: TextNet,
    task: TextTask,
    settings: TextSettings,
    device: Any = "cpu",
    progress: TextProgress | None = None,
    after_turn: Callable[[TextProgress, int], None] | None = None,
) -> TextProgress:
    """Minimise −log σ(e'_v·e_u) − Σ_K log σ(−e'_k·e_u), and L2, over the sampled pairs.

    Every centre is encoded once an epoch, whatever the number of its pairs.

    Parameters
    ----------
    net
        Trained in place; ends on `device` with the weights of the best epoch.
    task
        Texts, pairs, noise and validation.
    settings
        Parameters of the loss and its descent.
    device
        Where to work.
    progress
        Where to go on from, as `after_turn` saw it in an earlier run.
    after_turn
        Called after each batch with the progress and the most turns there can be. An exception
        raised there ends the training with the progress still sound.
    """
    net.to(device)
    densify(net, device)
    optimizer = TextOptimizer(
        net, settings.optimizer, settings.learning_rate, settings.clip, net.shares_of_rate
    )
    state = TextProgress() if progress is None else progress
    attach(state, net, optimizer)
    feed = Feed(task, settings, net, device)
    validation = None if task.trials is None else Validation(net, task, task.trials, device)
    total = int(task.groups.pairs.sum())
    end = settings.stop * feed.batches or feed.turns
    began = time.perf_counter()
    with feed.start(state.turn) as steps:
        while state.turn < end and not state.has_stalled(settings.patience):
            step = next(steps)
            loss = descend(net, step, settings, total / feed.batches)
            optimizer.step(
                rate_share(settings, feed, state.turn), settings.l2 / total, step.touched
            )
            last = (state.turn + 1) % feed.batches == 0
            if last or state.turn % LOSS_EVERY == 0:
                state.loss = float(loss) / max(step.n_pairs, 1)
            state.count(step.n_pairs, len(step.nodes))
            if last:
                _end_epoch(state, net, validation)
            now = time.perf_counter()
            state.seconds["train"] += now - began
            began = now
            if after_turn is not None:
                after_turn(state, end)
    if state.best:
        load_weights(net, state.best)
    net.encoder.round_words()
    return state


def node_vectors(net: TextNet, task: TextTask, device: Any) -> tuple[Table, Table]:
    """Centre and context vectors of all nodes, both (n, dim)."""
    text = encode(net.encoder, task.words, task.spelling, device)
    return vectors_of(net, text, np.arange(len(task.words)), device)


class Validation:
    """The score of early stopping, the texts made ready once for all epochs."""

    def __init__(self, net: TextNet, task: TextTask, trials: Trials, device: Any) -> None:
        self._net, self._spelling, self._trials = net, task.spelling, trials
        self._device, self._nodes = device, trials.nodes
        words = task.words.take(self._nodes)
        # As `encode` does: for a few texts it is cheaper to spell the words of each batch alone.
        self._featured = len(words.values) > len(task.spelling) and net.encoder.has_features
        self._planned = list(plan(net.encoder, words, task.spelling, device, self._featured))

    def score(self) -> float:
        """AUC_pair of the trials."""
        encoder, features = self._net.encoder, None
        if self._featured:
            with torch.no_grad():
                features = encoder.features(self._spelling, self._device)
        text = encode_planned(encoder, self._planned, len(self._nodes), features)
        return self._trials.score(*vectors_of(self._net, text, self._nodes, self._device))


def _end_epoch(state: TextProgress, net: TextNet, validation: Validation | None) -> None:
    state.epoch += 1
    if validation is None:
        return
    state.scores.append(validation.score())
    if state.best_epoch == state.epoch:
        state.best = weights_of(net)


def weights_of(net: nn.Module) -> Arrays:
    """All weights by name."""
    return {name: value.detach().cpu().numpy().copy() for name, value in net.state_dict().items()}


def load_weights(net: nn.Module, weights: Arrays) -> None:
    """Take up what `weights_of` gave."""
    net.load_state_dict({name: torch.from_numpy(array) for name, array in weights.items()})


def attach(state: TextProgress, net: nn.Module, optimizer: TextOptimizer) -> None:
    """Take up a stored state, and let the progress give the current one."""
    if state.stored:
        split = {"net": {}, "optimizer": {}}  # type: dict[str, Arrays]
        for name, array in state.stored.items():
            kind, key = name.split("/", 1)
            split[kind][key] = array
        load_weights(net, split["net"])
        optimizer.restore(split["optimizer"])
        state.stored = {}

    def current() -> Arrays:
        parts = {"net": weights_of(net), "optimizer": optimizer.arrays()}
        return {f"{kind}/{k}": a for kind, arrays in parts.items() for k, a in arrays.items()}

    state.current = current


def densify(net: nn.Module, device: Any) -> None:
    """Apple's devices have no sparse gradients."""
    for layer in net.modules():
        if isinstance(layer, nn.Embedding) and torch.device(device).type == "mps":
            layer.sparse = False
