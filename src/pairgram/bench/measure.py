"""Seconds by phase and peak memory of this process, and what every record says of its job."""

import hashlib
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pairgram
from pairgram import datasets
from pairgram.bench.jobs import Job
from pairgram.engine.local import resolve_threads
from pairgram.evaluation import card as cards
from pairgram.graph import TextGraph
from pairgram.split import Split, split_edges, split_nodes, split_nodes_time, validation_split


class Clock:
    """Seconds by phase."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Time a block."""
        start = time.perf_counter()
        yield
        self.seconds[name] = round(time.perf_counter() - start, 4)


def peak_memory() -> int | None:
    """Largest resident set of this process so far, in bytes.

    Linux hands a parent's ru_maxrss on to the child that it starts, so /proc is asked first.
    """
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return cards.peak_memory()
    found = (line.split()[1] for line in lines if line.startswith("VmHWM:"))
    kib = next(found, None)
    return cards.peak_memory() if kib is None else int(kib) * 1024


def code_hash() -> str:
    """Short sha256 over the source that decides a result: cards of other code are told apart."""
    package = Path(pairgram.__file__).parent
    digest = hashlib.sha256()
    for part in ("kernels", "sampling", "training", "models", "evaluation"):
        for path in sorted((package / part).glob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def cut(graph: TextGraph, job: Job) -> Split:
    """Split the graph of a job: tests held out, or for tuning validation tests of what remains."""
    if job.before is not None:
        date = datasets.node_dates(job.dataset, graph)
        split = split_nodes_time(graph, date, before=job.before)
    elif job.hold_out is not None:
        split = split_nodes(graph, job.hold_out, job.seed)
    else:
        split = split_edges(graph, 0.5 if job.keep is None else job.keep, job.seed)
    if job.validation is None:
        return split
    return validation_split(split, job.validation, job.seed)


def describe(job: Job) -> dict[str, Any]:
    """Entries that every record begins with."""
    cuts = {"keep": job.keep, "hold_out": job.hold_out, "before": job.before}
    return {
        "kind": job.kind,
        "table": job.table,
        "row": job.row,
        "dataset": job.dataset,
        **{name: value for name, value in cuts.items() if value is not None},
        "method": job.method,
        "seed": job.seed,
        "origin": job.origin,
    }


def surroundings(job: Job) -> dict[str, Any]:
    """Entries that every record ends with: threads, versions, machine."""
    return {
        "threads": resolve_threads(job.threads),
        "versions": {**cards.versions(), "source": code_hash()},
        "machine": cards.machine(),
    }
