"""Alternating least squares for TADW, exact and without the matrix of all pairs of nodes.

With M = (A + A²)/2, A the transition matrix, and text features T, the loss is

    ‖M − W·(T·Hᵀ)ᵀ‖² + λ/2·(‖W‖² + ‖H‖²).

Rows are nodes here: W is (n, k), T (n, f), H (k, f). M is met only in Y = M·T, which is made once
from two sparse products: both least-squares problems read M through it alone.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairgram.graph import Adjacency

Matrix = NDArray[np.float64]

START = 0.1
# ‖M‖² is summed over all paths of two links, so many at a time; of more in all it is left out.
BLOCK_PATHS, MOST_PATHS = 1 << 24, 1 << 33


@dataclass(frozen=True, eq=False)
class Factors:
    """What the factorisation gives.

    Attributes
    ----------
    structure, text
        W and T·Hᵀ, both (n, k).
    map
        H, shape (k, f).
    losses
        The loss after each sweep; without ‖M‖², a constant, where that is too dear to sum.
    """

    structure: Matrix
    text: Matrix
    map: Matrix
    losses: list[float]


def transitions(graph: Adjacency) -> Any:
    """A = D⁻¹·adjacency, sparse, shape (n, n); rows of nodes without a link are empty."""
    from scipy.sparse import csr_array

    n = len(graph.indptr) - 1
    weight = np.ones(len(graph.indices)) if graph.weight is None else graph.weight
    total = np.bincount(np.repeat(np.arange(n), np.diff(graph.indptr)), weight, minlength=n)
    share = weight / np.repeat(total, np.diff(graph.indptr))
    return csr_array((share, graph.indices, graph.indptr), shape=(n, n))


def times_proximity(transition: Any, dense: Matrix) -> Matrix:
    """M·X = A·(X + A·X)/2 for X of shape (n, c)."""
    product: Matrix = transition @ (dense + transition @ dense) / 2
    return product


def factorise(
    transition: Any,
    features: Matrix,
    rank: int,
    l2: float,
    sweeps: int,
    seed: int,
) -> Factors:
    """Solve for W and H in turn, each exactly.

    Parameters
    ----------
    transition
        A, sparse, shape (n, n).
    features
        T, shape (n, f).
    rank
        k.
    l2
        λ, over 0.
    sweeps
        How often both are solved for.
    seed
        Seed of the start of H.

    References
    ----------
    Yang et al., "Network Representation Learning with Rich Text Information", IJCAI 2015, eq. 5.
    """
    seen = times_proximity(transition, features)  # Y = M·T, (n, f)
    gram = features.T @ features  # (f, f)
    b, V = np.linalg.eigh(gram)
    H = start(rank, features.shape[1], seed)
    constant, losses = squared_norm(transition), []
    W: Matrix = np.empty((len(features), rank))
    for _ in range(sweeps):
        # W·(H·TᵀT·Hᵀ + λ/2) = Y·Hᵀ
        left = H @ gram @ H.T + l2 / 2 * np.eye(rank)
        W = np.asarray(np.linalg.solve(left, H @ seen.T).T, np.float64)  # (n, k)
        # (WᵀW)·H·(TᵀT) + λ/2·H = Wᵀ·Y, solved where WᵀW and TᵀT are diagonal
        a, U = np.linalg.eigh(W.T @ W)
        right = W.T @ seen  # (k, f)
        H = U @ (U.T @ right @ V / (np.outer(a, b) + l2 / 2)) @ V.T
        # loss
        fitted = np.sum((W.T @ W @ H) * (H @ gram)) - 2 * np.sum(H * right)
        losses.append(float(constant + fitted + l2 / 2 * (np.sum(W * W) + np.sum(H * H))))
    return Factors(W, features @ H.T, H, losses)


def start(rank: int, features: int, seed: int) -> Matrix:
    """The first H, normal with a small spread, shape (k, f)."""
    drawn = np.random.Generator(np.random.Philox(seed)).standard_normal((rank, features))
    first: Matrix = START * drawn
    return first


def squared_norm(transition: Any) -> float:
    """‖M‖², summed in blocks of rows; 0 where there are too many paths to sum over."""
    degree = np.diff(transition.indptr)
    paths = np.add.reduceat(np.append(degree[transition.indices], 0), transition.indptr[:-1])
    ends = np.cumsum(np.where(degree > 0, paths, 0))
    if ends[-1] > MOST_PATHS:
        return 0.0
    cuts = np.searchsorted(ends, np.arange(BLOCK_PATHS, ends[-1] + BLOCK_PATHS, BLOCK_PATHS)) + 1
    total, begin = 0.0, 0
    for end in np.unique(np.minimum(cuts, len(degree))).tolist():
        rows = transition[begin:end]
        block = (rows + rows @ transition) / 2
        total += float(np.sum(block.data**2))
        begin = end
    return total
