"""pairgram itself, through its public names."""

import time

from protocol import main

NAMES = {"ps": "PS", "deepwalk": "DeepWalk"}


def load(job):
    """Import and read; nodes without an edge are kept."""
    with job.phase("import"):
        import pairgram as pg
    with job.phase("read"):
        graph = pg.TextGraph.from_files(job.edges)
        graph.adjacency()
    return pg, graph


def walks(job):
    """Steps per second of iter_walks, block after block."""
    _, graph = load(job)
    from pairgram.sampling import iter_walks

    def steps(of, times):
        return sum(
            block.size
            for block in iter_walks(
                of, job.get("length"), times, job.get("p"), job.get("q"), threads=job.threads
            )
        )

    with job.phase("compile"):
        steps(_tiny(), 1)
    with job.phase("walk"):
        job.counts["steps"] = steps(graph, job.get("times"))


def pairs(job):
    """Pairs per second of iter_pairs, block after block."""
    _, graph = load(job)
    from pairgram.sampling import iter_pairs

    def count(of):
        return sum(
            map(len, iter_pairs(of, job.get("order"), job.get("times"), threads=job.threads))
        )

    with job.phase("compile"):
        count(_tiny())
    with job.phase("sample"):
        job.counts["pairs"] = count(graph)


def fit(job):
    """Fit the model of the settings; seconds of sampling and training as it states them.

    Loading kernels counts. Where they had to be compiled, all was the warm-up, and is done again.
    """
    from pairgram.kernels.notice import when_compiling

    compiled = []
    began = time.perf_counter()
    with when_compiling(lambda: compiled.append(True)):
        done = fit_once(job)
    if not compiled:
        return done
    job.seconds.clear()
    job.seconds["compile"] = time.perf_counter() - began
    return fit_once(job)


def fit_once(job):
    """Read, sample, train."""
    pg, graph = load(job)
    given = {"dim": job.get("dim"), "negatives": job.get("negatives"), **job.get("parameters")}
    with job.phase("import"):
        model = getattr(pg, NAMES[job.get("model")])()
    model.set_params(**given, seed=job.seed, threads=job.threads)
    began = time.perf_counter()
    fitted = model.fit(graph)
    took = time.perf_counter() - began
    phases = fitted.stats_["seconds"]
    job.seconds.update(
        walk=phases["sample"], train=phases["train"],
        prepare=max(took - phases["sample"] - phases["train"], 0.0),
    )  # fmt: skip
    job.counts.update(pairs=fitted.stats_["updates"], distinct=fitted.stats_["pairs"])
    return graph, fitted


def sgns(job):
    """Pairs per second of the trainer alone."""
    fit(job)


def whole(job):
    """Edge list to vectors."""
    import numpy as np

    graph, fitted = fit(job)
    rows = np.array(graph.names, dtype=np.int64)
    tables = []
    for table in (fitted.vectors_.center, fitted.vectors_.context):
        placed = np.zeros((job.nodes, table.shape[1]), np.float32)
        placed[rows] = table
        tables.append(placed)
    job.write_vectors(*tables)


def _tiny():
    import numpy as np

    import pairgram as pg

    ring = np.arange(40)
    return pg.TextGraph.from_edges(
        np.concatenate([ring, ring]), np.concatenate([np.roll(ring, 1), np.roll(ring, 3)])
    )


if __name__ == "__main__":
    main(["numba", "numpy"], walks=walks, pairs=pairs, sgns=sgns, whole=whole)
