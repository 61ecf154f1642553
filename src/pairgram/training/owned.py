"""Tables in parts that workers own, none of which needs to hold them all.

A worker owns a run of centre parts and draws the pairs of their centres itself, so pairs never
travel. In step s it trains its centre parts i on the context parts i + s: in every step one context
part goes on to the worker before it, and one comes from the worker after it. Each part thus meets
the others in the order of one machine, and the bits are the same.

The machine of the command holds no table before the end: what it fetches now and then lies in
files, and the result is put together from the workers' rows, which they then let go.
"""

import logging
import math
import time
from collections import deque
from collections.abc import Iterator
from itertools import pairwise, zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairgram.engine import Crew, Engine
from pairgram.errors import LostWorkerError
from pairgram.kernels.sizes import padded
from pairgram.training.blocks import PairSource, block_steps
from pairgram.training.fetched import FetchedTables, Rows
from pairgram.training.owner import PartOwner
from pairgram.training.partition import Partition
from pairgram.training.progress import Progress
from pairgram.training.schedule import Schedule
from pairgram.training.settings import Settings
from pairgram.training.tables import Turn, in_node_order, step_rates

Table = NDArray[np.float32]

FETCH_SECONDS = 60.0
"""Seconds of training that may have to be done again when a worker is lost."""
FETCH_SHARE = 0.1
"""Most of the time that fetching may take; beyond it, it is done less often."""
MOST_LOST = 10
"""Workers lost without a turn done between, after which training gives up."""
UNDER_WAY = 2
"""Parts of a worker that are on their way here at a time."""

logger = logging.getLogger(__name__)


