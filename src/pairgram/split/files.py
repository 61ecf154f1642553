"""Saved splits: npz files without the graph, tied to it by its fingerprint."""

import os
import zipfile
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from pairgram.errors import FileFormatError, InputError
from pairgram.graph import TextGraph
from pairgram.split.base import Kind, Split, edge_keys, split_hash, unordered_keys
from pairgram.split.build import build_edges, build_nodes

NEEDED = ("kind", "held_out", "seed", "share", "hash", "fingerprint", "new")


def write_split(split: Split, path: Path) -> None:
    """Write a split; a crash leaves the old file or none."""
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        with partial.open("wb") as file:
            np.savez_compressed(file, allow_pickle=False, **_fields(split))
        partial.replace(path)
    except OSError as error:
        raise InputError(f"{path}: the split cannot be written ({error.strerror}).") from error
    finally:
        partial.unlink(missing_ok=True)


def read_split(path: Path, graph: TextGraph) -> Split:
    """Cut `graph` as a saved split says; one of another graph raises `InputError`."""
    stored = _read(path)
    held_out = np.asarray(stored["held_out"], dtype=np.int64)
    new = np.asarray(stored["new"], dtype=np.int64)
    kind = cast(Kind, str(stored["kind"]))
    of_nodes = kind in ("nodes", "nodes_time")
    expected = split_hash(held_out, graph, new if of_nodes else None)
    if expected != str(stored["hash"]):
        raise InputError(
            f"{path}: the split was made from another graph (its fingerprint starts with "
            f"{str(stored['fingerprint'])[:12]}, this graph's with {graph.fingerprint[:12]}); "
            "give the graph it was made from."
        )
    seed, share = int(str(stored["seed"])), float(str(stored["share"]))
    if of_nodes:
        held = np.zeros(graph.n_nodes, dtype=bool)
        held[new] = True
        date = stored.get("date")
        return build_nodes(graph, held, str(path), kind=kind, seed=seed, share=share, date=date)
    held = np.isin(edge_keys(graph), unordered_keys(held_out, graph.n_nodes))
    return build_edges(graph, held, str(path), kind=kind, seed=seed, share=share)


def _fields(split: Split) -> dict[str, Any]:
    fields = {
        "kind": np.array(split.kind),
        "held_out": split.held_out,
        "new": split.new,
        # As text: a seed may be wider than 64 bits, and npz holds no such integer.
        "seed": np.array(str(split.seed)),
        "share": np.array(repr(split.share)),
        "hash": np.array(split.hash),
        "fingerprint": np.array(split.full.fingerprint),
    }
    return fields if split.date is None else {**fields, "date": split.date}


def _read(path: Path) -> dict[str, NDArray[Any]]:
    """Fields that `write_split` has written; a file that is not whole raises."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            fields = {name: stored[name] for name in (*NEEDED, "date") if name in stored}
    except FileNotFoundError:
        raise FileFormatError(path, "there is no such file; write one with Split.save.") from None
    except (ValueError, TypeError, EOFError, OSError, zipfile.BadZipFile) as error:
        raise FileFormatError(path, f"not a saved split ({error}).") from None
    missing = [name for name in NEEDED if name not in fields]
    if missing:
        raise FileFormatError(path, f"not a saved split: it has no {', '.join(missing)}.")
    if fields["held_out"].ndim != 2 or fields["held_out"].shape[1] != 2:
        shape = fields["held_out"].shape
        raise FileFormatError(path, f"held_out must have shape (m, 2). Got {shape} instead.")
    return fields
