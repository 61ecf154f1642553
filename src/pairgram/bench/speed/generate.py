"""Random graphs of any size with a power law of degrees."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.integer[Any]]

BLOCK = 1 << 22


def power_law(
    nodes: int, edges: int, exponent: float = 2.5, most: int | None = None, seed: int = 0
) -> tuple[IntArray, IntArray]:
    """Draw the ends of edges in proportion to node weights (Chung and Lu's model).

    Node i has the weight (i + s)^(−1/(exponent − 1)), which gives degrees that fall as
    degree^(−exponent). Both ends are drawn alone, by inverting the running sum of the weights in
    closed form, so no table is kept. Self-loops are drawn again; an edge may come twice.

    Parameters
    ----------
    nodes, edges
        Sizes.
    exponent
        Of the degrees; above 2.
    most
        About the largest expected degree; None for no cap: s = 1/2, and the first node's share of
        all ends falls with nodes^(1/(exponent − 1) − 1) only.
    seed
        Seed of the draw.

    Returns
    -------
    source, target
        Shape (edges,), in 0 … nodes − 1.

    References
    ----------
    Chung and Lu, "Connected components in random graphs with given expected degree sequences",
    Annals of Combinatorics 2002.

    Examples
    --------
    >>> source, target = power_law(1000, 5000, seed=1)
    >>> len(source), bool((source != target).all()), int(source.max()) < 1000
    (5000, True, True)
    """
    power = 1 - 1 / (exponent - 1)
    shift = 0.5 if most is None else _shift(nodes, edges, power, most)
    random = np.random.Generator(np.random.PCG64(seed))
    dtype: type[np.integer[Any]] = np.int32 if nodes < 2**31 else np.int64
    ends: tuple[IntArray, IntArray] = np.empty(edges, dtype), np.empty(edges, dtype)
    for begin in range(0, edges, BLOCK):
        size = min(BLOCK, edges - begin)
        a, b = (_nodes(random, size, nodes, power, shift) for _ in range(2))
        while (same := np.flatnonzero(a == b)).size:
            b[same] = _nodes(random, same.size, nodes, power, shift)
        ends[0][begin : begin + size], ends[1][begin : begin + size] = a, b
    return ends


def _nodes(
    random: np.random.Generator, size: int, nodes: int, power: float, shift: float
) -> NDArray[np.int64]:
    low, high = shift**power, (nodes + shift) ** power
    drawn: NDArray[np.float64] = (low + random.random(size) * (high - low)) ** (1 / power) - shift
    nodes_drawn: NDArray[np.int64] = np.minimum(drawn.astype(np.int64), nodes - 1)
    return nodes_drawn


def _shift(nodes: int, edges: int, power: float, most: int) -> float:
    """Find s for which the first node expects `most` ends; halving is enough."""
    low, high = 1e-9, float(nodes)
    for _ in range(200):
        middle = (low * high) ** 0.5
        share = ((1 + middle) ** power - middle**power) / (
            (nodes + middle) ** power - middle**power
        )
        low, high = (middle, high) if 2 * edges * share > most else (low, middle)
    return high
