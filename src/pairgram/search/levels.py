"""Levels: where nodes stand along the direction of their links."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

HOLD = 0.1
"""How strongly every node is held at 0, in links: what no link ties down stays there."""
CLOSE, MOST_STEPS = 1e-3, 200
"""When the solution is good enough: the residual over the right side, and steps at most."""


def levels(arcs: Any) -> NDArray[np.float32]:
    """Levels h that minimise Σ over arcs u → v of (h_u − h_v − 1)² + HOLD · Σ h², shape (n,).

    A link leads one level down. Papers get younger with their level, terms more special. Where the
    direction says nothing, as in a graph of friends, neither do levels.

    Parameters
    ----------
    arcs
        Sparse matrix of ones where a link was given from the row to the column, shape (n, n).

    References
    ----------
    De Bacco, Larremore and Moore, "A physical model for efficient ranking in networks", Science
    Advances 4 (2018), eq. 3: SpringRank.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> path = csr_array((np.ones(2), ([0, 1], [1, 2])), shape=(3, 3))
    >>> print(levels(path).round(2))
    [ 0.91  0.   -0.91]
    """
    from scipy.sparse import diags_array
    from scipy.sparse.linalg import cg

    both = (arcs + arcs.T).astype(np.float64)
    given, taken = (np.asarray(arcs.sum(axis=side), np.float64) for side in (1, 0))
    system = (diags_array(given + taken + HOLD) - both).tocsr()
    found, _ = cg(system, given - taken, rtol=CLOSE, maxiter=MOST_STEPS)
    return found.astype(np.float32)
