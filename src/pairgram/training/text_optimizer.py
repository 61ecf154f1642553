"""AdaGrad and Adam over dense weights and the touched rows of tables."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

OPTIMIZERS = ("adagrad", "adam")
EPSILON = 1e-10
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
        self._parameters = dict(module.named_parameters())
        self._move = self._adagrad if name == "adagrad" else self._adam
        kinds = ("squares",) if name == "adagrad" else ("mean", "squares")
        self._state = {
            f"{of}|{kind}": torch.zeros_like(parameter, requires_grad=False)
            for of, parameter in self._parameters.items()
            for kind in kinds
        }

    def step(self, share: float = 1.0, l2: float = 0.0) -> None:
        """Shorten the gradients, move and forget them.

        Parameters
        ----------
        share
            Scales the learning rate.
        l2
            Adds the gradient of l2/2·‖θ‖² over the dense weights.
        """
        self.steps += 1
        with torch.no_grad():
            touched = self._gradients(l2)
            length = torch.stack([g.square().sum() for _, _, g in touched]).sum().sqrt()
            factor = (self.clip / (length + 1e-12)).clamp(max=1.0)
            for name, rows, gradient in touched:
                rate = self.rate * share * self._shares.get(name, 1.0)
                self._move(name, rows, gradient * factor, rate)
        for parameter in self._parameters.values():
            parameter.grad = None

    def _gradients(self, l2: float) -> list[tuple[str, Any, Tensor]]:
        """Name, rows that move, and their gradient, of every parameter that has one."""
        found = []
        for name, parameter in self._parameters.items():
            gradient = parameter.grad
            if gradient is None:
                continue
            if gradient.is_sparse:
                gradient = gradient.coalesce()
                found.append((name, gradient.indices()[0], gradient.values()))
            else:
                found.append((name, slice(None), gradient + l2 * parameter))
        return found

    def _adagrad(self, name: str, rows: Any, gradient: Tensor, rate: float) -> None:
        squares = self._state[f"{name}|squares"]
        total = squares[rows] + gradient.square()
        squares[rows] = total
        self._shift(name, rows, rate * gradient / (total.sqrt() + EPSILON))

    def _adam(self, name: str, rows: Any, gradient: Tensor, rate: float) -> None:
        mean, squares = self._state[f"{name}|mean"], self._state[f"{name}|squares"]
        m = torch.lerp(gradient, mean[rows], MEAN_DECAY)
        s = torch.lerp(gradient.square(), squares[rows], SQUARE_DECAY)
        mean[rows], squares[rows] = m, s
        # The running means start at zero, so the first ones are too small by these factors.
        m = m / (1 - MEAN_DECAY**self.steps)
        s = s / (1 - SQUARE_DECAY**self.steps)
        self._shift(name, rows, rate * m / (s.sqrt() + 1e-8))

    def _shift(self, name: str, rows: Any, by: Tensor) -> None:
        parameter = self._parameters[name]
        parameter[rows] = parameter[rows] - by

    def arrays(self) -> dict[str, NDArray[Any]]:
        """State by parameter and kind, as `restore` takes it."""
        state = {key: value.cpu().numpy().copy() for key, value in self._state.items()}
        return {**state, "steps": np.array([self.steps])}

    def restore(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Go on from a stored state."""
        self.steps = int(arrays["steps"][0])
        for key, value in self._state.items():
            value.copy_(torch.from_numpy(np.array(arrays[key])))
