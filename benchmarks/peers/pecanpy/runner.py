"""PecanPy: its own readers, walkers and `embed`."""

import tempfile
import time

import numpy as np
from protocol import main, placed


def load(job):
    """Import, read, make the tables of transitions."""
    with job.phase("import"):
        from pecanpy import pecanpy
    graph = getattr(pecanpy, job.get("mode"))(
        p=job.get("p"), q=job.get("q"), workers=job.threads, random_state=job.seed
    )
    with job.phase("read"):
        graph.read_edg(job.edges, weighted=False, directed=False)
    return graph


def walks(job):
    """Steps per second of the compiled walker; ids are not turned into names.

    Its kernels close over the graph, so every call compiles anew: a short call is timed first and
    counts as the compiling.
    """
    graph = load(job)
    with job.phase("prepare"):
        graph._preprocess_transition_probs()
    walker = (graph.get_has_nbrs(), graph.get_move_forward())
    starts = np.tile(np.arange(graph.num_nodes, dtype=np.uint32), job.get("times"))
    np.random.default_rng(job.seed).shuffle(starts)
    with job.phase("compile"):
        _walk(graph, starts[:64], 2, walker, job.seed)
    with job.phase("walk"):
        drawn = _walk(graph, starts, job.get("length") - 1, walker, job.seed)
    job.counts["steps"] = int(drawn[:, -1].sum())


def _walk(graph, starts, length, walker, seed):
    from numba_progress import ProgressBar

    with ProgressBar(total=len(starts), disable=True) as progress:
        return graph._random_walks(starts.size, length, seed, starts, *walker, progress)


def whole(job):
    """Edge list to vectors.

    The timed call compiles anew, as every call does; what a second warm-up takes is booked as
    compiling instead of training.
    """
    graph = load(job)
    with job.phase("compile"):
        _compile(job)
        began = time.perf_counter()
        _compile(job)
        again = time.perf_counter() - began
    with job.phase("train"):
        vectors = graph.embed(
            dim=job.get("dim"), num_walks=job.get("times"), walk_length=job.get("length") - 1,
            window_size=job.get("window"), epochs=job.get("epochs", 1),
        )  # fmt: skip
    again = min(again, job.seconds["train"])
    job.seconds["train"] -= again
    job.seconds["compile"] += again
    job.write_vectors(placed([int(name) for name in graph.nodes], vectors, job.nodes))


def _compile(job):
    from pecanpy import pecanpy

    with tempfile.NamedTemporaryFile("w", suffix=".edg") as file:
        file.write("0\t1\n1\t2\n2\t3\n")
        file.flush()
        tiny = getattr(pecanpy, job.get("mode"))(p=job.get("p"), q=job.get("q"), workers=1)
        tiny.read_edg(file.name, weighted=False, directed=False)
        tiny.simulate_walks(1, 3)


if __name__ == "__main__":
    main(["pecanpy", "gensim", "numba"], walks=walks, whole=whole)
