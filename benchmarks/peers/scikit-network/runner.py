"""scikit-network: SVD, Spectral and their relatives on the adjacency matrix."""

import numpy as np
from protocol import main, read_edges


def whole(job):
    """Edge list to vectors."""
    with job.phase("import"):
        from scipy import sparse
        from sknetwork import embedding
    with job.phase("read"):
        source, target = read_edges(job.edges)
        shape = (job.nodes, job.nodes)
        half = sparse.csr_matrix((np.ones(len(source)), (source, target)), shape=shape)
        matrix = (half + half.T).tocsr()
    own = {k: job.get(k) for k in ("factor_singular", "decomposition") if job.get(k) is not None}
    with job.phase("train"):
        method = getattr(embedding, job.get("method"))(job.get("dim"), **own)
        vectors = method.fit_transform(matrix)
    out = np.zeros((job.nodes, job.get("dim")), np.float32)
    out[:, : vectors.shape[1]] = vectors
    job.write_vectors(out)


if __name__ == "__main__":
    main(["scikit-network", "scipy"], whole=whole)
