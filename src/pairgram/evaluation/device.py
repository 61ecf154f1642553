"""Ranking on a device of torch: scores are made and counted there, a block of queries at a time."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairgram.errors import InputError, MissingExtraError, ParameterError
from pairgram.metrics import Places, among_fellows

Floats = NDArray[np.floating[Any]]
Ints = NDArray[np.int64]

_ENTRIES = 1 << 26  # comparisons held at once


def resolve(device: str | None) -> str | None:
    """Device to rank on: None is NumPy, "auto" a CUDA card where there is one, else NumPy."""
    if device is None:
        return None
    try:
        import torch
    except ImportError:
        if device == "auto":
            return None
        raise MissingExtraError(f"Ranking on {device!r}", "text") from None
    if device == "auto":
        return "cuda" if torch.cuda.is_available() else None
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        first = str(error).splitlines()[0]
        raise ParameterError(f"The device {device!r} cannot be used: {first}") from None
    return device


def on_host(scores: Any) -> Floats:
    """Scores of NumPy or of any device as an array."""
    found: Floats = np.asarray(scores if isinstance(scores, np.ndarray) else scores.cpu())
    return found


class DeviceBlocks:
    """Scores of queries with every node, Σ left·rightᵀ + bias, held on a device.

    Parameters
    ----------
    terms
        Vectors of the queries, shape (q, dim), and of the nodes, shape (n, dim), of every term.
    bias
        A term of the node, shape (n,), or None.
    device
        Any device of torch.
    """

    def __init__(
        self, terms: list[tuple[Floats, Floats]], bias: Floats | None, device: str
    ) -> None:
        import torch

        def held(array: Floats) -> Any:
            return torch.as_tensor(np.ascontiguousarray(array), device=device)

        self._terms = [(held(left), held(right)) for left, right in terms]
        self._bias = None if bias is None else held(bias)

    def __call__(self, rows: slice) -> Any:
        """Scores of a slice of the queries, a tensor of shape (b, n)."""
        block = sum(left[rows] @ right.T for left, right in self._terms)
        return block if self._bias is None else block + self._bias


def place_block(scores: Any, true: tuple[Ints, Ints], barred: tuple[Ints, Ints]) -> Places:
    """Do what `metrics.place_block` does for a tensor of scores, on its device."""
    import torch

    if bool(torch.isnan(scores).any()):
        raise InputError("place_links: scores must be numbers. Got NaN; the model diverged.")
    (target, ends), (absent, absent_ends) = true, barred
    device = scores.device
    row = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
    absent_row = np.repeat(np.arange(len(absent_ends) - 1), np.diff(absent_ends))
    own = scores[torch.as_tensor(row, device=device), torch.as_tensor(target, device=device)]
    free = scores.clone()
    free[
        torch.as_tensor(absent_row, device=device), torch.as_tensor(absent, device=device)
    ] = -torch.inf
    above, equal = [], []
    step = max(1, _ENTRIES // max(scores.shape[1], 1))
    for begin in range(0, len(row), step):
        part = slice(begin, begin + step)
        rivals = free[torch.as_tensor(row[part], device=device)]
        level = own[part, None]
        above.append((rivals > level).sum(1).cpu().numpy())
        equal.append((rivals == level).sum(1).cpu().numpy())
    nothing = [np.zeros(0, dtype=np.int64)]
    first, size = np.concatenate(above or nothing), np.concatenate(equal or nothing)
    fellows_above, fellows_equal = among_fellows(own.cpu().numpy(), ends)
    return Places(first - fellows_above, size - fellows_equal, first, size)
