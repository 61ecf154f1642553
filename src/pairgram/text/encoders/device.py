"""Where torch works."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pairgram.errors import ParameterError

DEVICES = ("auto", "cpu", "cuda", "mps")
ALIGNED = 64


def resolve_device(name: str) -> torch.device:
    """Device of a name; "auto" is a CUDA card where there is one, else the CPU."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    there = {
        "cpu": lambda: True,
        "cuda": torch.cuda.is_available,
        "mps": torch.backends.mps.is_available,
    }
    if not there[name]():
        raise ParameterError(f"device={name!r} is not available here. Use device='auto'.")
    return torch.device(name)


def to_device(arrays: Mapping[str, NDArray[Any]], device: Any) -> dict[str, Tensor]:
    """Copy arrays to a device; to a CUDA card in one piece, without waiting for its work."""
    if torch.device(device).type != "cuda":
        return {name: torch.from_numpy(array).to(device) for name, array in arrays.items()}
    packed, places = pack(arrays)
    moved = packed.to(device, non_blocking=True)
    return unpack(moved, arrays, places)


def pack(arrays: Mapping[str, NDArray[Any]], pinned: bool = True) -> tuple[Tensor, list[int]]:
    """All arrays as bytes, one after the other, and where each begins."""
    sizes = [-(-array.nbytes // ALIGNED) * ALIGNED for array in arrays.values()]
    ends = np.cumsum([0, *sizes]).tolist()
    packed = torch.empty(ends[-1], dtype=torch.uint8, pin_memory=pinned)
    into = packed.numpy()
    for begin, array in zip(ends, arrays.values(), strict=False):
        into[begin : begin + array.nbytes] = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    return packed, ends[:-1]


def unpack(
    packed: Tensor, arrays: Mapping[str, NDArray[Any]], places: list[int]
) -> dict[str, Tensor]:
    """Tensors in the shapes and types of arrays from what `pack` made of them."""
    found = {}
    for begin, (name, array) in zip(places, arrays.items(), strict=True):
        kind = torch.from_numpy(np.empty(0, array.dtype)).dtype
        found[name] = packed[begin : begin + array.nbytes].view(kind).view(array.shape)
    return found
