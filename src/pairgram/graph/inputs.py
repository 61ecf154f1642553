"""From what a user passes to `from_edges` to checked arrays."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairgram.errors import InputError
from pairgram.graph.parts import FloatArray, IntArray

Ids = Sequence[Any] | NDArray[Any]
Texts = Mapping[Any, Any] | Sequence[Any] | None


def as_ids(ids: Ids, what: str) -> list[str] | IntArray:
    """Strings as a list, integers as an int64 array, shape (m,); anything else raises."""
    array = np.asarray(ids) if hasattr(ids, "__array__") else None
    if array is None or array.dtype.kind in "OTU":
        items = list(ids) if array is None else array.tolist()
        kinds = set(map(type, items))
        if kinds and all(issubclass(kind, str) for kind in kinds):
            return items if kinds == {str} else [str(item) for item in items]
        if any(issubclass(kind, (bool, np.bool_)) for kind in kinds):
            _refuse(what, "a bool")
        array = _integers(items, what)
    if array.ndim != 1:
        raise InputError(f"TextGraph: '{what}' must have one dimension, got {array.ndim}.")
    if array.dtype.kind not in "iu":
        _refuse(what, f"dtype {array.dtype}")
    return _positions(array, what)


def _integers(items: list[Any], what: str) -> NDArray[Any]:
    if not items:
        return np.empty(0, dtype=np.int64)
    for item in items:
        if not isinstance(item, (int, np.integer)):
            _refuse(what, f"{type(item).__name__} {item!r}")
    try:
        return np.array(items, dtype=np.int64)
    except OverflowError:
        raise InputError(
            f"TextGraph: '{what}' holds an integer beyond 64 bits; pass ids as strings."
        ) from None


def _positions(array: NDArray[Any], what: str) -> IntArray:
    if len(array) and array.min() < 0:
        row = int(np.argmax(array < 0))
        raise InputError(
            f"TextGraph: positions must be 0 or more, got {array[row]} at '{what}'[{row}]. "
            "Pass ids that are no positions as strings."
        )
    if len(array) and int(array.max()) > np.iinfo(np.int64).max:
        raise InputError(f"TextGraph: '{what}' holds an integer beyond 64 bits; pass strings.")
    return array.astype(np.int64)


def _refuse(what: str, came: str) -> None:
    raise InputError(
        f"TextGraph: '{what}' must hold only strings (names) or only integers (positions), "
        f"got {came}."
    )


def as_names(names: Iterable[Any]) -> list[str]:
    """Distinct strings, shape (n,)."""
    listed = list(names)
    for item in listed:
        if not isinstance(item, str):
            raise InputError(
                f"TextGraph: 'names' must hold strings, got {type(item).__name__} {item!r}."
            )
    if len(set(listed)) < len(listed):
        twice = first_repeated(listed)
        raise InputError(f"TextGraph: 'names' must be distinct, got {twice!r} twice.")
    return [str(item) for item in listed]


def first_repeated(items: Iterable[str]) -> str:
    """Return the first item that occurred before."""
    seen: set[str] = set()
    for item in items:
        if item in seen:
            return item
        seen.add(item)
    raise ValueError("no item occurs twice")


def encode_names(
    source: list[str], target: list[str], names: list[str] | None, texts: Texts
) -> tuple[list[str], IntArray, IntArray]:
    """Give every name a position: `names` as they are, or order of first appearance.

    Returns
    -------
    names, source, target
        Names, shape (n,), and positions of the ends, shape (m,).
    """
    index: dict[str, int]
    if names is None:
        # A missing key takes the next number, so one pass in C numbers and looks up.
        index = defaultdict(count().__next__)
    else:
        index = {name: position for position, name in enumerate(names)}
    ends = chain.from_iterable(zip(source, target, strict=True))
    try:
        codes = np.fromiter(map(index.__getitem__, ends), dtype=np.int64, count=2 * len(source))
    except KeyError as error:
        raise InputError(
            f"TextGraph: the edge end {error.args[0]!r} is not among the {len(index)} 'names'."
        ) from None
    if names is None and isinstance(texts, Mapping):
        for name in text_ids(texts):
            index.setdefault(name, len(index))
    return list(index), codes[::2].copy(), codes[1::2].copy()


def text_ids(texts: Mapping[Any, Any]) -> list[str]:
    """Check that a mapping's keys are names and list them."""
    for key in texts:
        if not isinstance(key, str):
            raise InputError(f"TextGraph: 'texts' must map names (strings), got the key {key!r}.")
    return list(texts)


