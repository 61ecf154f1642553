"""Tables that go with merged edges: relations and text counts."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairgram.errors import InputError
from pairgram.graph.merge import group
from pairgram.graph.parts import IntArray, RelationTable, freeze


def relation_table(
    source: IntArray,
    target: IntArray,
    relation: tuple[NDArray[np.int32], tuple[str, ...]] | None,
    edge_of_row: IntArray | None,
) -> RelationTable | None:
    """Distinct triples of the given edges, shape (lines,), without self-loops.

    Parameters
    ----------
    source, target
        Positions of the ends as given, shape (lines,).
    relation
        Codes, shape (lines,), and labels.
    edge_of_row
        Merged edge of every given one, -1 for self-loops, shape (lines,).
    """
    if relation is None or edge_of_row is None:
        return None
    codes, labels = relation
    kept = np.flatnonzero(edge_of_row >= 0)
    edge, upward, code = edge_of_row[kept], source[kept] < target[kept], codes[kept]
    distinct = group((edge * 2 + upward) * np.int64(max(len(labels), 1)) + code).first
    rows = kept[distinct]
    return RelationTable(
        edge=freeze(edge_of_row[rows]),
        source=freeze(source[rows]),
        target=freeze(target[rows]),
        code=freeze(codes[rows]),
        names=labels,
    )


def cut_relations(
    table: RelationTable | None, keep: NDArray[np.bool_], renumber: IntArray | None = None
) -> RelationTable | None:
    """Keep the triples of the kept edges, mask of shape (n_edges,); `renumber` maps nodes, (n,)."""
    if table is None:
        return None
    stays = keep[table.edge]
    new_edge = np.cumsum(keep) - 1
    ends = [side[stays] for side in (table.source, table.target)]
    if renumber is not None:
        ends = [renumber[side] for side in ends]
    return RelationTable(
        edge=freeze(new_edge[table.edge[stays]]),
        source=freeze(ends[0]),
        target=freeze(ends[1]),
        code=freeze(table.code[stays]),
        names=table.names,
    )


def count_texts(texts: tuple[str, ...] | None) -> dict[str, int]:
    """Count nodes with a text, without one, and with a text that an earlier node has too."""
    if texts is None:
        return {"texts": 0, "empty_texts": 0, "repeated_texts": 0}
    filled = [text for text in texts if text and not text.isspace()]
    return {
        "texts": len(filled),
        "empty_texts": len(texts) - len(filled),
        "repeated_texts": len(filled) - len(set(filled)),
    }


def as_mask(mask: Any, length: int, who: str) -> NDArray[np.bool_]:
    """Check a mask of bools, shape (length,)."""
    array = np.asarray(mask)
    if array.dtype != np.bool_ or array.shape != (length,):
        raise InputError(
            f"{who} needs a mask of {length} bools, got {array.dtype} of shape {array.shape}."
        )
    return array
