"""PyTorch Geometric: torch-cluster's walks, Node2Vec's loss, SparseAdam."""

from protocol import main, read_edges


def load(job):
    """Import and read; both directions of every edge."""
    with job.phase("import"):
        import torch
        import torch_cluster  # noqa: F401
    torch.set_num_threads(job.threads)
    torch.manual_seed(job.seed)
    with job.phase("read"):
        source, target = (torch.from_numpy(ends) for ends in read_edges(job.edges))
        both = torch.stack([torch.cat([source, target]), torch.cat([target, source])])
    return torch, both


def walks(job):
    """Steps per second of torch_cluster.random_walk's kernel on a sorted edge list."""
    torch, both = load(job)
    with job.phase("prepare"):
        row, col = both[:, torch.argsort(both[0] * job.nodes + both[1])]
        indptr = torch.zeros(job.nodes + 1, dtype=torch.long)
        torch.cumsum(torch.bincount(row, minlength=job.nodes), 0, out=indptr[1:])
    starts = torch.arange(job.nodes).repeat(job.get("times"))
    with job.phase("walk"):
        drawn, _ = torch.ops.torch_cluster.random_walk(
            indptr, col.contiguous(), starts, job.get("length") - 1, job.get("p"), job.get("q")
        )
    job.counts["steps"] = drawn.numel()


def train(job):
    """Train Node2Vec as its example does; return the model."""
    torch, both = load(job)
    with job.phase("import"):
        from torch_geometric.nn import Node2Vec
    with job.phase("prepare"):
        model = Node2Vec(
            both, embedding_dim=job.get("dim"), walk_length=job.get("length"),
            context_size=job.get("window") + 1, walks_per_node=job.get("times"),
            num_negative_samples=job.get("negatives"), p=job.get("p"), q=job.get("q"),
            num_nodes=job.nodes, sparse=True,
        )  # fmt: skip
        loader = model.loader(batch_size=job.get("batch", 128), shuffle=True)
        optimizer = torch.optim.SparseAdam(model.parameters(), lr=job.get("learning_rate", 0.01))
    pairs = 0
    with job.phase("train"):
        for _ in range(job.get("epochs", 1)):
            for positive, negative in loader:
                optimizer.zero_grad()
                loss = model.loss(positive, negative)
                loss.backward()
                optimizer.step()
                pairs += positive.size(0) * (positive.size(1) - 1)
    job.counts["pairs"] = pairs
    return model


def sgns(job):
    """Pairs per second; walks come from its loader and are part of it."""
    train(job)
    job.notes.append("walks are drawn by its loader and counted with the training")


def whole(job):
    """Edge list to vectors."""
    model = train(job)
    job.write_vectors(model.embedding.weight.detach().numpy())


if __name__ == "__main__":
    main(["torch", "torch-cluster", "torch-geometric"], walks=walks, sgns=sgns, whole=whole)
