"""node2vec: window pairs of second-order random walks."""

from typing import ClassVar

from pairgram.graph import TextGraph
from pairgram.models.deepwalk import WALK_CONSTRAINTS
from pairgram.models.sgns import SGNS_CONSTRAINTS, SHARED_NEGATIVES, SgnsModel
from pairgram.sampling.walks import CONSTRAINTS as WALKS
from pairgram.sampling.walks import WalkSampler
from pairgram.training.blocks import PairSource
from pairgram.training.sources import WalkWindows


class Node2Vec(SgnsModel):
    """Vectors from walks that remember the node before.

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
    p
        Return parameter: small values keep the walk near where it came from.
    q
        In-out parameter: small values drive it outward.
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
    *Differs from the paper.* Its reference code makes a table for every pair of adjacent edges;
    the steps here are drawn by rejection, from the same distribution. Its window is drawn at
    random up to W = 10; here it is full.

    References
    ----------
    Grover, Leskovec, "node2vec: Scalable Feature Learning for Networks", KDD 2016.

    Examples
    --------
    >>> import pairgram as pg
    >>> graph = pg.TextGraph.from_edges([0, 1, 2], [1, 2, 3])
    >>> pg.Node2Vec(dim=8, length=10, times=2, q=0.5).fit(graph).vectors_.center.shape
    (4, 8)
    """

    method: ClassVar[str] = "node2vec"
    citation: ClassVar[str] = "Grover and Leskovec, node2vec, KDD 2016"
    constraints: ClassVar = {
        **SGNS_CONSTRAINTS, **WALK_CONSTRAINTS, "p": WALKS["p"], "q": WALKS["q"],
        "shared_negatives": SHARED_NEGATIVES,
    }  # fmt: skip

    def __init__(
        self,
        dim: int = 128,
        length: int = 80,
        times: int = 10,
        window: int = 5,
        p: float = 1.0,
        q: float = 1.0,
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
        self.p, self.q = p, q
        self.negatives, self.epochs, self.learning_rate = negatives, epochs, learning_rate
        self.l2, self.offset, self.shared_negatives = l2, offset, shared_negatives
        self.rule, self.directed, self.seed, self.threads = rule, directed, seed, threads

    def _source(self, graph: TextGraph) -> PairSource:
        sampler = WalkSampler(graph, self.length, self.p, self.q, self.seed, self.directed)
        return WalkWindows(sampler, graph.n_nodes, self.times, self.window)
