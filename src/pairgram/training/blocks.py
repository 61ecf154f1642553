"""Blocks of pairs by (centre part, context part), and the steps in which they are trained on."""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from pairgram.engine import Engine
from pairgram.kernels import ready as kernel
from pairgram.kernels.sizes import STEP_BATCH, VECTOR
from pairgram.training.partition import Partition

Table = NDArray[np.float32]
IntArray = NDArray[np.integer[Any]]
Chain = tuple[tuple[int, int], ...]
Span = tuple[int, int]


class PairSource(Protocol):
    """Where a trainer gets its pairs: chunks that are a function of their number alone."""

    chunks: int

    def chunk(
        self, k: int, parts: Partition, engine: Engine, span: Span | None = None
    ) -> tuple[IntArray, IntArray]:
        """Pairs of chunk k in the numbers of `parts`: centres ascending and contexts, both (m,).

        With a span only those whose centre's number is in [span[0], span[1]).
        """


class Descent(NamedTuple):
    """What every block of a training has in common, as the kernel takes it."""

    one_table: bool
    negatives: int
    shared: int
    offset: np.float32
    l2: np.float32
    seed: int


@dataclass(frozen=True, eq=False)
class Blocks:
    """Pairs of some centre parts, ordered by (centre part, context part).

    Attributes
    ----------
    low
        The first of the centre parts.
    center, context
        Numbers of the two ends, shape (m,).
    begin
        Where each block begins, a row for each centre part, shape (parts, P + 1).
    count
        Pairs of each centre of these parts, shape (rows,).
    """

    low: int
    center: IntArray
    context: IntArray
    begin: NDArray[np.int64]
    count: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.center)

    @cached_property
    def most(self) -> int:
        """Most pairs that a centre has."""
        return int(self.count.max(initial=0))


def bucketed(
    center: IntArray, context: IntArray, parts: Partition, engine: Engine, own: Sequence[int]
) -> Blocks:
    """Order pairs of the centre parts `own`, a run of them, by context part."""
    low, high = own[0], own[-1] + 1
    bounds = parts.bounds[low : high + 1]
    ends = np.searchsorted(center, bounds)
    begin, places = (np.empty((len(own), parts.parts + 1), np.int64) for _ in range(2))
    ordered = np.empty_like(center), np.empty_like(context)

    def work(p: int) -> None:
        ends_here = ends[p], ends[p + 1]
        kernel.bucket(*ends_here, center, context, parts.part_of, begin[p], places[p], *ordered)

    engine.run(work, range(len(own)))
    rows = center - center.dtype.type(bounds[0])
    return Blocks(low, *ordered, begin, np.bincount(rows, minlength=bounds[-1] - bounds[0]))


def drawn_blocks(
    source: PairSource, k: int, parts: Partition, engine: Engine, own: Sequence[int]
) -> tuple[Blocks, float]:
    """Blocks of the pairs of chunk k whose centres are in the parts `own`, and seconds to draw."""
    began = time.perf_counter()
    whole = len(own) == parts.parts
    span = None if whole else (int(parts.bounds[own[0]]), int(parts.bounds[own[-1] + 1]))
    pairs = source.chunk(k, parts, engine, span)
    sampled = time.perf_counter() - began
    return bucketed(*pairs, parts, engine, own), sampled


def train_blocks(
    chosen: Sequence[tuple[int, int, int]],
    blocks: Blocks,
    parts: Partition,
    descent: Descent,
    rate: np.float32,
    turn: int,
    center: tuple[Table, int],
    context: Table,
) -> list[float]:
    """Descend on blocks in turn; return their losses.

    A block is its centre part, its context part and the number that row 0 of `context` stands for;
    `center` comes with that of its own.
    """
    losses = np.empty(len(chosen))
    skipped = int(center[1] - parts.bounds[blocks.low])
    kernel.train_blocks(
        np.array(chosen, np.int64).reshape(-1, 3), blocks.low, parts.bounds, blocks.begin,
        parts.mass, blocks.center, blocks.context, blocks.count[skipped:], parts.threshold,
        parts.alias, center[0], int(center[1]), context, descent.one_table,
        descent.negatives, descent.shared, descent.offset, rate, descent.l2, descent.seed, turn,
        *_scratch(blocks, parts, descent), losses,
    )  # fmt: skip
    return losses.tolist()


def _scratch(blocks: Blocks, parts: Partition, descent: Descent) -> tuple[NDArray[Any], ...]:
    """Room for the kernel: what a centre has in a block, and the numbers of a batch."""
    noise = descent.negatives * float(parts.mass.max()) / descent.shared
    queue = math.ceil(blocks.most * (1 + noise)) + 1 + VECTOR
    return (
        np.empty((2, queue), np.int64), np.empty(queue, np.int64),
        np.empty((5, STEP_BATCH), np.float32), np.empty(STEP_BATCH, np.int32),
    )  # fmt: skip


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
