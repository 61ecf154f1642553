"""Sampled pairs as Arrow tables and parquet files."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import parquet

from pairgram.io.atomic import replacing_file
from pairgram.io.places import Place

SHARD = "part-{:06d}.parquet"
COMPLETE = "_complete.json"
_SHARD_NAME = re.compile(r"part-\d{6,}\.parquet")


class PairTables:
    """Makes tables with columns center, context, order, round.

    Parameters
    ----------
    names
        Ids of the nodes, which take the place of positions; None leaves positions.

    Examples
    --------
    >>> import numpy as np
    >>> PairTables(["a", "b"]).table(np.array([0]), np.array([1]), [1], [0]).to_pylist()
    [{'center': 'a', 'context': 'b', 'order': 1, 'round': 0}]
    """

    def __init__(self, names: Sequence[str] | NDArray[Any] | None = None) -> None:
        self._names = None if names is None else pa.array(names, pa.string())

    def table(self, center: NDArray[Any], context: NDArray[Any], order: Any, round_: Any) -> Any:
        """Table of pairs, all columns of length m; centres and contexts are positions."""
        ends = [center, context]
        if self._names is not None:
            ends = [self._names.take(pa.array(end)) for end in ends]
        return pa.table({"center": ends[0], "context": ends[1], "order": order, "round": round_})


def write_shard(folder: Place, number: int, table: Any) -> None:
    """Write a numbered file of a folder of pairs; done again it is the same file."""
    place = folder.inside(SHARD.format(number))
    if place.path is None:
        stream = pa.BufferOutputStream()
        parquet.write_table(table, stream)
        place.write(stream.getvalue())
        return
    with replacing_file(place.path) as file:
        parquet.write_table(table, file)


@contextmanager
def replacing_shards(folder: Place) -> Iterator[Callable[[int, int], None]]:
    """Let the files of a folder in an object store be replaced; give what is called at the end.

    Nothing can be renamed there, so a file of its own says that all are there, and how many.
    """
    mark = folder.inside(COMPLETE)
    before = json.loads(mark.read() or b'{"files": 0}')["files"]
    mark.remove()

    def complete(files: int, pairs: int) -> None:
        for number in range(files, before):
            folder.inside(SHARD.format(number)).remove()
        mark.write(json.dumps({"files": files, "pairs": pairs}).encode())

    yield complete


def has_only_shards(folder: Path) -> bool:
    """Whether a folder holds nothing but numbered files of pairs."""
    return all(_SHARD_NAME.fullmatch(file.name) for file in folder.iterdir())
