"""pycleora: its reader and `embed`."""

from protocol import main, placed


def whole(job):
    """Edge list to vectors."""
    with job.phase("import"):
        import pycleora
    with job.phase("read"), open(job.edges) as lines:
        edges = (line.rstrip("\n").replace("\t", " ") for line in lines)
        graph = pycleora.SparseMatrix.from_iterator(edges, "complex::reflexive::node")
    with job.phase("train"):
        vectors = pycleora.embed(
            graph, feature_dim=job.get("dim"), num_iterations=job.get("iterations"),
            seed=job.seed, num_workers=job.threads, whiten=job.get("whiten"),
        )  # fmt: skip
    job.write_vectors(placed([int(name) for name in graph.entity_ids], vectors, job.nodes))


if __name__ == "__main__":
    main(["pycleora"], whole=whole)
