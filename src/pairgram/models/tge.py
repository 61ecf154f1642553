"""TGE: a node's vector is made from its text, trained on sampled pairs."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from pairgram import params
from pairgram.engine import LocalEngine
from pairgram.errors import InputError, MissingExtraError, PairgramError, ParameterError
from pairgram.graph import TextGraph
from pairgram.models.base import Model, Suggestion
from pairgram.models.placed import Placed
from pairgram.models.scoring import RULES, log_noise
from pairgram.models.sgns import noise_degree
from pairgram.models.tge_presets import PRESETS
from pairgram.sampling.pairs import PairSampler
from pairgram.search import top_k
from pairgram.text.cleaning import CLEANINGS, cleaner
from pairgram.text.tokens import MAX_WORDS, Tokens, tokenize
from pairgram.text.vocabulary import Vocabulary
from pairgram.text.word_vectors import read_word_vectors
from pairgram.training.checkpoint import Checkpoint
from pairgram.training.sgns import NOISE_POWER, noise_mass, score_offset
from pairgram.vectors import Vectors

if TYPE_CHECKING:
    from pairgram.text.encoders import EncoderSpec, TextReader
    from pairgram.training.text import TextSettings, TextTask
    from pairgram.training.text_net import TextNet
    from pairgram.training.text_state import TextProgress

VALIDATION = 0.05
ID_DROPOUT = 0.5
CLIP = 1.0
# These do not change what is trained.
UNTRAINED = ("threads", "rule", "device")

Floats = NDArray[np.floating[Any]]


class TGE(Model):
    """Vectors generated from text, so that a node unseen in training has one too.

    Parameters left None take the value of the preset.

    Parameters
    ----------
    dim
        Length of a vector.
    order
        Largest distance O between the ends of a pair, 1 to 8.
    times
        Rounds N of sampling around every node.
    encoder
        "bilstm": BiLSTM over words, with a BiLSTM over their characters. "bag": the mean of word
        vectors under learned weights; unknown words by their character n-grams.
    preset
        "paper": the paper's model. "best": the best we know, see Notes.
    contexts
        Context vectors from a "table", from "text", or "both" added; from text an unseen node
        has one too.
    id_vectors
        Give a known node a vector of its own beside its text's, left out half the time in
        training, so that the text alone stays enough.
    without_char
        Read no characters: unknown words are all alike.
    without_word
        Read characters alone.
    cleaning
        "paper" deletes . , ; : ! ? " ( ) and cuts at white space; "words" takes Unicode words.
    min_count
        Words that occur less often share one vector, as unknown words do.
    max_words
        Words of a text that are read.
    word_vectors
        File that word vectors start from, such as GloVe's: text, or npz with `vectors` and
        `words_utf8`.
    word_dropout
        Share of words taken for unknown in training: this is how unknown words learn.
    negatives
        Noise nodes K per pair, drawn in proportion to degree^0.75.
    shared_negatives
        Noise nodes drawn once a batch and weighed so that a pair counts K; 0 draws K for every
        distinct pair.
    mask_known
        Leave known links out of the noise.
    offset
        Take log K off every score in training, so that vectors start at "as likely as noise".
    l2
        Weight of the squared lengths of the vectors in the loss of every pair, and of the
        squared weights of the encoder once.
    optimizer
        "adagrad" at a constant rate, or "adam" at one that falls linearly to a tenth.
    learning_rate
        First rate.
    batch_size
        Centres of a batch.
    epochs
        Most passes over the centres.
    patience
        Epochs without a better AUC_pair (under "calibrated") on 5 % of the links, held back for
        this, before training ends with the best weights; 0 trains on all links for all epochs.
    rule
        How links are scored: "dot", "context", "symmetric" or "calibrated".
    device
        "auto", "cpu", "cuda" or "mps"; "auto" is a CUDA card where there is one.
    directed
        Sample along arcs (centre = source).
    seed
        The same seed gives the same vectors on one device and thread count.
    threads
        None takes all cores.

    Attributes
    ----------
    vocabulary_
        Words and characters of the training texts.

    Notes
    -----
    *Differs from the paper.* The paper does not say how the outputs of the word BiLSTM become
    one vector: we take their mean. It trains no vector for unknown words: we drop words at random,
    or that vector would be noise. Noise nodes are shared inside a batch, weighed to the same loss.
    It prints no settings: rates, epochs and sizes are ours.

    `preset="best"` differs from "paper" by: the bag encoder (trains many times faster), contexts
    from text and table (an unseen node is scored from both sides), id vectors (better for known
    nodes), Adam, the offset, known links left out of the noise, "words" cleaning, and the
    calibrated rule. What each buys is not measured yet.

    References
    ----------
    Chen et al., "Sampled in Pairs and Driven by Text: A New Graph Embedding Framework", WWW 2019,
    section 3.3.

    Examples
    --------
    >>> import pairgram as pg
    >>> texts = {"a": "red apple", "b": "red cherry", "c": "blue boat", "d": "blue ship"}
    >>> graph = pg.TextGraph.from_edges(["a", "c"], ["b", "d"], texts=texts)
    >>> model = pg.TGE(dim=8, preset="best", epochs=50).fit(graph)
    >>> model.embed(["a red thing"]).shape
    (1, 8)
    >>> sorted(s.node for s in model.suggest("a red thing", k=2))
    ['a', 'b']
    """

    method: ClassVar[str] = "tge"
    citation: ClassVar[str] = "Chen et al., Sampled in Pairs and Driven by Text, WWW 2019"
    constraints: ClassVar = {
        "dim": params.Int(1, 65536),
        "order": params.Int(1, 8),
        "times": params.Int(1, 65535),
        "encoder": params.Optional(params.Choice("bilstm", "bag")),
        "preset": params.Choice(*PRESETS),
        "contexts": params.Optional(params.Choice("table", "text", "both")),
        "id_vectors": params.Optional(params.Bool()),
        "without_char": params.Bool(),
        "without_word": params.Bool(),
        "cleaning": params.Optional(params.Choice(*CLEANINGS)),
        "min_count": params.Int(1),
        "max_words": params.Int(1, 65536),
        "word_vectors": params.Optional(params.Text()),
        "word_dropout": params.Optional(params.Float(0.0, 0.9)),
        "negatives": params.Int(1, 1000),
        "shared_negatives": params.Int(0, 65536),
        "mask_known": params.Optional(params.Bool()),
        "offset": params.Optional(params.Bool()),
        "l2": params.Optional(params.Float(0.0)),
        "optimizer": params.Optional(params.Choice("adagrad", "adam")),
        "learning_rate": params.Optional(params.Float(0.0, open_low=True)),
        "batch_size": params.Int(1),
        "epochs": params.Optional(params.Int(1)),
        "patience": params.Optional(params.Int(0)),
        "rule": params.Optional(params.Choice(*RULES)),
        "device": params.Choice("auto", "cpu", "cuda", "mps"),
        "directed": params.Bool(),
        "seed": params.Int(0, 2**63 - 1),
        "threads": params.Optional(params.Int(1)),
    }

    vocabulary_: Vocabulary
    _weights_: dict[str, NDArray[Any]]
    _reader_: "TextReader | None"

    def __init__(
        self,
        dim: int = 128,
        order: int = 3,
        times: int = 2,
        encoder: str | None = None,
        preset: str = "paper",
        contexts: str | None = None,
        id_vectors: bool | None = None,
        without_char: bool = False,
        without_word: bool = False,
        cleaning: str | None = None,
        min_count: int = 1,
        max_words: int = MAX_WORDS,
        word_vectors: str | None = None,
        word_dropout: float | None = None,
        negatives: int = 5,
        shared_negatives: int = 512,
        mask_known: bool | None = None,
        offset: bool | None = None,
        l2: float | None = None,
        optimizer: str | None = None,
        learning_rate: float | None = None,
        batch_size: int = 256,
        epochs: int | None = None,
        patience: int | None = None,
        rule: str | None = None,
        device: str = "auto",
        directed: bool = False,
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        self.dim, self.order, self.times = dim, order, times
        self.encoder, self.preset, self.contexts = encoder, preset, contexts
        self.id_vectors, self.without_char, self.without_word = (
            id_vectors, without_char, without_word,
        )  # fmt: skip
        self.cleaning, self.min_count, self.max_words = cleaning, min_count, max_words
        self.word_vectors, self.word_dropout = word_vectors, word_dropout
        self.negatives, self.shared_negatives = negatives, shared_negatives
        self.mask_known, self.offset, self.l2 = mask_known, offset, l2
        self.optimizer, self.learning_rate, self.batch_size = optimizer, learning_rate, batch_size
        self.epochs, self.patience, self.rule = epochs, patience, rule  # type: ignore[assignment]
        self.device, self.directed, self.seed, self.threads = device, directed, seed, threads

    def fit(
        self,
        graph: TextGraph,
        checkpoint: str | Path | None = None,
        callback: "Callable[[TextProgress, int], None] | None" = None,
    ) -> Self:
        """Learn from a graph with texts.

        Parameters
        ----------
        graph
            The training graph.
        checkpoint
            File to keep the training state in, written once a minute, at the end, and when
            `callback` raises. When it holds the state of the same training, that is resumed, and
            on the CPU ends with the same bits as a run without a break.
        callback
            Called after every batch with the progress and the most batches there can be.
        """
        self._check_params()
        self._check_graph(graph)
        texts = self._texts(graph)
        vocabulary = Vocabulary.fit(texts, self._chosen("cleaning"), self.min_count)
        tokens = tokenize(texts, vocabulary, self.max_words)
        with _torch_threads(self.threads), LocalEngine(self.threads) as engine:
            net, spec, task = self._prepare(graph, vocabulary, tokens, engine)
            progress = self._train(net, task, graph, checkpoint, callback)
            center, context = self._vectors(net, task)
        self.graph_, self.fingerprint_ = graph, graph.fingerprint
        self.vectors_ = Vectors(center, context, graph.names)
        self.vocabulary_ = vocabulary
        self._keep(net)
        self.stats_ = _stats(progress, vocabulary, tokens, spec)
        return self

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of texts, known or new, shape (m, dim)."""
        return self._read(texts)[0]

    def place(self, texts: Sequence[str]) -> Placed:
        """New texts ready to be scored against known nodes and each other."""
        return self._placed(texts, "both")

    def words(self, text: str) -> list[str]:
        """Words that the model reads in a text."""
        return cleaner(self._chosen("cleaning"))(text)

    @property
    def rule_(self) -> str:
        """The rule that this model names as its own."""
        return str(self._chosen("rule"))

    @property
    def statistics_(self) -> dict[str, str]:
        """Sha256 of all that was counted in training, by name."""
        self._check_fitted()
        return {**self.vocabulary_.fingerprints, "degrees": _degree_hash(self.graph_)}

    def count_statistics(self, graph: TextGraph) -> dict[str, str]:
        """Count the same in another graph."""
        vocabulary = Vocabulary.fit(self._texts(graph), self._chosen("cleaning"), self.min_count)
        return {**vocabulary.fingerprints, "degrees": _degree_hash(graph)}

    def _chosen(self, name: str) -> Any:
        """Value of a parameter, the preset's where it is None."""
        given = getattr(self, name)
        return PRESETS[self.preset][name] if given is None else given

    def _check_params(self) -> None:
        super()._check_params()
        if self.without_char and self.without_word:
            raise ParameterError(
                "TGE cannot read without characters and without words at once: leave out "
                "without_char or without_word."
            )

    def _texts(self, graph: TextGraph) -> tuple[str, ...]:
        if graph.texts is None or not any(graph.texts):
            raise InputError(
                f"TGE needs texts and none of the {graph.n_nodes} nodes has one. Give them with "
                "texts=, or use PS, which learns from structure alone."
            )
        return graph.texts

    def _prepare(
        self, graph: TextGraph, vocabulary: Vocabulary, tokens: Tokens, engine: LocalEngine
    ) -> "tuple[TextNet, EncoderSpec, TextTask]":
        torch = _torch()
        from pairgram.text.encoders import make_encoder
        from pairgram.training.text_net import TextNet

        start = None
        if self.word_vectors is not None and not self.without_word:
            start = read_word_vectors(self.word_vectors, vocabulary)
        word_dim = self.dim if start is None else start[0].shape[1]
        spec = self._spec(int(word_dim))
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            encoder = make_encoder(spec, vocabulary)
            net = TextNet(
                encoder, graph.n_nodes, self._chosen("contexts"), self._chosen("id_vectors")
            )
        if start is not None:
            encoder.start_from(*start)
        spelling = encoder.spell((*vocabulary.words, *tokens.unknown))
        return net, spec, self._task(graph, tokens, spelling, engine)

    def _spec(self, word_dim: int) -> "EncoderSpec":
        from pairgram.text.encoders import EncoderSpec

        return EncoderSpec(
            self._chosen("encoder"), int(self.dim), word_dim, self.without_char, self.without_word
        )

    def _task(
        self, graph: TextGraph, tokens: Tokens, spelling: Any, engine: LocalEngine
    ) -> "TextTask":
        from pairgram.training.text import TextTask
        from pairgram.training.text_batches import KnownLinks, Noise, PairGroups
        from pairgram.training.text_validation import hold_back

        share = VALIDATION if self._chosen("patience") else 0.0
        smaller, trials = hold_back(graph, share, self.seed)

        def sample(which: TextGraph) -> PairGroups:
            sampler = PairSampler(
                which, self.order, self.times, self.seed, directed=self.directed
            )  # fmt: skip
            return PairGroups(sampler, graph.n_nodes, engine)

        ahead = sample(smaller)
        two_ways = self.directed and self._chosen("contexts") != "table"
        return TextTask(
            tokens.ids,
            spelling,
            ahead,
            sample(_turned(smaller)) if two_ways else ahead,
            Noise(noise_mass(noise_degree(smaller, self.directed))),
            KnownLinks(smaller.adjacency()) if self._chosen("mask_known") else None,
            trials,
        )

    def _settings(self) -> "TextSettings":
        from pairgram.training.text import TextSettings

        names = (
            "negatives", "shared_negatives", "epochs", "patience", "batch_size", "optimizer",
            "learning_rate", "l2", "offset", "word_dropout", "seed",
        )  # fmt: skip
        return TextSettings(
            **{name: self._chosen(name) for name in names}, clip=CLIP, id_dropout=ID_DROPOUT
        )

    def _train(
        self,
        net: "TextNet",
        task: "TextTask",
        graph: TextGraph,
        checkpoint: str | Path | None,
        callback: "Callable[[TextProgress, int], None] | None",
    ) -> "TextProgress":
        from pairgram.text.encoders import resolve_device
        from pairgram.training.text import train
        from pairgram.training.text_state import TextProgress

        settings, device = self._settings(), resolve_device(self.device)
        if checkpoint is None:
            return train(net, task, settings, device, None, callback)
        keeper = Checkpoint(Path(checkpoint), self._identity(graph), kind=TextProgress)
        done = train(
            net, task, settings, device, keeper.read(), keeper.after_turn(callback)
        )  # fmt: skip
        keeper.write(done)
        return done

    def _identity(self, graph: TextGraph) -> dict[str, Any]:
        given = {k: v for k, v in self.get_params().items() if k not in UNTRAINED}
        return {"method": self.method, "fingerprint": graph.fingerprint, **given}

    def _vectors(
        self, net: "TextNet", task: "TextTask"
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        from pairgram.text.encoders import Rows, resolve_device
        from pairgram.training.text import node_vectors

        device = resolve_device(self.device)
        nodes = np.arange(len(task.words))
        center, context = node_vectors(
            net, task.words, nodes, Rows.of(task.spelling, device), device
        )
        if not np.isfinite(center).all() or not np.isfinite(context).all():
            raise PairgramError(
                "TGE did not converge: its vectors are no longer numbers. The learning rate was "
                f"{self._chosen('learning_rate')}; use a smaller one."
            )
        return center, context

    def _keep(self, net: "TextNet") -> None:
        from pairgram.text.encoders.reader import ENCODER, HEAD
        from pairgram.training.text import weights_of

        kept = {k: a for k, a in weights_of(net).items() if k.startswith((ENCODER, HEAD))}
        self._weights_, self._reader_ = kept, None

    def _reader(self) -> "TextReader":
        """The encoder, made at its first use."""
        self._check_fitted()
        if self._reader_ is None:
            _torch()
            from pairgram.text.encoders import TextReader, resolve_device

            spec = self._spec(int(self.stats_["word_dim"]))
            self._reader_ = TextReader(
                spec, self.vocabulary_, self._weights_, self.max_words, resolve_device(self.device)
            )
        return self._reader_

    def _read(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], NDArray[np.float32] | None]:
        if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
            raise InputError("TGE reads a list of texts. Got something else: pass [text].")
        reader = self._reader()
        with _torch_threads(self.threads):
            return reader.read(texts)

    def _placed(self, texts: Sequence[str], direction: str) -> Placed:
        center, context = self._read(texts)
        prior = self._prior()
        alone = prior[0] - NOISE_POWER * np.log(max(int(self._noise_degree()[0]), 1))
        return Placed(
            self._directed_tables(direction), self.rule_, center, context, float(alone)
        )  # fmt: skip

    def _suggest_text(
        self, text: str, k: int, direction: str, rule: str | None
    ) -> list[Suggestion]:
        scores = self._placed([text], direction).block(slice(0, 1), rule)[0]
        nothing = np.empty(0, np.int64)
        found, best = top_k(lambda a, b: scores[a:b], self.graph_.n_nodes, k, nothing)
        read = self.words(text)
        return [
            Suggestion(str(self.graph_.names[v]), float(s), self._text(v), self._shared(read, v))
            for v, s in zip(found.tolist(), best, strict=True)
        ]

    def _shared(self, read: list[str], v: int) -> str:
        """Shared words, the rarest first, as many as fit in a line."""
        ids = self.vocabulary_.ids
        common = sorted(set(read) & set(self.words(self._text(v))), key=lambda w: -ids.get(w, 0))
        if not common:
            return "no shared word"
        more = ", …" if len(common) > 3 else ""
        return f"{len(common)} shared word{'s' * (len(common) > 1)}: {', '.join(common[:3])}{more}"

    def _noise_degree(self) -> NDArray[np.int64]:
        return noise_degree(self.graph_, self.directed)

    def _prior(self) -> Floats:
        offset = score_offset(self.negatives, self._chosen("offset"))
        return log_noise(self._noise_degree(), self.negatives, NOISE_POWER, offset)

    def _weights(self) -> dict[str, NDArray[Any]]:
        return self._weights_

    def _extra_json(self) -> dict[str, dict[str, Any]]:
        return {"vocabulary": self.vocabulary_.to_json()}

    def _take_parts(
        self, weights: dict[str, NDArray[Any]], extra: dict[str, dict[str, Any]]
    ) -> None:
        if not weights or "vocabulary" not in extra:
            raise InputError("weights.safetensors or vocabulary.json is missing.")
        if not isinstance(self.stats_.get("word_dim"), int):
            raise InputError("config.json does not say how long word vectors are.")
        self.vocabulary_ = Vocabulary.from_json(extra["vocabulary"])
        self._weights_, self._reader_ = weights, None


