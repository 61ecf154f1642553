"""What reading hands on: edges and texts as arrays."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class EdgeColumns:
    """Edges as read, nothing merged.

    Attributes
    ----------
    names
        Distinct ids, shape (n,).
    source, target
        Positions in `names`, shape (lines,), int64.
    weight
        Numbers above 0, shape (lines,), or None.
    date
        float64 (NaN where missing) or datetime64[s] (NaT), shape (lines,), or None.
    relation
        Codes, shape (lines,), int32, and their labels, or None.
    texts
        One text per id, shape (n,), or None.
    """

    names: list[str]
    source: NDArray[np.int64]
    target: NDArray[np.int64]
    weight: NDArray[np.float64] | None = None
    date: NDArray[Any] | None = None
    relation: tuple[NDArray[np.int32], tuple[str, ...]] | None = None
    texts: tuple[str, ...] | None = None


@dataclass(frozen=True)
class TextColumns:
    """Texts as read: distinct ids with one text and maybe one label each, shape (n,)."""

    ids: list[str]
    texts: list[str]
    labels: list[str] | None = None


def number_ends(*columns: Any) -> tuple[list[str], list[NDArray[np.int64]]]:
    """Give positions to the ids of Arrow columns by first appearance, row by row.

    Parameters
    ----------
    columns
        Arrow chunked arrays of strings without nulls, shape (m,) each.

    Returns
    -------
    names, codes
        Distinct ids, shape (n,), and one int64 array, shape (m,), per column.
    """
    import pyarrow as pa

    chunks = [chunk for column in columns for chunk in column.chunks]
    joined = pa.chunked_array(chunks, type=columns[0].type)
    encoded = joined.dictionary_encode().unify_dictionaries()
    if not len(joined):
        return [], [np.empty(0, dtype=np.int64) for _ in columns]
    codes = np.concatenate([chunk.indices.to_numpy() for chunk in encoded.chunks])
    order = _first_appearance(codes.reshape(len(columns), -1))
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    dictionary = encoded.chunk(0).dictionary.take(pa.array(order))
    return dictionary.to_pylist(), list(rank[codes].reshape(len(columns), -1))


def _first_appearance(codes: NDArray[Any]) -> NDArray[np.int64]:
    """Codes in order of first appearance down the columns of an array of shape (k, m)."""
    backwards = codes.T.ravel()[::-1]
    first = np.empty(int(codes.max()) + 1, dtype=np.int64)
    # The last write wins, so going backwards leaves each code's first place.
    first[backwards] = np.arange(len(backwards) - 1, -1, -1)
    return np.argsort(first)
