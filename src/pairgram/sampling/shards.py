"""Pairs in a folder of parquet files, each written by the worker that drew it."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pairgram.engine import Engine
from pairgram.io.atomic import replacing_folder
from pairgram.io.places import Place
from pairgram.sampling.pairs import PairSampler

if TYPE_CHECKING:
    from pairgram.io.pair_files import PairTables

IntArray = NDArray[np.integer[Any]]

SHARD_PAIRS = 1 << 22


class ShardWriter:
    """Draws the pairs of a block of centres and writes them.

    Parameters
    ----------
    sampler
        Draws the pairs.
    tables
        Makes tables of them.
    folder
        Where the files go; every worker must see it.
    """

    def __init__(self, sampler: PairSampler, tables: "PairTables", folder: Place) -> None:
        self._sampler, self._tables, self._folder = sampler, tables, folder

    def __call__(self, task: tuple[int, IntArray]) -> int:
        """Write the file of a number and its centres; return how many pairs it holds."""
        from pairgram.io.pair_files import write_shard

        number, centres = task
        pairs = self._sampler.sample(centres)
        columns = (pairs.center, pairs.context, pairs.order, pairs.round)
        write_shard(self._folder, number, self._tables.table(*columns))
        return len(pairs)


def write_shards(
    folder: str | Path,
    sampler: PairSampler,
    tables: "PairTables",
    n_nodes: int,
    engine: Engine,
    shard_pairs: int = SHARD_PAIRS,
    after_shard: Callable[[int, int], None] | None = None,
) -> int:
    """Write the pairs of all nodes as part-000000.parquet, part-000001.parquet, ...

    The files and what they hold do not depend on the engine.

    Parameters
    ----------
    folder
        Path: made when all files are written, an older folder of such files is replaced. Or a URI
        such as s3://bucket/pairs: _complete.json is written when all files are.
    sampler, tables
        As in `ShardWriter`.
    n_nodes
        Number of nodes.
    engine
        Its workers must see the folder.
    shard_pairs
        Upper bound of the pairs in a file, unless a single centre has more.
    after_shard
        Called with the number of centres and of pairs so far.

    Returns
    -------
    int
        How many pairs there are.
    """
    from pairgram.io.pair_files import has_only_shards, replacing_shards

    nodes: IntArray = np.arange(n_nodes).astype(sampler.index_dtype)
    blocks, place = list(sampler.blocks(nodes, shard_pairs)), Place(folder)

    def write(to: Place) -> int:
        pairs = centres = 0
        counts = engine.map(ShardWriter(sampler, tables, to), enumerate(blocks))
        for block, count in zip(blocks, counts, strict=True):
            pairs, centres = pairs + count, centres + len(block)
            if after_shard is not None:
                after_shard(centres, pairs)
        return pairs

    if place.path is None:
        with replacing_shards(place) as complete:
            pairs = write(place)
            complete(len(blocks), pairs)
        return pairs
    with replacing_folder(place.path, has_only_shards) as temporary:
        engine.check_folder(temporary)
        return write(Place(temporary))
