"""Pairs and walk steps per second, hubs included, at one thread and at all; memory; the limit.

Needs PAIRGRAM_DATA with hepth. Run: python benchmarks/sampling.py
With --large also a graph of 10^8 edges (minutes, 6 GiB); otherwise its last row is kept.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import pairgram as pg
from common import OUT, median_seconds, write
from pairgram import datasets
from pairgram.engine import available_threads
from pairgram.graph import Adjacency
from pairgram.sampling import iter_pairs, iter_walks
from pairgram.split import split_edges
from sampling_limit import floor

LARGE = "power law, 10^8 edges"
Row = dict[str, Any]


@dataclass(frozen=True)
class Bare:
    """A graph that is its neighbour lists and nothing else, as far as the sampler looks."""

    lists: Adjacency
    weight: None = None

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.lists.indptr) - 1

    def adjacency(self, directed: bool = False) -> Adjacency:
        """Neighbour lists."""
        return self.lists


def power_law(n: int, m: int, seed: int = 0) -> Bare:
    """Draw m distinct edges among n nodes, ends as n·r³: degrees of exponent 2.5."""
    from scipy.sparse import csr_array

    rng = np.random.default_rng(seed)
    ends = [(n * rng.random(m + m // 4, np.float32) ** 3).astype(np.int32) for _ in range(2)]
    # Not the hubs first: ids say nothing of degree in the graphs that people have.
    mixed = rng.permutation(n).astype(np.int32)
    low, high = (mixed[np.minimum(side, n - 1)] for side in ends)
    del ends
    low, high = low[low != high], high[low != high]
    upper = csr_array((np.ones(len(low), np.bool_), (np.minimum(low, high), np.maximum(low, high))))
    upper.resize((n, n))
    rows = np.repeat(np.arange(n, dtype=np.int32), np.diff(upper.indptr))
    keep = np.sort(rng.permutation(len(rows))[:m].astype(np.int32))
    one, other = rows[keep], upper.indices[keep].astype(np.int32)
    del upper, rows, keep, low, high
    data = np.ones(2 * len(one), np.int8)
    both = csr_array((data, (np.append(one, other), np.append(other, one))), shape=(n, n))
    both.sort_indices()
    indptr, indices = both.indptr.astype(np.int64), both.indices.astype(np.int32, copy=False)
    for array in (indptr, indices):
        array.flags.writeable = False
    return Bare(Adjacency(indptr, indices, None))


def pair_jobs() -> Iterator[tuple[str, Any, int, int]]:
    hepth, leaves = datasets.load("hepth"), 1_000_000
    for order in (2, 3, 4):
        yield "hepth", hepth, order, 5
    half = split_edges(hepth, 0.5, seed=0).train
    for order in (3, 4):
        yield "hepth, half of the links", half, order, 5
    zeros = np.zeros(leaves, np.int64)
    yield "star, a million leaves", pg.TextGraph.from_edges(zeros, zeros + 1 + range(leaves)), 3, 2
    yield "clique of 3,000", pg.TextGraph.from_edges(*np.triu_indices(3000, 1)), 3, 2
    yield "power law, 392 k nodes, 2.05 M edges", power_law(392_000, 2_050_000), 3, 3


def resident(key: str) -> int:
    """Bytes of a line of this process's memory table."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(key):
            return int(line.split()[1]) * 1024
    raise KeyError(key)


