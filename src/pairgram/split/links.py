"""Splits of links, drawn at random."""

import numpy as np

from pairgram.graph import TextGraph
from pairgram.params import Float, Int, check
from pairgram.split.base import Split, edge_keys
from pairgram.split.build import SPLIT, build_edges, drawn


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


def carve_edges(graph: TextGraph, keep: float, seed: int, stream: int, owner: str) -> Split:
    """Draw round(keep · pairs) of the unordered pairs of `graph` for training."""
    pairs, pair_of_edge = np.unique(edge_keys(graph), return_inverse=True)
    kept = drawn(len(pairs), round(keep * len(pairs)), seed, stream)
    return build_edges(graph, ~kept[pair_of_edge], owner, seed=seed, share=keep)
