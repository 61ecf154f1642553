"""Maps in files that other tools, and the server, read."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairgram.errors import FileFormatError, InputError
from pairgram.io.atomic import replacing_file
from pairgram.io.layout import check_file
from pairgram.map.build import Group, Map

KEY = b"pairgram.map"


def write_table(path: str | Path, drawn: Map, names: NDArray[Any]) -> None:
    """Write a parquet file with the columns id, x, y and group."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    about = {
        "method": drawn.method,
        "coloring": drawn.coloring,
        "groups": [group.name for group in drawn.groups],
    }
    table = pa.table(
        {
            "id": pa.array([str(name) for name in names]),
            "x": drawn.points[:, 0],
            "y": drawn.points[:, 1],
            "group": drawn.group,
        }
    ).replace_schema_metadata({KEY: json.dumps(about)})
    with replacing_file(path) as temporary:
        pq.write_table(table, temporary)


def read_table(path: str | Path, names: NDArray[Any]) -> Map:
    """Read a map that `write_table` wrote, for the same nodes."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    place = check_file(path)
    try:
        table = pq.read_table(place)
        about = json.loads(table.schema.metadata[KEY])
        points = np.column_stack([np.asarray(table[c], np.float32) for c in ("x", "y")])
        group = np.asarray(table["group"], np.uint16)
        ids = table["id"].to_pylist()
        sizes = np.bincount(group, minlength=len(about["groups"])).tolist()
        groups = tuple(Group(str(n), s) for n, s in zip(about["groups"], sizes, strict=True))
        drawn = Map(points, group, groups, str(about["method"]), str(about["coloring"]))
    except (pa.ArrowException, KeyError, TypeError, ValueError):
        raise FileFormatError(place, "is no map that 'pairgram map' wrote.") from None
    if ids != [str(name) for name in names]:
        raise InputError(
            f"{place}: holds a map of other nodes ({len(ids)}, the model has {len(names)}); make "
            "it again with 'pairgram map'."
        )
    if not np.isfinite(points).all():
        raise FileFormatError(place, "holds coordinates that are no numbers.")
    return drawn
