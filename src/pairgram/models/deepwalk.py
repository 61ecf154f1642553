"""DeepWalk: window pairs of uniform random walks."""

from typing import ClassVar

from pairgram.graph import TextGraph
from pairgram.models.sgns import SGNS_CONSTRAINTS, SHARED_NEGATIVES, SgnsModel
from pairgram.sampling.walks import CONSTRAINTS as WALKS
from pairgram.sampling.walks import WalkSampler
from pairgram.training.blocks import PairSource
from pairgram.training.sources import WalkWindows

WALK_CONSTRAINTS = {name: WALKS[name] for name in ("length", "times", "window")}


class DeepWalk(SgnsModel):
    """Vectors from truncated random walks.

    Parameters
    ----------
    dim
        Length of a vector.
    length
        Nodes of a walk, L.
    times
        Walks from every node, T.
    window
        Steps W on each side of the centre.
    negatives
        Noise nodes K per pair, drawn in proportion to degree^0.75.
    epochs
        Passes over the walks.
    learning_rate
        First rate; it falls linearly.
    l2
        Weight of the squared lengths of the vectors in the loss of every pair.
    shared_negatives
        Pairs of a centre that share K noise nodes, each of which then counts so many times: the
        same loss on average, in less time, with more spread. 1 draws K for every pair.
    offset
        Take log K off every score in training, so that vectors start at "as likely as noise".
    rule
        How links are scored: "dot", "context", "symmetric" or "calibrated".
    directed
        Walk along arcs only.
    seed
        The same seed gives the same vectors, bit for bit, at any thread count.
    threads
        None takes all cores.

    Notes
    -----
    *Differs from the paper.* DeepWalk trains a hierarchical softmax and draws the window width at
    random; here, as in what most tools call DeepWalk, negatives are sampled, and the window is
    full. Its own settings are T = 80, L = 40, W = 10.

    References
    ----------
    Perozzi, Al-Rfou, Skiena, "DeepWalk: Online Learning of Social Representations", KDD 2014.

    Examples
    --------
    >>> import pairgram as pg
    >>> graph = pg.TextGraph.from_edges([0, 1, 2], [1, 2, 3])
    >>> pg.DeepWalk(dim=8, length=10, times=2).fit(graph).vectors_.center.shape
    (4, 8)
    """

    method: ClassVar[str] = "deepwalk"
    citation: ClassVar[str] = "Perozzi et al., DeepWalk, KDD 2014"
    constraints: ClassVar = {
        **SGNS_CONSTRAINTS, **WALK_CONSTRAINTS, "shared_negatives": SHARED_NEGATIVES
    }  # fmt: skip

    def __init__(
        self,
        dim: int = 128,
        length: int = 80,
        times: int = 10,
        window: int = 5,
        negatives: int = 5,
        epochs: int = 1,
        learning_rate: float = 0.025,
        l2: float = 0.0,
        offset: bool = False,
        shared_negatives: int = 1,
        rule: str = "symmetric",
        directed: bool = False,
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        self.dim, self.length, self.times, self.window = dim, length, times, window
        self.negatives, self.epochs, self.learning_rate = negatives, epochs, learning_rate
        self.l2, self.offset, self.shared_negatives = l2, offset, shared_negatives
        self.rule, self.directed, self.seed, self.threads = rule, directed, seed, threads

    def _source(self, graph: TextGraph) -> PairSource:
        sampler = WalkSampler(graph, self.length, seed=self.seed, directed=self.directed)
        return WalkWindows(sampler, graph.n_nodes, self.times, self.window)
