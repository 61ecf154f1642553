"""Tables in parts that workers own, none of which needs to hold them all.

A worker owns a run of centre parts and draws the pairs of their centres itself, so pairs never
travel. In step s it trains its centre parts i on the context parts i + s: after every step one
context part goes on to the worker before it, and one comes from the worker after it. Each part thus
meets the others in the order of one machine, and the bits are the same.
"""

import logging
import math
import time
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from pairgram.engine import Crew, Engine, LocalEngine
from pairgram.errors import LostWorkerError
from pairgram.training.blocks import Blocks, PairSource, block_steps, drawn_blocks, train_blocks
from pairgram.training.partition import Partition
from pairgram.training.progress import Progress, aligned, aligned_room
from pairgram.training.schedule import Schedule
from pairgram.training.settings import Settings
from pairgram.training.tables import Turn, step_rates

Table = NDArray[np.float32]

FETCH_SECONDS = 60.0
"""Seconds of training that may have to be done again when a worker is lost."""
MOST_LOST = 10
"""Workers lost without a turn done between, after which training gives up."""

logger = logging.getLogger(__name__)


class PartOwner:
    """Rows of a run of centre parts, and of the context parts that visit.

    Parameters
    ----------
    source, parts, settings
        As in `train`.
    low, high
        Its centre parts are low .. high - 1.
    """

    def __init__(
        self, source: PairSource, parts: Partition, settings: Settings, low: int, high: int
    ) -> None:
        self._source, self._parts, self._settings = source, parts, settings
        self._own = range(low, high)
        self._center: dict[int, Table] = {}
        self._context: dict[int, Table] = {}
        chains = block_steps(parts.parts, settings.shared_table)
        self._steps = [[c for c in step if c[0][0] in self._own] for step in chains]
        self._blocks: Blocks | None = None
        self._losses: list[float] = []
        self._engine = LocalEngine(1)

    def take(self, part: int, center: Table, context: Table | None) -> None:
        """Hold rows of a part; without contexts one table serves both ends."""
        self._center[part] = aligned(center)
        self._context[part] = self._center[part] if context is None else aligned(context)

    def give(self, part: int) -> tuple[Table, Table]:
        """Centre and context rows of a part, between turns."""
        return self._center[part], self._context[part]

    def sample(self, k: int) -> tuple[int, float]:
        """Draw the pairs of chunk k around its centres; return how many, and the seconds."""
        if self._blocks is not None and self._source.chunks == 1:
            return len(self._blocks), 0.0
        self._blocks = None
        drawn = drawn_blocks(self._source, k, self._parts, self._engine, self._own)
        self._blocks = drawn[0]
        return len(self._blocks), drawn[1]

    def step(self, s: int, turn: int, rate: np.float32, arriving: Table | None) -> Table | None:
        """Train on the blocks of a step; return the context part that goes on to another."""
        parts = self._parts
        if arriving is not None:
            self._context[(self._own[-1] + s) % parts.parts] = aligned(arriving)
        for i, j in (block for chain in self._steps[s] for block in chain):
            tables = ((self._center[i], parts.bounds[i]), (self._context[j], parts.bounds[j]))
            self._losses += train_blocks(
                [(i, j)], self._drawn(), parts, self._settings.descent, rate, turn, *tables
            )
        if len(self._own) == parts.parts:
            return None
        return self._context.pop((self._own[0] + s) % parts.parts)

    def finish(self, arriving: Table | None) -> list[float]:
        """Take the last context part home; return the losses of the turn's blocks."""
        if arriving is not None:
            self._context[self._own[-1]] = aligned(arriving)
        losses, self._losses = self._losses, []
        return losses

    def _drawn(self) -> Blocks:
        if self._blocks is None:
            raise RuntimeError("pairs are sampled before they are trained on")
        return self._blocks