def count_positions(
    source: IntArray, target: IntArray, names: list[str] | None, texts: Texts
) -> int:
    """Count the nodes of a graph given by positions, shape (m,)."""
    highest = max((int(side.max()) for side in (source, target) if len(side)), default=-1)
    if names is None and isinstance(texts, Mapping):
        keys = as_ids(list(texts), "texts")
        if isinstance(keys, list):
            if keys:
                raise InputError(
                    "TextGraph: edges are positions but 'texts' maps names; pass 'names' too."
                )
        elif len(keys):
            highest = max(highest, int(keys.max()))
        return highest + 1
    given = names if names is not None else texts
    if given is None:
        return highest + 1
    if highest >= len(given):
        label = "names" if names is not None else "texts"
        raise InputError(f"TextGraph: position {highest} is beyond the {len(given)} '{label}'.")
    return len(given)


def check_below(source: IntArray, target: IntArray, n_nodes: int, who: str) -> None:
    """Raise unless all positions, shape (m,), are those of nodes."""
    for side in (source, target):
        if len(side) and (side.min() < 0 or side.max() >= n_nodes):
            bad = int(side.min() if side.min() < 0 else side.max())
            raise InputError(f"{who}: position {bad} is not among the {n_nodes} nodes.")


def align_texts(
    texts: Texts, names: list[str] | None, n_nodes: int, what: str = "texts"
) -> tuple[str, ...] | None:
    """One text per node, "" where a node has none, shape (n,)."""
    if texts is None:
        return None
    if isinstance(texts, str) or not isinstance(texts, (Mapping, Sequence, np.ndarray)):
        raise InputError(
            f"TextGraph: '{what}' must map ids to {what} or list one for each node, "
            f"got {type(texts).__name__}."
        )
    if isinstance(texts, Mapping):
        return _mapped_texts(texts, names, n_nodes, what)
    if len(texts) != n_nodes:
        raise InputError(
            f"TextGraph: '{what}' must list one {what[:-1]} for each of the {n_nodes} nodes, "
            f"got {len(texts)}. With edges of strings, pass 'names' or map ids to {what}."
        )
    return tuple(_text(text, what) for text in texts)


def _mapped_texts(
    texts: Mapping[Any, Any], names: list[str] | None, n_nodes: int, what: str
) -> tuple[str, ...]:
    keys: Iterable[Any] = range(n_nodes) if names is None else names
    aligned = tuple(_text(texts.get(key), what) for key in keys)
    if names is not None:
        known = set(names)
        stray = [key for key in texts if key not in known]
        if stray:
            raise InputError(
                f"TextGraph: '{what}' has {len(stray)} ids that are not among 'names', "
                f"the first is {stray[0]!r}."
            )
    return aligned


def _text(value: Any, what: str) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise InputError(
            f"TextGraph: a {what[:-1]} must be a string or None, "
            f"got {type(value).__name__} {value!r}."
        )
    return str(value)


def as_weights(weight: Any, lines: int) -> FloatArray | None:
    """Finite numbers above 0 as float64, shape (lines,)."""
    if weight is None:
        return None
    try:
        numbers = np.asarray(weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"TextGraph: 'weight' must hold numbers: {error}.") from None
    _check_length(numbers, lines, "weight")
    bad = ~(np.isfinite(numbers) & (numbers > 0))
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(
            f"TextGraph: weights must be finite numbers above 0, got {numbers[row]} "
            f"at 'weight'[{row}]."
        )
    return numbers


def as_dates(date: Any, lines: int) -> NDArray[Any] | None:
    """Numbers as float64, dates as datetime64[s], shape (lines,); missing ones NaN or NaT."""
    if date is None:
        return None
    array = np.asarray(date)
    try:
        if array.dtype.kind in "OTUM":
            array = array.astype("datetime64[s]")
        else:
            array = array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"TextGraph: 'date' must hold numbers or ISO dates: {error}.") from None
    _check_length(array, lines, "date")
    return array


def as_relations(relation: Any, lines: int) -> tuple[NDArray[np.int32], tuple[str, ...]] | None:
    """Codes, shape (lines,), int32, and the distinct labels in order of first appearance."""
    if relation is None:
        return None
    labels = [str(label) for label in relation]
    if len(labels) != lines:
        raise InputError(f"TextGraph: 'relation' must have {lines} items, got {len(labels)}.")
    index = {label: code for code, label in enumerate(dict.fromkeys(labels))}
    codes = np.fromiter(map(index.__getitem__, labels), dtype=np.int32, count=lines)
    return codes, tuple(index)


def _check_length(array: NDArray[Any], lines: int, what: str) -> None:
    if array.shape != (lines,):
        raise InputError(
            f"TextGraph: '{what}' must have the shape ({lines},) of the edges, got {array.shape}."
        )
