"""Local against Ray with 1, 2 and 4 workers on this machine: seconds, bytes moved, memory.

A generated graph of SNOMED's size (Chung and Lu's model), PS with dim 128, O = 3, N = 1, for one
epoch and for three. The cluster is started and all kernels are compiled before the clock runs; the
start of worker processes, which load the package, is taken off and shown. Equal work: a worker has
one core, so one worker is set beside one thread, more beside as many threads as there are cores.

`epoch s` is what one more epoch takes, the difference of the two runs over the epochs between; the
rest of the short run is `once s`: partition, first vectors, result. What workers send each other is
counted from the schedule: every turn each sends as many bytes as one table has. Memory is the
largest peak of a worker process: all of it, and what is its own (the rest is shared, as the graph
is).

CPU seconds are those of this process and of the workers, their start among them; unlike seconds
they change little when other work runs beside.

Every call adds one repetition to the card and makes the table anew: medians, and the slowest over
the fastest of the seconds. `--fresh` begins a new card, `--again` only makes the table.

Run: python benchmarks/ray_overhead.py [NODES EDGES FEW MORE] [--fresh | --again]
"""

import json
import os
import re
import statistics
import sys
import time
from pathlib import Path

from common import OUT, write
from pairgram.bench.speed.generate import power_law
from pairgram.evaluation.card import machine

NODES, EDGES, FEW, MORE, DIM, TIMES = 391_892, 2_047_749, 1, 3, 128, 1


def workers_now() -> tuple[int, int, float]:
    """Largest peak and own memory of the worker processes below this one, seconds of all."""
    status = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            status[int(process.name)] = (process / "status").read_text()
        except OSError:
            continue  # it has ended
    parent = {pid: _number(text, "PPid") for pid, text in status.items()}
    mine = [
        text
        for pid, text in status.items()
        if text.startswith("Name:\tray::") and parent.get(parent[pid]) == os.getpid()
    ]
    peaks, owns = ([_number(text, name) * 1024 for text in mine] for name in ("VmHWM", "RssAnon"))
    seconds = sum(_cpu_seconds(_number(text, "Pid")) for text in mine)
    return max(peaks, default=0), max(owns, default=0), seconds


def _cpu_seconds(pid: int) -> float:
    try:
        spent = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return 0.0
    return (int(spent[11]) + int(spent[12])) / os.sysconf("SC_CLK_TCK")


def _number(status: str, name: str) -> int:
    found = re.search(rf"^{name}:\s+(\d+)", status, re.MULTILINE)
    return int(found[1]) if found else 0


class Timed:
    """An engine that counts the seconds in which its crews start."""

    def __init__(self, engine):
        self.engine, self.seconds = engine, 0.0

    def __getattr__(self, name):
        return getattr(self.engine, name)

    def crew(self, *given):
        began = time.perf_counter()
        crew = self.engine.crew(*given)
        self.seconds += time.perf_counter() - began
        return crew


def fit(graph, epochs: int, threads: int, engine=None) -> dict[str, object]:
    """Seconds of a fit, and the memory of workers at its turns."""
    import pairgram as pg

    seen, spent = [workers_now()], time.process_time()
    model = pg.PS(dim=DIM, times=TIMES, epochs=epochs, threads=threads)
    began = time.perf_counter()
    model.fit(graph, engine=engine, callback=lambda progress, turns: seen.append(workers_now()))
    start = 0.0 if engine is None else engine.seconds
    seconds = time.perf_counter() - began - start
    print(f"{threads} threads or workers: {seconds:.1f} s", flush=True)
    cpu = time.process_time() - spent + max(c for _, _, c in seen)
    return {
        "start": start, "seconds": seconds, "cpu": cpu,
        "M pairs/s": model.stats_["updates"] / seconds / 1e6,
        "turns": len(seen) - 1, "peak": max(p for p, _, _ in seen),
        "own": max(o for _, o, _ in seen), "vectors": model.vectors_,
    }  # fmt: skip


