"""A cell of the table of ratios: the samples of one method, counted on the training graph."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairgram.bench.graphs import load_graph
from pairgram.bench.jobs import Job
from pairgram.bench.measure import Clock, cut, describe, peak_memory, surroundings
from pairgram.errors import InputError
from pairgram.graph import TextGraph
from pairgram.sampling import iter_pairs, iter_walks

Counter = Callable[[TextGraph, Job], int]


def count_samples(job: Job) -> dict[str, Any]:
    """Load, split, sample and count; return the record of the cell."""
    if job.method not in COUNTERS:
        known = ", ".join(COUNTERS)
        raise InputError(f"Samples are counted for {known}. Got method {job.method!r}.")
    clock = Clock()
    with clock.phase("load"):
        graph = load_graph(job.dataset)
    with clock.phase("split"):
        train, split = _training_side(graph, job)
    with clock.phase("count"):
        pairs = COUNTERS[job.method](train, job)
    return {
        **describe(job),
        "parameters": job.parameters,
        "split": {
            **split,
            "fingerprint": graph.fingerprint,
            "nodes": train.n_nodes,
            "train_links": train.n_edges,
            "mean_degree": float(train.degree.mean()),
            "isolated": int(np.count_nonzero(train.degree == 0)),
        },
        "pairs": pairs,
        "seconds": clock.seconds,
        "peak_memory": {"count": peak_memory()},
        **surroundings(job),
    }


def count_pairs(graph: TextGraph, job: Job) -> int:
    """Pairs that Pairs Sampling draws, streamed."""
    blocks = iter_pairs(graph, **job.parameters, seed=job.seed, threads=job.threads)
    return sum(len(block) for block in blocks)


def count_window_pairs(graph: TextGraph, job: Job) -> int:
    """Window pairs of all walks, from the walks' real lengths."""
    settings = dict(job.parameters)
    window = settings.pop("window")
    walks = iter_walks(graph, **settings, seed=job.seed, threads=job.threads)
    return sum(int(pairs_of_walks((b >= 0).sum(axis=1), window).sum()) for b in walks)


def pairs_of_walks(length: NDArray[np.int64], window: int) -> NDArray[np.int64]:
    """Window pairs (2l − w − 1)·w of walks of l nodes, w = min(W, l − 1); shape of `length`.

    >>> pairs_of_walks(np.array([1, 2, 3, 80]), 5).tolist()
    [0, 2, 6, 770]
    """
    reach = np.minimum(window, length - 1)
    return (2 * length - reach - 1) * reach


COUNTERS: dict[str, Counter] = {
    "ps": count_pairs,
    "node2vec": count_window_pairs,
    "deepwalk": count_window_pairs,
}


def _training_side(graph: TextGraph, job: Job) -> tuple[TextGraph, dict[str, Any]]:
    """Return the graph to sample and what says which links it has; all of them where keep is 1."""
    if job.keep == 1.0:
        return graph, {"hash": None, "seed": None, "share": 1.0, "held_out_links": 0}
    split = cut(graph, job)
    return split.train, {
        "hash": split.hash,
        "seed": split.seed,
        "share": split.share,
        "held_out_links": len(split.held_out),
    }
