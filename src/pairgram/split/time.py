"""Splits by date: train on the past, test on what came after."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pairgram.errors import InputError
from pairgram.graph import TextGraph
from pairgram.split.base import Split, edge_keys
from pairgram.split.build import build_edges, build_nodes, latest


def split_time(graph: TextGraph, date: ArrayLike | None = None, *, before: Any) -> Split:
    """Train on the links dated before a point in time; the others are held out.

    Both directions of a link go to the side of the earlier one.

    Parameters
    ----------
    graph
        The graph to cut.
    date
        Date of every edge, shape (n_edges,); None takes those that the graph's edges carry.
    before
        First date that is held out: a number, or what NumPy reads as a date.

    Examples
    --------
    >>> from pairgram.graph import TextGraph
    >>> path = TextGraph.from_edges([0, 1, 2], [1, 2, 3], date=[1999.0, 2001.0, 2000.0])
    >>> split_time(path, before=2000).held_out.tolist()
    [[1, 2], [2, 3]]
    """
    given = graph.date if date is None else date
    if given is None:
        raise InputError("split_time: the graph's edges carry no dates; give a date column.")
    dates = _dates("split_time", "edge", given, graph.n_edges)
    owner = f"split_time with before={before}, dates from {dates.min()} to {dates.max()}"
    return _cut_links(graph, dates >= _limit("split_time", dates, before), owner)


def split_nodes_time(graph: TextGraph, date: ArrayLike, *, before: Any) -> Split:
    """Train on the nodes dated before a point in time; later ones are new, with all their links.

    Parameters
    ----------
    graph
        The graph to cut.
    date
        Date of every node, shape (n,).
    before
        First date that is held out.

    Examples
    --------
    >>> from pairgram.graph import TextGraph
    >>> path = TextGraph.from_edges([0, 1, 2], [1, 2, 3])
    >>> split = split_nodes_time(path, [1999, 2000, 2001, 2002], before=2001)
    >>> split.new.tolist(), split.held_out.tolist()
    ([2, 3], [[1, 2], [2, 3]])
    """
    dates = _dates("split_nodes_time", "node", date, graph.n_nodes)
    held = dates >= _limit("split_nodes_time", dates, before)
    owner = f"split_nodes_time with before={before}, dates from {dates.min()} to {dates.max()}"
    return _cut_nodes(graph, held, dates, owner)


def carve_latest(split: Split, share: float, owner: str) -> Split:
    """Hold out the latest share of the training side of a split by date, by the same functions."""
    graph = split.train
    if split.of_nodes:
        dates = np.asarray(split.date)[split.kept]
        return _cut_nodes(graph, latest(dates, share), dates, owner)
    if graph.date is None:
        raise InputError(f"{owner}: the dates are not kept in the graph; give it a date column.")
    return _cut_links(graph, latest(graph.date, share), owner)


def _cut_links(graph: TextGraph, late_edge: NDArray[np.bool_], owner: str) -> Split:
    pairs, pair_of_edge = np.unique(edge_keys(graph), return_inverse=True)
    late = np.ones(len(pairs), dtype=bool)
    late[pair_of_edge[~late_edge]] = False
    held = late[pair_of_edge]
    share = 1 - float(held.mean()) if len(held) else 1.0
    return build_edges(graph, held, owner, kind="time", share=share)


def _cut_nodes(graph: TextGraph, held: NDArray[np.bool_], dates: NDArray[Any], owner: str) -> Split:
    share = 1 - float(held.mean())
    return build_nodes(graph, held, owner, kind="nodes_time", share=share, date=dates)


def _dates(owner: str, what: str, given: ArrayLike, count: int) -> NDArray[Any]:
    dates = np.asarray(given)
    if dates.dtype.kind in "OTU":
        try:
            dates = dates.astype("datetime64[s]")
        except ValueError:
            raise InputError(
                f"{owner}: date must hold numbers or dates. Got {str(dates.flat[0])!r}."
            ) from None
    if dates.shape != (count,):
        raise InputError(
            f"{owner}: date must have one entry for every {what}, shape ({count},). "
            f"Got {dates.shape}."
        )
    # NaT too; integers are never missing.
    missing = int(np.count_nonzero(np.isnan(dates))) if dates.dtype.kind in "fmM" else 0
    if missing:
        raise InputError(f"{owner}: every {what} needs a date. Got {missing} of {count} without.")
    return dates


def _limit(owner: str, dates: NDArray[Any], before: Any) -> Any:
    """Read the limit in the unit of the dates."""
    kind = dates.dtype if dates.dtype.kind in "fmM" else np.dtype(np.float64)
    try:
        return np.asarray(before).astype(kind)[()]
    except (TypeError, ValueError):
        raise InputError(
            f"{owner}: before must be a date like the graph's, such as {dates[0]}. "
            f"Got {before!r} instead."
        ) from None
