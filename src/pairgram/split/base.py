"""The split: what trains a model and what tests it. Frozen, hashed, saved with a result."""

import hashlib
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pairgram.graph import TextGraph
from pairgram.graph.parts import freeze

Kind = Literal["edges", "nodes", "time", "nodes_time"]


def _no_nodes() -> NDArray[np.int64]:
    return freeze(np.empty(0, dtype=np.int64))


@dataclass(frozen=True, eq=False)
class Split:
    """A graph cut into a training side and held-out links, or nodes with all their links.

    Attributes
    ----------
    kind
        What is held out: drawn links, drawn nodes, links by date, or nodes by date.
    train
        The training side. For links it has all nodes of `full`, at the same positions; for nodes
        it has those of `kept`, in that order, and nothing of the others.
    full
        The graph before the split.
    held_out
        Links kept from training, as positions in `full`, sorted, shape (m, 2): pairs with the
        smaller position first, or arcs where the graph is directed.
    seed
        Seed of the draw.
    share
        Share of the links, or of the nodes, that was to stay in training.
    hash
        sha256 over the held-out links and nodes and the fingerprint of `full`.
    new
        Nodes kept from training, as positions in `full`, ascending, shape (h,).
    date
        Date of every node of `full`, shape (n,), where nodes were cut by date.
    """

    kind: Kind
    train: TextGraph
    full: TextGraph
    held_out: NDArray[np.int64]
    seed: int
    share: float
    hash: str
    new: NDArray[np.int64] = field(default_factory=_no_nodes)
    date: NDArray[Any] | None = None

    @property
    def of_nodes(self) -> bool:
        """Whether nodes are held out with all their links, not links alone."""
        return self.kind in ("nodes", "nodes_time")

    @cached_property
    def kept(self) -> NDArray[np.int64]:
        """Position in `full` of every node of `train`, ascending, shape (n,)."""
        mask = np.ones(self.full.n_nodes, dtype=bool)
        mask[self.new] = False
        return freeze(np.flatnonzero(mask))

    def save(self, path: str | Path) -> None:
        """Write the held-out links and nodes, and what made them, as npz, without the graph."""
        from pairgram.split.files import write_split

        write_split(self, Path(path))

    @classmethod
    def load(cls, path: str | Path, graph: TextGraph) -> "Split":
        """Read a saved split of `graph`; raise `InputError` where it was made from another one."""
        from pairgram.split.files import read_split

        return read_split(Path(path), graph)


def unordered_keys(pairs: NDArray[np.integer[Any]], n_nodes: int) -> NDArray[np.int64]:
    """One integer for each pair, direction ignored: smaller · n + larger.

    Parameters
    ----------
    pairs
        Positions, shape (m, 2).
    n_nodes
        Number of nodes n.
    """
    wide = pairs.astype(np.int64, copy=False)
    keys: NDArray[np.int64] = wide.min(axis=1) * n_nodes + wide.max(axis=1)
    return keys


def split_hash(
    held_out: NDArray[np.int64], full: TextGraph, new: NDArray[np.int64] | None = None
) -> str:
    """sha256 over held-out links, (m, 2), the full graph's fingerprint, held-out nodes, (h,)."""
    digest = hashlib.sha256(np.ascontiguousarray(held_out, dtype="<i8").tobytes())
    digest.update(full.fingerprint.encode())
    if new is not None:
        digest.update(np.ascontiguousarray(new, dtype="<i8").tobytes())
    return digest.hexdigest()


def edge_keys(graph: TextGraph) -> NDArray[np.int64]:
    """One integer for each edge, direction ignored, shape (n_edges,)."""
    return unordered_keys(np.stack([graph.source, graph.target], axis=1), graph.n_nodes)
