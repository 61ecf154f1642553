"""Validation splits: carved from the training side, by the same functions."""

from pairgram.params import Float, Int, check
from pairgram.split.base import Split
from pairgram.split.build import VALIDATION, VALIDATION_NODES
from pairgram.split.links import carve_edges
from pairgram.split.nodes import carve_nodes
from pairgram.split.time import carve_latest


def validation_split(split: Split, share: float = 0.05, seed: int = 0) -> Split:
    """Hold out a share of the training side of `split`, to tune on; its own tests stay unseen.

    Links are drawn from a split of links, nodes from a split of nodes; of a split by date the
    latest ones are taken, and nothing is drawn. The final fit uses all of `split.train`.

    Parameters
    ----------
    split
        Any split.
    share
        Share of its training pairs, or of its training nodes, to hold out.
    seed
        Seed of the draw.
    """
    given = {"share": share, "seed": seed}
    check("validation_split", {"share": Float(0, 1), "seed": Int(0)}, given)
    owner = f"validation_split with share={share}"
    if split.kind in ("time", "nodes_time"):
        return carve_latest(split, share, owner)
    if split.of_nodes:
        return carve_nodes(split.train, share, seed, stream=VALIDATION_NODES, owner=owner)
    return carve_edges(split.train, 1 - share, seed, stream=VALIDATION, owner=owner)
