"""Early stopping: training links held back, and AUC_pair on them."""

import logging
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairgram.graph import TextGraph
from pairgram.metrics import auc_pair
from pairgram.training.settings import NOISE_POWER, noise_mass
from pairgram.training.text_batches import KnownLinks

MOST_TRIALS, FEWEST_TRIALS = 4_000, 20
DRAWS = 8

logger = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Trials:
    """Links held back, each with a node that is no neighbour of its centre.

    Attributes
    ----------
    center, positive, negative
        Node positions, shape (m,).
    log_noise
        Logarithm of each node's noise mass, degrees taken as at least 1, shape (n,).
    """

    center: NDArray[np.int64]
    positive: NDArray[np.int64]
    negative: NDArray[np.int64]
    log_noise: NDArray[np.float64]

    @property
    def nodes(self) -> NDArray[np.int64]:
        """All nodes that take part, ascending."""
        return np.unique(np.concatenate((self.center, self.positive, self.negative)))

    def score(self, center: NDArray[Any], context: NDArray[Any]) -> float:
        """AUC_pair of e_u·e'_v + log q(v), what training estimates log P(v | u) by.

        Parameters
        ----------
        center, context
            Vectors of `nodes`, both (len(nodes), dim).
        """
        nodes = self.nodes
        e = center[np.searchsorted(nodes, self.center)]

        def scores(other: NDArray[np.int64]) -> NDArray[Any]:
            products: NDArray[Any] = (e * context[np.searchsorted(nodes, other)]).sum(1)
            return products + self.log_noise[other]

        return auc_pair(scores(self.positive), scores(self.negative))


def hold_back(
    graph: TextGraph, share: float, seed: int, power: float = NOISE_POWER
) -> tuple[TextGraph, Trials | None]:
    """Take a share of the links out of a graph.

    Parameters
    ----------
    graph
        The training graph.
    share
        Share of its links; with 0, or where too few would be left to judge by, none is taken.
    seed
        Seed of the draw.
    power
        Power of the degree in the noise, which the score puts back.

    Returns
    -------
    graph
        The graph without them.
    trials
        The links taken with a non-link each, or None.
    """
    pairs, pair_of_edge = _pairs(graph)
    count = int(share * len(pairs))
    if count < FEWEST_TRIALS:
        if share > 0:
            logger.info(
                "%d links are too few to hold some back: training runs all epochs", len(pairs)
            )
        return graph, None
    random = np.random.Generator(np.random.Philox([seed, 1]))
    taken = pairs[random.permutation(len(pairs))[:count]]
    gone = np.zeros(graph.n_edges, bool)
    gone[pair_of_edge[taken]] = True
    smaller = graph.with_edges(~gone[pair_of_edge])
    trials = _trials(graph, smaller, taken[:MOST_TRIALS], random, power)
    return (smaller, trials) if len(trials.center) else (graph, None)


def _pairs(graph: TextGraph) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """First edge of each linked pair of nodes, and of every edge the number of its pair."""
    every = np.arange(graph.n_edges)
    if not graph.directed:
        return every, every
    # A link that is given both ways is held back both ways, or training would know it.
    low, high = np.minimum(graph.source, graph.target), np.maximum(graph.source, graph.target)
    keys = low.astype(np.int64) * graph.n_nodes + high
    _, first, pair_of_edge = np.unique(keys, return_index=True, return_inverse=True)
    return np.sort(first), pair_of_edge


def _trials(
    graph: TextGraph,
    smaller: TextGraph,
    edges: NDArray[np.int64],
    random: np.random.Generator,
    power: float,
) -> Trials:
    """One non-link for each edge; centres linked to nearly all nodes are left out."""
    center, positive = graph.source[edges].astype(np.int64), graph.target[edges].astype(np.int64)
    drawn = random.integers(0, graph.n_nodes, (len(edges), DRAWS))
    free = ~KnownLinks(graph.adjacency()).among(center[:, None], drawn)
    some = free.any(1)
    negative = drawn[np.arange(len(edges)), free.argmax(1)]
    log_noise = np.log(noise_mass(np.maximum(smaller.degree, 1), power))
    return Trials(center[some], positive[some], negative[some], log_noise)
