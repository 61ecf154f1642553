"""Text-driven training: an encoder and context vectors from sampled pairs."""

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pairgram.text.encoders import Batch, Rows, encode
from pairgram.text.ragged import Ragged
from pairgram.training.text_batches import CentrePlan, Group, KnownLinks, Noise, PairGroups
from pairgram.training.text_net import Contrast, TextNet, contrast_loss
from pairgram.training.text_optimizer import TextOptimizer
from pairgram.training.text_state import Arrays, TextProgress
from pairgram.training.text_validation import Trials

Table = NDArray[np.float32]

PAIR_SLICE = 1 << 18
"""Pairs whose products are held at once; a hub with more takes several turns."""
LAST_RATE = 0.1


@dataclass(frozen=True)
class TextSettings:
    """Parameters of the loss and its descent.

    Attributes
    ----------
    negatives
        Noise nodes K per pair.
    shared_negatives
        Noise nodes drawn once a batch for all its centres; 0 draws K for every distinct pair.
    epochs, patience
        Most passes over the centres; epochs without a better validation score before the end.
    batch_size
        Centres of a batch.
    optimizer, learning_rate, clip
        "adagrad" at a constant rate, or "adam" at one that falls linearly to a tenth; the largest
        norm of a gradient.
    l2
        Weight λ of λ/2·(‖e_u‖² + ‖e'_v‖²) for every pair and noise pair, and of λ/2·‖θ‖² once.
    offset
        Take log K off every score in training.
    word_dropout, id_dropout
        Shares of words and of id vectors dropped.
    seed
        Seed of batches, noise and dropout.
    """

    negatives: int = 5
    shared_negatives: int = 512
    epochs: int = 20
    patience: int = 3
    batch_size: int = 256
    optimizer: str = "adam"
    learning_rate: float = 0.01
    clip: float = 1.0
    l2: float = 0.0
    offset: bool = False
    word_dropout: float = 0.1
    id_dropout: float = 0.5
    seed: int = 0


@dataclass(frozen=True, eq=False)
class TextTask:
    """What is trained on.

    Attributes
    ----------
    words, spelling
        Word ids of all texts, and the letters of all words.
    groups
        Pairs by centre.
    back
        Pairs by context, wanted where contexts come from text: the same in an undirected graph.
    noise
        Where noise nodes come from.
    known
        Links that are never noise, or None.
    trials
        Links for early stopping, or None.
    """

    words: Ragged
    spelling: Ragged
    groups: PairGroups
    back: PairGroups
    noise: Noise
    known: KnownLinks | None = None
    trials: Trials | None = None


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
    _densify(net, device)
    optimizer = TextOptimizer(net, settings.optimizer, settings.learning_rate, settings.clip)
    state = TextProgress() if progress is None else progress
    _attach(state, net, optimizer)
    spelling = Rows.of(task.spelling, device)
    centres = np.flatnonzero(task.groups.pairs)
    plan = CentrePlan(centres, task.words.lengths[centres], settings.batch_size, settings.seed)
    total = int(task.groups.pairs.sum())
    turns = settings.epochs * plan.batches
    batches, loaded = plan.epoch(0), 0
    while state.turn < turns and not state.has_stalled(settings.patience):
        epoch, b = divmod(state.turn, plan.batches)
        if epoch != loaded:
            batches, loaded = plan.epoch(epoch), epoch
        began = time.perf_counter()
        two_ways = net.head is not None
        batch = _batch(task, batches[b], settings, state.turn, spelling, device, two_ways)
        sampled = time.perf_counter()
        loss = _descend(net, batch, settings, total / plan.batches)
        optimizer.step(_rate(settings, state.turn / turns), settings.l2 / total)
        pairs = int(task.groups.pairs[batches[b]].sum())
        state.loss = float(loss) / max(pairs, 1)
        state.seconds["sample"] += sampled - began
        state.seconds["train"] += time.perf_counter() - sampled
        state.pairs += pairs if epoch == 0 else 0
        state.updates += pairs
        state.passes += len(batches[b])
        state.turn += 1
        if b + 1 == plan.batches:
            _end_epoch(state, net, task, spelling, device)
        if after_turn is not None:
            after_turn(state, turns)
    if state.best:
        _load(net, state.best)
    return state


def node_vectors(
    net: TextNet, words: Ragged, nodes: NDArray[np.int64], spelling: Rows, device: Any
) -> tuple[Table, Table]:
    """Centre and context vectors of known nodes, both (len(nodes), dim).

    Parameters
    ----------
    words
        Word ids of the nodes' texts.
    """
    text = encode(net.encoder, words, spelling, device)
    with torch.no_grad():
        on_device, at = torch.from_numpy(text).to(device), torch.from_numpy(nodes).to(device)
        center, context = net.center(on_device, at), net.context(on_device, at)
    return center.cpu().numpy(), context.cpu().numpy()


