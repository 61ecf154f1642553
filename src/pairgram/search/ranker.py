"""The ranker: from what speaks for links to scores."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairgram.errors import InputError
from pairgram.search.clues import Added, Clues, Floats, Look
from pairgram.search.graph_judge import BOUND, GraphJudge
from pairgram.search.towers import Table
from pairgram.text.read import Read

RANKED = "ranked"
LAYERS = ("in", "middle", "out")


@dataclass(frozen=True, eq=False)
class Judge:
    """A linear score and a small network beside it, the mean of several trained from new starts.

    Attributes
    ----------
    mean, spread
        Of every feature in training, shape (f,): features are scaled by them and cut at ±6.
    weights
        Of each member: `linear.weight`, and `in`, `middle`, `out` with `.weight` and `.bias`.
    """

    mean: Table
    spread: Table
    weights: tuple[dict[str, NDArray[Any]], ...]

    def scores(self, features: Table) -> Floats:
        """Scores, shape (c,), of features, shape (c, f)."""
        scaled = np.clip((features - self.mean) / self.spread, -BOUND, BOUND)
        total = sum(_member(weights, scaled) for weights in self.weights)
        mean: Floats = np.asarray(total) / len(self.weights)
        return mean

    def arrays(self, prefix: str) -> dict[str, NDArray[Any]]:
        """All of it as arrays by name."""
        found = {f"{prefix}mean": self.mean, f"{prefix}spread": self.spread}
        for number, weights in enumerate(self.weights):
            found |= {f"{prefix}{number}.{name}": array for name, array in weights.items()}
        return found

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], prefix: str, size: int) -> "Judge":
        """Read what `arrays` made for so many features; `InputError` where it does not fit."""
        mine = {n.removeprefix(prefix): a for n, a in arrays.items() if n.startswith(prefix)}
        mean, spread = mine.pop("mean", np.empty(0)), mine.pop("spread", np.empty(0))
        members: dict[str, dict[str, NDArray[Any]]] = {}
        for name, array in mine.items():
            number, _, rest = name.partition(".")
            members.setdefault(number, {})[rest] = array
        if mean.shape != (size,) or spread.shape != (size,) or not members:
            raise InputError("The ranker is damaged: it does not fit its features.")
        return cls(mean, spread, tuple(members[number] for number in sorted(members)))


@dataclass(frozen=True, eq=False)
class Ranker:
    """Orders the nodes for a new text; what is not worth a look follows by the towers' score.

    Attributes
    ----------
    judge
        Judge of the nodes that are looked at.
    """

    judge: GraphJudge

    def scores(self, clues: Clues, read: Read, added: Added | None = None) -> Floats:
        """Scores of new texts with all nodes, shape (q, n + m).

        The m nodes that were added since come last.
        """
        return np.stack([self._row(look) for look in clues.look(read, added)])

    def _row(self, look: Look) -> Floats:
        scores, count = self.judge.scores(look), len(look.places)
        below = scores.min(initial=0) - 1
        row: Floats = below + (look.tower - look.tower.max(initial=-np.inf))
        row[look.places] = scores[:count]
        return np.append(row, scores[count:])


def _member(weights: Mapping[str, NDArray[Any]], rows: Table) -> Floats:
    hidden = rows
    for layer in LAYERS[:-1]:
        hidden = np.maximum(hidden @ weights[f"{layer}.weight"].T + weights[f"{layer}.bias"], 0)
    out = hidden @ weights["out.weight"].T + weights["out.bias"] + rows @ weights["linear.weight"].T
    score: Floats = out[:, 0]
    return score