def main() -> None:
    sizes = [int(a) for a in sys.argv[1:] if a.isdigit()] or [NODES, EDGES, FEW, MORE]
    card = OUT / "ray_overhead.json"
    stored = json.loads(card.read_text()) if card.exists() else {"rows": [], "machine": machine()}
    old = {} if "--fresh" in sys.argv else {_key(row): row["runs"] for row in stored["rows"]}
    if "--again" in sys.argv:
        rows = [_row(runs) for runs in old.values()]
    else:
        if old and stored["machine"] != machine():
            raise SystemExit(f"{card}: was measured on another machine; begin anew with --fresh.")
        found = repetition(*sizes)
        if old and set(old) != {_key(run) for run in found}:
            raise SystemExit(f"{card}: holds other jobs; begin anew with --fresh.")
        rows = [_row([*old.get(_key(run), []), run]) for run in found]
    write("ray_overhead", _with_cpu(rows))


def _key(row: dict[str, object]) -> tuple[object, ...]:
    return row["engine"], row["threads or workers"], row["epochs"]


def _with_cpu(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    """Rows with their CPU seconds over those of the local engine at equal work."""
    local = {
        (row["threads or workers"], row["epochs"]): row["CPU s"]
        for row in rows
        if row["engine"] == "local"
    }
    most = max(threads for threads, _ in local)
    for row in rows:
        threads = min(row["threads or workers"], most)
        row["CPU times local"] = row["CPU s"] / local[threads, row["epochs"]]
    return rows


def repetition(nodes: int, edges: int, few: int, more: int) -> list[dict[str, object]]:
    """One run of every engine and number of epochs, one after the other."""
    import pairgram as pg
    from pairgram.engine.ray import RayEngine

    cores = os.cpu_count() or 1
    graph = pg.TextGraph.from_edges(*power_law(nodes, edges, 2.5, 1000, seed=0))
    small = pg.TextGraph.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
    pg.PS(dim=DIM, epochs=1).fit(small)
    found, epochs = [], (few, more)
    local = {threads: {e: fit(graph, e, threads) for e in epochs} for threads in (1, cores)}
    for threads, runs in local.items():
        found += _runs("local", threads, runs, runs, 0)
    for workers in (1, 2, 4):
        with RayEngine("local", workers) as engine:
            pg.PS(dim=DIM, epochs=1).fit(small, engine=engine)
            runs = {e: fit(graph, e, workers, Timed(engine)) for e in epochs}
        moved = workers * 4 * graph.n_nodes * DIM if workers > 1 else 0
        found += _runs("ray", workers, runs, local[1 if workers == 1 else cores], moved)
    return found


def _runs(engine, workers, runs, beside, moved) -> list[dict[str, object]]:
    """A row for each number of epochs; what one more epoch takes comes from the two."""
    import numpy as np

    (few, short), (more, long) = runs.items()
    epoch = (long["seconds"] - short["seconds"]) / (more - few)
    theirs = (beside[more]["seconds"] - beside[few]["seconds"]) / (more - few)
    once = short["seconds"] - few * epoch
    rows = []
    for epochs, run in runs.items():
        same = np.array_equal(run["vectors"].center, beside[epochs]["vectors"].center)
        rows.append({
            "engine": engine, "threads or workers": workers, "epochs": epochs,
            "start s": run["start"], "seconds": run["seconds"], "CPU s": run["cpu"],
            "M pairs/s": run["M pairs/s"],
            "times local": run["seconds"] / beside[epochs]["seconds"], "once s": once,
            "epoch s": epoch, "epoch times local": epoch / theirs, "same bits": same,
            "GB moved": run["turns"] * moved / 1e9, "largest worker MB": run["peak"] / 1e6,
            "its own MB": run["own"] / 1e6, "load after": os.getloadavg()[0],
        })  # fmt: skip
    return rows


def _row(runs: list[dict[str, object]]) -> dict[str, object]:
    """Medians of the repetitions, which the card keeps."""
    seconds = [run["seconds"] for run in runs]
    middle = {
        key: value if isinstance(value, bool | str) else statistics.median(r[key] for r in runs)
        for key, value in runs[0].items()
    }
    same = all(run["same bits"] for run in runs)
    spread = max(seconds) / min(seconds)
    return {**middle, "same bits": same, "repetitions": len(runs), "spread": spread, "runs": runs}


if __name__ == "__main__":
    main()
