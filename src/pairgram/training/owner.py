"""What a worker of a cluster does in training: it owns rows, and trains those that visit."""

import numpy as np
from numpy.typing import NDArray

from pairgram.engine import LocalEngine
from pairgram.kernels.sizes import padded
from pairgram.training.blocks import Blocks, PairSource, block_steps, drawn_blocks, train_blocks
from pairgram.training.partition import Partition
from pairgram.training.room import Room
from pairgram.training.settings import Settings
from pairgram.training.start import draw_centres

Table = NDArray[np.float32]


class PartOwner:
    """Rows of a run of centre parts, and of the context parts that visit.

    Context parts lie in slots, as many as there are centre parts: in every step one part leaves and
    another takes its place.

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
        self._own, self._first = range(low, high), int(parts.bounds[low])
        width = padded(settings.dim)
        self._slot_rows = int(np.diff(parts.bounds).max())
        self._center = Room(int(parts.bounds[high]) - self._first, width)
        self._context = self._center
        if not settings.shared_table:
            self._context = Room(len(self._own) * self._slot_rows, width)
        self._slot = {part: slot for slot, part in enumerate(self._own)}
        self._free: list[int] = []
        self._newest = self._own[-1]
        chains = block_steps(parts.parts, settings.shared_table)
        self._steps = [[b for c in step if c[0][0] in self._own for b in c] for step in chains]
        self._waiting: tuple[list[tuple[int, int]], int, np.float32] = ([], 0, np.float32(0))
        self._blocks: Blocks | None = None
        self._losses: list[float] = []
        self._engine = LocalEngine(1)

    def begin(self) -> None:
        """Make all rows as they are before training."""
        draw_centres(self._parts, self._settings, self._first, self._center.table)

    def take(self, part: int, center: Table, context: Table | None) -> None:
        """Hold rows of a part; without contexts they are zero, or one table serves both ends."""
        self._center_rows(part)[:] = center
        if context is not None:
            self._context_rows(part)[:] = context

    def give(self, part: int) -> tuple[Table, Table | None]:
        """Centre and context rows of a part, between turns; one where one table serves both."""
        shared = self._settings.shared_table
        return self._center_rows(part), None if shared else self._context_rows(part)

    def forget(self, part: int) -> None:
        """Let the memory of a part go; training is over."""
        self._blocks = None
        bounds = self._parts.bounds - self._first
        self._center.let_go(int(bounds[part]), int(bounds[part + 1]))
        if not self._settings.shared_table:
            first = self._slot[part] * self._slot_rows
            self._context.let_go(first, first + self._slot_rows)

    def sample(self, k: int) -> tuple[int, float]:
        """Draw the pairs of chunk k around its centres; return how many, and the seconds."""
        if self._blocks is not None and self._source.chunks == 1:
            return len(self._blocks), 0.0
        self._blocks = None
        drawn = drawn_blocks(self._source, k, self._parts, self._engine, self._own)
        self._blocks = drawn[0]
        return len(self._blocks), drawn[1]

    def step(self, s: int, turn: int, rate: np.float32, *arriving: Table) -> Table | None:
        """Train what is left of the step before, and so much of step s that a part can leave.

        Its first centre part meets the context part that goes on to another worker, its last the
        one that arrives: so the first block is trained at once, and the others when the next call
        brings what they need. Where it owns all parts, nothing moves.
        """
        blocks = self._steps[s]
        if len(self._own) == self._parts.parts:
            self._train(blocks, turn, rate)
            return None
        self._complete(arriving)
        self._train(blocks[:1], turn, rate)
        self._waiting = blocks[1:], turn, rate
        leaving = (self._own[0] + s) % self._parts.parts
        # Its place is taken while others may still read it.
        rows = self._context_rows(leaving).copy()
        self._free.append(self._slot.pop(leaving))
        return rows

    def finish(self, *arriving: Table) -> list[float]:
        """Train what is left, the last parts being home; return the losses of the turn's blocks."""
        self._complete(arriving)
        losses, self._losses = self._losses, []
        return losses

    def _complete(self, arriving: tuple[Table, ...]) -> None:
        """Take parts in, and train the blocks that waited for one of them."""
        for rows in arriving:
            # They come in the order of the circle.
            self._newest = (self._newest + 1) % self._parts.parts
            self._slot[self._newest] = self._free.pop()
            self._context_rows(self._newest)[:] = rows
        self._train(*self._waiting)
        self._waiting = [], 0, np.float32(0)

    def _train(self, blocks: list[tuple[int, int]], turn: int, rate: np.float32) -> None:
        if not blocks:
            return
        if self._blocks is None:
            raise RuntimeError("pairs are sampled before they are trained on")
        based = [(i, j, self._base(j)) for i, j in blocks]
        self._losses += train_blocks(
            based, self._blocks, self._parts, self._settings.descent, rate, turn,
            (self._center.table, self._first), self._context.table,
        )  # fmt: skip

    def _base(self, part: int) -> int:
        """The number that row 0 of the contexts would have, if the part's numbers went on."""
        if self._settings.shared_table:
            return self._first
        return int(self._parts.bounds[part]) - self._slot[part] * self._slot_rows

    def _center_rows(self, part: int) -> Table:
        bounds = self._parts.bounds - self._first
        return self._center.table[bounds[part] : bounds[part + 1]]

    def _context_rows(self, part: int) -> Table:
        begin = self._slot[part] * self._slot_rows
        count = self._parts.bounds[part + 1] - self._parts.bounds[part]
        return self._context.table[begin : begin + count]
