"""What each turn of text training works on, made ready while the turn before it is trained."""

from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pairgram.text.encoders import Batch, Plan, Texts, to_device
from pairgram.text.ragged import Ragged, distinct
from pairgram.training.text_batches import CentrePlan, Group, KnownLinks, Noise, PairGroups
from pairgram.training.text_net import Contrast, TextNet
from pairgram.training.text_state import Arrays
from pairgram.training.text_validation import Trials

DEVICE_THREADS = 2
"""Threads that make batches ready while another device trains."""


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
    stop
        Passes after which training ends, the rates still those of all epochs; 0 runs all.
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
    stop: int = 0
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


@dataclass(frozen=True, eq=False)
class Step:
    """One batch on the device: texts of b centres, their pairs as centres and as contexts.

    Attributes
    ----------
    texts
        What the encoder reads.
    nodes, keep_id
        Positions of the centres, and which of them keep their id vector, shape (b,).
    pairs, ahead
        Pairs of each centre, shape (b,), and those pairs with their noise.
    back_pairs, back
        The same with the batch's nodes as contexts; None where contexts come from a table alone.
    n_pairs
        Pairs in all.
    touched
        Rows of each sparse table that are read, ascending; empty on the CPU.
    """

    texts: Batch
    nodes: Tensor
    keep_id: Tensor
    pairs: Tensor
    ahead: Contrast
    back_pairs: Tensor
    back: Contrast | None
    n_pairs: int
    touched: dict[str, Tensor]


