"""What a peer's runner and the harness say to each other; no dependency but NumPy, Python 3.8 on.

The harness starts `python runner.py JOB.json` in the peer's own environment. The job holds

figure
    "walks", "sgns" or "whole".
edges, nodes
    Path of the edge list ("a<TAB>b", numbers from 0, every undirected edge once), and the number
    of nodes, those without an edge included.
threads, seed, settings
    The settings are those of the figure, with the peer's own laid over them.
vectors
    For "whole": .npz file to write, with `center` and, where there are any, `context`, both float32
    of shape (nodes, dim); nodes that the peer does not know keep zeros.
result
    JSON file to write: seconds by phase, counts, peak memory, notes.

A runner registers one function a figure and hands over to `main`; whatever is outside a `phase` is
counted as `other`. The phase "compile" is what a warm-up on the same types costs; the harness takes
it off the wall clock, and what it takes to look up versions and write the result.
"""

import json
import os
import resource
import sys
import time
from contextlib import contextmanager
from pathlib import Path

STARTED = time.perf_counter()


class Job:
    """One job, with the clock of its phases."""

    def __init__(self, given):
        self.figure = given["figure"]
        self.edges = given["edges"]
        self.nodes = int(given["nodes"])
        self.threads = int(given["threads"])
        self.seed = int(given["seed"])
        self.settings = dict(given["settings"])
        self.vectors = given.get("vectors")
        self.seconds = {}
        self.counts = {}
        self.notes = []

    @contextmanager
    def phase(self, name):
        """Add the seconds of a block to a phase."""
        began = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - began

    def get(self, name, default=None):
        """Return a setting, or the default."""
        return self.settings.get(name, default)

    def write_vectors(self, center, context=None):
        """Write the vectors to disk as the phase "write"."""
        import numpy as np

        arrays = {"center": np.ascontiguousarray(center, dtype=np.float32)}
        if context is not None:
            arrays["context"] = np.ascontiguousarray(context, dtype=np.float32)
        for name, array in arrays.items():
            if array.shape[0] != self.nodes:
                raise SystemExit(f"{name}: {array.shape[0]} rows for {self.nodes} nodes")
        with self.phase("write"):
            np.savez(self.vectors, **arrays)


def read_edges(path):
    """Return both columns of the edge list as int64, shape (m,)."""
    import numpy as np

    with open(path, "rb") as file:
        flat = np.array(file.read().split(), dtype=np.int64)
    return flat[0::2], flat[1::2]


def placed(rows, vectors, nodes):
    """Put vectors at their nodes' rows; other rows are zero."""
    import numpy as np

    out = np.zeros((nodes, vectors.shape[1]), np.float32)
    out[np.asarray(rows, dtype=np.int64)] = vectors
    return out


def window_pairs(lengths, window):
    """Count (centre, context) pairs of walks at most `window` steps apart.

    >>> window_pairs([3], 1)
    4
    """
    import numpy as np

    length, times = np.unique(np.asarray(lengths), return_counts=True)
    span = np.minimum(window, np.maximum(length - 1, 0))
    return int(((2 * length - span - 1) * span * times).sum())


def peak_memory():
    """Largest resident set of this process so far, in bytes.

    Linux hands a parent's ru_maxrss on to the child that it starts, so /proc is asked first.
    """
    try:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main(versions=(), **figures):
    """Run the job that the command line names; `versions` lists the packages worth stating."""
    path = Path(sys.argv[1])
    given = json.loads(path.read_text())
    os.environ.setdefault("OMP_NUM_THREADS", str(given["threads"]))
    job = Job(given)
    if job.figure not in figures:
        raise SystemExit(f"this peer has no figure {job.figure!r}, only {', '.join(figures)}")
    figures[job.figure](job)
    ended = time.perf_counter()
    total = ended - STARTED
    known = sum(job.seconds.values())
    record = {
        "seconds": dict(job.seconds, other=max(total - known, 0.0)),
        "counts": job.counts,
        "peak_memory": peak_memory(),
        "versions": _versions(versions),
        "notes": job.notes,
    }
    record["reporting"] = time.perf_counter() - ended
    Path(given["result"]).write_text(json.dumps(record, indent=1) + "\n")


def _versions(names):
    from importlib import metadata

    return dict({"python": sys.version.split()[0]}, **{n: metadata.version(n) for n in names})
