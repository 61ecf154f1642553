"""GraphGAN: a generator of likely neighbours plays against a discriminator of links."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from pairgram import params
from pairgram.engine import LocalEngine
from pairgram.errors import InputError, PairgramError
from pairgram.graph import TextGraph
from pairgram.models.base import Model, Table
from pairgram.models.ps import PS
from pairgram.models.scoring import Tables, unit_rows
from pairgram.training.checkpoint import Checkpoint
from pairgram.training.graphgan import GanProgress, GanSettings, train
from pairgram.vectors import Vectors

FEWEST_NODES = 3
PLAYERS = ("generator", "discriminator")


class GraphGAN(Model):
    """Vectors of the generator, or of the discriminator, both started from a fitted PS.

    The generator draws nodes v around a centre c by a walk in the breadth-first tree of c: from
    each node to a child or the parent w with probability in proportion to exp(g_v·g_w), until it
    turns back. That is the graph softmax G(v | c). The discriminator D(v, c) = σ(d_v·d_c + b_v)
    tells links from what was drawn, and rewards the generator for what it takes for links. A tree
    is made for its centre, no farther than the walks go, and dropped: memory is that of the links
    and a few numbers a node.

    Parameters
    ----------
    dim
        Length of a vector.
    samples
        Links and nodes drawn for a centre in an epoch, for the discriminator; as many nodes again
        for the generator.
    epochs
        How often every centre has its turn.
    learning_rate
        Rate of AdaGrad, of both players.
    l2
        Weight of the squared lengths of the vectors of a batch.
    batch_size
        Centres of a batch: trees are walked with the vectors that the batch began with.
    start_epochs
        Passes over the pairs of the PS that both players start from; None as PS itself.
    part
        Whose vectors are kept: "generator" or "discriminator".
    rule
        How links are scored: "dot" or "cosine".
    seed
        The same seed gives the same vectors, bit for bit, at any thread count.
    threads
        None takes all cores.

    Notes
    -----
    *Differs from the paper.* The gradient of log G is that of the graph softmax itself, along the
    whole walk; the authors' code takes pairs of nodes near each other in the walk with a sigmoid in
    place of the softmax. A reward counts less the mean of the centre's other rewards, which leaves
    the mean gradient as it is and takes noise off it. The players take turns batch by batch, not
    thirty passes each; AdaGrad in place of Adam moves only rows that have a gradient. The paper
    keeps all trees, |V|² numbers, for which there was no memory. Its start are vectors of DeepWalk
    or of none; here it is PS.

    References
    ----------
    Wang, Wang, Wang, Zhao, Zhang, Zhang, Xie, Guo, "GraphGAN: Graph Representation Learning with
    Generative Adversarial Nets", AAAI 2018.

    Examples
    --------
    >>> import pairgram as pg
    >>> graph = pg.TextGraph.from_edges(["a", "b", "c", "d"], ["b", "c", "d", "a"])
    >>> model = pg.GraphGAN(dim=8, epochs=2).fit(graph)
    >>> model.vectors_.center.shape
    (4, 8)
    >>> [s.node for s in model.suggest(node="a", k=3)]
    ['c']
    """

    method: ClassVar[str] = "graphgan"
    citation: ClassVar[str] = "Wang et al., GraphGAN, AAAI 2018"
    constraints: ClassVar = {
        "dim": params.Int(1, 65536),
        "samples": params.Int(2, 65535),
        "epochs": params.Int(1),
        "learning_rate": params.Float(0.0, open_low=True),
        "l2": params.Float(0.0),
        "batch_size": params.Int(1),
        "start_epochs": params.Optional(params.Int(1)),
        "part": params.Choice(*PLAYERS),
        "rule": params.Choice("dot", "cosine"),
        "seed": params.Int(0, 2**63 - 1),
        "threads": params.Optional(params.Int(1)),
    }

    def __init__(
        self,
        dim: int = 128,
        samples: int = 20,
        epochs: int = 10,
        learning_rate: float = 0.003,
        l2: float = 1e-5,
        batch_size: int = 64,
        start_epochs: int | None = None,
        part: str = "generator",
        rule: str = "dot",
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        self.dim, self.samples, self.epochs = dim, samples, epochs
        self.learning_rate, self.l2, self.batch_size = learning_rate, l2, batch_size
        self.start_epochs, self.part = start_epochs, part
        self.rule, self.seed, self.threads = rule, seed, threads

    def fit(
        self,
        graph: TextGraph,
        checkpoint: str | Path | None = None,
        callback: Callable[[Any, int], None] | None = None,
    ) -> Self:
        """Learn vectors; parameters as in `PS.fit`, a checkpoint for PS and one for the game."""
        self._check_params()
        self._check_graph(graph)
        if graph.n_nodes < FEWEST_NODES:
            raise InputError(
                f"GraphGAN needs a graph of at least {FEWEST_NODES} nodes: around a centre of "
                f"{graph.n_nodes} there is nothing to choose from."
            )
        files = [None if checkpoint is None else Path(f"{checkpoint}.{i}") for i in (1, 2)]
        start = PS(self.dim, epochs=self.start_epochs, seed=self.seed, threads=self.threads)
        start.fit(graph, files[0], callback)
        progress = self._play(graph, _both(start.vectors_), files[1], callback)
        kept: Table = getattr(progress, self.part)[:, : self.dim].copy()
        if not np.isfinite(kept).all():
            raise PairgramError(
                "GraphGAN did not converge: its vectors are no longer numbers. The learning rate "
                f"was {self.learning_rate}; use a smaller one."
            )
        self.graph_, self.fingerprint_ = graph, graph.fingerprint
        self.vectors_ = Vectors(kept, None, graph.names)
        trainings = (start.stats_, {**progress.counts(), "loss": [progress.loss]})
        self.stats_ = {
            "pairs": sum(t["pairs"] for t in trainings),
            "updates": sum(t["updates"] for t in trainings),
            "loss": [loss for t in trainings for loss in t["loss"]],
            "seconds": {
                phase: sum(t["seconds"][phase] for t in trainings) for phase in ("sample", "train")
            },
        }
        return self

    def _play(
        self,
        graph: TextGraph,
        start: Table,
        checkpoint: Path | None,
        callback: Callable[[Any, int], None] | None,
    ) -> GanProgress:
        settings = GanSettings(
            self.samples, self.epochs, self.learning_rate, self.l2, self.batch_size, self.seed
        )
        with LocalEngine(self.threads) as engine:
            if checkpoint is None:
                return train(graph, settings, engine, GanProgress.begin(start), callback)
            given = self.get_params().items()
            identity = {
                "method": self.method, "fingerprint": graph.fingerprint,
                **{name: v for name, v in given if name not in ("threads", "rule", "part")},
            }  # fmt: skip
            keeper = Checkpoint(checkpoint, identity, kind=GanProgress)
            state = keeper.read() or GanProgress.begin(start)
            done = train(graph, settings, engine, state, keeper.after_turn(callback))
            keeper.write(done)
            return done

    def _make_tables(self) -> Tables:
        center = self.vectors_.center
        return Tables(center, None, None, unit=unit_rows(center))


def _both(vectors: Vectors) -> Table:
    """(e + e')/√2, whose products are near e_u·e'_v + e'_u·e_v, what PS scores best by."""
    if vectors.context is None:
        return vectors.center
    both: Table = (vectors.center + vectors.context) * np.float32(0.5**0.5)
    return both
