"""Two towers: a new text, and a known node with what links to it, as points to be compared."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairgram.errors import InputError
from pairgram.text.latent import unit

Table = NDArray[np.float32]

QUERY = ("query.weight", "query_in.weight", "query_in.bias", "query_out.weight", "query_out.bias")
NODE = (
    "own.weight", "near.weight", "node_in.weight", "node_in.bias", "node_out.weight",
    "node_out.bias",
)  # fmt: skip
REST = ("log_scale", "prior")


@dataclass(frozen=True, eq=False)
class Towers:
    """What training found: z(q, x) = s · ⟨f(t_q), g(t_x, m_x)⟩ + a · log(1 + d_x) + b · [d_x = 0].

    t is a text's latent point, m_x the mean of those of x's neighbours, d_x its degree; f and g are
    a linear map and a layer beside it, their values of length 1.

    Attributes
    ----------
    weights
        Arrays by the names of the trained module.
    """

    weights: dict[str, NDArray[Any]]

    def __post_init__(self) -> None:
        if set(self.weights) != {*QUERY, *NODE, *REST}:
            raise InputError("The ranker is damaged: its towers lack weights.")

    @property
    def scale(self) -> float:
        """Weight s of the product."""
        return float(np.exp(self.weights["log_scale"]).item())

    def query(self, points: Table) -> Table:
        """Vectors of texts as queries, shape (m, dim)."""
        w = self.weights
        return unit(points @ w["query.weight"].T + self._layer("query", points))

    def node(self, points: Table, near: Table) -> Table:
        """Vectors of known nodes from their points and their neighbours', shape (n, dim)."""
        w = self.weights
        linear = points @ w["own.weight"].T + near @ w["near.weight"].T
        return unit(linear + self._layer("node", np.hstack([points, near])))

    def prior(self, degree: NDArray[Any]) -> Table:
        """Term of the nodes of some degrees, shape (n,)."""
        grown, alone = self.weights["prior"]
        term: Table = (grown * np.log1p(degree) + alone * (degree == 0)).astype(np.float32)
        return term

    def _layer(self, name: str, rows: Table) -> Table:
        w = self.weights
        hidden = np.maximum(rows @ w[f"{name}_in.weight"].T + w[f"{name}_in.bias"], 0)
        out: Table = hidden @ w[f"{name}_out.weight"].T + w[f"{name}_out.bias"]
        return out


def neighbour_means(links: Any, points: Table) -> Table:
    """Mean points of the neighbours, scaled to length 1, shape (n, dim); 0 without a neighbour."""
    return unit(np.asarray(links @ points, np.float32))