@dataclass(frozen=True, eq=False)
class _Step:
    """One batch on the device: texts of b centres, their pairs as centres and as contexts."""

    texts: Batch
    nodes: Tensor  # (b,)
    keep_id: Tensor  # (b,)
    pairs: Tensor  # (b,)
    ahead: Contrast
    back_pairs: Tensor  # (b,)
    back: Contrast | None


def _batch(
    task: TextTask,
    centres: NDArray[np.int64],
    settings: TextSettings,
    turn: int,
    spelling: Rows,
    device: Any,
    two_ways: bool,
) -> _Step:
    """Everything of a turn that is random, as a function of (seed, turn)."""
    random = np.random.Generator(np.random.Philox([settings.seed, turn, 2]))
    words = task.words.take(centres)
    dropped = random.random(len(words.values), np.float32) < settings.word_dropout
    keep_id = random.random(len(centres), np.float32) >= settings.id_dropout

    def move(array: NDArray[Any]) -> Tensor:
        return torch.from_numpy(array).to(device)

    def contrast(group: Group) -> Contrast:
        noise, known = _noise(task, centres, group, settings, random)
        return Contrast(
            move(group.row), move(group.context), move(group.count), move(noise),
            None if known is None else move(known),
        )  # fmt: skip

    return _Step(
        Batch(Rows.of(words, device), spelling, move(dropped)),
        move(centres),
        move(keep_id.astype(np.float32)),
        move(task.groups.pairs[centres].astype(np.float32)),
        contrast(task.groups.of(centres)),
        move(task.back.pairs[centres].astype(np.float32)),
        contrast(task.back.of(centres)) if two_ways else None,
    )


def _noise(
    task: TextTask,
    centres: NDArray[np.int64],
    group: Group,
    settings: TextSettings,
    random: np.random.Generator,
) -> tuple[NDArray[np.int64], NDArray[np.bool_] | None]:
    """Noise nodes, (m,) shared or (p, K), and which of them are known links."""
    if settings.shared_negatives:
        drawn, centre = task.noise.draw(random, (settings.shared_negatives,)), centres
    else:
        drawn = task.noise.draw(random, (len(group.row), settings.negatives))
        centre = centres[group.row]
    known = None if task.known is None else task.known.among(centre[:, None], drawn)
    return drawn, known


def _descend(net: TextNet, step: _Step, settings: TextSettings, scale: float) -> Tensor:
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


def _rate(settings: TextSettings, done: float) -> float:
    """Share of the learning rate after a share of all turns."""
    return 1.0 if settings.optimizer == "adagrad" else 1.0 - (1.0 - LAST_RATE) * done


def _end_epoch(
    state: TextProgress, net: TextNet, task: TextTask, spelling: Rows, device: Any
) -> None:
    state.epoch += 1
    if task.trials is None:
        return
    nodes = task.trials.nodes
    vectors = node_vectors(net, task.words.take(nodes), nodes, spelling, device)
    state.scores.append(task.trials.score(*vectors))
    if state.best_epoch == state.epoch:
        state.best = weights_of(net)


def weights_of(net: TextNet) -> Arrays:
    """All weights by name."""
    return {name: value.detach().cpu().numpy().copy() for name, value in net.state_dict().items()}


def _load(net: TextNet, weights: Arrays) -> None:
    net.load_state_dict({name: torch.from_numpy(array) for name, array in weights.items()})


def _attach(state: TextProgress, net: TextNet, optimizer: TextOptimizer) -> None:
    """Take up a stored state, and let the progress give the current one."""
    if state.stored:
        split = {"net": {}, "optimizer": {}}  # type: dict[str, Arrays]
        for name, array in state.stored.items():
            kind, key = name.split("/", 1)
            split[kind][key] = array
        _load(net, split["net"])
        optimizer.restore(split["optimizer"])
        state.stored = {}

    def current() -> Arrays:
        parts = {"net": weights_of(net), "optimizer": optimizer.arrays()}
        return {f"{kind}/{k}": a for kind, arrays in parts.items() for k, a in arrays.items()}

    state.current = current


def _densify(net: TextNet, device: Any) -> None:
    """Apple's devices have no sparse gradients."""
    for layer in net.modules():
        if isinstance(layer, torch.nn.Embedding) and torch.device(device).type == "mps":
            layer.sparse = False
