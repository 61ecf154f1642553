"""What each turn of text training works on, made ready while the turn before it is trained."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pairgram.text.encoders import Batch, Rows
from pairgram.text.ragged import Ragged
from pairgram.training.text_batches import CentrePlan, Group, KnownLinks, Noise, PairGroups
from pairgram.training.text_net import Contrast
from pairgram.training.text_validation import Trials


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
    """

    texts: Batch
    nodes: Tensor
    keep_id: Tensor
    pairs: Tensor
    ahead: Contrast
    back_pairs: Tensor
    back: Contrast | None
    n_pairs: int


class Feed:
    """Batches by turn; everything random in them is a function of (seed, turn).

    Parameters
    ----------
    task, settings
        What is trained on, and how.
    two_ways
        Whether the batch's nodes are trained as contexts too.
    device
        Where batches go.

    Attributes
    ----------
    batches
        Batches of an epoch.
    turns
        The most batches there can be.
    spelling
        Letters of all words, on the device.
    """

    def __init__(self, task: TextTask, settings: TextSettings, two_ways: bool, device: Any) -> None:
        self._task, self._settings = task, settings
        self._two_ways, self._device = two_ways, device
        self.spelling = Rows.of(task.spelling, device)
        centres = np.flatnonzero(task.groups.pairs)
        lengths = task.words.lengths[centres]
        self._plan = CentrePlan(centres, lengths, settings.batch_size, settings.seed)
        self.batches, self.turns = self._plan.batches, settings.epochs * self._plan.batches
        self._loaded: tuple[int, list[NDArray[np.int64]]] = (-1, [])

    @contextmanager
    def start(self, turn: int) -> Iterator[Iterator[Step]]:
        """Iterate over the steps from a turn on, one made ahead by a thread."""
        with ThreadPoolExecutor(1) as pool:
            yield self._steps(pool, turn)

    def _steps(self, pool: ThreadPoolExecutor, turn: int) -> Iterator[Step]:
        coming = pool.submit(self.step, turn)
        while turn < self.turns:
            step, turn = coming.result(), turn + 1
            if turn < self.turns:
                coming = pool.submit(self.step, turn)
            yield step

    def step(self, turn: int) -> Step:
        """Return the step of a turn."""
        task, settings = self._task, self._settings
        centres = self._centres(turn)
        random = np.random.Generator(np.random.Philox([settings.seed, turn, 2]))
        words = task.words.take(centres)
        dropped = random.random(len(words.values), np.float32) < settings.word_dropout
        keep_id = random.random(len(centres), np.float32) >= settings.id_dropout
        return Step(
            Batch(Rows.of(words, self._device), self.spelling, self._move(dropped)),
            self._move(centres),
            self._move(keep_id.astype(np.float32)),
            self._move(task.groups.pairs[centres].astype(np.float32)),
            self._contrast(centres, task.groups, random),
            self._move(task.back.pairs[centres].astype(np.float32)),
            self._contrast(centres, task.back, random) if self._two_ways else None,
            int(task.groups.pairs[centres].sum()),
        )

    def _centres(self, turn: int) -> NDArray[np.int64]:
        epoch, batch = divmod(turn, self.batches)
        if self._loaded[0] != epoch:
            self._loaded = epoch, self._plan.epoch(epoch)
        return self._loaded[1][batch]

    def _contrast(
        self, centres: NDArray[np.int64], groups: PairGroups, random: np.random.Generator
    ) -> Contrast:
        group = groups.of(centres)
        noise, known = self._noise(centres, group, random)
        return Contrast(
            self._move(group.row),
            self._move(group.context),
            self._move(group.count),
            self._move(noise),
            None if known is None else self._move(known),
        )

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

    def _move(self, array: NDArray[Any]) -> Tensor:
        return torch.from_numpy(array).to(self._device)
