"""Splits of links: drawn, or by date."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairgram.errors import InputError
from pairgram.graph import TextGraph
from pairgram.params import Float, Int, check
from pairgram.split.base import SPLIT, Split, build_edges, edge_keys, shuffled


def split_edges(graph: TextGraph, keep: float = 0.5, seed: int = 0) -> Split:
    """Draw the links that stay in training; the others are held out.

    Unordered pairs are drawn, so both directions of a link go to the same side, and
    round(keep · pairs) of them are kept. Nodes all stay, some without a link.

    Parameters
    ----------
    graph
        The graph to cut.
    keep
        Share of the pairs kept for training.
    seed
        Seed of the draw; the same seed gives the same split on any machine.

    Examples
    --------
    >>> from pairgram.graph import TextGraph
    >>> ring = TextGraph.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
    >>> split = split_edges(ring, keep=0.75)
    >>> split.train.n_nodes, split.train.n_edges, len(split.held_out)
    (4, 3, 1)
    """
    check("split_edges", {"keep": Float(0, 1), "seed": Int(0)}, {"keep": keep, "seed": seed})
    return carve_edges(graph, keep, seed, stream=SPLIT, owner=f"split_edges with keep={keep}")


def split_time(graph: TextGraph, before: Any) -> Split:
    """Train on the links dated before a point in time; the others are held out.

    Both directions of a link go to the side of the earlier one.

    Parameters
    ----------
    graph
        A graph whose edges carry dates.
    before
        First date that is held out: a number, or what NumPy reads as a date.

    Examples
    --------
    >>> from pairgram.graph import TextGraph
    >>> path = TextGraph.from_edges([0, 1, 2], [1, 2, 3], date=[1999.0, 2001.0, 2000.0])
    >>> split_time(path, before=2000).held_out.tolist()
    [[1, 2], [2, 3]]
    """
    keys = edge_keys(graph)
    pairs, pair_of_edge = np.unique(keys, return_inverse=True)
    dates, limit = _dates(graph, before)
    late = np.ones(len(pairs), dtype=bool)
    late[pair_of_edge[dates < limit]] = False
    held = int(np.count_nonzero(late))
    if held == 0 or held == len(pairs):
        raise InputError(
            f"split_time with before={before}: both sides must get a link. Got "
            f"{len(pairs) - held} to train on and {held} to test; the dates are from "
            f"{dates.min()} to {dates.max()}."
        )
    share = 1 - held / len(pairs)
    return build_edges(graph, late[pair_of_edge], kind="time", seed=0, share=share)


def carve_edges(graph: TextGraph, keep: float, seed: int, stream: int, owner: str) -> Split:
    """Draw round(keep · pairs) of the unordered pairs of `graph` for training."""
    pairs, pair_of_edge = np.unique(edge_keys(graph), return_inverse=True)
    kept = round(keep * len(pairs))
    if kept == 0 or kept == len(pairs):
        raise InputError(
            f"{owner}: both sides must get a link. Got {kept} to train on and "
            f"{len(pairs) - kept} to test, of {len(pairs)}; use more links or another share."
        )
    held = np.ones(len(pairs), dtype=bool)
    held[shuffled(len(pairs), seed, stream)[:kept]] = False
    return build_edges(graph, held[pair_of_edge], kind="edges", seed=seed, share=keep)


def _dates(graph: TextGraph, before: Any) -> tuple[NDArray[Any], Any]:
    """Dates of the edges, shape (m,), and the limit in their unit."""
    if graph.date is None:
        raise InputError("split_time: the graph's edges carry no dates; give a date column.")
    missing = int(np.count_nonzero(np.isnan(graph.date)))  # NaT too
    if missing:
        raise InputError(
            f"split_time: every edge needs a date. Got {missing} of {graph.n_edges} without."
        )
    try:
        limit = np.asarray(before).astype(graph.date.dtype)[()]
    except (TypeError, ValueError):
        raise InputError(
            f"split_time: before must be a date like the graph's, such as {graph.date[0]}. "
            f"Got {before!r} instead."
        ) from None
    return graph.date, limit
