"""Changes to the nodes of a model as bytes: what the log of a model folder holds."""

import json
import struct
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pairgram.errors import InputError

Kind = Literal["add", "update", "remove"]
Table = NDArray[np.float32]
KINDS = ("add", "update", "remove")
_LENGTH = struct.Struct("<I")


@dataclass(frozen=True, eq=False)
class Change:
    """Nodes that come, change or go, all of one record: all of them or none.

    Attributes
    ----------
    kind
        "add", "update" or "remove".
    ids
        The nodes, m of them.
    texts, labels
        Their texts and labels, m of each; empty for nodes that go.
    center, context
        Their vectors, shape (m, dim); None where there are none or they stay as they are.
    """

    kind: Kind
    ids: tuple[str, ...]
    texts: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    center: Table | None = None
    context: Table | None = None

    def to_bytes(self) -> bytes:
        """Bytes that `from_bytes` reads."""
        tables = {"center": self.center, "context": self.context}
        given = {name: table for name, table in tables.items() if table is not None}
        note = {
            "kind": self.kind, "ids": self.ids, "texts": self.texts, "labels": self.labels,
            "tables": {name: list(table.shape) for name, table in given.items()},
        }  # fmt: skip
        head = json.dumps(note, ensure_ascii=True, separators=(",", ":")).encode("ascii")
        rows = (np.ascontiguousarray(table, "<f4").tobytes() for table in given.values())
        return b"".join((_LENGTH.pack(len(head)), head, *rows))

    @classmethod
    def from_bytes(cls, data: bytes) -> "Change":
        """Read what `to_bytes` wrote; anything else raises `InputError`."""
        try:
            (length,) = _LENGTH.unpack_from(data)
            at = _LENGTH.size + length
            note = json.loads(data[_LENGTH.size : at])
            tables = {}
            for name in ("center", "context"):
                if name in note["tables"]:
                    tables[name], at = _table(data, at, note["tables"][name])
            ids, texts, labels = (tuple(map(str, note[key])) for key in ("ids", "texts", "labels"))
            vectors = tables.get("center"), tables.get("context")
            made = cls(note["kind"], ids, texts, labels, *vectors)
        except (ValueError, KeyError, TypeError, AttributeError, struct.error):
            raise InputError("A record of the log is damaged.") from None
        rows = {len(table) for table in tables.values()} | {len(made.ids)}
        if made.kind not in KINDS or len(rows) != 1 or at != len(data):
            raise InputError("A record of the log does not fit together.")
        return made


def _table(data: bytes, at: int, shape: Any) -> tuple[Table, int]:
    rows, dim = (int(side) for side in shape)
    table = np.frombuffer(data, "<f4", rows * dim, at).reshape(rows, dim).astype(np.float32)
    return table, at + 4 * rows * dim
