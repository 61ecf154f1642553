"""What the machine can do at most, measured beside the figures."""

import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

import numpy as np

from pairgram.engine import LocalEngine
from pairgram.kernels import machine

TRIAD = 1 << 24
ROUNDS = 1 << 22


def machine_limits(threads: int, runs: int = 5) -> dict[str, float]:
    """Memory bandwidth in GB/s (STREAM's triad) and float32 GFLOP/s (fused multiply-add).

    Medians of some runs with the given threads. The triad counts three arrays of 64 MiB a thread,
    without the read that a write costs; the arithmetic stays in registers.
    """
    with LocalEngine(threads) as engine:
        arrays = [[np.ones(TRIAD, np.float32) for _ in range(3)] for _ in range(engine.threads)]
        cells = [np.ones(machine.LANES, np.float32) for _ in range(engine.threads)]
        machine.triad(*(array[:8] for array in arrays[0]))
        machine.multiply_add(cells[0], 1)
        triad = _seconds(engine, lambda three: machine.triad(*three), arrays, runs)
        fma = _seconds(engine, lambda one: machine.multiply_add(one, ROUNDS), cells, runs)
        return {
            "threads": engine.threads,
            "triad_gb_s": engine.threads * 3 * TRIAD * 4 / triad / 1e9,
            "fma_gflop_s": engine.threads * 2 * ROUNDS * machine.LANES / fma / 1e9,
        }


def _seconds(
    engine: LocalEngine, work: Callable[[Any], object], tasks: Sequence[Any], runs: int
) -> float:
    taken = []
    for _ in range(runs):
        began = time.perf_counter()
        engine.run(work, tasks)
        taken.append(time.perf_counter() - began)
    return median(taken)
