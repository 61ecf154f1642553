"""Sampled pairs as Arrow tables and parquet files."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import parquet

from pairgram.io.atomic import replacing_file

SHARD = "part-{:06d}.parquet"
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


def write_shard(folder: Path, number: int, table: Any) -> None:
    """Write a numbered file of a folder of pairs; done again it is the same file."""
    with replacing_file(folder / SHARD.format(number)) as file:
        parquet.write_table(table, file)


def has_only_shards(folder: Path) -> bool:
    """Whether a folder holds nothing but numbered files of pairs."""
    return all(_SHARD_NAME.fullmatch(file.name) for file in folder.iterdir())
