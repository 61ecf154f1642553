"""Local against Ray with 1, 2 and 4 workers on this machine: seconds, bytes moved, memory.

A generated graph of SNOMED's size (Chung and Lu's model), PS with dim 128. The cluster is started
and all kernels are loaded before the clock runs. Equal work: a worker has one core, so one worker
is set beside one thread, more beside as many threads as there are cores. What workers send each
other is counted from the schedule: every turn each sends its way round as many bytes as one table
has. Memory is the largest peak of a worker process: all of it, and what is its own (the rest is
shared with the others, as the graph is).

Run: python benchmarks/ray_overhead.py [NODES EDGES EPOCHS]
"""

import os
import re
import sys
import time
from pathlib import Path

from common import write
from pairgram.bench.speed.generate import power_law

NODES, EDGES, EPOCHS, DIM = 391_892, 2_047_749, 3, 128


def workers_memory() -> tuple[int, int]:
    """Largest peak and largest own memory of Ray's worker processes of this machine, in bytes."""
    peaks, owns = [0], [0]
    for process in Path("/proc").iterdir():
        try:
            if not (process / "cmdline").read_bytes().startswith(b"ray::"):
                continue
            status = (process / "status").read_text()
        except OSError:
            continue
        peaks.append(_kib(status, "VmHWM"))
        owns.append(_kib(status, "RssAnon"))
    return max(peaks), max(owns)


def _kib(status: str, name: str) -> int:
    found = re.search(rf"{name}:\s+(\d+) kB", status)
    return 1024 * int(found[1]) if found else 0


def fit(graph, epochs: int, threads: int, engine=None) -> dict[str, object]:
    """Seconds of a fit, and the memory of workers at its turns."""
    import pairgram as pg

    seen = [(0, 0)]
    model = pg.PS(dim=DIM, epochs=epochs, threads=threads)
    began = time.perf_counter()
    model.fit(graph, engine=engine, callback=lambda progress, turns: seen.append(workers_memory()))
    seconds = time.perf_counter() - began
    return {
        "seconds": seconds, "M pairs/s": model.stats_["updates"] / seconds / 1e6,
        "turns": len(seen) - 1, "peak": max(p for p, _ in seen), "own": max(o for _, o in seen),
        "vectors": model.vectors_,
    }  # fmt: skip


def main() -> None:
    import numpy as np

    import pairgram as pg
    from pairgram.engine.ray import RayEngine

    nodes, edges, epochs = (int(a) for a in sys.argv[1:4] or (NODES, EDGES, EPOCHS))
    cores = os.cpu_count() or 1
    graph = pg.TextGraph.from_edges(*power_law(nodes, edges, 2.5, 1000, seed=0))
    small = pg.TextGraph.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
    pg.PS(dim=DIM, epochs=1).fit(small)
    local = {threads: fit(graph, epochs, threads) for threads in (1, cores)}
    rows = [_row("local", threads, run, 1.0, 0) for threads, run in local.items()]
    for workers in (1, 2, 4):
        with RayEngine("local", workers) as engine:
            pg.PS(dim=DIM, epochs=1).fit(small, engine=engine)
            run = fit(graph, epochs, workers, engine)
        beside = local[1 if workers == 1 else cores]
        same = np.array_equal(run["vectors"].center, beside["vectors"].center)
        table = 4 * graph.n_nodes * DIM
        moved = run["turns"] * workers * table if workers > 1 else 0
        rows.append(_row("ray", workers, run, run["seconds"] / beside["seconds"], moved, same))
    write("ray_overhead", rows)


def _row(engine, workers, run, ratio, moved, same=True) -> dict[str, object]:
    return {
        "engine": engine, "threads or workers": workers, "seconds": run["seconds"],
        "M pairs/s": run["M pairs/s"], "times local": ratio, "same bits": same,
        "GB moved": moved / 1e9, "largest worker MB": run["peak"] / 1e6,
        "its own MB": run["own"] / 1e6,
    }  # fmt: skip


if __name__ == "__main__":
    main()
