"""AdaGrad and Adam over dense weights and the touched rows of tables."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from pairgram.kernels.ready import adam_rows, add_rows

OPTIMIZERS = ("adagrad", "adam")
EPSILON = 1e-10
Touched = Mapping[str, Tensor]
Tensors = Sequence[Tensor]

MEAN_DECAY, SQUARE_DECAY = 0.9, 0.999


class TextOptimizer:
    """One step for all parameters of a module; tables move only in the rows of the batch.

    Parameters
    ----------
    module
        What to train; sparse gradients are those of tables.
    name
        "adagrad" or "adam".
    rate
        Learning rate.
    clip
        Largest norm of the gradient of all parameters together; longer ones are shortened.
    shares
        Share of the rate by parameter, where it is not 1.
    """

    def __init__(
        self,
        module: nn.Module,
        name: str,
        rate: float,
        clip: float,
        shares: Mapping[str, float] | None = None,
    ) -> None:
        self.rate, self.clip, self.steps = rate, clip, 0
        self._shares = shares or {}
        self._places: dict[str, Tensor] = {}
        self._marks: dict[str, Tensor] = {}
        self._parameters = dict(module.named_parameters())
        self._move = self._adagrad if name == "adagrad" else self._adam
        kinds = ("squares",) if name == "adagrad" else ("mean", "squares")
        self._state = {
            f"{of}|{kind}": torch.zeros_like(parameter, requires_grad=False)
            for of, parameter in self._parameters.items()
            for kind in kinds
        }

    def step(self, share: float = 1.0, l2: float = 0.0, touched: Touched | None = None) -> None:
        """Shorten the gradients, move and forget them.

        Parameters
        ----------
        share
            Scales the learning rate.
        l2
            Adds the gradient of l2/2·‖θ‖² over the dense weights.
        touched
            Rows of tables that have a gradient, by name; without it they are looked for, which
            waits for the device.
        """
        self.steps += 1
        with torch.no_grad():
            names, dense = self._dense(l2)
            tables = self._tables(touched or {})
            factor = self._factor([*dense, *(g for _, g in tables.values())])
            # One by one they stay in the CPU's cache; elsewhere every launch costs the same.
            at_once = 1 if dense and dense[0].device.type == "cpu" else max(len(names), 1)
            for begin in range(0, len(names), at_once):
                some = slice(begin, begin + at_once)
                self._move(names[some], None, _times(dense[some], factor), share)
            for name, (rows, gradient) in tables.items():
                if self._move == self._adam and _on_cpu(gradient):
                    self._adam_rows(name, rows, gradient, factor, share)
                else:
                    self._move([name], rows, _times([gradient], factor), share)
        for parameter in self._parameters.values():
            parameter.grad = None

    def _factor(self, gradients: Tensors) -> Tensor | None:
        """What shortens the gradients, or None where no length is too long."""
        if self.clip == math.inf:
            return None
        flat = (gradient.flatten() for gradient in gradients)
        squares = torch.stack([one.dot(one) for one in flat])
        return (self.clip / (squares.sum().sqrt() + 1e-12)).clamp(max=1.0)

    def _dense(self, l2: float) -> tuple[list[str], list[Tensor]]:
        """Names and gradients, L2's among them, of the weights with dense ones."""
        found = {k: p for k, p in self._parameters.items() if p.grad is not None}
        found = {k: p for k, p in found.items() if not p.grad.is_sparse}
        if not found:
            return [], []
        weights = list(found.values())
        pull = torch._foreach_mul(weights, l2)
        return list(found), list(torch._foreach_add([p.grad for p in weights], pull))

    def _tables(self, touched: Touched) -> dict[str, tuple[Tensor, Tensor]]:
        """Rows that move, and their gradient, of every table that has one."""
        found = {}
        for name, parameter in self._parameters.items():
            gradient = parameter.grad
            if gradient is None or not gradient.is_sparse:
                continue
            if name in touched:
                found[name] = touched[name], self._summed(name, gradient, touched[name])
            elif _on_cpu(gradient):
                found[name] = self._added(name, gradient)
            else:
                gradient = gradient.coalesce()
                found[name] = gradient.indices()[0], gradient.values()
        return found

    def _added(self, name: str, gradient: Tensor) -> tuple[Tensor, Tensor]:
        """Distinct rows in the order of their first gradient, and the sum of each."""
        indices, values = gradient._indices()[0], gradient._values()
        if name not in self._marks:
            self._marks[name] = torch.full((len(gradient),), -1)
        rows, sums = torch.empty_like(indices), torch.empty_like(values)
        arrays = (indices, values.contiguous(), self._marks[name], rows, sums)
        count = add_rows(*(part.numpy() for part in arrays))
        return rows[:count], sums[:count]

    def _summed(self, name: str, gradient: Tensor, rows: Tensor) -> Tensor:
        """Gradient of each of the rows, shape (rows, dim)."""
        if gradient._indices().data_ptr() == rows.data_ptr() and gradient._nnz() == len(rows):
            return gradient._values()  # the table was read by these very rows, once each
        if name not in self._places:
            self._places[name] = torch.zeros(len(gradient), dtype=torch.long, device=rows.device)
        place = self._places[name]
        place[rows] = torch.arange(len(rows), device=rows.device)
        which, values = place[gradient._indices()[0]], gradient._values()
        total: Tensor = torch.ops.aten.embedding_dense_backward(values, which, len(rows), -1, False)
        return total

    def _adagrad(
        self, names: Sequence[str], rows: Tensor | None, gradients: Tensors, share: float
    ) -> None:
        squares = self._read(names, "squares", rows)
        total = torch._foreach_add(squares, torch._foreach_mul(gradients, gradients))
        self._write(names, "squares", rows, total)
        bottom = torch._foreach_add(torch._foreach_sqrt(total), EPSILON)
        self._shift(names, rows, gradients, bottom, share)

    def _adam(
        self, names: Sequence[str], rows: Tensor | None, gradients: Tensors, share: float
    ) -> None:
        mean, squares = self._read(names, "mean", rows), self._read(names, "squares", rows)
        m = torch._foreach_lerp(gradients, mean, MEAN_DECAY)
        s = torch._foreach_lerp(torch._foreach_mul(gradients, gradients), squares, SQUARE_DECAY)
        self._write(names, "mean", rows, m)
        self._write(names, "squares", rows, s)
        # The running means start at zero, so the first ones are too small by these factors.
        m = torch._foreach_div(m, 1 - MEAN_DECAY**self.steps)
        s = torch._foreach_div(s, 1 - SQUARE_DECAY**self.steps)
        self._shift(names, rows, m, torch._foreach_add(torch._foreach_sqrt(s), 1e-8), share)

    def _adam_rows(
        self, name: str, rows: Tensor, gradient: Tensor, factor: Tensor | None, share: float
    ) -> None:
        """Do what `_adam` does, every row read and written once."""
        kept = (self._state[f"{name}|{kind}"] for kind in ("mean", "squares"))
        tables = (self._parameters[name].detach(), *kept, rows, gradient)
        rate = self.rate * share * self._shares.get(name, 1.0)
        shorter = 1.0 if factor is None else float(factor)
        decays = MEAN_DECAY, SQUARE_DECAY
        adam_rows(*(part.numpy() for part in tables), shorter, rate, *decays, self.steps)

    def _shift(
        self, names: Sequence[str], rows: Tensor | None, top: Tensors, bottom: Tensors, share: float
    ) -> None:
        """Take rate · top / bottom off the weights."""
        rates = [self.rate * share * self._shares.get(name, 1.0) for name in names]
        by = torch._foreach_div(torch._foreach_mul(top, rates), bottom)
        weights = [self._parameters[name] for name in names]
        if rows is None:
            torch._foreach_sub_(weights, by)
        else:
            weights[0][rows] = weights[0][rows] - by[0]

    def _read(self, names: Sequence[str], kind: str, rows: Tensor | None) -> list[Tensor]:
        state = [self._state[f"{name}|{kind}"] for name in names]
        return state if rows is None else [state[0][rows]]

    def _write(self, names: Sequence[str], kind: str, rows: Tensor | None, values: Tensors) -> None:
        state = [self._state[f"{name}|{kind}"] for name in names]
        if rows is None:
            torch._foreach_copy_(state, values)
        else:
            state[0][rows] = values[0]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """State by parameter and kind, as `restore` takes it."""
        state = {key: value.cpu().numpy().copy() for key, value in self._state.items()}
        return {**state, "steps": np.array([self.steps])}

    def restore(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Go on from a stored state."""
        self.steps = int(arrays["steps"][0])
        for key, value in self._state.items():
            value.copy_(torch.from_numpy(np.array(arrays[key])))


def _times(gradients: Tensors, factor: Tensor | None) -> Tensors:
    return gradients if factor is None else torch._foreach_mul(gradients, factor)


def _on_cpu(gradient: Tensor) -> bool:
    return bool(gradient.device.type == "cpu" and gradient.dtype == torch.float32)
