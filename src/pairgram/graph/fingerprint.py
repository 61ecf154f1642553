"""One hash for everything a model can see of a graph."""

import hashlib
from collections.abc import Iterable
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

BLOCK = 65_536


def hash_graph(
    n_nodes: int,
    directed: bool,
    arrays: Iterable[NDArray[Any] | None],
    strings: Iterable[Iterable[str] | None],
) -> str:
    """Sha256 in hex over counts, edge arrays, names and texts; None is unlike an empty one."""
    digest = hashlib.sha256(f"pairgram graph 1 {n_nodes} {int(directed)}".encode())
    for array in arrays:
        _add_array(digest, array)
    for items in strings:
        _add_strings(digest, items)
    return digest.hexdigest()


def _add_array(digest: "hashlib._Hash", array: NDArray[Any] | None) -> None:
    if array is None:
        digest.update(b"none")
        return
    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    digest.update(f"{array.dtype.kind}{array.dtype.itemsize} {len(array)} ".encode())
    digest.update(np.ascontiguousarray(little).view(np.uint8).data)


def _add_strings(digest: "hashlib._Hash", items: Iterable[str] | None) -> None:
    if items is None:
        digest.update(b"none")
        return
    digest.update(b"strings")
    pending = iter(items)
    while block := list(islice(pending, BLOCK)):
        # Lengths first: the same characters cut elsewhere are another list.
        lengths = np.fromiter(map(len, block), dtype="<i8", count=len(block))
        digest.update(lengths.tobytes())
        digest.update("".join(block).encode("utf-8", "surrogatepass"))


def degree_hash(degree: NDArray[np.integer[Any]]) -> str:
    """Sha256 of degrees in the order of nodes, shape (n,)."""
    return hashlib.sha256(np.ascontiguousarray(degree, "<i8").tobytes()).hexdigest()
