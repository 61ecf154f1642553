"""Safetensors files: written by the library, read as memory maps."""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairgram.errors import FileFormatError

DTYPES = {
    "F64": "<f8",
    "F32": "<f4",
    "F16": "<f2",
    "I64": "<i8",
    "I32": "<i4",
    "I16": "<i2",
    "I8": "i1",
    "U8": "u1",
    "BOOL": "?",
}
LONGEST_HEADER = 100_000_000


def write_tensors(path: Path, tensors: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays by name."""
    from safetensors.numpy import save_file

    save_file({name: np.ascontiguousarray(array) for name, array in tensors.items()}, path)


def tensor_bytes(tensors: Mapping[str, NDArray[Any]]) -> bytes:
    """What `write_tensors` writes."""
    from safetensors.numpy import save

    return bytes(save({name: np.ascontiguousarray(array) for name, array in tensors.items()}))


def read_tensors(place: str, data: bytes) -> dict[str, NDArray[Any]]:
    """Arrays by name from what `tensor_bytes` gave."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        return dict(load(data))
    except SafetensorError as error:
        raise FileFormatError(place, f"is no safetensors file: {error}.") from None


def map_tensors(path: Path) -> dict[str, NDArray[Any]]:
    """Map the arrays of a file into memory, read-only; sizes are checked before."""
    try:
        size = path.stat().st_size
        header, start = _header(path, size)
    except OSError as error:
        raise FileFormatError(path, f"cannot be read: {error.strerror}.") from None
    return {
        name: _map(path, name, entry, start, size)
        for name, entry in header.items()
        if name != "__metadata__"
    }


def _header(path: Path, size: int) -> tuple[dict[str, Any], int]:
    with path.open("rb") as stream:
        length = int.from_bytes(stream.read(8), "little")
        if size < 8 or length > min(size - 8, LONGEST_HEADER):
            raise FileFormatError(path, "is truncated or no safetensors file.")
        try:
            header = json.loads(stream.read(length))
        except ValueError:
            raise FileFormatError(path, "has a damaged safetensors header.") from None
    if not isinstance(header, dict):
        raise FileFormatError(path, "has a damaged safetensors header.")
    return header, 8 + length


def _map(path: Path, name: str, entry: Any, start: int, size: int) -> NDArray[Any]:
    try:
        kind = np.dtype(DTYPES[entry["dtype"]])
        shape = tuple(int(side) for side in entry["shape"])
        first, last = (int(end) for end in entry["data_offsets"])
    except (KeyError, TypeError, ValueError):
        raise FileFormatError(path, f"has a damaged entry for {name!r}.") from None
    if min((first, *shape)) < 0 or last - first != math.prod(shape) * kind.itemsize:
        raise FileFormatError(path, f"{name!r} of shape {shape} does not fit its place.")
    if start + last > size:
        raise FileFormatError(
            path, f"is truncated: {name!r} ends at byte {start + last}, the file at {size}."
        )
    if first == last:
        return np.empty(shape, dtype=kind)
    return np.memmap(path, dtype=kind, mode="r", offset=start + first, shape=shape)
