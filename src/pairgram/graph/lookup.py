"""Finding nodes by name, with a hint where the name is unknown."""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

import numpy as np

from pairgram.errors import InputError, UnknownNodeError
from pairgram.graph.parts import IntArray

CANDIDATES = 2_000
"""Names looked at for a hint: the search must stay far below a second."""


def find_positions(names: Iterable[str], index: Mapping[str, int], what: str) -> IntArray:
    """Positions of `names`, shape (k,)."""
    wanted = list(names)
    found = [index.get(name, -1) if isinstance(name, str) else _refuse(name) for name in wanted]
    positions = np.array(found, dtype=np.int64)
    if len(positions) and positions.min() < 0:
        unknown = [name for name, position in zip(wanted, found, strict=True) if position < 0]
        raise UnknownNodeError(_message(unknown, list(index), what))
    return positions


def _refuse(name: object) -> int:
    raise InputError(
        f"Node ids are strings, got {type(name).__name__} {name!r}; pass {str(name)!r}."
    )


def _message(unknown: Sequence[str], names: Sequence[str], what: str) -> str:
    text = f"{what} has no node {unknown[0]!r} among its {len(names)}"
    if len(unknown) > 1:
        text += f" (and {len(unknown) - 1} more of the {len(unknown)} asked for)"
    close = similar(unknown[0], names)
    return f"{text}; did you mean {', '.join(map(repr, close))}?" if close else f"{text}."


def similar(name: str, names: Sequence[str]) -> list[str]:
    """Up to three of `names` that look like `name`.

    >>> similar("angina ", ["angina", "asthma"])
    ['angina']
    """
    folded = name.strip().casefold()
    same = [other for other in names if other.strip().casefold() == folded]
    if same:
        return same[:3]
    start = folded[:1]
    near = (
        other
        for other in names
        if other[:1].casefold() == start and abs(len(other) - len(name)) <= 2
    )
    return difflib.get_close_matches(name, list(islice(near, CANDIDATES)), n=3, cutoff=0.75)
