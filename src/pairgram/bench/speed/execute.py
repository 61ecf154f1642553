"""One job of one peer in a process of its own: what it says, and what the clock says."""

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pairgram.bench.speed.graphs import EdgeFile
from pairgram.bench.speed.spec import CURRENT, RUNNER, Peer, Settings

COMPILE = "compile"
# The mark of an environment that is complete.
INSTALLED = ".installed"
# Threads are pinned by the names that each library looks at.
THREAD_VARIABLES = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS",
    "RAYON_NUM_THREADS",
)  # fmt: skip
# A loaded machine may take this many times the processor seconds.
PATIENCE = 8.0


class RunError(Exception):
    """A run that gave no result; the message is the reason."""


class StoppedError(RunError):
    """A run that was over its limit.

    Attributes
    ----------
    seconds
        When it was stopped, by the clock on the wall.
    """

    def __init__(self, reason: str, seconds: float) -> None:
        super().__init__(reason)
        self.seconds = seconds


@dataclass(frozen=True)
class Task:
    """What one run does."""

    figure: str
    graph: EdgeFile
    settings: Settings
    threads: int
    seed: int
    limit: float


@dataclass(frozen=True)
class Environments:
    """Where the peers' environments lie.

    Attributes
    ----------
    folder
        One virtual environment a peer, by name; `NAME.failed` says why one is missing.
    common
        Folder of the modules that runners share.
    """

    folder: Path
    common: Path

    def python(self, peer: Peer) -> Path:
        """Interpreter of a peer; raises `RunError` where there is none."""
        if peer.python == (CURRENT,):
            return Path(sys.executable)
        if (self.folder / peer.name / INSTALLED).exists():
            return self.folder / peer.name / "bin" / "python"
        note = self.folder / f"{peer.name}.failed"
        reason = note.read_text(encoding="utf-8").strip() if note.exists() else "not installed"
        raise RunError(f"no environment: {reason}")


def execute(
    peer: Peer,
    environments: Environments,
    task: Task,
    score: Callable[[Path], dict[str, float]] | None = None,
) -> dict[str, Any]:
    """Run a task; return its record: the runner's own, the wall clock, and the scores.

    Parameters
    ----------
    score
        Called with the file of vectors before it goes.
    """
    python = environments.python(peer)
    with tempfile.TemporaryDirectory(prefix="pairgram-speed-") as scratch:
        folder = Path(scratch)
        job, result, vectors = folder / "job.json", folder / "result.json", folder / "vectors.npz"
        job.write_text(json.dumps(_job(task, vectors, result)), encoding="utf-8")
        command = [str(python), str(peer.folder / RUNNER), str(job)]
        wall = _watch(command, environments, task)
        record = json.loads(result.read_text(encoding="utf-8"))
        scores = {} if score is None else {"scores": score(vectors)}
    wall -= record.pop("reporting", 0.0)
    return {
        **record,
        **scores,
        "wall": round(wall, 4),
        "whole": round(wall - record["seconds"].get(COMPILE, 0.0), 4),
    }


def _job(task: Task, vectors: Path, result: Path) -> dict[str, Any]:
    return {
        "figure": task.figure,
        "edges": str(task.graph.path),
        "nodes": task.graph.nodes,
        "threads": task.threads,
        "seed": task.seed,
        "settings": task.settings,
        "vectors": str(vectors),
        "result": str(result),
    }


def _watch(command: list[str], environments: Environments, task: Task) -> float:
    """Run a command to its end; return wall seconds."""
    variables = dict(os.environ) | dict.fromkeys(THREAD_VARIABLES, str(task.threads))
    # An installed tool has its byte code on disk; one that runs from its sources shall too.
    variables.pop("PYTHONDONTWRITEBYTECODE", None)
    shared = str(environments.common)
    before = variables.get("PYTHONPATH")
    variables["PYTHONPATH"] = shared if before is None else f"{shared}{os.pathsep}{before}"
    seconds = int(task.limit)
    began, used = time.perf_counter(), _processor_seconds()
    try:
        done = subprocess.run(
            command,
            env=variables,
            capture_output=True,
            text=True,
            timeout=PATIENCE * task.limit,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5)),
            check=False,
        )
    except subprocess.TimeoutExpired:
        reason = f"over {PATIENCE * task.limit:.0f} s"
        raise StoppedError(reason, time.perf_counter() - began) from None
    # A tool that takes no notice of the first signal is killed some seconds later.
    if done.returncode == -signal.SIGXCPU or (
        done.returncode == -signal.SIGKILL and _processor_seconds() - used > seconds
    ):
        reason = f"over {seconds} processor seconds"
        raise StoppedError(reason, time.perf_counter() - began)
    if done.returncode < 0:
        raise RunError(f"ended by signal {-done.returncode}")
    if done.returncode > 0:
        raise RunError(_reason(done))
    return time.perf_counter() - began


def _processor_seconds() -> float:
    """What the processes that this one waited for have used."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _reason(done: "subprocess.CompletedProcess[str]") -> str:
    lines = (done.stderr or done.stdout).strip().splitlines()
    return lines[-1][:300] if lines else f"ended with status {done.returncode}"
