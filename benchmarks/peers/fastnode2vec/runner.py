"""fastnode2vec: its graph, its walks, its trainer."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from protocol import main, placed, read_edges, window_pairs


def load(job):
    """Import, read, compile on a ring of four."""
    with job.phase("import"):
        from fastnode2vec import Graph
    with job.phase("read"):
        source, target = read_edges(job.edges)
        edges = list(map(tuple, np.stack([source, target], axis=1).tolist()))
    with job.phase("prepare"):
        graph = Graph(edges, directed=False, weighted=False, verbose=False)
    with job.phase("compile"):
        ring = Graph(
            [(0, 1), (1, 2), (2, 3), (3, 0)], directed=False, weighted=False, verbose=False
        )
        ring.generate_random_walk(4, job.get("p"), job.get("q"), 0)
    return graph


def walks(job):
    """Steps per second of the compiled walker, called a walk at a time from threads."""
    graph = load(job)
    from fastnode2vec.graph import _random_walk

    def walk(share):
        steps = 0
        for start in share:
            steps += len(
                _random_walk(graph.indptr, graph.indices, job.get("length"), job.get("p"),
                             job.get("q"), start)
            )  # fmt: skip
        return steps

    starts = list(range(len(graph.node_names))) * job.get("times")
    shares = [starts[t :: job.threads] for t in range(job.threads)]
    with ThreadPoolExecutor(job.threads) as pool, job.phase("walk"):
        job.counts["steps"] = sum(pool.map(walk, shares))


def train(job):
    """Walk and train in one go, as it does; return the model and its graph."""
    graph = load(job)
    from fastnode2vec import Node2Vec

    with job.phase("prepare"):
        model = Node2Vec(
            graph, dim=job.get("dim"), walk_length=job.get("length"), window=job.get("window"),
            p=job.get("p"), q=job.get("q"), workers=job.threads, negative=job.get("negatives"),
            alpha=job.get("learning_rate", 0.025), sample=0, shrink_windows=False,
        )  # fmt: skip
    with job.phase("train"):
        model.train(epochs=job.get("times"), verbose=False)
    pairs = window_pairs([job.get("length")], job.get("window"))
    job.counts["pairs"] = pairs * len(graph.node_names) * job.get("times")
    return model


def sgns(job):
    """Pairs per second; walking is part of it, it cannot be told apart."""
    train(job)
    job.notes.append("walks are drawn inside the training threads and counted with it")


def whole(job):
    """Edge list to vectors."""
    model = train(job)
    rows = [int(name) for name in model.wv.index_to_key]
    job.write_vectors(
        placed(rows, model.wv.vectors, job.nodes), placed(rows, model.syn1neg, job.nodes)
    )


if __name__ == "__main__":
    main(["fastnode2vec", "gensim", "numba"], walks=walks, sgns=sgns, whole=whole)
