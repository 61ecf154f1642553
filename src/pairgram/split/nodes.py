"""Splits of nodes, for zero-shot: nothing of a held-out node reaches training."""

from pairgram.graph import TextGraph
from pairgram.params import Float, Int, check
from pairgram.split.base import Split
from pairgram.split.build import NODES, build_nodes, drawn


def split_nodes(graph: TextGraph, hold_out: float = 0.005, seed: int = 0) -> Split:
    """Draw nodes that training never hears of: they are removed with all their links.

    round(hold_out · nodes) of them are drawn. The training side is the graph between the others:
    names, texts, degrees and counts of the held-out nodes appear nowhere in it. Held out are all
    links with at least one new end.

    Parameters
    ----------
    graph
        The graph to cut.
    hold_out
        Share of the nodes to hold out.
    seed
        Seed of the draw; the same seed gives the same split on any machine.

    Examples
    --------
    >>> from pairgram.graph import TextGraph
    >>> ring = TextGraph.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
    >>> split = split_nodes(ring, hold_out=0.25)
    >>> split.train.n_nodes, split.train.n_edges, len(split.new), len(split.held_out)
    (3, 2, 1, 2)
    """
    given = {"hold_out": hold_out, "seed": seed}
    check("split_nodes", {"hold_out": Float(0, 1), "seed": Int(0)}, given)
    owner = f"split_nodes with hold_out={hold_out}"
    return carve_nodes(graph, hold_out, seed, stream=NODES, owner=owner)


def carve_nodes(graph: TextGraph, share: float, seed: int, stream: int, owner: str) -> Split:
    """Draw round(share · nodes) of the nodes of `graph` and hold them out."""
    held = drawn(graph.n_nodes, round(share * graph.n_nodes), seed, stream)
    return build_nodes(graph, held, owner, seed=seed, share=1 - share)
