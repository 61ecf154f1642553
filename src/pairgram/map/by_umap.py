"""UMAP: the only file that imports umap-learn."""

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairgram.engine import LocalEngine

Floats = NDArray[np.floating[Any]]
Say = Callable[[str], None]

NEIGHBOURS = 15
"""Of a node, itself among them."""
MIN_DISTANCE = 0.5
"""Wider than UMAP's own: nodes with almost the same text stay apart on the screen."""
SMALL = 10_000
EPOCHS = {True: 500, False: 200}
"""Rounds for small and for large sets: UMAP's own choice."""
SECONDS = 1.6e-6
"""Of a node and round, on a core of today."""
WIDTH = 10.0
BLOCK = 1 << 12


def place(vectors: Floats, start: Floats, seed: int, say: Say) -> Floats:
    """Coordinates by UMAP under the cosine, shape (n, 2).

    The neighbours are exact and the start is given, so that only the rounds draw anything: on one
    thread, which a seed needs. UMAP's own start would be eigenvectors of the graph of neighbours.

    Parameters
    ----------
    vectors
        Shape (n, dim), more rows than `NEIGHBOURS`, none of them zero.
    start
        Where the points start, shape (n, 2).
    seed
        Seed of the rounds.
    say
        Told what is done and about how long it takes.
    """
    unit = np.asarray(vectors, np.float32)
    unit = unit / np.linalg.norm(unit, axis=1, keepdims=True)
    near = _neighbours(unit, say)
    epochs = EPOCHS[len(unit) <= SMALL]
    about = _duration(SECONDS * len(unit) * epochs)
    say(f"UMAP: {epochs} rounds on one thread, which a seed needs; about {about} more")
    low, high = start.min(axis=0), start.max(axis=0)
    begin = WIDTH * (start - low) / np.maximum(high - low, 1e-9)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the thread, and of texts placed later
        from umap import UMAP

        made = UMAP(
            n_neighbors=NEIGHBOURS, min_dist=MIN_DISTANCE, metric="cosine", n_epochs=epochs,
            init=begin.astype(np.float32), precomputed_knn=(near, _distances(unit, near)),
            force_approximation_algorithm=True, random_state=seed, n_jobs=1,
        )  # fmt: skip
        points: Floats = made.fit_transform(unit)
    return points


def _neighbours(unit: Floats, say: Say) -> NDArray[np.int32]:
    """Every row itself, then the rows of largest cosine, shape (n, NEIGHBOURS)."""
    from pairgram.search.neighbours import nearest_rows

    n = len(unit)
    with LocalEngine() as engine:
        if n > SMALL:
            nearest_rows(unit[:BLOCK], NEIGHBOURS - 1, engine)  # loads or compiles the kernel
            began = time.perf_counter()
            nearest_rows(unit[:BLOCK], NEIGHBOURS - 1, engine)
            about = (time.perf_counter() - began) * (n / BLOCK) ** 2
            say(f"nearest neighbours of {n:,} nodes, exactly: about {_duration(about)}")
        near = nearest_rows(unit, NEIGHBOURS - 1, engine)
    return np.column_stack([np.arange(n), near]).astype(np.int32)


def _distances(unit: Floats, near: NDArray[np.int32]) -> NDArray[np.float32]:
    """1 - cosine of rows with their neighbours, shape (n, NEIGHBOURS)."""
    found = np.empty(near.shape, np.float32)
    for begin in range(0, len(unit), BLOCK):
        rows = slice(begin, begin + BLOCK)
        found[rows] = 1 - np.einsum("ij,ikj->ik", unit[rows], unit[near[rows]])
    found[:, 0] = 0
    return np.maximum(found, 0, out=found)


def _duration(seconds: float) -> str:
    """Seconds as they are read.

    >>> _duration(7.2), _duration(200)
    ('7 s', '3 min')
    """
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
