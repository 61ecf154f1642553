"""β_{j|i}, the distribution of contexts around a centre, exact; and what covering it costs."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairgram.graph import Adjacency

Floats = NDArray[np.float64]
IntArray = NDArray[np.integer[Any]]


def walk_law(near: Adjacency, center: int, window: int) -> tuple[IntArray, Floats]:
    """Return β of a walk's windows: contexts and their shares, the mean of M¹ … M^window.

    M is the transition matrix. A walk in its stationary state looks alike in both directions, so
    one direction is enough.
    """
    n = len(near.indptr) - 1
    here: IntArray = np.array([center])
    mass: Floats = np.ones(1)
    total = np.zeros(n)
    for _ in range(window):
        degree = near.indptr[here + 1] - near.indptr[here]
        after = _sums(_neighbours(near, here), np.repeat(mass / degree, degree), n)
        total += after
        here = np.flatnonzero(after)
        mass = after[here]
    found = np.flatnonzero(total)
    return found, total[found] / window


def pairs_law(near: Adjacency, center: int, order: int) -> tuple[IntArray, Floats]:
    """Return β of Pairs Sampling: contexts and their shares of the expected pairs of a round.

    Every neighbour comes once; a node at distance o hands its expected count on to its neighbours
    at distance o + 1 in equal parts.
    """
    n = len(near.indptr) - 1
    unseen = np.ones(n, bool)
    unseen[center] = False
    here = _neighbours(near, np.array([center]))
    unseen[here] = False
    count: Floats = np.ones(len(here))
    contexts, counts = [here], [count]
    for _ in range(order - 1):
        degree = near.indptr[here + 1] - near.indptr[here]
        ahead = _neighbours(near, here)
        fits = unseen[ahead]
        parent = np.repeat(np.arange(len(here)), degree)[fits]
        share = count / np.maximum(np.bincount(parent, minlength=len(here)), 1)
        here, place = np.unique(ahead[fits], return_inverse=True)
        count = _sums(place, share[parent], len(here))
        unseen[here] = False
        contexts.append(here)
        counts.append(count)
    weight = np.concatenate(counts)
    return np.concatenate(contexts), weight / weight.sum()


def pairs_until_covered(beta: Floats) -> float:
    """Expected independent draws until every outcome has come once, ∫ 1 − Π_j (1 − e^(−β_j t)) dt.

    Parameters
    ----------
    beta
        Probabilities, shape (k,), above 0; what is missing to 1 counts as draws that give nothing.

    References
    ----------
    Flajolet, Gardy, Thimonier, "Birthday paradox, coupon collectors, caching algorithms and
    self-organizing search", Discrete Applied Mathematics 1992.

    Examples
    --------
    >>> round(pairs_until_covered(np.array([0.5, 0.5])), 3), round(
    ...     pairs_until_covered(np.full(3, 1 / 3)), 3
    ... )
    (3.0, 5.5)
    """
    value, count = np.unique(beta, return_counts=True)
    latest = (np.log(len(beta)) + 40) / value[0]
    # Nothing is missing with less than one draw's weight left to the rarest; steps grow from there.
    t = np.concatenate([[0.0], np.geomspace(1e-3, latest, 600)])
    with np.errstate(divide="ignore"):
        all_seen = np.log(-np.expm1(-np.outer(t, value))) @ count
    return float(np.trapezoid(-np.expm1(all_seen), t))


def _sums(place: IntArray, value: Floats, size: int) -> Floats:
    """Sums of the values that fall on each place, shape (size,)."""
    return np.asarray(np.bincount(place, value, minlength=size), np.float64)


def _neighbours(near: Adjacency, nodes: IntArray) -> IntArray:
    """Neighbours of some nodes, one row after the other."""
    size = near.indptr[nodes + 1] - near.indptr[nodes]
    offset = np.arange(int(size.sum())) - np.repeat(np.cumsum(size) - size, size)
    found: IntArray = near.indices[np.repeat(near.indptr[nodes], size) + offset]
    return found
