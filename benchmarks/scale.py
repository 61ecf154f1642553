"""What a graph of any size needs, stage by stage: a simulator, and runs that check it.

The simulator adds up the arrays that the code allocates and the bytes that workers send each other,
and divides pairs by rates. `--measure` runs the same stages on generated graphs (Chung and Lu's
model, hubs capped at about 1,000, mean degree 20), each in a process of its own, and sets what was
foretold beside what was measured; rates come from the size given first. `--plan` prints the plans
of docs/scale.md.

Memory of all processes together is sampled every second (what they share counts once), that of this
process is its peak.

Run: python benchmarks/scale.py --measure EDGES [EDGES ...] [--engine local|ray]
         [--order O] [--times N]
     python benchmarks/scale.py --again [--engine local|ray]
     python benchmarks/scale.py --plan

`--again` sets what is foretold now beside the runs that a card holds.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from common import OUT, read, write
from pairgram.training.partition import number_of_parts
from pairgram.training.sources import CHUNK_PAIRS, FEWEST_PAIRS_PER_NODE

ORDER, TIMES, DIM, DEGREE, EPOCHS = 3, 2, 64, 20, 1
GB = 1e9
MEASURE = "python benchmarks/scale.py --measure EDGES ... [--engine ray] [--order O] [--times N]"
# Bytes of a row of a partition: node, number, alias, part and threshold.
PARTITION_ROW = 8 + 8 + 8 + 4 + 4
# Bytes of an edge while duplicates are merged: its ends as given and as positions, keys, their
# order and ranks (86 to 88 measured).
MERGED_EDGE = 88
# An id in a NumPy array of Python strings: the pointer, and a short string.
NAME = 8 + 56


@dataclass(frozen=True)
class Cluster:
    """Machines of one kind: cores, memory in bytes, network in bytes a second, price an hour."""

    machines: int
    cores: int
    memory: float
    network: float
    price: float


@dataclass(frozen=True)
class Rates:
    """Pairs a second of one core, in sampling and in training at DIM."""

    sampling: float
    training: float


@dataclass(frozen=True)
class Job:
    """A graph and what is trained on it."""

    nodes: int
    edges: int
    dim: int = DIM
    epochs: int = EPOCHS
    order: int = ORDER
    times: int = TIMES

    @property
    def pairs(self) -> float:
        """Most pairs of an epoch, N·O·arcs; few branches end early."""
        return self.times * self.order * 2.0 * self.edges

    @property
    def turns(self) -> int:
        """Chunks of an epoch."""
        return math.ceil(self.pairs / max(CHUNK_PAIRS, FEWEST_PAIRS_PER_NODE * self.nodes))

    @property
    def id_bytes(self) -> int:
        return 4 if self.nodes < 2**31 else 8

    @property
    def drawn_pair(self) -> int:
        """A pair while a chunk is drawn: two ends, order and round, and the ends twice more."""
        return 2 * self.id_bytes + 3 + 4 * self.id_bytes

    @property
    def csr(self) -> float:
        """Neighbour lists."""
        return 8.0 * (self.nodes + 1) + 2.0 * self.edges * self.id_bytes

    @property
    def table(self) -> float:
        """One table of vectors; rows are padded to 32 numbers."""
        return 4.0 * self.nodes * 32 * math.ceil(self.dim / 32)

    @property
    def parts(self) -> int:
        return number_of_parts(self.nodes, self.dim)

    @property
    def held(self) -> float:
        """What the process that reads the graph holds: edges, lists, ids and the partition."""
        return self.csr + 16.0 * self.edges + (PARTITION_ROW + NAME) * self.nodes

    @property
    def driver(self) -> float:
        """The most of the process of the command on Ray: in reading, or in the end with the result.

        What is fetched in between lies in files.
        """
        return max(MERGED_EDGE * self.edges, self.held + 2 * self.table)

    @property
    def shared(self) -> float:
        """What workers of a machine read from its shared memory: lists, partition, hubs."""
        return self.csr + (PARTITION_ROW + 4) * self.nodes

    def worker(self, workers: int) -> float:
        """One of so many workers: scratch, rows, and the pairs of its centres in a chunk."""
        scratch = self.nodes * (2 + 2 + 4 + self.id_bytes)
        # Of parts that leave: one copied, two on their way.
        rows = 2 * self.table / workers + 3 * self.table / self.parts * (workers > 1)
        pairs = self.drawn_pair * self.pairs / self.turns / workers + self.id_bytes * self.nodes
        return scratch + rows + pairs


def simulate(job: Job, cluster: Cluster, rates: Rates) -> dict[str, float]:
    """Bytes, seconds and money of a training, workers on all cores as far as parts go."""
    workers = min(cluster.machines * cluster.cores, job.parts)
    machines = min(cluster.machines, workers)
    worker = job.worker(workers)
    per_machine = job.shared + worker * workers / machines
    sent = job.table * job.turns * job.epochs  # by each machine to the one before it
    seconds = {
        "sampling": job.pairs * job.epochs / (rates.sampling * workers),
        "training": job.pairs * job.epochs * job.dim / DIM / (rates.training * workers),
        "network": sent / cluster.network if machines > 1 else 0.0,
    }
    total = seconds["sampling"] + max(seconds["training"], seconds["network"])
    return {
        "workers": workers, "turns": job.turns * job.epochs, "pairs": job.pairs * job.epochs,
        "graph": job.csr, "shared by a machine": job.shared, "worker": worker,
        "machine": per_machine, "fits": per_machine <= 0.8 * cluster.memory,
        "driver": job.driver, "sent by a machine": sent, **seconds, "total s": total,
        "cost": total / 3600 * cluster.price * cluster.machines,
    }  # fmt: skip


def foretold_here(job: Job, rates: Rates, cores: int) -> dict[str, float]:
    """Bytes and seconds of a run on the threads of this machine."""
    chunk = job.pairs / job.turns
    tables = 4 * job.table  # in training, and in the order of nodes
    peak = job.held + tables + job.drawn_pair * chunk + 12.0 * job.nodes * cores
    return {
        "pairs": job.pairs, "csr": job.csr, "peak": peak, "all": peak,
        "sampling": job.pairs / (rates.sampling * cores),
        "training": job.pairs / (rates.training * cores),
    }  # fmt: skip


def foretold_on_ray(job: Job, rates: Rates, workers: int) -> dict[str, float]:
    """The same for workers of Ray on this machine; Ray's own processes come on top.

    In the end the result and the workers' rows are held together: rows of a part are of nodes all
    over the result, so all its pages are there before most parts are let go.
    """
    training = job.held + job.shared + workers * job.worker(workers)
    end = job.held + 4 * job.table + job.shared
    told = foretold_here(job, rates, workers)
    return {**told, "peak": job.driver, "all": max(end, training)}


class Memory:
    """Samples what this process and all below it hold, while it is open."""

    def __enter__(self) -> "Memory":
        self.seen: list[int] = []
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(1.0):
            self.seen.append(sum(_shares(os.getpid())))

    @property
    def most(self) -> int:
        """The largest sample."""
        return max(self.seen, default=0)

    def tenths(self) -> list[int]:
        """The largest sample of every tenth of the time."""
        cuts = [i * len(self.seen) // 10 for i in range(11)]
        return [max(self.seen[a:b], default=0) for a, b in pairwise(cuts)]


def _shares(pid: int) -> list[int]:
    """Bytes of a process and of those below it, what several share cut between them."""
    try:
        said = Path(f"/proc/{pid}/smaps_rollup").read_text()
        tasks = Path(f"/proc/{pid}/task").iterdir()
        below = [int(c) for t in tasks for c in (t / "children").read_text().split()]
    except OSError:
        return []
    own = next(int(line.split()[1]) for line in said.splitlines() if line.startswith("Pss:"))
    return [own * 1024, *(share for child in below for share in _shares(child))]


def measure(edges: int, engine: str, order: int, times: int) -> dict[str, float]:
    """One run, in this process."""
    import pairgram as pg
    from pairgram.bench.measure import peak_memory
    from pairgram.bench.speed.generate import power_law
    from pairgram.engine import available_threads, open_engine

    small = pg.TextGraph.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
    with open_engine(engine) as opened, Memory() as memory:
        model = pg.PS(dim=DIM, order=order, times=times, epochs=EPOCHS)
        model.fit(small, engine=opened)  # compiles
        base = peak_memory()
        nodes = 2 * edges // DEGREE
        source, target = power_law(nodes, edges, 2.5, 1000, seed=0)
        graph = pg.TextGraph.from_edges(source, target)
        del source, target
        near = graph.adjacency()
        began, spent = time.perf_counter(), time.process_time()
        model.fit(graph, engine=opened)
        seconds, spent = time.perf_counter() - began, time.process_time() - spent
        peak = peak_memory() - base
    return {
        "edges": edges, "engine": engine, "nodes": graph.n_nodes, "distinct": graph.n_edges,
        "pairs": model.stats_["pairs"], "csr": near.indptr.nbytes + near.indices.nbytes,
        "peak": peak, "all": memory.most, "cores": available_threads(), "order": order,
        "times": times, "fit": seconds, "cpu": spent, "load": os.getloadavg()[0],
        **model.stats_["seconds"],
    }  # fmt: skip


def compare(found: list[dict[str, float]]) -> list[dict[str, object]]:
    """Measured beside foretold; rates are those of the first run."""
    first = found[0]
    per_core = first["pairs"] / first["cores"]
    rates = Rates(per_core / first["sample"], per_core / first["train"])
    rows = []
    for run in found:
        shape = {"order": int(run["order"]), "times": int(run["times"])}
        job = Job(int(run["nodes"]), int(run["distinct"]), **shape)
        on_ray = run["engine"] == "ray"
        told = (foretold_on_ray if on_ray else foretold_here)(job, rates, int(run["cores"]))
        row: dict[str, object] = {
            "edges": run["edges"], "engine": run["engine"], **shape, "fit s": run["fit"],
            "µs a pair": 1e6 * run["fit"] / run["pairs"],
            "CPU µs a pair, this process": 1e6 * run["cpu"] / run["pairs"],
            "GB of all processes": run["all"] / GB, "load after": run["load"],
        }  # fmt: skip
        for name, measured in (
            ("pairs", run["pairs"]), ("csr", run["csr"]), ("peak", run["peak"]),
            *([("all", run["all"])] if on_ray else []),
            ("sampling", run["sample"]), ("training", run["train"]),
        ):  # fmt: skip
            row |= {f"{name} foretold": told[name], name: measured}
            row[f"{name} ratio"] = measured / told[name]
        rows.append({**row, "runs": [run]})
    return rows


PLANS = {
    "100 M nodes, 1 B edges": (
        Job(10**8, 10**9, epochs=5),
        Cluster(4, 16, 128 * GB, 25e9 / 8, 1.0),
    ),
    "1 B nodes, 50 B edges": (
        Job(10**9, 50 * 10**9),
        Cluster(8, 8, 1024 * GB, 100e9 / 8, 8.0),
    ),
}
# Pairs a second of a core at dim 64 on graphs far larger than the caches, as in
# results/benchmarks/growth.md. A price is a unit for every 16 cores and 128 GB, eight for 1 TB.
PLAN_RATES = Rates(1.2e6, 0.6e6)


def plan() -> None:
    """Print the plans, one line for each figure."""
    for name, (job, cluster) in PLANS.items():
        print(f"{name}: {cluster}")
        for key, value in simulate(job, cluster, PLAN_RATES).items():
            print(f"  {key}: {value if isinstance(value, bool) else f'{value:,.3g}'}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--measure", type=int, nargs="+", metavar="EDGES")
    parser.add_argument("--engine", default="local", choices=("local", "ray"))
    parser.add_argument("--plan", action="store_true")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--one", type=int)
    parser.add_argument("--order", type=int, default=ORDER)
    parser.add_argument("--times", type=int, default=TIMES)
    asked = parser.parse_args()
    if asked.one:
        print(json.dumps(measure(asked.one, asked.engine, asked.order, asked.times)))
    if asked.plan:
        plan()
    if asked.again:
        name = f"scale_{asked.engine}"
        kept = [row["runs"][0] for row in read(name) if "runs" in row]
        if not kept:
            raise SystemExit(f"{name}: its card keeps no runs; measure again with --measure.")
        write(name, compare(kept), MEASURE)
    if asked.measure:
        found = []
        for edges in asked.measure:
            command = [sys.executable, __file__, "--one", str(edges), "--engine", asked.engine]
            command += ["--order", str(asked.order), "--times", str(asked.times)]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
            found.append(json.loads(done.stdout.splitlines()[-1]))
            print(done.stdout.splitlines()[-1], flush=True)
        write(f"scale_{asked.engine}", compare(found), MEASURE)
        print(f"written to {OUT}")


if __name__ == "__main__":
    main()
