"""A judge of links that reads nodes with their links: whom to ask, and what they tell."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairgram.errors import InputError
from pairgram.search.clues import FEATURES, Floats, Look
from pairgram.search.towers import Table

BOUND = 6.0
"""Features are scaled by their mean and spread, and cut at ± this."""
FAINTEST, LIFT, SHARE = 1e-6, 7.0, 0.3
"""Votes are read as SHARE · (log(vote + FAINTEST) + LIFT), so that most lie between -2 and 2."""
WAYS = 2
"""Links are read all together, and those along which they were given by themselves."""
LAYERS = ("enter", "deepen", "settle", "out")
ROUND = ("ask", "tell", "give", "merge", "whole", "back")


@dataclass(frozen=True, eq=False)
class GraphJudge:
    """Scores of the nodes of a look by a small network over the links among them.

    A node x with features has a state h_x. In each round every head k draws a node w by the
    softmax a_k of its states and one of its links: x is drawn with the chance
    Σ over w linked to x of a_kw / d_w; besides, x is told Σ of T h_w / √(d_w d_x). Both change h_x.
    This is done twice, with heads and maps of their own: over all links, and over those that were
    given from w to x: what a node cites is not what cites it, a parent is no child. Every node also
    reads what its query's heads find in all of them: Σ_w a_kw G h_w.

    Attributes
    ----------
    mean, spread
        Of every feature in training, shape (f,).
    weights
        Arrays by the names of the trained module.
    """

    mean: Table
    spread: Table
    weights: dict[str, NDArray[Any]]

    def scores(self, look: Look) -> Floats:
        """Scores of the nodes that were looked at and of the added ones, shape (c + m,)."""
        from scipy.sparse import csr_array

        scaled = np.clip((look.features - self.mean) / self.spread, -BOUND, BOUND)
        known, count = len(look.places), len(scaled)
        ways = [
            csr_array((np.ones(len(to), np.float32), (to, by)), shape=(count, count))
            for by, to in ((look.voter, look.voted), (look.giver, look.taker))
        ]
        degree, root = look.degree[:, None], np.sqrt(look.degree)[:, None]
        state = self._relu("deepen", self._relu("enter", scaled))
        for number in range(self.rounds):
            heads = _softmax(self._linear(f"ask.{number}", state), known)
            told = self._linear(f"tell.{number}", state) / root
            read: list[Floats] = [state]
            parts = np.split(heads, WAYS, 1), np.split(told, WAYS, 1)
            for links, asked, said in zip(ways, *parts, strict=True):
                came = links @ np.hstack([asked / degree, said])
                votes = np.log(came[:, : asked.shape[1]] + FAINTEST) + LIFT
                even = votes - np.log(degree) / 2
                read += [SHARE * votes, SHARE * even, came[:, asked.shape[1] :] / root]
            found = heads.T @ self._linear(f"give.{number}", state)
            whole = self._linear(f"whole.{number}", found.reshape(1, -1))
            merged = np.maximum(self._linear(f"merge.{number}", np.hstack(read)) + whole, 0)
            state = state + self._linear(f"back.{number}", merged)
        rest = scaled @ self.weights["linear.weight"].T
        scores: Floats = (self._linear("out", self._relu("settle", state)) + rest)[:, 0]
        return scores

    @property
    def rounds(self) -> int:
        """How often nodes are asked."""
        return sum(name.startswith("ask.") and name.endswith(".weight") for name in self.weights)

    def _linear(self, name: str, rows: Table) -> Table:
        product: Table = rows @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]
        return product

    def _relu(self, name: str, rows: Table) -> Table:
        return np.maximum(self._linear(name, rows), 0)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All of it as arrays that `from_arrays` reads."""
        return {"mean": self.mean, "spread": self.spread, **self.weights}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> "GraphJudge":
        """Read what `arrays` made; what does not fit raises `InputError`."""
        weights = dict(arrays)
        mean, spread = (weights.pop(name, np.empty(0)) for name in ("mean", "spread"))
        judge = cls(mean, spread, weights)
        wanted = {"linear.weight", *_names(LAYERS)}
        wanted |= {name for r in range(judge.rounds) for name in _names(f"{p}.{r}" for p in ROUND)}
        size = (len(FEATURES),)
        if mean.shape != size or spread.shape != size or set(weights) != wanted:
            raise InputError("The ranker is damaged: it does not fit its features.")
        return judge


def _names(layers: Any) -> list[str]:
    return [f"{layer}.{part}" for layer in layers for part in ("weight", "bias")]


def _softmax(scores: Table, known: int) -> Table:
    """Softmax of each column over the known nodes, which come first; 0 for all others."""
    weight = np.exp(scores[:known] - scores[:known].max(axis=0, initial=-np.inf))
    full = np.zeros_like(scores)
    full[:known] = weight / weight.sum(axis=0)
    return full
