"""Safetensors files: written array by array, read as memory maps."""

import json
import math
from collections.abc import Iterator, Mapping
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
    "U64": "<u8",
    "U32": "<u4",
    "U16": "<u2",
    "U8": "u1",
    "BOOL": "?",
}
NAMES = {np.dtype(kind): name for name, kind in DTYPES.items()}
LONGEST_HEADER = 100_000_000


def write_tensors(path: Path, tensors: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays by name; none is copied in memory, as safetensors itself would."""
    with path.open("wb") as stream:
        for piece in _pieces(tensors):
            stream.write(piece)


def tensor_bytes(tensors: Mapping[str, NDArray[Any]]) -> bytes:
    """What `write_tensors` writes."""
    return b"".join(_pieces(tensors))


def _pieces(tensors: Mapping[str, NDArray[Any]]) -> Iterator[bytes | memoryview]:
    """Length of the header, the header, the arrays; large items first, so that all are aligned."""
    order = sorted(tensors, key=lambda name: (-tensors[name].dtype.itemsize, name))
    header, end = {}, 0
    for name in order:
        array = tensors[name]
        begin, end = end, end + array.nbytes
        kind = NAMES[array.dtype.newbyteorder("<")]
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [begin, end]}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    yield len(text).to_bytes(8, "little")
    yield text
    for name in order:
        array = tensors[name]
        plain = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
        yield plain.reshape(-1).view(np.uint8).data


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
