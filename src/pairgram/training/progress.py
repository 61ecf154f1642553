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
        Tables in the numbers of the partition, rows padded, shape (n, padded dim). Where workers
        hold them: as last fetched, mapped from a file; without a row before that.
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
        center = _read_only(tables["center"])
        context = _read_only(tables["context"]) if "context" in tables else center
        return cls(center, context, **{name: note[name] for name in COUNTS})

    def own_tables(self) -> None:
        """Copy tables that are another's, or mapped from a file, to train them in place."""
        shared = self.context is self.center
        if not self.center.flags.writeable:
            self.center = aligned(self.center)
        if shared:
            self.context = self.center
        elif not self.context.flags.writeable:
            self.context = aligned(self.context)

    def judge(self, judge: Judge, parts: Partition, dim: int) -> None:
        """Note what a judge says to the vectors as they are."""
        if self.fetch is not None:
            self.fetch()
        rows = parts.number[judge.nodes]
        self.scores.append(judge.score(self.center[rows, :dim], self.context[rows, :dim]))


def _read_only(table: Table) -> Table:
    view = table[:]
    view.flags.writeable = False
    return view


def aligned(table: Table) -> Table:
    """Copy of a table whose rows begin with a cache line, so that no load straddles two."""
    rows, width = table.shape
    room = aligned_room((rows, width))
    room[:] = table
    return room


def aligned_room(shape: tuple[int, int]) -> Table:
    """Memory for a table, begun with a cache line and not yet filled."""
    return _on_a_line(np.empty(_bytes(shape), np.uint8), shape)


def aligned_zeros(shape: tuple[int, int]) -> Table:
    """Table of zeros, begun with a cache line; its memory is first touched when used."""
    return _on_a_line(np.zeros(_bytes(shape), np.uint8), shape)


def _bytes(shape: tuple[int, int]) -> int:
    return shape[0] * shape[1] * np.dtype(np.float32).itemsize + CACHE_LINE


def _on_a_line(raw: NDArray[np.uint8], shape: tuple[int, int]) -> Table:
    """Table in memory that is a line longer."""
    begin = -raw.ctypes.data % CACHE_LINE
    return raw[begin : begin + raw.size - CACHE_LINE].view(np.float32).reshape(shape)
