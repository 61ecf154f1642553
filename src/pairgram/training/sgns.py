"""Skip-gram with negative sampling: centre and context tables from a source of pairs."""

from collections.abc import Callable
from contextlib import closing
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairgram.engine import Engine
from pairgram.errors import LostWorkerError
from pairgram.training import rehearsal
from pairgram.training.blocks import PairSource
from pairgram.training.owned import OwnedTables
from pairgram.training.partition import Partition, number_of_parts, partition
from pairgram.training.progress import Progress
from pairgram.training.schedule import Judge, Schedule
from pairgram.training.settings import Settings, noise_mass
from pairgram.training.start import begun
from pairgram.training.tables import SharedTables, Tables

Table = NDArray[np.float32]
IntArray = NDArray[np.integer[Any]]


def train(
    source: PairSource,
    degree: IntArray,
    settings: Settings,
    engine: Engine,
    progress: Progress | None = None,
    after_turn: Callable[[Progress, int], None] | None = None,
    judge: Judge | None = None,
    start: Table | None = None,
) -> tuple[Table, Table, Progress]:
    """Minimise −log σ(e'_v·e_u) − Σ_K log σ(−e'_k·e_u), and L2, over the pairs of the source.

    Parameters
    ----------
    source
        Gives the pairs chunk by chunk.
    degree
        Degrees in the training graph, shape (n,); the noise is a power of it.
    settings
        Parameters of the loss and its descent.
    engine
        Runs the blocks; the result does not depend on its kind or thread count. Where a worker is
        lost, training goes on from what was last fetched, and ends with the same bits.
    progress
        Where to go on from, as `after_turn` saw it in an earlier run.
    after_turn
        Called after each chunk with the progress and the number of turns in all. An exception
        raised there ends the training with the progress still sound.
    judge
        Scores the vectors after every epoch, for `settings.patience`.
    start
        First centre vectors, shape (n, dim); None draws them.

    Returns
    -------
    center, context
        Tables in node order, shape (n, dim).
    progress
        Counts and times.
    """
    count = number_of_parts(len(degree), settings.dim, settings.shared_negatives)
    parts = partition(noise_mass(degree, settings.noise_power), count, settings.seed)
    rehearsal.begin(engine)
    schedule = Schedule(settings.epochs, source.chunks, settings.patience if judge else 0)
    kind = SharedTables if engine.shares_memory else OwnedTables
    with closing(kind(source, parts, settings, engine, progress, start)) as tables:
        state = tables.state
        while True:
            try:
                if state.turn >= schedule.turns(state.scores):
                    return *tables.result(), state
                _turn(tables, state, schedule, parts, settings.dim, after_turn, judge)
            except LostWorkerError as lost:
                tables.recover(lost)


def _turn(
    tables: Tables,
    state: Progress,
    schedule: Schedule,
    parts: Partition,
    dim: int,
    after_turn: Callable[[Progress, int], None] | None,
    judge: Judge | None,
) -> None:
    """Train on one chunk, and tell those who want to know."""
    first = state.turn < schedule.chunks
    done = tables.turn(schedule)
    state.loss = done.loss
    state.seconds["sample"] += done.sampling
    state.seconds["train"] += done.training
    state.pairs += done.pairs if first else 0
    state.updates += done.pairs
    state.turn += 1
    if judge is not None and state.turn % schedule.chunks == 0:
        state.judge(judge, parts, dim)
    tables.keep()
    if after_turn is not None:
        after_turn(state, schedule.turns(state.scores))


def start_from(center: Table, context: Table, degree: IntArray, settings: Settings) -> Progress:
    """Progress that begins with the vectors of the first m nodes, both (m, dim)."""
    count = number_of_parts(len(degree), settings.dim, settings.shared_negatives)
    parts = partition(noise_mass(degree, settings.noise_power), count, settings.seed)
    progress = begun(parts, settings)
    for table, given in ((progress.center, center), (progress.context, context)):
        table[parts.number[: len(given)], : settings.dim] = given
    return progress
