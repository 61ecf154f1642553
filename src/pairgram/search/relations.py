"""Which relation a link is likely to be, from the vectors of its two ends."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from pairgram.errors import InputError

Floats = NDArray[np.floating[Any]]
IntArray = NDArray[np.integer[Any]]

MOST_TRIPLES = 10_000
STEPS = 100
BACKWARDS = "^"
"""Mark of a relation from the suggested node to the query."""
PENALTY = 1e-4


@dataclass(frozen=True, eq=False)
class RelationModel:
    """Softmax over relations: W·[1, u, v, u∘v, log(1 + degree of v)], u and v of length √dim.

    Attributes
    ----------
    names
        Relations, those from the second end to the first with a ``^`` before; r of them.
    weight
        W, shape (r, 3·dim + 2).
    """

    names: tuple[str, ...]
    weight: NDArray[np.float32]

    @classmethod
    def fit(
        cls,
        vectors: Floats,
        degree: IntArray,
        triples: tuple[IntArray, IntArray, IntArray],
        names: tuple[str, ...],
        seed: int = 0,
    ) -> Self:
        """Learn from known links, each read in both directions.

        Parameters
        ----------
        vectors, degree
            Vectors, shape (n, dim), and degrees, shape (n,), of all nodes.
        triples
            Source, target and code of the relation, shape (k,) each; many are drawn from.
        names
            The relations.
        seed
            Seed of the draw.
        """
        source, target, code = (np.asarray(side) for side in triples)
        if len(source) > MOST_TRIPLES:
            some = np.random.default_rng(seed).choice(len(source), MOST_TRIPLES, replace=False)
            source, target, code = source[some], target[some], code[some]
        first, second = np.append(source, target), np.append(target, source)
        seen, label = np.unique(np.append(code, code + len(names)), return_inverse=True)
        every = (*names, *(BACKWARDS + name for name in names))
        rows = _features(vectors[first], vectors[second], degree[second])
        weight = _softmax_fit(rows, label, len(seen))
        return cls(tuple(every[c] for c in seen.tolist()), weight.astype(np.float32))

    def probabilities(
        self, first: Floats, second: Floats, degree: IntArray, direction: str = "both"
    ) -> Floats:
        """Probabilities of the relations of links, shape (m, r).

        Parameters
        ----------
        first, second
            Vectors of the ends, shape (m, dim), or (1, dim) for one first end of all.
        degree
            Degrees of the second ends, shape (m,).
        direction
            "out" allows relations from the first end to the second, "in" the others, "both" all.
        """
        scores = _features(first, second, degree) @ self.weight.T
        backwards = np.array([name.startswith(BACKWARDS) for name in self.names])
        if direction != "both" and (backwards != (direction == "out")).any():
            scores[:, backwards == (direction == "out")] = -np.inf
        return _softmax(scores)

    def ranked(self, probability: Floats) -> Mapping[str, float]:
        """One row of probabilities by relation, the likeliest first."""
        order = np.argsort(-probability, kind="stable")
        return {self.names[c]: float(probability[c]) for c in order if probability[c] > 0}

    def check(self, dim: int) -> Self:
        """Return the model if it fits vectors of this length."""
        if self.weight.shape != (len(self.names), 3 * dim + 2):
            raise InputError("the weights of the relations do not fit the vectors.")
        return self


def _features(first: Floats, second: Floats, degree: IntArray) -> Floats:
    v = _scaled(second)
    u = np.broadcast_to(_scaled(first), v.shape)
    one, size = np.ones((len(v), 1)), np.log1p(degree)[:, None]
    return np.hstack([one, u, v, u * v, size]).astype(np.float32)


def _scaled(matrix: Floats) -> Floats:
    """Rows of the length √dim, so that their numbers are about 1: descent is quick then."""
    length = np.sqrt(np.einsum("ij,ij->i", matrix, matrix))[:, None]
    scaled: Floats = matrix / np.where(length > 0, length, 1) * np.sqrt(matrix.shape[1])
    return scaled


def _softmax(scores: Floats) -> Floats:
    exp = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares: Floats = exp / exp.sum(axis=1, keepdims=True)
    return shares


def _softmax_fit(rows: Floats, label: IntArray, classes: int) -> Floats:
    """Weights, shape (classes, features), with the least log loss and a small L2 penalty."""
    from scipy.optimize import minimize

    truth = np.zeros((len(rows), classes), np.float32)
    truth[np.arange(len(rows)), label] = 1

    def loss(flat: Floats) -> tuple[float, Floats]:
        weight = flat.reshape(classes, -1)
        share = _softmax(rows @ weight.T.astype(np.float32))
        penalty = PENALTY * weight
        value = -np.log(np.maximum((share * truth).sum(axis=1), 1e-300)).mean()
        slope = (share - truth).T @ rows / len(rows) + penalty
        return float(value + (penalty * weight).sum() / 2), slope.ravel()

    start = np.zeros(classes * rows.shape[1])
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": STEPS})
    weight: Floats = found.x.reshape(classes, -1)
    return weight
