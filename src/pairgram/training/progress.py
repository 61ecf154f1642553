"""What skip-gram training has done."""

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from pairgram.kernels.sizes import CACHE_LINE
from pairgram.training.partition import Partition
from pairgram.training.schedule import Judge

Table = NDArray[np.float32]

COUNTS = ("turn", "pairs", "updates", "loss", "seconds", "scores")


@dataclass
class Progress:
    """What training has done: all that a resumed run needs beside the source and the settings.

    Attributes
    ----------
    center, context
        Tables in the numbers of the partition, rows padded, shape (n, padded dim).
    turn
        Chunks trained on so far, over all epochs.
    pairs, updates
        Distinct sampled pairs, and pairs trained on, counting every epoch.
    loss
        Mean loss of a pair in the last turn.
    seconds
        Time in sampling and in training.
    scores
        What the judge said after each epoch; empty without one.
    fetch
        Brings the tables up to date where workers hold them.
    """

    center: Table
    context: Table
    turn: int = 0
    pairs: int = 0
    updates: int = 0
    loss: float = 0.0
    seconds: dict[str, float] = field(default_factory=lambda: {"sample": 0.0, "train": 0.0})
    scores: list[float] = field(default_factory=list)
    fetch: Callable[[], None] | None = None

    def counts(self) -> dict[str, Any]:
        """Numbers that a checkpoint keeps."""
        return {name: copy(getattr(self, name)) for name in COUNTS}

    def go_back(self, counts: Mapping[str, Any]) -> None:
        """Take up what `counts` gave earlier in the same run."""
        for name in COUNTS:
            setattr(self, name, copy(counts[name]))

    def tables(self) -> dict[str, NDArray[Any]]:
        """Arrays that a checkpoint keeps."""
        if self.fetch is not None:
            self.fetch()
        shared = self.context is self.center
        return {"center": self.center} | ({} if shared else {"context": self.context})

    @classmethod
    def restore(cls, tables: Mapping[str, NDArray[Any]], note: Mapping[str, Any]) -> Self:
        """Take up what `counts` and `tables` gave."""
        center = aligned(tables["center"])
        context = aligned(tables["context"]) if "context" in tables else center
        return cls(center, context, **{name: note[name] for name in COUNTS})

    def judge(self, judge: Judge, parts: Partition, dim: int) -> None:
        """Note what a judge says to the vectors as they are."""
        if self.fetch is not None:
            self.fetch()
        rows = parts.number[judge.nodes]
        self.scores.append(judge.score(self.center[rows, :dim], self.context[rows, :dim]))


def aligned(table: NDArray[Any]) -> NDArray[Any]:
    """Copy of a table whose rows begin with a cache line, so that no load straddles two."""
    room = aligned_room(table)
    room[:] = table
    return room


def aligned_room(table: NDArray[Any]) -> NDArray[Any]:
    """Memory for a table of this shape, begun with a cache line and not yet filled."""
    raw = np.empty(table.nbytes + CACHE_LINE, np.uint8)
    begin = -raw.ctypes.data % CACHE_LINE
    return raw[begin : begin + table.nbytes].view(table.dtype).reshape(table.shape)
