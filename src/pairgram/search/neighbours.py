"""Nearest neighbours of every row among all rows, exactly, in blocks."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairgram.engine import Engine
from pairgram.kernels.nearest import keep_largest

BLOCK_SCORES = 1 << 24


def nearest_rows(rows: NDArray[np.floating[Any]], k: int, engine: Engine) -> NDArray[np.int64]:
    """Positions of the k rows of largest dot product with each row, shape (n, k), itself left out.

    Where there are fewer than k others the last are -1.

    Parameters
    ----------
    rows
        Shape (n, dim); scale them to length 1 for the cosine.
    k
        How many.
    engine
        Runs the blocks; the result does not depend on its thread count.

    Examples
    --------
    >>> from pairgram.engine import LocalEngine
    >>> with LocalEngine(1) as engine:
    ...     nearest_rows(np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]]), 1, engine).ravel().tolist()
    [1, 0, 1]
    """
    n = len(rows)
    step = max(1, BLOCK_SCORES // max(n, 1))

    def work(begin: int) -> NDArray[np.int64]:
        own = np.arange(begin, min(begin + step, n))
        scores = rows[own] @ rows.T
        found = np.full((len(own), k), -1, np.int64)
        keep_largest(scores, own, np.empty((len(own), k), scores.dtype), found)
        return found

    empty = np.full((0, k), -1, np.int64)
    if not k:
        return np.full((n, 0), -1, np.int64)
    return np.concatenate([empty, *engine.map(work, range(0, n, step))])
