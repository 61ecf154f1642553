"""Who holds the tables in training: here, the memory of one process, for all threads."""

import math
import time
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pairgram.engine import Engine
from pairgram.errors import LostWorkerError
from pairgram.training.blocks import (
    Blocks,
    Chain,
    PairSource,
    block_steps,
    drawn_blocks,
    train_blocks,
)
from pairgram.training.partition import Partition
from pairgram.training.progress import Progress
from pairgram.training.schedule import Schedule
from pairgram.training.settings import Settings
from pairgram.training.start import begun

Table = NDArray[np.float32]


@dataclass(frozen=True)
class Turn:
    """What training on a chunk came to: pairs, the mean loss of one, seconds by phase."""

    pairs: int
    loss: float
    sampling: float
    training: float


class Tables(Protocol):
    """Tables in training; a chunk moves them.

    Attributes
    ----------
    state
        The progress.
    """

    state: Progress

    def turn(self, schedule: Schedule) -> Turn:
        """Train on the chunk of the progress's turn."""

    def fetch(self) -> None:
        """Bring the progress's tables up to date."""

    def keep(self) -> None:
        """Called after every turn, when all is counted."""

    def result(self) -> tuple[Table, Table]:
        """Centre and context tables in node order, (n, dim), when training is over."""

    def recover(self, lost: LostWorkerError) -> None:
        """Go back to what is safe, or raise."""

    def close(self) -> None:
        """Let go of what was started."""


class SharedTables:
    """The progress's own tables, which all threads of the engine write.

    Parameters
    ----------
    source, parts, settings, engine, start
        As in `train`.
    progress
        Where to go on from, or None.
    """

    def __init__(
        self,
        source: PairSource,
        parts: Partition,
        settings: Settings,
        engine: Engine,
        progress: Progress | None,
        start: Table | None,
    ) -> None:
        self._source, self._parts, self._settings = source, parts, settings
        self._engine = engine
        self.state = begun(parts, settings, start) if progress is None else progress
        self.state.own_tables()
        self._steps = block_steps(parts.parts, settings.shared_table)
        self._blocks: Blocks | None = None

    def turn(self, schedule: Schedule) -> Turn:
        """Run the blocks of the chunk, step after step."""
        began, sampling = time.perf_counter(), 0.0
        if self._blocks is None or self._source.chunks > 1:
            self._blocks = None
            k = self.state.turn % self._source.chunks
            own = range(self._parts.parts)
            self._blocks, sampling = drawn_blocks(self._source, k, self._parts, self._engine, own)
        rates = step_rates(self._settings, schedule, self.state, len(self._steps))
        losses: list[float] = []
        for step, rate in zip(self._steps, rates, strict=True):
            losses += self._step(step, self._blocks, rate)
        pairs = len(self._blocks)
        seconds = time.perf_counter() - began - sampling
        return Turn(pairs, math.fsum(losses) / max(pairs, 1), sampling, seconds)

    def _step(self, step: list[Chain], blocks: Blocks, rate: np.float32) -> list[float]:
        """Descend on the chains of a step side by side; return the losses of their blocks."""
        state, threads = self.state, self._engine.threads
        tables = (state.center, 0), state.context
        descent, turn = self._settings.descent, state.turn

        def run(chains: list[Chain]) -> list[float]:
            chosen = [(*block, 0) for chain in chains for block in chain]
            return train_blocks(chosen, blocks, self._parts, descent, rate, turn, *tables)

        shares = [step[t::threads] for t in range(threads)]
        return [loss for losses in self._engine.map(run, shares) for loss in losses]

    def fetch(self) -> None:
        """They are up to date."""

    def keep(self) -> None:
        """Nothing can be lost but all."""

    def result(self) -> tuple[Table, Table]:
        """Copies of the rows, in node order."""
        return in_node_order(self.state, self._parts, self._settings.dim)

    def recover(self, lost: LostWorkerError) -> None:
        """No worker holds anything that could be lost."""
        raise lost

    def close(self) -> None:
        """Forget the pairs."""
        self._blocks = None


def in_node_order(state: Progress, parts: Partition, dim: int) -> tuple[Table, Table]:
    """Tables of a progress in node order and without padding, both (n, dim)."""
    return state.center[parts.number, :dim], state.context[parts.number, :dim]


def step_rates(
    settings: Settings, schedule: Schedule, state: Progress, steps: int
) -> list[np.float32]:
    """Learning rate of every step of the turn that comes."""
    shares = (schedule.share(state.turn + s / steps, state.scores) for s in range(steps))
    return [np.float32(settings.learning_rate * share) for share in shares]
