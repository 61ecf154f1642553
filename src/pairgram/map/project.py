"""Vectors to two coordinates."""

import logging
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairgram.errors import MissingExtraError
from pairgram.map.by_umap import NEIGHBOURS, place

logger = logging.getLogger(__name__)

Floats = NDArray[np.floating[Any]]

METHODS = ("auto", "umap", "pca")
BLOCK = 1 << 14


def project(
    vectors: Floats,
    method: str = "auto",
    seed: int = 0,
    say: Callable[[str], None] = logger.info,
) -> tuple[NDArray[Any], str]:
    """Coordinates of vectors, shape (n, 2), float32 in [-1, 1], and the method that made them.

    Parameters
    ----------
    vectors
        Shape (n, dim).
    method
        "umap", "pca", or "auto": UMAP where umap-learn is installed and there are enough nodes.
    seed
        Seed of UMAP: the same points every time. PCA draws nothing.
    say
        Told what takes long, and about how long.

    Examples
    --------
    >>> points, method = project(np.eye(3), "pca")
    >>> points.shape, float(np.abs(points).max()), method
    ((3, 2), 1.0, 'pca')
    """
    if method == "umap" and find_spec("umap") is None:
        raise MissingExtraError("A map by UMAP", "map")
    if method == "auto":
        method = "pca" if find_spec("umap") is None else "umap"
        if method == "pca":
            logger.warning("umap-learn is not installed: the map is made by PCA (extra 'map')")
    points = _pca(vectors)
    something = vectors.any(axis=1)
    if np.count_nonzero(something) <= NEIGHBOURS:
        method = "pca"  # fewer nodes than the neighbours that UMAP looks at
    if method == "umap":
        placed = place(vectors[something], points[something], seed, say)
        # A zero vector resembles nothing.
        points = np.tile(np.median(placed, axis=0), (len(vectors), 1))
        points[something] = placed
    return _fit(points), method


def _pca(vectors: Floats) -> Floats:
    """The two directions of largest variance; the sign makes the largest weight positive."""
    n, dim = vectors.shape
    center = np.zeros(dim)
    for begin in range(0, n, BLOCK):
        center += vectors[begin : begin + BLOCK].sum(axis=0, dtype=np.float64)
    center /= max(n, 1)
    moment = np.zeros((dim, dim))
    for begin in range(0, n, BLOCK):
        part = (vectors[begin : begin + BLOCK] - center).astype(np.float32)
        moment += part.T @ part
    axes = np.linalg.eigh(moment)[1][:, ::-1][:, :2]
    axes *= np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])])
    points: Floats = vectors @ axes.astype(np.float32) - (center @ axes).astype(np.float32)
    if points.shape[1] < 2:
        points = np.column_stack([points, np.zeros(n, np.float32)])
    return points


def _fit(points: Floats) -> NDArray[np.float32]:
    """Move and scale points into [-1, 1], both axes alike."""
    if not len(points):
        return np.zeros((0, 2), np.float32)
    low, high = points.min(axis=0), points.max(axis=0)
    half = float((high - low).max()) / 2 or 1.0
    fitted: NDArray[np.float32] = ((points - (low + high) / 2) / half).astype(np.float32)
    return np.clip(fitted, -1, 1)
