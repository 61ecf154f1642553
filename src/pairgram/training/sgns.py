"""Skip-gram with negative sampling: centre and context tables from a source of pairs."""

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from pairgram.engine import LocalEngine
from pairgram.kernels import sgns as kernel
from pairgram.kernels.simd import CACHE_LINE, padded
from pairgram.training.partition import Partition, number_of_parts, partition
from pairgram.training.schedule import Judge, Schedule

Table = NDArray[np.float32]
IntArray = NDArray[np.integer[Any]]
Chain = tuple[tuple[int, int], ...]
# Centres and contexts (m,), begin of each block (P, P+1), pairs of each centre (n,).
Blocks = tuple[IntArray, IntArray, NDArray[np.int64], NDArray[np.int64]]

NOISE_POWER = 0.75
COUNTS = ("turn", "pairs", "updates", "loss", "seconds", "scores")


class PairSource(Protocol):
    """Where a trainer gets its pairs: chunks that are a function of their number alone."""

    chunks: int

    def chunk(self, k: int, parts: Partition, engine: LocalEngine) -> tuple[IntArray, IntArray]:
        """Pairs of chunk k in the numbers of `parts`: centres ascending and contexts, both (m,)."""


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
    """

    center: Table
    context: Table
    turn: int = 0
    pairs: int = 0
    updates: int = 0
    loss: float = 0.0
    seconds: dict[str, float] = field(default_factory=lambda: {"sample": 0.0, "train": 0.0})
    scores: list[float] = field(default_factory=list)

    def counts(self) -> dict[str, Any]:
        """Numbers that a checkpoint keeps."""
        return {name: getattr(self, name) for name in COUNTS}

    def tables(self) -> dict[str, NDArray[Any]]:
        """Arrays that a checkpoint keeps."""
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
        rows = parts.number[judge.nodes]
        self.scores.append(judge.score(self.center[rows, :dim], self.context[rows, :dim]))


@dataclass(frozen=True)
class Settings:
    """Parameters of the loss and its descent.

    Attributes
    ----------
    dim
        Length of a vector.
    negatives
        Noise nodes K per pair.
    epochs
        Passes over the pairs.
    learning_rate
        First rate; it falls as `Schedule` says.
    l2
        Weight λ of λ/2·(‖e_u‖² + ‖e'_v‖²), added to the loss of every pair and noise pair.
    offset
        Take log K off every score in training. Vectors at zero then mean "as likely as noise",
        which is what an untouched pair should mean; without it they mean K times that.
    seed
        Seed of the start, the parts and the noise.
    shared_table
        Both ends of a pair from one table (first-order LINE).
    shared_negatives
        Pairs of a centre that share K noise nodes, each of which then counts so many times; 1 draws
        K for every pair.
    patience
        Epochs without a better score of the judge before the end; 0 runs all.
    """

    dim: int = 128
    negatives: int = 5
    epochs: int = 1
    learning_rate: float = 0.025
    l2: float = 0.0
    offset: bool = False
    seed: int = 0
    shared_table: bool = False
    shared_negatives: int = 1
    patience: int = 0


def score_offset(negatives: int, offset: bool) -> float:
    """What is added to e'_v·e_u in training: -log K, or nothing."""
    return -math.log(negatives) if offset else 0.0


def noise_mass(degree: IntArray) -> NDArray[np.float64]:
    """Unnormalised noise, degree^0.75 of the training graph, shape (n,)."""
    return np.asarray(degree, np.float64) ** NOISE_POWER


def train(
    source: PairSource,
    degree: IntArray,
    settings: Settings,
    engine: LocalEngine,
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
        Degrees in the training graph, shape (n,); the noise is degree^0.75.
    settings
        Parameters of the loss and its descent.
    engine
        Runs the blocks; the result does not depend on its thread count.
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
    parts = partition(noise_mass(degree), count, settings.seed)
    state = _start(parts, settings, start) if progress is None else progress
    schedule = Schedule(settings.epochs, source.chunks, settings.patience if judge else 0)
    pairs: tuple[IntArray, IntArray] | None = None
    blocks: Blocks | None = None
    while state.turn < schedule.turns(state.scores):
        epoch, k = divmod(state.turn, source.chunks)
        began = time.perf_counter()
        before, pairs = pairs, source.chunk(k, parts, engine)
        sampled = time.perf_counter()
        if blocks is None or pairs is not before:
            blocks = _blocks(*pairs, parts, engine)
        state.loss = _train_chunk(blocks, parts, settings, state, schedule, engine)
        state.seconds["sample"] += sampled - began
        state.seconds["train"] += time.perf_counter() - sampled
        state.pairs += len(pairs[0]) if epoch == 0 else 0
        state.updates += len(pairs[0])
        state.turn += 1
        if judge is not None and state.turn % source.chunks == 0:
            state.judge(judge, parts, settings.dim)
        if after_turn is not None:
            after_turn(state, schedule.turns(state.scores))
    rows = parts.number
    return state.center[rows, : settings.dim], state.context[rows, : settings.dim], state


def aligned(table: NDArray[Any]) -> NDArray[Any]:
    """Copy of a table whose rows begin with a cache line, so that no load straddles two."""
    raw = np.empty(table.nbytes + CACHE_LINE, np.uint8)
    begin = -raw.ctypes.data % CACHE_LINE
    copy = raw[begin : begin + table.nbytes].view(table.dtype).reshape(table.shape)
    copy[:] = table
    return copy


def _start(parts: Partition, settings: Settings, given: Table | None = None) -> Progress:
    """Centres as given or uniform in ±0.5 / dim, contexts zero; one table for both when shared."""
    n = len(parts.node)
    random = np.random.Generator(np.random.Philox(settings.seed + 2))
    center = aligned(np.zeros((n, padded(settings.dim)), np.float32))
    spread = (random.random((n, settings.dim), np.float32) - np.float32(0.5)) / settings.dim
    center[parts.number, : settings.dim] = spread if given is None else given
    return Progress(center, center if settings.shared_table else aligned(np.zeros_like(center)))


def start_from(center: Table, context: Table, degree: IntArray, settings: Settings) -> Progress:
    """Progress that begins with the vectors of the first m nodes, both (m, dim)."""
    count = number_of_parts(len(degree), settings.dim, settings.shared_negatives)
    parts = partition(noise_mass(degree), count, settings.seed)
    progress = _start(parts, settings)
    for table, given in ((progress.center, center), (progress.context, context)):
        table[parts.number[: len(given)], : settings.dim] = given
    return progress


def _train_chunk(
    blocks: Blocks,
    parts: Partition,
    settings: Settings,
    state: Progress,
    schedule: Schedule,
    engine: LocalEngine,
) -> float:
    """Run the blocks of one chunk, step after step; return the mean loss of a pair."""
    steps = block_steps(parts.parts, settings.shared_table)
    offset, l2 = (
        np.float32(score_offset(settings.negatives, settings.offset)),
        np.float32(settings.l2),
    )
    total = 0.0
    for s, step in enumerate(steps):
        share = schedule.share(state.turn + s / len(steps), state.scores)
        rate = np.float32(settings.learning_rate * share)

        def run(chains: list[Chain], rate: np.float32 = rate) -> list[float]:
            return [
                kernel.train_block(
                    *block, *blocks, parts.bounds, parts.mass, parts.threshold, parts.alias,
                    state.center, state.context, settings.shared_table, settings.negatives,
                    settings.shared_negatives, offset, rate, l2,
                    settings.seed, state.turn,
                )
                for chain in chains
                for block in chain
            ]  # fmt: skip

        shares = [step[t :: engine.threads] for t in range(engine.threads)]
        total += sum(map(sum, engine.map(run, shares)))
    return total / max(len(blocks[0]), 1)


def _blocks(center: IntArray, context: IntArray, parts: Partition, engine: LocalEngine) -> Blocks:
    """Pairs ordered by (centre part, context part), where each block begins, and pairs a centre."""
    ends = np.searchsorted(center, parts.bounds)
    begin = np.empty((parts.parts, parts.parts + 1), np.int64)
    ordered = np.empty_like(center), np.empty_like(context)

    def work(p: int) -> None:
        kernel.bucket(ends[p], ends[p + 1], center, context, parts.part_of, begin[p], *ordered)

    engine.run(work, range(parts.parts))
    return (*ordered, begin, np.bincount(center, minlength=len(parts.node)))


def block_steps(parts: int, shared_table: bool = False) -> list[list[Chain]]:
    """Steps of chains of blocks; chains of one step share no row.

    With two tables step s holds the blocks (i, i + s). With one table for both ends a block (i, j)
    needs parts i and j to itself: the steps are the rounds of a tournament, each chain a game.

    >>> block_steps(2)
    [[((0, 0),), ((1, 1),)], [((0, 1),), ((1, 0),)]]
    >>> block_steps(3, shared_table=True)[1:]
    [[((0, 1), (1, 0))], [((1, 2), (2, 1))], [((0, 2), (2, 0))]]
    """
    if not shared_table:
        return [[((i, (i + s) % parts),) for i in range(parts)] for s in range(parts)]
    diagonal: list[Chain] = [((i, i),) for i in range(parts)]
    players = parts + parts % 2
    rounds: list[list[Chain]] = []
    for r in range(players - 1):
        circle = [players - 1] + [(r + k) % (players - 1) for k in range(players - 1)]
        games = zip(circle[: players // 2], reversed(circle[players // 2 :]), strict=True)
        real = sorted((min(a, b), max(a, b)) for a, b in games if max(a, b) < parts)
        rounds.append([((a, b), (b, a)) for a, b in real])
    return [diagonal, *rounds]
