"""PS: Pairs Sampling with skip-gram, the structure-only half of TGE-PS."""

import math
from dataclasses import replace
from typing import ClassVar

from pairgram import params
from pairgram.errors import ParameterError
from pairgram.graph import TextGraph
from pairgram.models.sgns import SGNS_CONSTRAINTS, SHARED_NEGATIVES, SgnsModel
from pairgram.sampling.pairs import PairSampler
from pairgram.training.blocks import PairSource
from pairgram.training.schedule import Judge
from pairgram.training.settings import NOISE_POWER, Settings
from pairgram.training.sources import SampledPairs

PAIRS_PER_NODE = 1000
FEWEST_EPOCHS, MOST_EPOCHS = 5, 200
L2_OF_MEAN_DEGREE = 0.15
VALIDATION = 0.05
# Near zero a first pass would only make the vectors grow; more drowns what few pairs say.
ONE_TABLE_SPREAD = 0.2


class PS(SgnsModel):
    """Vectors from sampled pairs: few pairs, every neighbourhood sampled equally often.

    Parameters
    ----------
    dim
        Length of a vector.
    order
        Largest distance O between the ends of a pair, 1 to 8.
    times
        Rounds N of sampling around every node.
    negatives
        Noise nodes K per pair, drawn in proportion to degree^noise_power.
    epochs
        Passes over the sampled pairs; None for as many as give a node about 1,000 pairs on
        average, 5 to 200.
    learning_rate
        First rate; it falls linearly.
    l2
        Weight of the squared lengths of the vectors in the loss of every pair; None for 0.15 over
        the mean degree.
    shared_negatives
        Pairs of a centre that share K noise nodes, each of which then counts so many times: the
        same loss on average, in less time, with more spread. 1 draws K for every pair; 2 takes
        little more than half the time and costs some thousandths of AUC, more on small graphs.
    self_pairs
        Pairs of a node with itself, for each of its sampled pairs. They draw its two vectors
        together, which walks do by coming back; the paper has none. 0.15 helps "dot" and AUC_LR,
        most on sparse graphs.
    patience
        Epochs without a better AUC_pair (under "calibrated") on 5 % of the links, held back for
        this; then the rate falls to nothing within half as many epochs as have passed, and
        training ends. 0 trains on all links for all epochs.
    noise_power
        0.75 is word2vec's. With 0 all nodes are drawn alike, and the product of two vectors keeps
        the weight of a node's degree, which the noise otherwise takes out.
    tables
        2 for centre and context vectors; 1 for one vector a node at both ends of its pairs, so that
        "dot" is what is trained: the best vectors under "dot", in fewer epochs. Context vectors are
        then the same; it takes neither `directed` nor `self_pairs`. A cluster trains one table on
        one worker.
    offset
        Take log K off every score in training, so that vectors start at "as likely as noise".
    rule
        How links are scored: "dot", "context", "symmetric" or "calibrated".
    directed
        Sample along arcs (centre = source).
    seed
        The same seed gives the same vectors, bit for bit, at any thread count.
    threads
        None takes all cores.

    Notes
    -----
    *Differs from the paper.* The paper prints neither its optimiser's settings nor the number of
    passes for this model; we use plain SGD with linear decay, and the defaults here. Its loss has
    no offset (`offset=False`), and its rule is "dot" with two tables.

    References
    ----------
    Chen et al., "Sampled in Pairs and Driven by Text: A New Graph Embedding Framework", WWW 2019,
    section 3.2.

    Examples
    --------
    >>> import pairgram as pg
    >>> graph = pg.TextGraph.from_edges(["a", "b", "c", "d"], ["b", "c", "d", "a"])
    >>> model = pg.PS(dim=8, seed=1).fit(graph)
    >>> model.vectors_.center.shape
    (4, 8)
    >>> [s.node for s in model.suggest(node="a", k=3)]
    ['c']
    """

    method: ClassVar[str] = "ps"
    citation: ClassVar[str] = "Chen et al., Sampled in Pairs and Driven by Text, WWW 2019"
    constraints: ClassVar = {
        **SGNS_CONSTRAINTS, "order": params.Int(1, 8), "times": params.Int(1, 65535),
        "epochs": params.Optional(params.Int(1)), "l2": params.Optional(params.Float(0.0)),
        "shared_negatives": SHARED_NEGATIVES, "self_pairs": params.Float(0.0, 10.0),
        "patience": params.Int(0), "tables": params.Int(1, 2),
        "noise_power": params.Float(0.0, 1.0),
    }  # fmt: skip

    def __init__(
        self,
        dim: int = 128,
        order: int = 3,
        times: int = 2,
        negatives: int = 5,
        epochs: int | None = None,
        learning_rate: float = 0.1,
        l2: float | None = None,
        offset: bool = True,
        shared_negatives: int = 1,
        self_pairs: float = 0.0,
        patience: int = 0,
        noise_power: float = NOISE_POWER,
        tables: int = 2,
        rule: str = "calibrated",
        directed: bool = False,
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        self.dim, self.order, self.times, self.negatives = dim, order, times, negatives
        self.noise_power, self.tables = noise_power, tables
        self.epochs, self.learning_rate, self.l2 = epochs, learning_rate, l2
        self.offset, self.shared_negatives, self.patience = offset, shared_negatives, patience
        self.self_pairs, self.rule = self_pairs, rule
        self.directed, self.seed, self.threads = directed, seed, threads

    def _check_params(self) -> None:
        super()._check_params()
        if self.tables == 1 and self.directed:
            raise ParameterError(
                "The 'tables' parameter of PS must be 2 with directed=True: one vector for both "
                "ends of a pair tells no direction. Got 1 instead."
            )
        if self.tables == 1 and self.self_pairs:
            raise ParameterError(
                "The 'self_pairs' parameter of PS must be 0 with tables=1: a node has one vector "
                f"only. Got {self.self_pairs} instead."
            )

    def _epochs(self, graph: TextGraph) -> int:
        if self.epochs is not None:
            return self.epochs
        wanted = PAIRS_PER_NODE / self._pairs_per_node(graph)
        return int(min(max(wanted, FEWEST_EPOCHS), MOST_EPOCHS))

    def _l2(self, graph: TextGraph) -> float:
        return L2_OF_MEAN_DEGREE / self._mean_degree(graph) if self.l2 is None else self.l2

    def _pairs_per_node(self, graph: TextGraph) -> float:
        """Most pairs that a node can have on average, N·O·d̄."""
        return self.times * self.order * self._mean_degree(graph)

    def _mean_degree(self, graph: TextGraph) -> float:
        return len(graph.adjacency(directed=self.directed).indices) / graph.n_nodes

    def _settings(self, graph: TextGraph) -> Settings:
        settings = replace(super()._settings(graph), patience=self.patience)
        if self.tables == 2:
            return settings
        return replace(settings, shared_table=True, spread=ONE_TABLE_SPREAD / math.sqrt(self.dim))

    def _hold_back(self, graph: TextGraph) -> tuple[TextGraph, Judge | None]:
        if not self.patience:
            return graph, None
        from pairgram.training.text_validation import hold_back

        return hold_back(graph, VALIDATION, self.seed, self.noise_power)

    def _source(self, graph: TextGraph) -> PairSource:
        sampler = PairSampler(graph, self.order, self.times, self.seed, directed=self.directed)
        return SampledPairs(sampler, graph.n_nodes, self_pairs=self.self_pairs)
