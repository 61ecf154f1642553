"""Sums and exchanges between workers that train together: torch.distributed's, none for one."""

from collections.abc import Callable, Sequence

import torch
import torch.distributed as dist
from torch import Tensor

from pairgram.errors import LostWorkerError


class Group:
    """Workers by rank; every call is made by all of them, in the same order.

    Sums depend on their number alone, so the same number gives the same bits.

    Parameters
    ----------
    rank, size
        Which this is, and of how many.
    """

    def __init__(self, rank: int, size: int) -> None:
        self.rank, self.size = rank, size

    def sum(self, values: Tensor) -> Tensor:
        """Sum over all workers, which takes the place of the values."""
        if self.size > 1:
            _joined(lambda: dist.all_reduce(values))
        return values

    def first(self, values: Tensor) -> Tensor:
        """What the first worker gave, which takes the place of the values."""
        if self.size > 1:
            _joined(lambda: dist.broadcast(values, 0))
        return values

    def swap_counts(self, counts: Sequence[int], device: torch.device) -> list[int]:
        """Tell worker w counts[w]; return what each told this one."""
        if self.size == 1:
            return list(counts)
        given = torch.tensor(counts, device=device)
        told = torch.empty_like(given)
        _joined(lambda: dist.all_to_all_single(told, given))
        return [int(count) for count in told.tolist()]

    def swap(self, values: Tensor, given: Sequence[int], taken: Sequence[int]) -> Tensor:
        """Send the first given[0] rows to worker 0, and so on; return those that came, by rank."""
        if self.size == 1:
            return values
        came = values.new_empty((sum(taken), *values.shape[1:]))
        rows = values.contiguous()
        _joined(lambda: dist.all_to_all_single(came, rows, list(taken), list(given)))
        return came

    def gather(self, values: Tensor) -> list[Tensor]:
        """Rows of all workers by rank; each may have another number of them."""
        if self.size == 1:
            return [values]
        counts = self.swap_counts([len(values)] * self.size, values.device)
        padded = values.new_zeros((max(counts), *values.shape[1:]))
        padded[: len(values)] = values
        found = [torch.empty_like(padded) for _ in counts]
        _joined(lambda: dist.all_gather(found, padded))
        return [rows[:count] for rows, count in zip(found, counts, strict=True)]


def summed(rows: Sequence[Tensor], values: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    """Distinct rows, ascending, and the sums of their values, added up rank after rank.

    Parameters
    ----------
    rows
        Of each worker: distinct row numbers, shape (m,).
    values
        Of each worker: values of its rows, shape (m, dim).
    """
    found = torch.unique(torch.cat(list(rows)))
    total = values[0].new_zeros((len(found), *values[0].shape[1:]))
    for some, of_some in zip(rows, values, strict=True):
        total[torch.searchsorted(found, some)] += of_some
    return found, total


def _joined(call: Callable[[], object]) -> None:
    """Do what all must do at once; what torch raises then is another worker's being lost."""
    try:
        call()
    except RuntimeError as error:
        line = str(error).strip().splitlines()[0]
        raise LostWorkerError(f"A worker did not answer the others ({line}).") from None
