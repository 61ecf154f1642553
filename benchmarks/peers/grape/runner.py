"""GRAPE: ensmallen's graph, walks and skip-gram."""

from protocol import main, placed, window_pairs


def load(job):
    """Import and read."""
    with job.phase("import"):
        from ensmallen import Graph
    with job.phase("read"):
        return Graph.from_csv(
            edge_path=job.edges, directed=False, edge_list_header=False, edge_list_separator="\t",
            sources_column_number=0, destinations_column_number=1, verbose=False,
            load_edge_list_in_parallel=False,
        )  # fmt: skip


def walks(job):
    """Steps per second of complete_walks."""
    graph = load(job)
    second = {}
    if job.get("p") != 1.0 or job.get("q") != 1.0:
        second = {"return_weight": 1 / job.get("p"), "explore_weight": 1 / job.get("q")}
        second["max_neighbours"] = job.get("max_neighbours")
    with job.phase("walk"):
        drawn = graph.complete_walks(
            walk_length=job.get("length"),
            iterations=job.get("times"),
            random_state=job.seed + 1,
            **second,
        )
    job.counts["steps"] = int(drawn.size)


def train(job):
    """Walk and train in one go, as it does; return names and both tables."""
    graph = load(job)
    from ensmallen import models

    rate = {"learning_rate": job.get("learning_rate")} if job.get("learning_rate") else {}
    model = models.SkipGram(
        embedding_size=job.get("dim"), epochs=job.get("epochs", 1),
        number_of_negative_samples=job.get("negatives"), walk_length=job.get("length"),
        iterations=job.get("times"), window_size=job.get("window"), random_state=job.seed + 1,
        verbose=False, **rate,
    )  # fmt: skip
    with job.phase("train"):
        tables = model.fit_transform(graph)
    pairs = window_pairs([job.get("length")], job.get("window")) * graph.get_number_of_nodes()
    job.counts["pairs"] = pairs * job.get("times") * job.get("epochs", 1)
    return graph.get_node_names(), tables


def sgns(job):
    """Pairs per second; walking is part of it, it cannot be told apart."""
    train(job)
    job.notes.append("walks are drawn inside the training and counted with it")


def whole(job):
    """Edge list to vectors."""
    names, tables = train(job)
    rows = [int(name) for name in names]
    job.write_vectors(*(placed(rows, table, job.nodes) for table in tables))


if __name__ == "__main__":
    main(["ensmallen"], walks=walks, sgns=sgns, whole=whole)
