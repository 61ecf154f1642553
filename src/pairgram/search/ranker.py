"""The ranker: from what speaks for links to scores, in two looks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairgram.errors import InputError
from pairgram.search.clues import FIRST, SECOND, Added, Clues, Floats, Look, Words
from pairgram.search.towers import Table

RANKED = "ranked"
LAYERS = ("in", "middle", "out")
BOUND = 6.0


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
    first, second
        Judges of a first look and of a second one, which knows what the first ranks best; None
        where a second did not help.
    """

    first: Judge
    second: Judge | None

    def scores(
        self, clues: Clues, texts: Sequence[Words], points: Table, added: Added | None = None
    ) -> Floats:
        """Scores of new texts, given as words with their points, with all nodes, shape (q, n + m).

        The m nodes that were added since come last.
        """
        return np.stack([self._row(clues, look) for look in clues.look(texts, points, added)])

    def _row(self, clues: Clues, look: Look) -> Floats:
        scores, count = self.judge(clues, look), len(look.places)
        below = scores.min(initial=0) - 1
        row: Floats = below + (look.tower - look.tower.max(initial=-np.inf))
        row[look.places] = scores[:count]
        return np.append(row, scores[count:])

    def judge(self, clues: Clues, look: Look) -> Floats:
        """Scores of the nodes that were looked at and of the added ones, shape (c + m,)."""
        first = self.first.scores(look.features)
        if self.second is None or not len(look.places):
            return first
        return self.second.scores(clues.look_again(look, first))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All of it as arrays that `from_arrays` reads."""
        second = {} if self.second is None else self.second.arrays("second/")
        return {**self.first.arrays("first/"), **second}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> "Ranker":
        """Read what `arrays` made; what does not fit raises `InputError`."""
        has_second = any(name.startswith("second/") for name in arrays)
        size = len(FIRST) + len(SECOND)
        second = Judge.from_arrays(arrays, "second/", size) if has_second else None
        return cls(Judge.from_arrays(arrays, "first/", len(FIRST)), second)


def _member(weights: Mapping[str, NDArray[Any]], rows: Table) -> Floats:
    hidden = rows
    for layer in LAYERS[:-1]:
        hidden = np.maximum(hidden @ weights[f"{layer}.weight"].T + weights[f"{layer}.bias"], 0)
    out = hidden @ weights["out.weight"].T + weights["out.bias"] + rows @ weights["linear.weight"].T
    score: Floats = out[:, 0]
    return score
