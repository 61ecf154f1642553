"""Methods that train skip-gram with negative sampling; they differ in where pairs come from."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from pairgram import params
from pairgram.engine import Engine, open_engine
from pairgram.errors import PairgramError
from pairgram.graph import TextGraph
from pairgram.models.base import Model
from pairgram.models.curating import CONTINUED_RATE
from pairgram.models.scoring import RULES, log_noise
from pairgram.training.blocks import PairSource
from pairgram.training.checkpoint import Checkpoint
from pairgram.training.progress import Progress
from pairgram.training.schedule import Judge
from pairgram.training.settings import NOISE_POWER, Settings, score_offset
from pairgram.training.sgns import start_from, train
from pairgram.vectors import Vectors

SGNS_CONSTRAINTS: dict[str, params.Constraint] = {
    "dim": params.Int(1, 65536),
    "negatives": params.Int(1, 1000),
    "epochs": params.Int(1),
    "learning_rate": params.Float(0.0, open_low=True),
    "l2": params.Float(0.0),
    "offset": params.Bool(),
    "rule": params.Choice(*RULES),
    "directed": params.Bool(),
    "seed": params.Int(0, 2**63 - 1),
    "threads": params.Optional(params.Int(1)),
}

SHARED_NEGATIVES = params.Int(1, 1000)
FINITE_ROWS = 1 << 14

Table = NDArray[np.float32]
Trained = tuple[Table, Table, Progress]
Callback = Callable[[Progress, int], None]


class SgnsModel(Model):
    """Base of PS, DeepWalk and node2vec."""

    constraints: ClassVar = SGNS_CONSTRAINTS

    dim: int
    negatives: int
    epochs: int | None
    learning_rate: float
    l2: float | None
    offset: bool
    seed: int
    threads: int | None
    shared_negatives: int = 1
    noise_power: float = NOISE_POWER

    @abstractmethod
    def _source(self, graph: TextGraph) -> PairSource:
        """Where the pairs come from."""

    def fit(
        self,
        graph: TextGraph,
        checkpoint: str | Path | None = None,
        callback: Callback | None = None,
        engine: Engine | str | None = None,
    ) -> Self:
        """Learn vectors from a graph.

        Parameters
        ----------
        graph
            The training graph.
        checkpoint
            File or URI (s3://…) to keep the training state in, once a minute, at the end, and when
            `callback` raises. When it holds the state of the same training, that is resumed, and
            ends with the same bits as a run without a break. Remove it when the model is saved.
        callback
            Called after every chunk of pairs with the progress and the number of chunks in all.
        engine
            "local" (also None) for the threads of this machine, "ray" for workers on Ray, as many
            as `threads` says, or an engine such as `pairgram.RayEngine`, which has its own number
            of workers. The vectors are the same, bit for bit.
        """
        self._check_params()
        self._check_graph(graph)
        kept, judge = self._hold_back(graph)
        with open_engine(engine, self.threads) as opened:
            center, context, progress = self._train(
                self._source(kept), graph, self._settings(kept), opened, checkpoint, callback,
                self._noise_degree(kept), judge,
            )  # fmt: skip
        self._remember(graph, Vectors(center, context, graph.names), progress)
        return self

    def _continue(self, graph: TextGraph, epochs: int) -> None:
        """Go on from the vectors as they are; nodes that are new start as in a fit."""
        settings = replace(
            self._settings(graph), epochs=epochs, patience=0,
            learning_rate=self.learning_rate * CONTINUED_RATE,
        )  # fmt: skip
        degree, context = self._noise_degree(graph), self.vectors_.context
        if context is None:
            raise self._cannot_continue()
        progress = start_from(self.vectors_.center, context, degree, settings)
        with open_engine("local", self.threads) as engine:
            trained = train(self._source(graph), degree, settings, engine, progress)
        center, context, progress = self._finite(*trained)
        self._remember(graph, Vectors(center, context, graph.names), progress)

    def _remember(self, graph: TextGraph, vectors: Vectors, *trainings: Progress) -> None:
        self.graph_, self.vectors_, self.fingerprint_ = graph, vectors, graph.fingerprint
        self.stats_ = {
            "pairs": sum(t.pairs for t in trainings),
            "updates": sum(t.updates for t in trainings),
            "loss": [t.loss for t in trainings],
            "seconds": {
                phase: sum(t.seconds[phase] for t in trainings) for phase in ("sample", "train")
            },
        }
        if trainings[0].scores:
            self.stats_["validation"] = trainings[0].scores

    def _hold_back(self, graph: TextGraph) -> tuple[TextGraph, Judge | None]:
        """Give the graph to train on, and who judges when to stop."""
        return graph, None

    def _settings(self, graph: TextGraph) -> Settings:
        return Settings(
            self.dim, self.negatives, self._epochs(graph), self.learning_rate, self._l2(graph),
            self.offset, self.seed, shared_negatives=self.shared_negatives,
            noise_power=self.noise_power,
        )  # fmt: skip

    def _epochs(self, graph: TextGraph) -> int:
        return 1 if self.epochs is None else self.epochs

    def _l2(self, graph: TextGraph) -> float:
        return 0.0 if self.l2 is None else self.l2

    def _train(
        self,
        source: PairSource,
        graph: TextGraph,
        settings: Settings,
        engine: Engine,
        checkpoint: str | Path | None,
        callback: Callback | None,
        degree: NDArray[np.int64],
        judge: Judge | None = None,
        start: Table | None = None,
    ) -> Trained:
        if checkpoint is None:
            return self._finite(
                *train(source, degree, settings, engine, None, callback, judge, start)
            )
        keeper: Checkpoint[Progress] = Checkpoint(checkpoint, self._identity(graph))
        visit = keeper.after_turn(callback)

        def after_turn(progress: Progress, turns: int) -> None:
            visit(progress, turns)
            # While workers still hold the tables: later there is only the result. A training that
            # did not converge leaves nothing to resume.
            if progress.turn < turns:
                return
            with keeper.forgiving():
                if all(map(all_finite, progress.tables().values())):
                    keeper.write(progress)

        return self._finite(
            *train(source, degree, settings, engine, keeper.read(), after_turn, judge, start)
        )

    def _finite(self, center: Table, context: Table, progress: Progress) -> Trained:
        if not all_finite(center) or not all_finite(context):
            raise PairgramError(
                f"{type(self).__name__} did not converge: its vectors are no longer numbers. "
                f"The learning rate was {self.learning_rate}; use a smaller one."
            )
        return center, context, progress

    def _identity(self, graph: TextGraph) -> dict[str, Any]:
        """What must agree for a checkpoint to be resumed: all but the thread count and rule."""
        given = {k: v for k, v in self.get_params().items() if k not in ("threads", "rule")}
        return {"method": self.method, "fingerprint": graph.fingerprint, **given}

    def _noise_degree(self, graph: TextGraph) -> NDArray[np.int64]:
        """Degrees behind the noise: of the undirected graph, or arcs in when arcs are followed."""
        return noise_degree(graph, self.directed)

    def _prior(self) -> NDArray[np.floating[Any]]:
        offset = score_offset(self.negatives, self.offset)
        return log_noise(self._noise_degree(self.graph_), self.negatives, self.noise_power, offset)


def all_finite(table: Table) -> bool:
    """Whether all are numbers, looked at in runs of rows: no second table of marks."""
    runs = range(0, len(table), FINITE_ROWS)
    return all(bool(np.isfinite(table[r : r + FINITE_ROWS]).all()) for r in runs)


def noise_degree(graph: TextGraph, directed: bool) -> NDArray[np.int64]:
    """Degrees of the undirected graph, or arcs in when arcs are followed, shape (n,)."""
    if not directed:
        return graph.degree
    return np.diff(graph.adjacency(directed=True, reverse=True).indptr)