class Feed:
    """Batches by turn; everything random in them is a function of (seed, turn).

    Parameters
    ----------
    task, settings
        What is trained on, and how.
    net
        What is trained: it says how it reads texts and tables.
    device
        Where batches go.

    Attributes
    ----------
    batches
        Batches of an epoch.
    turns
        The most batches there can be.
    """

    def __init__(self, task: TextTask, settings: TextSettings, net: TextNet, device: Any) -> None:
        self._task, self._settings, self._net, self._device = task, settings, net, device
        centres = np.flatnonzero(task.groups.pairs)
        lengths = task.words.lengths[centres]
        self._plan = CentrePlan(centres, lengths, settings.batch_size, settings.seed)
        self.batches, self.turns = self._plan.batches, settings.epochs * self._plan.batches
        self._foretell = torch.device(device).type != "cpu"
        self._tables = {
            name: len(weight) for name, weight in net.named_parameters() if name in net.sparse
        }
        self._loaded: tuple[int, list[NDArray[np.int64]]] = (-1, [])

    @contextmanager
    def start(self, turn: int) -> Iterator[Iterator[Step]]:
        """Iterate over the steps from a turn on, some made ahead by threads."""
        at_once = 1 if torch.device(self._device).type == "cpu" else DEVICE_THREADS
        with ThreadPoolExecutor(at_once) as pool:
            yield self._steps(pool, turn, at_once)

    def _steps(self, pool: ThreadPoolExecutor, turn: int, ahead: int) -> Iterator[Step]:
        coming = deque(
            pool.submit(self.step, t) for t in range(turn, min(turn + ahead, self.turns))
        )
        while coming:
            step, turn = coming.popleft().result(), turn + 1
            if turn + ahead <= self.turns:
                coming.append(pool.submit(self.step, turn + ahead - 1))
            yield step

    def step(self, turn: int) -> Step:
        """Return the step of a turn."""
        return self._share(turn, 0, len(self._centres(turn)))

    def _share(self, turn: int, low: int, high: int) -> Step:
        """Step of the centres low .. high - 1 of a batch; what is random is drawn for all of it."""
        task, settings = self._task, self._settings
        whole = self._centres(turn)
        centres, lengths = whole[low:high], task.words.lengths[whole]
        random = np.random.Generator(np.random.Philox([settings.seed, turn, 2]))
        dropped = random.random(int(lengths.sum()), np.float32) < settings.word_dropout
        keep_id = random.random(len(whole), np.float32) >= settings.id_dropout
        first = int(lengths[:low].sum())
        own = dropped[first : first + int(lengths[low:high].sum())]
        words = task.words.take(centres)
        if low == high:  # an encoder needs some text, which goes nowhere
            words, own = task.words.take(whole[:1]), dropped[: int(lengths[0])]
        plan = self._net.encoder.plan(Texts(words, task.spelling, own))
        arrays: Arrays = {
            "nodes": centres,
            "keep_id": keep_id[low:high].astype(np.float32),
            "pairs": task.groups.pairs[centres].astype(np.float32),
            "back_pairs": task.back.pairs[centres].astype(np.float32),
            **_under("text", plan.arrays),
            **_under("ahead", self._contrast(whole, low, high, task.groups, random)),
        }
        if self._net.head is not None:
            arrays |= _under("back", self._contrast(whole, low, high, task.back, random))
        arrays |= _under("touched", self._touched(plan, arrays))
        pairs = int(task.groups.pairs[whole].sum())
        return _there(arrays, plan, pairs, self._device)

    def _touched(self, plan: Plan, arrays: Arrays) -> Arrays:
        """Rows of the tables that a turn reads, where the device would wait for finding them."""
        if not self._foretell:
            return {}
        of_nodes = (arrays["nodes"], arrays["ahead/context"], arrays["ahead/noise"])
        reads = {f"encoder.{k}": a for k, a in plan.reads.items()} | self._net.reads(*of_nodes)
        return {name: distinct(reads[name], rows)[0] for name, rows in self._tables.items()}

    def _centres(self, turn: int) -> NDArray[np.int64]:
        epoch, batch = divmod(turn, self.batches)
        loaded = self._loaded  # another thread may load the next epoch meanwhile
        if loaded[0] != epoch:
            loaded = self._loaded = epoch, self._plan.epoch(epoch)
        return loaded[1][batch]

    def _contrast(
        self,
        whole: NDArray[np.int64],
        low: int,
        high: int,
        groups: PairGroups,
        random: np.random.Generator,
    ) -> Arrays:
        """Pairs of the centres low .. high - 1 of a batch, with their noise."""
        if self._settings.shared_negatives:
            return self._contrast_of(whole[low:high], groups, random)
        # Noise of a pair is drawn pair after pair, through the batch.
        found = self._contrast_of(whole, groups, random)
        if high - low == len(whole):
            return found
        own = (found["row"] >= low) & (found["row"] < high)
        cut = {name: array[own] for name, array in found.items()}
        return {**cut, "row": cut["row"] - low}

    def _contrast_of(
        self, centres: NDArray[np.int64], groups: PairGroups, random: np.random.Generator
    ) -> Arrays:
        group = groups.of(centres)
        noise, known = self._noise(centres, group, random)
        found: Arrays = {
            "row": group.row, "context": group.context, "count": group.count, "noise": noise,
        }  # fmt: skip
        return found if known is None else {**found, "known": known}

    def _noise(
        self, centres: NDArray[np.int64], group: Group, random: np.random.Generator
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_] | None]:
        """Noise nodes, (m,) shared or (p, K), and which of them are known links."""
        known, settings = self._task.known, self._settings
        if settings.shared_negatives:
            drawn = self._task.noise.draw(random, (settings.shared_negatives,))
            return drawn, None if known is None else known.between(centres, drawn)
        drawn = self._task.noise.draw(random, (len(group.row), settings.negatives))
        centre = centres[group.row][:, None]
        return drawn, None if known is None else known.among(centre, drawn)


def _there(arrays: Arrays, plan: Plan, n_pairs: int, device: Any) -> Step:
    """Step of arrays, on the device."""
    there = to_device(arrays, device)
    back = _part("back", there)
    return Step(
        Batch(_part("text", there), to_device(plan.sizes, "cpu")),
        there["nodes"],
        there["keep_id"],
        there["pairs"],
        Contrast(**_part("ahead", there)),
        there["back_pairs"],
        Contrast(**back) if back else None,
        n_pairs,
        _part("touched", there),
    )


def _under(prefix: str, arrays: Arrays) -> Arrays:
    return {f"{prefix}/{name}": array for name, array in arrays.items()}


def _part(prefix: str, there: dict[str, Tensor]) -> dict[str, Tensor]:
    start = f"{prefix}/"
    return {k.removeprefix(start): v for k, v in there.items() if k.startswith(start)}