def _turned(graph: TextGraph) -> TextGraph:
    """All arcs the other way round."""
    return TextGraph.from_edges(graph.target, graph.source, names=graph.names, directed=True)


def _stats(
    progress: "TextProgress", vocabulary: Vocabulary, tokens: Tokens, spec: "EncoderSpec"
) -> dict[str, Any]:
    return {
        "pairs": progress.pairs,
        "updates": progress.updates,
        "passes": progress.passes,
        "epochs": progress.epoch,
        "best_epoch": progress.best_epoch,
        "scores": progress.scores,
        "loss": [progress.loss],
        "seconds": progress.seconds,
        "words": vocabulary.n_distinct,
        "characters": len(vocabulary.characters),
        "empty_texts": tokens.empty,
        "cut_texts": tokens.cut,
        "word_dim": spec.word_dim,
    }


def _degree_hash(graph: TextGraph) -> str:
    return hashlib.sha256(np.ascontiguousarray(graph.degree, "<i8").tobytes()).hexdigest()


def _torch() -> Any:
    try:
        import torch
    except ImportError:
        raise MissingExtraError("TGE", "text") from None
    return torch


@contextmanager
def _torch_threads(threads: int | None) -> Iterator[None]:
    """Let torch use so many threads for a while; None leaves it as it is."""
    torch = _torch()
    before = torch.get_num_threads()
    try:
        if threads is not None:
            torch.set_num_threads(threads)
        yield
    finally:
        torch.set_num_threads(before)
