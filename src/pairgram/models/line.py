"""LINE: first- and second-order proximity from sampled edges."""

from pathlib import Path
from typing import ClassVar, Self

import numpy as np

from pairgram import params
from pairgram.engine import Engine, open_engine
from pairgram.errors import ParameterError
from pairgram.graph import TextGraph
from pairgram.models.scoring import unit_rows
from pairgram.models.sgns import SGNS_CONSTRAINTS, Callback, SgnsModel
from pairgram.training.blocks import PairSource
from pairgram.training.settings import Settings
from pairgram.training.sources import DrawnEdges
from pairgram.vectors import Vectors


class LINE(SgnsModel):
    """Vectors from edges alone: halves for first and second order, trained apart.

    The first half maximises σ(e_u·e_v) over edges with one table, the second σ(e'_v·e_u) with two.
    Each half is scaled to length 1, then they are joined.

    Parameters
    ----------
    dim
        Length of a vector, even; each order has half of it.
    per_edge
        Draws of an edge of mean weight, in each direction and for each order.
    negatives
        Noise nodes K per pair, drawn in proportion to degree^0.75.
    epochs
        Passes over the drawn edges.
    learning_rate
        First rate; it falls linearly.
    l2
        Weight of the squared lengths of the vectors in the loss of every pair.
    offset
        Take log K off every score in training, so that vectors start at "as likely as noise".
    rule
        Only "dot": the joined vectors have no contexts.
    directed
        Draw arcs as given. First-order proximity has no direction: that half ignores it.
    seed
        The same seed gives the same vectors, bit for bit, at any thread count.
    threads
        None takes all cores.

    Notes
    -----
    *Differs from the paper.* LINE draws edges one by one; here the draws of a node come together,
    in the same expected number. Its text-book number of samples is ten billion for graphs of
    millions of edges; `per_edge` scales it with the graph.

    References
    ----------
    Tang et al., "LINE: Large-scale Information Network Embedding", WWW 2015.

    Examples
    --------
    >>> import pairgram as pg
    >>> graph = pg.TextGraph.from_edges([0, 1, 2], [1, 2, 3])
    >>> pg.LINE(dim=8).fit(graph).vectors_.center.shape
    (4, 8)
    """

    method: ClassVar[str] = "line"
    citation: ClassVar[str] = "Tang et al., LINE, WWW 2015"
    constraints: ClassVar = {
        **SGNS_CONSTRAINTS, "dim": params.Int(2, 65536), "rule": params.Choice("dot"),
        "per_edge": params.Float(0.0, open_low=True),
    }  # fmt: skip

    def __init__(
        self,
        dim: int = 128,
        per_edge: float = 100,
        negatives: int = 5,
        epochs: int = 1,
        learning_rate: float = 0.025,
        l2: float = 0.0,
        offset: bool = False,
        rule: str = "dot",
        directed: bool = False,
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        self.dim, self.per_edge, self.negatives = dim, per_edge, negatives
        self.epochs, self.learning_rate, self.l2 = epochs, learning_rate, l2
        self.offset, self.rule = offset, rule
        self.directed, self.seed, self.threads = directed, seed, threads

    def fit(
        self,
        graph: TextGraph,
        checkpoint: str | Path | None = None,
        callback: Callback | None = None,
        engine: Engine | str | None = None,
    ) -> Self:
        """Learn vectors from a graph; parameters as in `PS.fit`, a checkpoint for each half."""
        self._check_params()
        self._check_graph(graph)
        if self.dim % 2:
            raise ParameterError(
                f"The 'dim' parameter of LINE must be even, half for each order. Got {self.dim} "
                "instead."
            )
        halves, stats = [], []
        with open_engine(engine, self.threads) as opened:
            for order in (1, 2):
                file = None if checkpoint is None else f"{checkpoint}.{order}"
                degree = graph.degree if order == 1 else self._noise_degree(graph)
                center, _, progress = self._train(
                    self._half_source(graph, order), graph, self._half_settings(graph, order),
                    opened, file, callback, degree,
                )  # fmt: skip
                halves.append(unit_rows(center))
                stats.append(progress)
        self._remember(graph, Vectors(np.hstack(halves), None, graph.names), *stats)
        return self

    def _source(self, graph: TextGraph) -> PairSource:
        return self._half_source(graph, order=2)

    def _half_source(self, graph: TextGraph, order: int) -> PairSource:
        directed = self.directed and order == 2
        return DrawnEdges(graph, self.per_edge, self._half_seed(order), directed)

    def _half_settings(self, graph: TextGraph, order: int) -> Settings:
        return Settings(
            self.dim // 2, self.negatives, self._epochs(graph), self.learning_rate, self._l2(graph),
            self.offset, self._half_seed(order), shared_table=order == 1,
        )  # fmt: skip

    def _half_seed(self, order: int) -> int:
        """Seed of one half; the largest wrap around, for a seed has 63 bits."""
        return (self.seed + order) % 2**63