class OwnedTables:
    """Tables that a crew of owners holds; the progress has them as last fetched.

    Parameters
    ----------
    source, parts, settings, engine
        As in `train`.
    state
        The progress; its tables are where the owners start.
    """

    def __init__(
        self,
        source: PairSource,
        parts: Partition,
        settings: Settings,
        engine: Engine,
        state: Progress,
    ) -> None:
        self._source, self._parts, self._settings = source, parts, settings
        self._engine, self._state = engine, state
        self._safe = state.counts()
        self._fetched = time.monotonic()
        self._lost_in_a_row = 0
        self._runs: list[range] = []
        self._crew: Crew | None = None
        state.fetch = self.fetch

    def turn(self, schedule: Schedule) -> Turn:
        """Have the owners sample and train; all calls are under way at once."""
        crew, state = self._started(), self._state
        began = time.perf_counter()
        members = range(len(self._runs))
        k = state.turn % self._source.chunks
        sampled = [crew.call(w, "sample", k) for w in members]
        steps = len(block_steps(self._parts.parts, self._settings.shared_table))
        moving = [None for _ in members]
        for s, rate in enumerate(step_rates(self._settings, schedule, state, steps)):
            left = [crew.call(w, "step", s, state.turn, rate, moving[w]) for w in members]
            # From the worker after it, round the circle.
            moving = left[1:] + left[:1]
        found = crew.wait([crew.call(w, "finish", moving[w]) for w in members])
        drawn = crew.wait(sampled)
        self._lost_in_a_row = 0
        pairs, sampling = sum(n for n, _ in drawn), max(seconds for _, seconds in drawn)
        loss = math.fsum(one for losses in found for one in losses) / max(pairs, 1)
        return Turn(pairs, loss, sampling, time.perf_counter() - began - sampling)

    def fetch(self) -> None:
        """Copy the owners' rows into new tables of the progress, which replace the old at once."""
        state, crew = self._state, self._crew
        if crew is None or self._safe["turn"] == state.turn:
            return
        center = aligned_room(state.center)
        context = center if state.context is state.center else aligned_room(center)
        for w, run in enumerate(self._runs):
            for part in run:
                rows = slice(*self._parts.bounds[part : part + 2])
                center[rows], context[rows] = crew.wait([crew.call(w, "give", part)])[0]
        state.center, state.context = center, context
        self._safe, self._fetched = state.counts(), time.monotonic()

    def keep(self) -> None:
        """Fetch now and then; what was fetched in this turn is kept with all its counts."""
        if self._safe["turn"] == self._state.turn:
            self._safe = self._state.counts()
        elif time.monotonic() - self._fetched >= FETCH_SECONDS:
            self.fetch()

    def recover(self, lost: LostWorkerError) -> None:
        """Start again with what was last fetched, on the workers that are left."""
        self._lost_in_a_row += 1
        if self._lost_in_a_row > MOST_LOST:
            raise lost
        logger.warning("%s Training goes on from turn %d.", lost, self._safe["turn"])
        self._stop()
        self._state.go_back(self._safe)

    def close(self) -> None:
        """Let the owners go."""
        self._stop()
        self._state.fetch = None

    def _stop(self) -> None:
        if self._crew is not None:
            self._crew.close()
        self._crew = None

    def _started(self) -> Crew:
        """The crew, with the progress's rows."""
        if self._crew is not None:
            return self._crew
        # With one table for both ends the parts of a block are not apart: one owner has all.
        workers = 1 if self._settings.shared_table else self._engine.threads
        self._runs = runs(self._parts.parts, workers)
        shared = (self._source, self._parts, self._settings)
        each = [(run[0], run[-1] + 1) for run in self._runs]
        crew = self._crew = self._engine.crew(PartOwner, shared, each)
        for w, run in enumerate(self._runs):
            for part in run:
                crew.wait([crew.call(w, "take", part, *self._rows(part))])
        return crew

    def _rows(self, part: int) -> tuple[Table, Table | None]:
        rows = slice(*self._parts.bounds[part : part + 2])
        shared = self._state.context is self._state.center
        return self._state.center[rows], None if shared else self._state.context[rows]


def runs(parts: int, workers: int) -> list[range]:
    """Parts in nearly equal runs, one for each worker and none empty.

    >>> runs(8, 3), runs(2, 4)
    ([range(0, 2), range(2, 5), range(5, 8)], [range(0, 1), range(1, 2)])
    """
    count = min(workers, parts)
    cuts = [w * parts // count for w in range(count + 1)]
    return [range(a, b) for a, b in pairwise(cuts)]
