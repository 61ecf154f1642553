"""nodevectors: ProNE and GGVec."""

import numpy as np
from protocol import main, read_edges

SETTINGS = {"ProNE": ("step", "mu", "theta"), "GGVec": ("order",)}


def whole(job):
    """Edge list to vectors."""
    name = job.get("method")
    with job.phase("import"):
        import nodevectors
        from scipy import sparse
    with job.phase("read"):
        matrix = _matrix(sparse, *read_edges(job.edges), job.nodes)
    with job.phase("compile"):
        ring = np.arange(400)
        _model(nodevectors, name, job, dim=8).fit_transform(
            _matrix(sparse, ring, np.roll(ring, 1), 400)
        )
    with job.phase("train"):
        vectors = _model(nodevectors, name, job, job.get("dim")).fit_transform(matrix)
    job.write_vectors(vectors)


def _matrix(sparse, source, target, nodes):
    half = sparse.csr_matrix((np.ones(len(source)), (source, target)), shape=(nodes, nodes))
    return (half + half.T).tocsr()


def _model(nodevectors, name, job, dim):
    own = {k: job.get(k) for k in SETTINGS[name] if job.get(k) is not None}
    if name == "GGVec":
        own["threads"] = job.threads
    return getattr(nodevectors, name)(n_components=dim, verbose=False, **own)


if __name__ == "__main__":
    main(["nodevectors", "numba", "scipy"], whole=whole)
