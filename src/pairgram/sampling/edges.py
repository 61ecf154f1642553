"""Edges drawn in proportion to their weight (LINE)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairgram import params
from pairgram.graph import TextGraph
from pairgram.kernels import ready as kernel
from pairgram.sampling.walks import running_weights

IntArray = NDArray[np.integer[Any]]

CONSTRAINTS: dict[str, params.Constraint] = {
    "per_edge": params.Float(0.0, open_low=True),
    "seed": params.Int(0, 2**63 - 1),
    "directed": params.Bool(),
}


class EdgeSampler:
    """Draws (node, neighbour) pairs; an arc comes in proportion to its weight.

    Parameters
    ----------
    graph
        The graph; weights are honoured.
    per_edge
        Expected draws of an arc of mean weight.
    seed
        The draws of (turn, centre) are a function of the seed and these two alone.
    directed
        Arcs as given instead of both directions of every edge.

    References
    ----------
    Tang et al., "LINE", WWW 2015, section 4.3 (edge sampling).

    Examples
    --------
    >>> pair = TextGraph.from_edges([0], [1])
    >>> center, context = EdgeSampler(pair, per_edge=2).sample(np.array([0, 1]), turn=0)
    >>> center.tolist(), context.tolist()
    ([0, 0, 1, 1], [1, 1, 0, 0])
    """

    def __init__(
        self, graph: TextGraph, per_edge: float = 1.0, seed: int = 0, directed: bool = False
    ) -> None:
        self.per_edge, self.seed, self.directed = per_edge, seed, directed
        params.check("EdgeSampler", CONSTRAINTS, vars(self))
        self._graph = graph.adjacency(directed=directed)
        self._running = running_weights(self._graph)
        self._strength = self._row_weights()
        self.arcs = len(self._graph.indices)
        self._mean = float(self._strength.sum()) / max(self.arcs, 1)

    def sample(self, centres: IntArray, turn: int) -> tuple[IntArray, IntArray]:
        """Draws of the given centres in the given turn, grouped by centre, both shape (m,)."""
        count = np.zeros(len(centres), np.int64)
        kernel.count_edge_draws(
            centres, turn, self.seed, float(self.per_edge), self._strength, self._mean, count
        )
        size = int(count.sum())
        center = np.empty(size, self._graph.indices.dtype)
        context = np.empty(size, self._graph.indices.dtype)
        kernel.draw_edges(
            centres, turn, self.seed, count, self._graph.indptr, self._graph.indices,
            self._running, center, context,
        )  # fmt: skip
        return center, context

    def _row_weights(self) -> NDArray[np.float64]:
        """Sum of the weights of every node's arcs, shape (n,); their number without weights."""
        degree = np.diff(self._graph.indptr)
        if self._graph.weight is None:
            return degree.astype(np.float64)
        strength = np.zeros(len(degree))
        strength[degree > 0] = self._running[self._graph.indptr[1:][degree > 0] - 1]
        return strength
