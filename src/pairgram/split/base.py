"""The split: what trains a model and what tests it. Frozen, hashed, saved with a result."""

import hashlib
import os
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from pairgram.errors import InputError
from pairgram.graph import TextGraph
from pairgram.graph.parts import freeze
from pairgram.split.files import read_npz

Kind = Literal["edges", "nodes", "time"]

# Separate random streams: equal seeds must not align two draws.
SPLIT, VALIDATION, NODES, VALIDATION_NODES = range(4)


def _no_nodes() -> NDArray[np.int64]:
    return freeze(np.empty(0, dtype=np.int64))


@dataclass(frozen=True, eq=False)
class Split:
    """A graph cut into a training side and held-out links, or nodes with all their links.

    Attributes
    ----------
    kind
        What was drawn: links, nodes, or links by date.
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
    """

    kind: Kind
    train: TextGraph
    full: TextGraph
    held_out: NDArray[np.int64]
    seed: int
    share: float
    hash: str
    new: NDArray[np.int64] = field(default_factory=_no_nodes)

    @cached_property
    def kept(self) -> NDArray[np.int64]:
        """Position in `full` of every node of `train`, ascending, shape (n,)."""
        mask = np.ones(self.full.n_nodes, dtype=bool)
        mask[self.new] = False
        return freeze(np.flatnonzero(mask))

    def save(self, path: str | Path) -> None:
        """Write the held-out links and nodes, and what made them, as npz, without the graph."""
        final = Path(path)
        partial = final.with_name(f".{final.name}.{os.getpid()}.partial")
        try:
            with partial.open("wb") as file:
                np.savez_compressed(file, **self._fields())
            partial.replace(final)
        except OSError as error:
            raise InputError(f"{final}: the split cannot be written ({error.strerror}).") from error
        finally:
            partial.unlink(missing_ok=True)

    @classmethod
    def load(cls, path: str | Path, graph: TextGraph) -> "Split":
        """Read a saved split of `graph`; raise `InputError` where it was made from another one."""
        stored = read_npz(path)
        held_out = np.asarray(stored["held_out"], dtype=np.int64)
        new = np.asarray(stored["new"], dtype=np.int64)
        if split_hash(held_out, graph, new) != str(stored["hash"]):
            raise InputError(
                f"{path}: the split was made from another graph (its fingerprint starts with "
                f"{str(stored['fingerprint'])[:12]}, this graph's with {graph.fingerprint[:12]}); "
                "give the graph it was made from."
            )
        kind = cast(Kind, str(stored["kind"]))
        seed, share = int(str(stored["seed"])), float(str(stored["share"]))
        if kind == "nodes":
            return build_nodes(graph, new, seed=seed, share=share)
        held = np.isin(edge_keys(graph), unordered_keys(held_out, graph.n_nodes))
        return build_edges(graph, held, kind=kind, seed=seed, share=share)

    def _fields(self) -> dict[str, Any]:
        return {
            "kind": np.array(self.kind),
            "held_out": self.held_out,
            "new": self.new,
            # As text: a seed may be wider than 64 bits, and npz holds no such integer.
            "seed": np.array(str(self.seed)),
            "share": np.array(repr(self.share)),
            "hash": np.array(self.hash),
            "fingerprint": np.array(self.full.fingerprint),
        }


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


def shuffled(count: int, seed: int, stream: int) -> NDArray[np.intp]:
    """Return 0..count-1 in random order; the same for ever for a seed and a stream."""
    # NumPy promises the raw stream of a bit generator for ever, but not Generator.permutation.
    draws = np.random.PCG64([seed, stream]).random_raw(count)
    return np.argsort(draws, kind="stable")


def build_edges(
    graph: TextGraph, held: NDArray[np.bool_], kind: Kind, seed: int, share: float
) -> Split:
    """Hold out the edges of a mask, shape (n_edges,)."""
    held_out = _held_out(graph, held)
    return Split(
        kind=kind,
        train=graph.with_edges(~held),
        full=graph,
        held_out=held_out,
        seed=int(seed),
        share=float(share),
        hash=split_hash(held_out, graph),
    )


def build_nodes(graph: TextGraph, new: NDArray[np.int64], seed: int, share: float) -> Split:
    """Hold out nodes, ascending positions of shape (h,), with all their edges."""
    kept = np.ones(graph.n_nodes, dtype=bool)
    kept[new] = False
    held_out = _held_out(graph, ~(kept[graph.source] & kept[graph.target]))
    return Split(
        kind="nodes",
        train=graph.induced(kept),
        full=graph,
        held_out=held_out,
        seed=int(seed),
        share=float(share),
        hash=split_hash(held_out, graph, new),
        new=freeze(new),
    )


def _held_out(graph: TextGraph, held: NDArray[np.bool_]) -> NDArray[np.int64]:
    pairs = np.stack([graph.source[held], graph.target[held]], axis=1).astype(np.int64)
    if not graph.directed:
        pairs.sort(axis=1)
    return freeze(pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))])
