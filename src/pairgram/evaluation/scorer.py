"""What evaluation asks of a model; any class with these names can be evaluated."""

from collections.abc import Sequence
from typing import Any, Protocol, TypeGuard, cast

import numpy as np
from numpy.typing import NDArray

from pairgram.errors import InputError
from pairgram.graph import TextGraph
from pairgram.search.lexical import Words, plain_words

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


class NewNodes(Protocol):
    """New texts that a fitted model has placed, m of them, beside its n known nodes."""

    @property
    def center(self) -> NDArray[np.floating[Any]]:
        """Centre vectors of the new nodes, shape (m, dim)."""

    @property
    def rule(self) -> str:
        """The rule that the model names as its own for new nodes."""

    @property
    def rules(self) -> tuple[str, ...]:
        """Rules that score a new node with a known one."""

    @property
    def rules_between(self) -> tuple[str, ...]:
        """Rules that score two new nodes."""

    def pairs(self, rows: Positions, target: Positions, rule: str | None = None) -> Scores:
        """Scores of new nodes with known positions, all of shape (k,)."""

    def between(self, rows: Positions, others: Positions, rule: str | None = None) -> Scores:
        """Scores of new nodes with new nodes, all of shape (k,)."""

    def block(self, rows: slice, rule: str | None = None) -> Scores:
        """Scores of some new nodes with every known one, shape (b, n)."""


class TextModel(LinkModel, Protocol):
    """A model that places texts it has never seen."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Centre vectors of new texts, shape (m, dim)."""

    def place(self, texts: Sequence[str]) -> NewNodes:
        """New texts, ready to be scored."""


def reads_text(model: object) -> TypeGuard[TextModel]:
    """Whether the model, or the class of it, can place a new text."""
    return callable(getattr(model, "embed", None)) and callable(getattr(model, "place", None))


def words_of(model: object) -> Words:
    """The model's own cleaning where it has one, for the lexical floors."""
    return cast(Words, getattr(model, "words", plain_words))


def method_name(model: LinkModel) -> str:
    """Label of the model, or the name of its class."""
    return str(getattr(model, "label", type(model).__name__))


def checked_scores(model: LinkModel, source: Positions, target: Positions, rule: str) -> Scores:
    """Scores of pairs under `rule`, shape (m,), with the number of them checked."""
    scores = np.asarray(model.score_positions(source, target, rule=rule))
    if scores.shape != source.shape:
        raise InputError(
            f"{method_name(model)}.score_positions must give one score a pair, shape "
            f"{source.shape}. Got shape {scores.shape} under '{rule}'."
        )
    return scores
