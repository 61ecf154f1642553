"""What text training has done: counts, scores, and the state of the module on disk."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray[Any]]

COUNTS = ("turn", "epoch", "pairs", "updates", "passes", "loss", "scores", "seconds")


@dataclass
class TextProgress:
    """All that a resumed run needs beside the data and the settings.

    Attributes
    ----------
    turn
        Batches trained on so far, over all epochs.
    epoch
        Whole epochs done.
    pairs, updates
        Sampled pairs, and pairs trained on, counting every epoch.
    passes
        Texts that went through the encoder in training, counting every epoch.
    loss
        Mean loss of a pair in the last batch.
    scores
        Validation score after each epoch; empty without validation.
    seconds
        Time in sampling the pairs and in training.
    best
        Weights after the best epoch, where there is validation.
    current
        Gives the weights and the optimiser's state as they are now.
    stored
        The same as read from a checkpoint, until training goes on from it.
    """

    turn: int = 0
    epoch: int = 0
    pairs: int = 0
    updates: int = 0
    passes: int = 0
    loss: float = 0.0
    scores: list[float] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=lambda: {"sample": 0.0, "train": 0.0})
    best: Arrays = field(default_factory=dict)
    stored: Arrays = field(default_factory=dict)
    current: Callable[[], Arrays] | None = None

    @property
    def texts(self) -> int:
        """Texts encoded so far."""
        return self.passes

    @property
    def best_epoch(self) -> int:
        """Epochs after which the score was best, or epochs done where there are no scores."""
        return int(np.argmax(self.scores)) + 1 if self.scores else self.epoch

    def has_stalled(self, patience: int) -> bool:
        """Whether the last `patience` epochs brought no better score."""
        return bool(self.scores) and len(self.scores) - self.best_epoch >= patience

    def count(self, pairs: int, texts: int) -> None:
        """Count a turn."""
        self.turn += 1
        self.pairs += pairs if self.epoch == 0 else 0
        self.updates += pairs
        self.passes += texts

    def counts(self) -> dict[str, Any]:
        """Numbers that a checkpoint keeps."""
        return {name: getattr(self, name) for name in COUNTS}

    def tables(self) -> Arrays:
        """Arrays that a checkpoint keeps."""
        now = self.stored if self.current is None else self.current()
        return {**now, **{f"best/{name}": array for name, array in self.best.items()}}

    @classmethod
    def restore(cls, tables: Mapping[str, NDArray[Any]], note: Mapping[str, Any]) -> Self:
        """Take up what `counts` and `tables` gave."""
        copied = {name: np.array(array) for name, array in tables.items() if name != "note"}
        best = {name[5:]: array for name, array in copied.items() if name.startswith("best/")}
        stored = {name: array for name, array in copied.items() if not name.startswith("best/")}
        return cls(**{name: note[name] for name in COUNTS}, best=best, stored=stored)