class OwnedTables:
    """Tables that a crew of owners holds; the progress has them as last fetched.

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
        self._engine, self._start = engine, start
        nothing = np.empty((0, padded(settings.dim)), np.float32)
        self.state = Progress(nothing, nothing) if progress is None else progress
        self._files = FetchedTables((len(parts.node), padded(settings.dim)))
        self._safe = self.state.counts()
        self._fetched, self._pause = time.monotonic(), FETCH_SECONDS
        self._lost_in_a_row = 0
        self._runs: list[range] = []
        self._crew: Crew | None = None
        self.state.fetch = self.fetch

    def turn(self, schedule: Schedule) -> Turn:
        """Have the owners sample and train; all calls are under way at once."""
        crew, state = self._started(), self.state
        began = time.perf_counter()
        members = range(len(self._runs))
        k = state.turn % self._source.chunks
        sampled = [crew.call(w, "sample", k) for w in members]
        steps = len(block_steps(self._parts.parts, self._settings.shared_table))
        ring = _Ring(self._runs)
        for s, rate in enumerate(step_rates(self._settings, schedule, state, steps)):
            for w in members:
                arriving = ring.take(w, s - ring.lag[w])
                ring.leave(w, s, crew.call(w, "step", s, state.turn, rate, *arriving))
        ends = [[h for t in range(steps - ring.lag[w], steps + 1) for h in ring.take(w, t)]
                for w in members]  # fmt: skip
        found = crew.wait([crew.call(w, "finish", *ends[w]) for w in members])
        drawn = crew.wait(sampled)
        self._lost_in_a_row = 0
        pairs, sampling = sum(n for n, _ in drawn), max(seconds for _, seconds in drawn)
        loss = math.fsum(one for losses in found for one in losses) / max(pairs, 1)
        return Turn(pairs, loss, sampling, time.perf_counter() - began - sampling)

    def fetch(self) -> None:
        """Copy the owners' rows into new tables of the progress, which replace the old at once."""
        state, crew = self.state, self._crew
        if crew is None or self._safe["turn"] == state.turn:
            return
        began = time.monotonic()
        state.center, state.context = self._files.write(self._given(crew))
        self._safe, self._fetched = state.counts(), time.monotonic()
        self._pause = max(FETCH_SECONDS, (self._fetched - began) / FETCH_SHARE)

    def keep(self) -> None:
        """Fetch now and then; what was fetched in this turn is kept with all its counts."""
        if self._safe["turn"] == self.state.turn:
            self._safe = self.state.counts()
        elif time.monotonic() - self._fetched >= self._pause:
            try:
                self.fetch()
            except OSError as error:
                logger.warning(
                    "The tables cannot be kept (%s): after a loss training goes on from turn %d.",
                    error, self._safe["turn"],
                )  # fmt: skip
                self._pause = math.inf

    def result(self) -> tuple[Table, Table]:
        """Tables in node order, put together from the owners' rows, which they let go."""
        parts, dim = self._parts, self._settings.dim
        if self._crew is None and len(self.state.center):
            return in_node_order(self.state, parts, dim)
        center = np.empty((len(parts.node), dim), np.float32)
        context = center if self._settings.shared_table else np.empty_like(center)
        for part in self._given(self._started(), forget=True):
            nodes = parts.node[part.first : part.first + len(part.center)]
            center[nodes] = part.center[:, :dim]
            if part.context is not None:
                context[nodes] = part.context[:, :dim]
        self._stop()
        return center, context.copy() if self._settings.shared_table else context

    def recover(self, lost: LostWorkerError) -> None:
        """Start again with what was last fetched, on the workers that are left."""
        self._lost_in_a_row += 1
        if self._lost_in_a_row > MOST_LOST:
            raise lost
        logger.warning("%s Training goes on from turn %d.", lost, self._safe["turn"])
        self._stop()
        self.state.go_back(self._safe)

    def close(self) -> None:
        """Let the owners go."""
        self._stop()
        self._files.close()
        self.state.fetch = None

    def _stop(self) -> None:
        if self._crew is not None:
            self._crew.close()
        self._crew = None

    def _started(self) -> Crew:
        """The crew, with the progress's rows or those before training."""
        if self._crew is not None:
            return self._crew
        # With one table for both ends the parts of a block are not apart: one owner has all.
        workers = 1 if self._settings.shared_table else self._engine.threads
        self._runs = runs(self._parts.parts, workers)
        shared = (self._source, self._parts, self._settings)
        each = [(run[0], run[-1] + 1) for run in self._runs]
        crew = self._crew = self._engine.crew(PartOwner, shared, each)
        if self._start is None and not len(self.state.center):
            crew.wait([crew.call(w, "begin") for w in range(len(self._runs))])
            return crew
        for w, part in self._in_turns():
            crew.wait([crew.call(w, "take", part, *self._rows(part))])
        return crew

    def _rows(self, part: int) -> tuple[Table, Table | None]:
        """Rows of a part to go on from; contexts of None are zero, or the centres themselves."""
        rows, state = slice(*self._parts.bounds[part : part + 2]), self.state
        if self._start is not None and not len(state.center):
            given = self._start[self._parts.node[rows]]
            center = np.zeros((len(given), padded(self._settings.dim)), np.float32)
            center[:, : self._settings.dim] = given
            return center, None
        shared = state.context is state.center
        return state.center[rows], None if shared else state.context[rows]

    def _given(self, crew: Crew, forget: bool = False) -> Iterator[Rows]:
        """Rows of all parts as they are; with `forget` the owners let them go."""
        under_way: deque[tuple[int, int, Any]] = deque()
        for w, part in self._in_turns():
            under_way.append((w, part, crew.call(w, "give", part)))
            if len(under_way) >= UNDER_WAY * len(self._runs):
                yield from self._received(crew, *under_way.popleft(), forget)
        while under_way:
            yield from self._received(crew, *under_way.popleft(), forget)

    def _received(self, crew: Crew, w: int, part: int, call: Any, forget: bool) -> Iterator[Rows]:
        """Rows of a part, when they are here; they are let go when they have been used."""
        center, context = crew.wait([call])[0]
        yield Rows(int(self._parts.bounds[part]), center, context)
        if forget:
            crew.call(w, "forget", part)

    def _in_turns(self) -> list[tuple[int, int]]:
        """Workers and their parts, the first part of each before the second of any."""
        turns = zip_longest(*self._runs)
        return [(w, part) for turn in turns for w, part in enumerate(turn) if part is not None]


class _Ring:
    """Context parts on their way round the circle of workers.

    What arrives for a step is used by the last of its blocks. A worker of several parts is given it
    one call later than a worker of one, and need not wait for the others in between.
    """

    def __init__(self, runs: list[range]) -> None:
        self.lag = [min(1, len(run) - 1) for run in runs]
        self._workers = len(runs)
        self._left: dict[tuple[int, int], Any] = {}

    def leave(self, worker: int, s: int, part: Any) -> None:
        """Note what leaves a worker in step s."""
        if self._workers > 1:
            self._left[worker, s] = part

    def take(self, worker: int, s: int) -> list[Any]:
        """What arrives for step s, or nothing; it is not kept here, or it would stay in memory."""
        sender = (worker + 1) % self._workers, s - 1
        return [self._left.pop(sender)] if sender in self._left else []


def runs(parts: int, workers: int) -> list[range]:
    """Parts in nearly equal runs, one for each worker and none empty.

    >>> runs(8, 3), runs(2, 4)
    ([range(0, 2), range(2, 5), range(5, 8)], [range(0, 1), range(1, 2)])
    """
    count = min(workers, parts)
    cuts = [w * parts // count for w in range(count + 1)]
    return [range(a, b) for a, b in pairwise(cuts)]
