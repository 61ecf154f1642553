"""Text-driven training: an encoder and context vectors from sampled pairs."""

import math
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from pairgram.text.encoders import encode, encode_planned, plan, to_device
from pairgram.training.text_feed import Feed, Step, TextSettings, TextTask
from pairgram.training.text_net import Contrast, TextNet, contrast_loss
from pairgram.training.text_optimizer import TextOptimizer
from pairgram.training.text_state import Arrays, TextProgress
from pairgram.training.text_validation import Trials

Table = NDArray[np.float32]

PAIR_SLICE = 1 << 18
"""Pairs whose products are held at once; a hub with more takes several turns."""
LAST_RATE = 0.1
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
            loss = _descend(net, step, settings, total / feed.batches)
            optimizer.step(_rate(settings, feed, state.turn), settings.l2 / total, step.touched)
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
    return state


def node_vectors(net: TextNet, task: TextTask, device: Any) -> tuple[Table, Table]:
    """Centre and context vectors of all nodes, both (n, dim)."""
    text = encode(net.encoder, task.words, task.spelling, device)
    return _both(net, text, np.arange(len(task.words)), device)


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
        return self._trials.score(*_both(self._net, text, self._nodes, self._device))


def _both(net: TextNet, text: Table, nodes: NDArray[np.int64], device: Any) -> tuple[Table, Table]:
    with torch.no_grad():
        there = to_device({"text": text, "nodes": nodes}, device)
        center = net.center(there["text"], there["nodes"])
        context = net.context(there["text"], there["nodes"])
    return center.cpu().numpy(), context.cpu().numpy()


def _descend(net: TextNet, step: Step, settings: TextSettings, scale: float) -> Tensor:
    """Gradients of a batch, its loss divided by `scale`; return the loss of its pairs ahead."""
    text = net.encoder(step.texts)  # (b, dim)
    # The products of a hub's pairs come in slices, the encoder's gradient once.
    leaf = text.detach().requires_grad_()
    offset = -math.log(settings.negatives) if settings.offset else 0.0
    rest = (settings.negatives, offset, settings.l2)
    total = torch.zeros((), device=text.device)
    for piece in _slices(step.ahead):
        center = net.center(leaf, step.nodes, step.keep_id)
        loss = contrast_loss(center, net.known_context, piece, step.pairs, *rest)
        (loss / scale).backward()
        total += loss.detach()
    if step.back is not None:
        for piece in _slices(step.back):
            context = net.context(leaf, step.nodes)
            loss = contrast_loss(context, net.known_center, piece, step.back_pairs, *rest)
            (loss / scale).backward()
    with torch.no_grad():
        net.see(step.nodes, net.center(text, step.nodes), text)
    text.backward(leaf.grad)
    return total


def _slices(batch: Contrast) -> Iterator[Contrast]:
    count = len(batch.row)
    for begin in range(0, max(count, 1), PAIR_SLICE):
        yield batch.pairs(begin, begin + PAIR_SLICE)


def _rate(settings: TextSettings, feed: Feed, turn: int) -> float:
    """Share of the learning rate at a turn: it rises in the first epoch, then Adam's falls.

    AdaGrad's first steps are as long as the rate in every weight, whatever the gradient; taken at
    the full rate they drive the recurrent layers and the tanh into saturation.
    """
    risen = min(1.0, (turn + 1) / feed.batches)
    fallen = 1.0 if settings.optimizer == "adagrad" else 1.0 - (1.0 - LAST_RATE) * turn / feed.turns
    return risen * fallen


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
