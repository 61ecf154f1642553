"""Structure-only training on a few pairs, so that its kernels are compiled before they are needed.

Run as a program by a process of its own, while the training proper still draws its pairs: the
sampler and the trainer take about as long to compile.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairgram.engine import Engine, LocalEngine
from pairgram.kernels import beside
from pairgram.kernels.native import usable
from pairgram.training.blocks import Span
from pairgram.training.partition import Partition

KERNELS = ("bucket", "train_blocks")
# A pair of every node with the next, in the integers that samplers draw in all but huge graphs.
NODES = np.arange(8, dtype=np.int32)


class FewPairs:
    """A source of one pair a node."""

    chunks = 1

    def chunk(
        self, k: int, parts: Partition, engine: Engine, span: Span | None = None
    ) -> tuple[NDArray[np.integer[Any]], NDArray[np.integer[Any]]]:
        """Each node with the next one."""
        return NODES, np.roll(NODES, 1)


def begin(engine: Engine) -> bool:
    """Rehearse in a second process where that saves time; say whether one was started."""
    if engine.threads < 2 or not engine.shares_memory or not usable():
        return False
    return beside.start(KERNELS, __name__)


def rehearse() -> None:
    """Train on the few pairs in this process, on one thread."""
    from pairgram.training.settings import Settings
    from pairgram.training.sgns import train

    with LocalEngine(threads=1) as engine:
        train(FewPairs(), np.full(len(NODES), 2), Settings(dim=1), engine)


if __name__ == "__main__":
    rehearse()
