"""Making splits: the draw, the two kinds of cut, and the check that both sides have a link."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairgram.errors import InputError
from pairgram.graph import TextGraph
from pairgram.graph.parts import freeze
from pairgram.split.base import Kind, Split, split_hash

# Separate random streams: equal seeds must not align two draws.
SPLIT, VALIDATION, NODES, VALIDATION_NODES = range(4)


def drawn(count: int, size: int, seed: int, stream: int) -> NDArray[np.bool_]:
    """Mask of `size` of `count` things, shape (count,), the same for ever for a seed and stream."""
    # NumPy promises the raw stream of a bit generator for ever, but not Generator.permutation.
    draws = np.random.PCG64([seed, stream]).random_raw(count)
    mask = np.zeros(count, dtype=bool)
    mask[np.argsort(draws, kind="stable")[:size]] = True
    return mask


def latest(date: NDArray[Any], share: float) -> NDArray[np.bool_]:
    """Mask of the last `share` of the dates, shape (m,); equal dates stay together."""
    first = len(date) - max(1, round(share * len(date)))
    mask: NDArray[np.bool_] = date >= np.sort(date)[first]
    return mask


def build_edges(
    graph: TextGraph,
    held: NDArray[np.bool_],
    owner: str,
    *,
    kind: Kind = "edges",
    seed: int = 0,
    share: float,
) -> Split:
    """Hold out the edges of a mask, shape (n_edges,); `owner` is who complains of an empty side."""
    held_out = _held_out(graph, held)
    train = graph.with_edges(~held)
    _check_sides(owner, train, held_out, graph)
    return Split(kind, train, graph, held_out, int(seed), float(share), split_hash(held_out, graph))


def build_nodes(
    graph: TextGraph,
    held: NDArray[np.bool_],
    owner: str,
    *,
    kind: Kind = "nodes",
    seed: int = 0,
    share: float,
    date: NDArray[Any] | None = None,
) -> Split:
    """Hold out the nodes of a mask, shape (n,), with all their edges."""
    if not held.any():
        raise InputError(
            f"{owner}: at least one node must be held out. Got 0 of {graph.n_nodes}; "
            "use a larger share."
        )
    new = np.flatnonzero(held).astype(np.int64)
    held_out = _held_out(graph, held[graph.source] | held[graph.target])
    train = graph.induced(~held)
    _check_sides(owner, train, held_out, graph)
    key = split_hash(held_out, graph, new)
    return Split(
        kind, train, graph, held_out, int(seed), float(share), key, new=freeze(new), date=date
    )


def _held_out(graph: TextGraph, held: NDArray[np.bool_]) -> NDArray[np.int64]:
    pairs = np.stack([graph.source[held], graph.target[held]], axis=1).astype(np.int64)
    if not graph.directed:
        pairs.sort(axis=1)
    return freeze(pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))])


def _check_sides(
    owner: str, train: TextGraph, held_out: NDArray[np.int64], graph: TextGraph
) -> None:
    if not train.n_edges or not len(held_out):
        raise InputError(
            f"{owner}: both sides must get a link. Got {train.n_edges} to train on and "
            f"{len(held_out)} to test, of {graph.n_edges}; use more links or another share."
        )
