"""GraphSAGE: a node's vector is made of its text and of the texts around it."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from pairgram import params
from pairgram.errors import InputError, PairgramError
from pairgram.graph import TextGraph
from pairgram.models.counting import CountingModel
from pairgram.models.reading import Table
from pairgram.models.scoring import Tables, unit_rows
from pairgram.models.tge_fit import import_torch, torch_threads
from pairgram.text.cleaning import CLEANINGS
from pairgram.text.tfidf import directions, tfidf
from pairgram.text.vocabulary import Vocabulary
from pairgram.training.checkpoint import Checkpoint
from pairgram.vectors import Vectors

if TYPE_CHECKING:
    from pairgram.training.graphsage_net import SageNet
    from pairgram.training.text_state import TextProgress

WORDS, TEXT_MAP = "vocabulary", "text_map"
# These do not change what is trained.
UNTRAINED = ("threads", "rule", "device")

Report = Callable[["TextProgress", int], None]


class GraphSAGE(CountingModel):
    """Two layers, each of a node and the mean of its neighbours, over the texts' reduced TF-IDF.

    A new text has no neighbours: instead of their mean stands a vector that is learnt, for which
    some nodes lose all their neighbours in every batch.

    Parameters
    ----------
    dim
        Length of a vector, and of the layer before.
    features
        Length f of a text's features: TF-IDF reduced by a singular value decomposition.
    neighbours
        Neighbours S of a node that are drawn for the second layer, in training.
    far_neighbours
        Neighbours S' of each of those, and of the node, that are drawn for the first.
    alone
        Share of nodes that are taken for nodes without neighbours in training.
    negatives
        Noise nodes K that a link counts, drawn in proportion to degree^0.75; those of a batch are
        as many as its links, shared and weighed.
    epochs
        Passes over the links.
    learning_rate
        Rate of Adam.
    batch_size
        Links of a batch.
    cleaning
        "paper" deletes . , ; : ! ? " ( ) and cuts at white space; "words" takes Unicode words.
    min_count
        Words that occur less often are not read.
    rule
        How links are scored: "dot", what is trained, or "cosine".
    device
        "auto", "cpu", "cuda" or "mps"; "auto" is a CUDA card where there is one.
    seed
        The same seed gives the same vectors on one device and thread count.
    threads
        None takes all cores.

    Attributes
    ----------
    vocabulary_
        Words of the training texts.

    Notes
    -----
    *Differs from the paper.* Positives are links, not pairs of walks, and a link is hidden from its
    own ends while it is learnt. Known links are left out of the noise. The last layer is not scaled
    to length 1, and the loss adds a learnt constant that begins at -log K, or products of at most 1
    could not tell links from noise. Vectors are made from all neighbours; the paper samples there
    too. What stands for an empty neighbourhood is learnt; the paper does not say what it is. The
    aggregator is the mean; the paper's others (LSTM, pooling) are left out.

    References
    ----------
    Hamilton, Ying, Leskovec, "Inductive Representation Learning on Large Graphs", NIPS 2017.

    Examples
    --------
    >>> import pairgram as pg
    >>> texts = {"a": "red apple", "b": "red cherry", "c": "blue boat", "d": "blue ship"}
    >>> graph = pg.TextGraph.from_edges(["a", "c"], ["b", "d"], texts=texts)
    >>> model = pg.GraphSAGE(dim=8, epochs=100).fit(graph)
    >>> sorted(s.node for s in model.suggest("a red thing", k=2))
    ['a', 'b']
    """

    method: ClassVar[str] = "graphsage"
    citation: ClassVar[str] = "Hamilton et al., GraphSAGE, NIPS 2017"
    constraints: ClassVar = {
        "dim": params.Int(1, 65536),
        "features": params.Int(1, 65536),
        "neighbours": params.Int(1, 1000),
        "far_neighbours": params.Int(1, 1000),
        "alone": params.Float(0.0, 1.0),
        "negatives": params.Int(1, 1000),
        "epochs": params.Int(1),
        "learning_rate": params.Float(0.0, open_low=True),
        "batch_size": params.Int(1),
        "cleaning": params.Choice(*CLEANINGS),
        "min_count": params.Int(1),
        "rule": params.Choice("dot", "cosine"),
        "device": params.Choice("auto", "cpu", "cuda", "mps"),
        "seed": params.Int(0, 2**63 - 1),
        "threads": params.Optional(params.Int(1)),
    }

    _text_map_: Table
    _weights_: dict[str, NDArray[Any]]
    _net_: "SageNet | None"

    def __init__(
        self,
        dim: int = 128,
        features: int = 256,
        neighbours: int = 25,
        far_neighbours: int = 10,
        alone: float = 0.25,
        negatives: int = 20,
        epochs: int = 10,
        learning_rate: float = 0.003,
        batch_size: int = 512,
        cleaning: str = "words",
        min_count: int = 1,
        rule: str = "dot",
        device: str = "auto",
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        self.dim, self.features, self.neighbours = dim, features, neighbours
        self.far_neighbours, self.alone, self.negatives = far_neighbours, alone, negatives
        self.epochs, self.learning_rate, self.batch_size = epochs, learning_rate, batch_size
        self.cleaning, self.min_count = cleaning, min_count
        self.rule, self.device, self.seed, self.threads = rule, device, seed, threads

    def fit(
        self,
        graph: TextGraph,
        checkpoint: str | Path | None = None,
        callback: Report | None = None,
    ) -> Self:
        """Learn from a graph with texts; parameters as in `TGE.fit`."""
        self._check_params()
        self._check_graph(graph)
        texts, began = self._texts(graph), time.perf_counter()
        n = graph.n_nodes
        if len(graph.adjacency().indices) >= n * (n - 1):
            raise InputError(
                f"GraphSAGE tells links from pairs without one, and this graph of {n} nodes has "
                "none: every two nodes are linked."
            )
        vocabulary = Vocabulary.fit(texts, self._cleaning, self.min_count)
        if len(vocabulary) == 1:
            raise InputError(
                "GraphSAGE finds no word in these texts that occurs "
                f"{self.min_count} times or more."
            )
        rows = tfidf(texts, vocabulary)
        text_map = directions(rows, self.features, self.seed).astype(np.float32)
        features, device = _scaled(rows @ text_map), self._device()
        read = time.perf_counter() - began
        with torch_threads(self.threads):
            net, progress = self._learn(graph, features, device, checkpoint, callback)
            center = self._vectors(net, features, graph, device)
        progress.seconds["sample"] = read
        self.graph_, self.fingerprint_, self.vocabulary_ = graph, graph.fingerprint, vocabulary
        self._text_map_, self._net_ = text_map, None
        self.vectors_ = Vectors(center, None, graph.names)
        self.stats_ = {
            "pairs": progress.pairs,
            "updates": progress.updates,
            "passes": progress.passes,
            "epochs": progress.epoch,
            "loss": [progress.loss],
            "seconds": progress.seconds,
            "words": vocabulary.n_distinct,
            "features": text_map.shape[1],
            "device": str(device),
        }
        return self

    def _learn(
        self,
        graph: TextGraph,
        features: Table,
        device: Any,
        checkpoint: str | Path | None,
        callback: Report | None,
    ) -> "tuple[SageNet, TextProgress]":
        torch = import_torch()
        from pairgram.training.graphsage import SageFeed, SageSettings, train
        from pairgram.training.graphsage_net import SageNet
        from pairgram.training.text_state import TextProgress

        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            net = SageNet(features.shape[1], self.dim, self.negatives)
        names = SageSettings.__dataclass_fields__
        feed = SageFeed(graph, SageSettings(**{name: getattr(self, name) for name in names}))
        if checkpoint is None:
            return net, train(net, features, feed, device, None, callback)
        given = {k: v for k, v in self.get_params().items() if k not in UNTRAINED}
        identity = {"method": self.method, "fingerprint": graph.fingerprint, **given}
        keeper = Checkpoint(Path(checkpoint), identity, kind=TextProgress)
        done = train(net, features, feed, device, keeper.read(), keeper.after_turn(callback))
        keeper.write(done)
        return net, done

    def _vectors(self, net: "SageNet", features: Table, graph: TextGraph, device: Any) -> Table:
        from pairgram.training.graphsage import node_vectors
        from pairgram.training.text import weights_of

        self._weights_ = weights_of(net)
        center = node_vectors(net, features, graph, device)
        if not np.isfinite(center).all():
            raise PairgramError(
                "GraphSAGE did not converge: its vectors are no longer numbers. The learning rate "
                f"was {self.learning_rate}; use a smaller one."
            )
        return center

    def _vectors_of(self, texts: Sequence[str]) -> tuple[Table, None]:
        torch = import_torch()
        features = _scaled(tfidf(texts, self.vocabulary_) @ self._text_map_)
        with torch_threads(self.threads), torch.no_grad():
            own = torch.from_numpy(features).to(self._device())
            return self._module().alone(own).cpu().numpy(), None

    def _module(self) -> "SageNet":
        """The module, made at its first use."""
        if self._net_ is None:
            torch = import_torch()
            from pairgram.training.graphsage_net import SageNet

            net = SageNet(self._text_map_.shape[1], self.dim)
            weights = {k: torch.from_numpy(np.array(array)) for k, array in self._weights_.items()}
            try:
                net.load_state_dict(weights)
            except RuntimeError:
                raise InputError("The weights do not fit the model and its features.") from None
            self._net_ = net.to(self._device())
        return self._net_

    def _device(self) -> Any:
        import_torch()
        from pairgram.text.encoders import resolve_device

        return resolve_device(self.device)

    def _make_tables(self) -> Tables:
        center = self.vectors_.center
        return Tables(center, None, None, unit=unit_rows(center))

    def _weights(self) -> dict[str, NDArray[Any]]:
        return {TEXT_MAP: self._text_map_, **self._weights_}

    def _extra_json(self) -> dict[str, dict[str, Any]]:
        return {WORDS: self.vocabulary_.to_json()}

    def _take_parts(
        self, weights: dict[str, NDArray[Any]], extra: dict[str, dict[str, Any]]
    ) -> None:
        if TEXT_MAP not in weights or WORDS not in extra:
            raise InputError("weights.safetensors or vocabulary.json is missing.")
        self.vocabulary_ = Vocabulary.from_json(extra[WORDS])
        self._text_map_ = weights[TEXT_MAP]
        self._weights_ = {name: array for name, array in weights.items() if name != TEXT_MAP}
        if len(self._text_map_) != len(self.vocabulary_):
            raise InputError("The vocabulary is damaged: its parts do not fit together.")
        self._net_ = None


def _scaled(features: NDArray[np.floating[Any]]) -> Table:
    """Features so long that their entries, not their squares, are of the order of 1, (m, f)."""
    scaled: Table = (np.asarray(features) * np.sqrt(features.shape[1])).astype(np.float32)
    return scaled
