"""Parameters of skip-gram training."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairgram.training.blocks import Descent

NOISE_POWER = 0.75


@dataclass(frozen=True)
class Settings:
    """Parameters of the loss and its descent.

    Attributes
    ----------
    dim
        Length of a vector.
    negatives
        Noise nodes K per pair.
    epochs
        Passes over the pairs.
    learning_rate
        First rate; it falls as `Schedule` says.
    l2
        Weight λ of λ/2·(‖e_u‖² + ‖e'_v‖²), added to the loss of every pair and noise pair.
    offset
        Take log K off every score in training. Vectors at zero then mean "as likely as noise",
        which is what an untouched pair should mean; without it they mean K times that.
    seed
        Seed of the start, the parts and the noise.
    shared_table
        Both ends of a pair from one table (first-order LINE; PS with one table).
    shared_negatives
        Pairs of a centre that share K noise nodes, each of which then counts so many times; 1 draws
        K for every pair.
    patience
        Epochs without a better score of the judge before the end; 0 runs all.
    noise_power
        The noise is degree to this power; 0 draws all nodes with a link alike.
    spread
        Vectors start uniform within ± this; None for 0.5 / dim.
    """

    dim: int = 128
    negatives: int = 5
    epochs: int = 1
    learning_rate: float = 0.025
    l2: float = 0.0
    offset: bool = False
    seed: int = 0
    shared_table: bool = False
    shared_negatives: int = 1
    patience: int = 0
    noise_power: float = NOISE_POWER
    spread: float | None = None

    @property
    def descent(self) -> Descent:
        """What the kernel needs of these."""
        offset = np.float32(score_offset(self.negatives, self.offset))
        return Descent(
            self.shared_table, self.negatives, self.shared_negatives, offset, np.float32(self.l2),
            self.seed,
        )  # fmt: skip


def score_offset(negatives: int, offset: bool) -> float:
    """What is added to e'_v·e_u in training: -log K, or nothing."""
    return -math.log(negatives) if offset else 0.0


def noise_mass(degree: NDArray[np.integer[Any]], power: float = NOISE_POWER) -> NDArray[np.float64]:
    """Unnormalised noise, degree^power of the training graph and 0 without a link, shape (n,).

    >>> noise_mass(np.array([0, 1, 16])), noise_mass(np.array([0, 1, 16]), 0.0)
    (array([0., 1., 8.]), array([0., 1., 1.]))
    """
    mass: NDArray[np.float64] = np.asarray(degree, np.float64) ** power
    mass[np.asarray(degree) == 0] = 0.0
    return mass
