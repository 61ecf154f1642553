"""Splits: which links train a model and which test it. Frozen, hashed, saved with a result."""

import hashlib
import os
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from pairgram.errors import FileFormatError, InputError
from pairgram.graph import TextGraph
from pairgram.params import Float, Int, check

Kind = Literal["edges", "nodes", "time"]

_SPLIT, _VALIDATION = 0, 1  # separate random streams: equal seeds must not align the two draws


@dataclass(frozen=True, eq=False)
class Split:
    """A graph cut into a training side and held-out links.

    Attributes
    ----------
    kind
        What was drawn: links, nodes, or links by date.
    train
        The training side. For links it has all nodes of `full`, at the same positions.
    full
        The graph before the split.
    held_out
        Links kept from training, as positions in `full`, sorted, shape (m, 2): pairs with the
        smaller position first, or arcs where the graph is directed.
    seed
        Seed of the draw.
    share
        Share of the links that was to stay in training.
    hash
        sha256 over the held-out links and the fingerprint of `full`.
    """

    kind: Kind
    train: TextGraph
    full: TextGraph
    held_out: NDArray[np.int64]
    seed: int
    share: float
    hash: str

    def save(self, path: str | Path) -> None:
        """Write the held-out links and what made them as npz; the graph is not written."""
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
        stored = _read_npz(path)
        held_out = np.asarray(stored["held_out"], dtype=np.int64)
        if split_hash(held_out, graph) != str(stored["hash"]):
            raise InputError(
                f"{path}: the split was made from another graph (its fingerprint starts with "
                f"{str(stored['fingerprint'])[:12]}, this graph's with {graph.fingerprint[:12]}); "
                "give the graph it was made from."
            )
        held = np.isin(_edge_keys(graph), unordered_keys(held_out, graph.n_nodes))
        kind = cast(Kind, str(stored["kind"]))
        seed, share = int(str(stored["seed"])), float(str(stored["share"]))
        return _build(graph, held, kind=kind, seed=seed, share=share)

    def _fields(self) -> dict[str, Any]:
        return {
            "kind": np.array(self.kind),
            "held_out": self.held_out,
            # As text: a seed may be wider than 64 bits, and npz holds no such integer.
            "seed": np.array(str(self.seed)),
            "share": np.array(repr(self.share)),
            "hash": np.array(self.hash),
            "fingerprint": np.array(self.full.fingerprint),
        }


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
    return _carve(graph, keep, seed, stream=_SPLIT, owner=f"split_edges with keep={keep}")


def validation_split(split: Split, share: float = 0.05, seed: int = 0) -> Split:
    """Hold out a share of the training links of `split`, to tune on; its own tests stay unseen.

    The final fit uses all of `split.train`.

    Parameters
    ----------
    split
        An edge split.
    share
        Share of its training pairs to hold out.
    seed
        Seed of the draw.
    """
    given = {"share": share, "seed": seed}
    check("validation_split", {"share": Float(0, 1), "seed": Int(0)}, given)
    if split.kind != "edges":
        raise InputError(
            f"validation_split: the split must be of kind 'edges'. Got {split.kind!r} instead."
        )
    owner = f"validation_split with share={share}"
    return _carve(split.train, 1 - share, seed, stream=_VALIDATION, owner=owner)


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


def split_hash(held_out: NDArray[np.int64], full: TextGraph) -> str:
    """sha256 over the held-out links, shape (m, 2), and the fingerprint of the full graph."""
    digest = hashlib.sha256(np.ascontiguousarray(held_out, dtype="<i8").tobytes())
    digest.update(full.fingerprint.encode())
    return digest.hexdigest()


def _carve(graph: TextGraph, keep: float, seed: int, stream: int, owner: str) -> Split:
    """Draw round(keep · pairs) of the unordered pairs of `graph` for training."""
    pairs, pair_of_edge = np.unique(_edge_keys(graph), return_inverse=True)
    kept = round(keep * len(pairs))
    if kept == 0 or kept == len(pairs):
        raise InputError(
            f"{owner}: both sides must get a link. Got {kept} to train on and "
            f"{len(pairs) - kept} to test, of {len(pairs)}; use more links or another share."
        )
    held = np.ones(len(pairs), dtype=bool)
    held[_shuffled(len(pairs), seed, stream)[:kept]] = False
    return _build(graph, held[pair_of_edge], kind="edges", seed=seed, share=keep)


def _build(graph: TextGraph, held: NDArray[np.bool_], kind: Kind, seed: int, share: float) -> Split:
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


def _held_out(graph: TextGraph, held: NDArray[np.bool_]) -> NDArray[np.int64]:
    pairs = np.stack([graph.source[held], graph.target[held]], axis=1).astype(np.int64)
    if not graph.directed:
        pairs.sort(axis=1)
    pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    pairs.setflags(write=False)
    return pairs


def _edge_keys(graph: TextGraph) -> NDArray[np.int64]:
    return unordered_keys(np.stack([graph.source, graph.target], axis=1), graph.n_nodes)


def _shuffled(count: int, seed: int, stream: int) -> NDArray[np.intp]:
    # NumPy promises the raw stream of a bit generator for ever, but not Generator.permutation.
    draws = np.random.PCG64([seed, stream]).random_raw(count)
    return np.argsort(draws, kind="stable")


def _read_npz(path: str | Path) -> dict[str, NDArray[Any]]:
    needed = ("kind", "held_out", "seed", "share", "hash", "fingerprint")
    try:
        with Path(path).open("rb") as file, np.load(file, allow_pickle=False) as stored:
            fields = {name: stored[name] for name in needed if name in stored}
    except FileNotFoundError:
        raise FileFormatError(path, "there is no such file; write one with Split.save.") from None
    except (ValueError, TypeError, EOFError, OSError, zipfile.BadZipFile) as error:
        raise FileFormatError(path, f"not a saved split ({error}).") from None
    missing = [name for name in needed if name not in fields]
    if missing:
        raise FileFormatError(path, f"not a saved split: it has no {', '.join(missing)}.")
    if fields["held_out"].ndim != 2 or fields["held_out"].shape[1] != 2:
        shape = fields["held_out"].shape
        raise FileFormatError(path, f"held_out must have shape (m, 2). Got {shape} instead.")
    return fields
