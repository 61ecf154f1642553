"""Gradients of all workers added up, and shortened by the norm of all of them."""

import torch
from torch import Tensor

from pairgram.training.group import Group, summed
from pairgram.training.text_net import TextNet
from pairgram.training.text_rows import TABLES


class Gradients:
    """Gradients of a module whose tables of nodes are cut by rows, the rest the same everywhere.

    Parameters
    ----------
    net
        The module with this worker's rows.
    group
        The workers.
    """

    def __init__(self, net: TextNet, group: Group) -> None:
        self._group, sparse = group, net.sparse
        weights = dict(net.named_parameters())
        self._rows = [weights[name] for name in TABLES if name in weights]
        self._words = [w for name, w in weights.items() if name in sparse and name not in TABLES]
        self._dense = [w for name, w in weights.items() if name not in sparse]

    def add_up(self, l2: float) -> None:
        """Sum gradients over the workers, and add that of l2/2·‖θ‖² over the dense weights."""
        self._add_up_dense()
        for weight in self._dense:
            if weight.grad is not None:
                weight.grad += l2 * weight.detach()
        for weight in self._words:
            self._add_up_words(weight)

    def clip(self, most: float, told: tuple[float, ...]) -> list[float]:
        """Shorten the gradient of all weights together; return the sums of what workers told."""
        same = _squares([*self._dense, *self._words])
        own = torch.tensor([0.0, *told], dtype=torch.float64)
        own[0] = _squares(self._rows)
        device = self._dense[0].device
        rows, *sums = (float(value) for value in self._group.sum(own.to(device)))
        factor = min(1.0, most / ((same + rows) ** 0.5 + 1e-12))
        for weight in (*self._dense, *self._words, *self._rows):
            if weight.grad is not None:
                weight.grad = weight.grad * factor
        return sums

    def _add_up_dense(self) -> None:
        """One sum for all; a weight without a gradient anywhere keeps none."""
        flat = [_filled(weight).flatten() for weight in self._dense]
        there = torch.tensor([float(weight.grad is not None) for weight in self._dense])
        total = self._group.sum(torch.cat([*flat, there.to(flat[0].device)]))
        parts = total.split([*(len(part) for part in flat), len(there)])
        for weight, part, count in zip(self._dense, parts, parts[-1].tolist(), strict=False):
            weight.grad = part.view_as(weight).clone() if count else None

    def _add_up_words(self, weight: Tensor) -> None:
        if weight.grad is None:
            rows = torch.empty(0, dtype=torch.long, device=weight.device)
            values = weight.detach()[:0]
        else:
            found = weight.grad.coalesce()
            rows, values = found.indices()[0], found.values()
        rows, values = summed(self._group.gather(rows), self._group.gather(values))
        made = torch.sparse_coo_tensor(
            rows[None], values, weight.shape, is_coalesced=True, check_invariants=False
        )
        weight.grad = made if len(rows) else None


def _filled(weight: Tensor) -> Tensor:
    return torch.zeros_like(weight) if weight.grad is None else weight.grad


def _squares(weights: list[Tensor]) -> float:
    """Squared norm of the gradients."""
    gradients = [weight.grad for weight in weights if weight.grad is not None]
    values = [g.coalesce().values() if g.is_sparse else g for g in gradients]
    return float(sum(value.detach().square().sum(dtype=torch.float64) for value in values))