def memory_over_csr(graph: Any, order: int, times: int) -> float:
    """Most bytes of a process that loads the lists and streams the pairs, over those of the lists.

    Counted above the package imported and its kernels loaded, all threads, in a fresh process.
    """
    lists = graph.adjacency()
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/indptr.npy", lists.indptr)
        np.save(f"{folder}/indices.npy", lists.indices)
        command = [sys.executable, __file__, "--stream", folder, str(order), str(times)]
        added = int(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
    return added / (lists.indptr.nbytes + lists.indices.nbytes)


def stream(folder: str, order: int, times: int) -> None:
    """Print the bytes that sampling adds to the package; the lists count."""
    path = Adjacency(np.array([0, 1, 2]), np.array([1, 0], np.int32), None)
    for array in (path.indptr, path.indices):
        array.flags.writeable = False
    sum(map(len, iter_pairs(Bare(path), order, times)))  # type: ignore[arg-type]
    before = resident("VmRSS")
    lists = Adjacency(np.load(f"{folder}/indptr.npy"), np.load(f"{folder}/indices.npy"), None)
    for array in (lists.indptr, lists.indices):
        array.flags.writeable = False
    sum(map(len, iter_pairs(Bare(lists), order, times)))  # type: ignore[arg-type]
    print(resident("VmHWM") - before)


def measure(graph: str, what: str, threads: int, work: Callable[[], int], runs: int = 3) -> Row:
    count, took = work(), median_seconds(work, runs)
    return {
        "graph": graph, "what": what, "threads": threads, "count": count,
        "seconds": took["median"], "M/s": count / took["median"] / 1e6,
        "slowest s": took["slowest"],
    }  # fmt: skip


def pair_rows() -> Iterator[Row]:
    for name, graph, order, times in pair_jobs():
        lists = graph.adjacency()
        for threads in sorted({1, available_threads()}):

            def work(graph=graph, order=order, times=times, threads=threads) -> int:
                return sum(map(len, iter_pairs(graph, order, times, threads=threads)))

            row = measure(name, f"pairs, O={order}, N={times}", threads, work)
            if name.startswith("power law") and threads > 1:
                row["memory over that of the CSR"] = memory_over_csr(graph, order, times)
            if name == "hepth" and threads == 1:
                limit = floor(lists, order, times, row["count"])
                row |= limit | {
                    "times the floor": row["seconds"] / row["count"] * 1e9 / [*limit.values()][-1]
                }
            print(row, flush=True)
            yield row


def walk_rows() -> Iterator[Row]:
    graphs = {"hepth": datasets.load("hepth"), "power law, 392 k nodes, 2.05 M edges": None}
    for name, known in graphs.items():
        graph: Any = known or power_law(392_000, 2_050_000)
        for p, q in [(1.0, 1.0), (0.5, 2.0)]:
            for threads in sorted({1, available_threads()}):

                def work(graph=graph, p=p, q=q, threads=threads) -> int:
                    times = 10 if graph.n_nodes < 100_000 else 1
                    blocks = iter_walks(graph, 80, times, p, q, threads=threads)
                    return sum(b.size for b in blocks)

                yield measure(name, f"walk steps, p={p:g}, q={q:g}", threads, work)


def large_row() -> Row:
    graph = power_law(10_000_000, 100_000_000)
    lists = graph.adjacency()
    csr = lists.indptr.nbytes + lists.indices.nbytes
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    began = time.perf_counter()
    count = sum(map(len, iter_pairs(graph, 3, 1)))  # type: ignore[arg-type]
    seconds = time.perf_counter() - began
    return {
        "graph": LARGE, "what": "pairs, O=3, N=1", "threads": available_threads(), "count": count,
        "seconds": seconds, "M/s": count / seconds / 1e6,
        "memory over that of the CSR": resident("VmHWM") / csr,
        "peak GiB of the process": resident("VmHWM") / 2**30,
    }  # fmt: skip


def kept_large() -> list[Row]:
    card = OUT / "sampling.json"
    rows = json.loads(card.read_text(encoding="utf-8"))["rows"] if card.exists() else []
    return [row for row in rows if row["graph"] == LARGE]


def main() -> None:
    if "--stream" in sys.argv:
        stream(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
        return
    large = [large_row()] if "--large" in sys.argv else kept_large()
    write("sampling", [*pair_rows(), *walk_rows(), *large])


if __name__ == "__main__":
    main()
