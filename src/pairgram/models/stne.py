"""STNE: walks translated from the contents of their nodes to the nodes themselves."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from pairgram import params
from pairgram.errors import InputError, PairgramError, ParameterError
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
    from pairgram.training.stne import StneSettings, WalkFeed
    from pairgram.training.stne_net import StneNet
    from pairgram.training.text_state import TextProgress

WORDS, AXES, ENCODER = "vocabulary", "axes", "encoder."
# These do not change what is trained.
UNTRAINED = ("threads", "rule", "device")
FEWEST_NODES = 3
WHOLE_SOFTMAX, SAMPLES = 50_000, 4096
# Numbers of a softmax over all nodes that are held at once.
MOST_LOGITS = 1 << 29


class STNE(CountingModel):
    """The mean output of an encoder that reads the texts along walks.

    A BiLSTM reads the contents of a walk's nodes; an LSTM that begins with what it remembers, and
    reads nothing else, names the nodes one after the other. `vectors_` holds the encoder's output
    for a node, averaged over all visits of the walks. A new text, and a node without links, is read
    as a walk of length one.

    Parameters
    ----------
    dim
        Length of a vector, even: half of it for each direction of the encoder.
    features
        Length f of a content vector: TF-IDF reduced by a singular value decomposition.
    length
        Nodes of a walk.
    times
        Walks from every node with a link.
    epochs
        Passes over the walks.
    learning_rate
        Rate of Adam.
    dropout
        Share of the encoder's last output and of the decoder's outputs that training leaves out.
    batch_size
        Walks of a batch.
    samples
        Noise nodes S of a batch that stand for all nodes in the softmax, drawn by degree, with
        their scores corrected by log S·q; 0 takes the softmax over all nodes, None does so up to
        50,000 nodes and takes 4,096 above.
    cleaning
        "paper" deletes . , ; : ! ? " ( ) and cuts at white space; "words" takes Unicode words.
    min_count
        Words that occur less often are not read.
    rule
        How links are scored: "dot" or "cosine".
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
    *Differs from the paper.* Walks are drawn again in every epoch, the same ones each time, so that
    memory does not grow with them. The paper's contents are bags of words of some thousand entries,
    or a convolution over words; here they are TF-IDF reduced to f directions, so that a content
    vector of a large vocabulary is small. The encoder has one layer, as in the authors' code. Above
    50,000 nodes the softmax is sampled; the authors have no such graph. Nodes without a link are
    left out of training. They place no new texts and score no links: walks of length one, "dot"
    and "cosine" are ours.

    References
    ----------
    Liu, He, Wei, Huang, "Content to Node: Self-Translation Network Embedding", KDD 2018; Bengio,
    Senécal, "Quick Training of Probabilistic Neural Nets by Importance Sampling", AISTATS 2003.

    Examples
    --------
    >>> import pairgram as pg
    >>> texts = {"a": "red apple", "b": "red cherry", "c": "blue boat", "d": "blue ship"}
    >>> graph = pg.TextGraph.from_edges(["a", "c"], ["b", "d"], texts=texts)
    >>> model = pg.STNE(dim=8, epochs=2).fit(graph)
    >>> model.vectors_.center.shape, model.embed(["a red thing"]).shape
    ((4, 8), (1, 8))
    """

    method: ClassVar[str] = "stne"
    citation: ClassVar[str] = "Liu et al., STNE, KDD 2018"
    constraints: ClassVar = {
        "dim": params.Int(2, 65536),
        "features": params.Int(1, 65536),
        "length": params.Int(2, 100_000),
        "times": params.Int(1, 65535),
        "epochs": params.Int(1),
        "learning_rate": params.Float(0.0, open_low=True),
        "dropout": params.Float(0.0, 0.9),
        "batch_size": params.Int(1),
        "samples": params.Optional(params.Int(0)),
        "cleaning": params.Choice(*CLEANINGS),
        "min_count": params.Int(1),
        "rule": params.Choice("dot", "cosine"),
        "device": params.Choice("auto", "cpu", "cuda", "mps"),
        "seed": params.Int(0, 2**63 - 1),
        "threads": params.Optional(params.Int(1)),
    }

    _weights_: dict[str, NDArray[Any]]
    _axes_: Table

    def __init__(
        self,
        dim: int = 128,
        features: int = 200,
        length: int = 10,
        times: int = 10,
        epochs: int = 5,
        learning_rate: float = 0.003,
        dropout: float = 0.2,
        batch_size: int = 128,
        samples: int | None = None,
        cleaning: str = "words",
        min_count: int = 1,
        rule: str = "cosine",
        device: str = "auto",
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        self.dim, self.features, self.length, self.times = dim, features, length, times
        self.epochs, self.learning_rate, self.dropout = epochs, learning_rate, dropout
        self.batch_size, self.samples = batch_size, samples
        self.cleaning, self.min_count = cleaning, min_count
        self.rule, self.device, self.seed, self.threads = rule, device, seed, threads

    def fit(
        self,
        graph: TextGraph,
        checkpoint: str | Path | None = None,
        callback: "Callable[[TextProgress, int], None] | None" = None,
    ) -> Self:
        """Learn from a graph with texts; parameters as in `TGE.fit`."""
        self._check_params()
        self._check_graph(graph)
        texts, began = self._texts(graph), time.perf_counter()
        vocabulary = Vocabulary.fit(texts, self._cleaning, self.min_count)
        if len(vocabulary) == 1:
            raise InputError(
                f"STNE finds no word in these texts that occurs {self.min_count} times or more."
            )
        rows = tfidf(texts, vocabulary)
        self._axes_ = directions(rows, self.features, self.seed).astype(np.float32)
        content = np.asarray(rows @ self._axes_, np.float32)  # (n, f)
        seconds = time.perf_counter() - began
        with torch_threads(self.threads):
            net, feed, progress = self._learn(graph, content, checkpoint, callback)
            self._take(graph, vocabulary, net)
            center = self._means(net, content, feed)
        self.vectors_ = Vectors(center, None, graph.names)
        self.stats_ = {
            "pairs": progress.pairs,
            "updates": progress.updates,
            "walks": progress.passes,
            "epochs": progress.epoch,
            "loss": [progress.loss],
            "seconds": {**progress.seconds, "sample": seconds},
            "words": vocabulary.n_distinct,
            "features": content.shape[1],
            "samples": feed.settings.samples,
            "device": str(self._device()),
        }
        return self

    def _learn(
        self,
        graph: TextGraph,
        content: Table,
        checkpoint: str | Path | None,
        callback: "Callable[[TextProgress, int], None] | None",
    ) -> "tuple[StneNet, WalkFeed, TextProgress]":
        torch, device = import_torch(), self._device()
        from pairgram.training.stne import WalkFeed, train
        from pairgram.training.stne_net import StneNet
        from pairgram.training.text_state import TextProgress

        settings = self._settings(graph)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            by_rows = settings.samples > 0 and device.type != "mps"  # it has no sparse gradients
            net = StneNet(graph.n_nodes, content.shape[1], int(self.dim), by_rows)
        feed = WalkFeed(graph, settings)
        if checkpoint is None:
            return net, feed, train(net, content, feed, graph.degree, device, None, callback)
        kept = {name: v for name, v in self.get_params().items() if name not in UNTRAINED}
        identity = {"method": self.method, "fingerprint": graph.fingerprint, **kept}
        keeper = Checkpoint(Path(checkpoint), identity, kind=TextProgress)
        done = train(
            net, content, feed, graph.degree, device, keeper.read(), keeper.after_turn(callback)
        )
        keeper.write(done)
        return net, feed, done

    def _settings(self, graph: TextGraph) -> "StneSettings":
        from pairgram.training.stne import StneSettings

        samples = self.samples
        if samples is None:
            samples = 0 if graph.n_nodes <= WHOLE_SOFTMAX else SAMPLES
        scored = (samples or graph.n_nodes) * self.length * self.batch_size
        if scored > MOST_LOGITS:
            raise ParameterError(
                f"STNE would hold {scored:,} scores of a batch at once, over {MOST_LOGITS:,}. Use "
                "a smaller 'batch_size', or fewer 'samples' of the softmax."
            )
        return StneSettings(
            self.length, self.times, self.epochs, self.learning_rate, self.dropout,
            self.batch_size, samples, self.seed,
        )  # fmt: skip

    def _check_params(self) -> None:
        super()._check_params()
        if self.dim % 2:
            raise ParameterError(
                f"The 'dim' parameter of STNE must be even, half for each direction. Got "
                f"{self.dim} instead."
            )

    def _check_graph(self, graph: TextGraph) -> None:
        super()._check_graph(graph)
        if graph.n_nodes < FEWEST_NODES:
            raise InputError(
                f"STNE needs a graph of at least {FEWEST_NODES} nodes: a walk between "
                f"{graph.n_nodes} has nothing to tell apart."
            )

    def _take(self, graph: TextGraph, vocabulary: Vocabulary, net: "StneNet") -> None:
        from pairgram.training.text import weights_of

        weights = weights_of(net)
        if not all(np.isfinite(array).all() for array in weights.values()):
            raise PairgramError(
                "STNE did not converge: its weights are no longer numbers. The learning rate was "
                f"{self.learning_rate}; use a smaller one."
            )
        self.graph_, self.fingerprint_, self.vocabulary_ = graph, graph.fingerprint, vocabulary
        self._weights_ = {k: array for k, array in weights.items() if k.startswith(ENCODER)}

    def _means(self, net: "StneNet", content: Table, feed: "WalkFeed") -> Table:
        from pairgram.training.stne import node_vectors

        return node_vectors(net, content, feed, self._device())

    def _vectors_of(self, texts: Sequence[str]) -> tuple[Table, None]:
        torch = import_torch()
        from pairgram.training.stne import text_vectors
        from pairgram.training.stne_net import StneNet

        content = np.asarray(tfidf(texts, self.vocabulary_) @ self._axes_, np.float32)
        net = StneNet(1, self._axes_.shape[1], int(self.dim), False)
        weights = {k: torch.from_numpy(np.array(array)) for k, array in self._weights_.items()}
        try:
            net.load_state_dict({**net.state_dict(), **weights})
        except RuntimeError:
            raise InputError("The weights do not fit the model and its vocabulary.") from None
        net.to(self._device())
        with torch_threads(self.threads):
            return text_vectors(net, content, self._device()), None

    def _make_tables(self) -> Tables:
        center = self.vectors_.center
        return Tables(center, None, None, unit=unit_rows(center))

    def _device(self) -> Any:
        import_torch()
        from pairgram.text.encoders import resolve_device

        return resolve_device(self.device)

    def _weights(self) -> dict[str, NDArray[Any]]:
        return {**self._weights_, AXES: self._axes_}

    def _extra_json(self) -> dict[str, dict[str, Any]]:
        return {WORDS: self.vocabulary_.to_json()}

    def _take_parts(
        self, weights: dict[str, NDArray[Any]], extra: dict[str, dict[str, Any]]
    ) -> None:
        if AXES not in weights or WORDS not in extra:
            raise InputError("weights.safetensors or vocabulary.json is missing.")
        self.vocabulary_ = Vocabulary.from_json(extra[WORDS])
        self._axes_ = weights[AXES]
        if len(self._axes_) != len(self.vocabulary_):
            raise InputError("The vocabulary is damaged: its parts do not fit together.")
        self._weights_ = {k: array for k, array in weights.items() if k.startswith(ENCODER)}
