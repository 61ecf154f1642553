"""What evaluation asks of a model; any class with these names can be evaluated."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pairgram.errors import InputError
from pairgram.graph import TextGraph

Scores = NDArray[np.floating[Any]]
Positions = NDArray[np.int64]


class NodeVectors(Protocol):
    """Vectors of a fitted model."""

    @property
    def center(self) -> NDArray[np.float32]:
        """Centre vectors, shape (n, dim)."""


class LinkModel(Protocol):
    """A model that scores pairs of nodes under one or more rules."""

    fingerprint_: str
    stats_: dict[str, Any]

    @property
    def rules_(self) -> tuple[str, ...]:
        """Rules that the model allows."""

    @property
    def rule_(self) -> str:
        """The rule that the model names as its own."""

    @property
    def is_fitted(self) -> bool:
        """Whether `fit` has run."""

    @property
    def vectors_(self) -> NodeVectors:
        """The vectors of the training graph's nodes."""

    def fit(self, graph: TextGraph) -> Any:
        """Fit on a graph; a second call starts afresh."""

    def score_positions(
        self, source: Positions, target: Positions, rule: str | None = None
    ) -> Scores:
        """Scores of pairs of positions, all of shape (m,)."""

    def get_params(self) -> dict[str, Any]:
        """Return the constructor's parameters."""


def method_name(model: LinkModel) -> str:
    """Name of the model's class."""
    return type(model).__name__


def checked_scores(model: LinkModel, source: Positions, target: Positions, rule: str) -> Scores:
    """Scores of pairs under `rule`, shape (m,), with the number of them checked."""
    scores = np.asarray(model.score_positions(source, target, rule=rule))
    if scores.shape != source.shape:
        raise InputError(
            f"{method_name(model)}.score_positions must give one score a pair, shape "
            f"{source.shape}. Got shape {scores.shape} under '{rule}'."
        )
    return scores
