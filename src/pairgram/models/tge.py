"""TGE: a node's vector is made from its text, trained on sampled pairs."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from pairgram.errors import InputError, ParameterError
from pairgram.graph import TextGraph
from pairgram.graph.fingerprint import degree_hash
from pairgram.models.curating import CONTINUED_RATE
from pairgram.models.link_asking import LinkRankedModel
from pairgram.models.reading import Table
from pairgram.models.scoring import log_noise
from pairgram.models.sgns import noise_degree
from pairgram.models.tge_fit import (
    Job,
    encoder_spec,
    held_back,
    import_torch,
    learn,
    torch_threads,
)
from pairgram.models.tge_presets import CONSTRAINTS, PRESETS
from pairgram.models.tge_weights import net_weights
from pairgram.search.ranker import RANKED
from pairgram.text.pieces import Pretrained
from pairgram.text.tokens import MAX_WORDS, Tokens, tokenize
from pairgram.text.vocabulary import Vocabulary
from pairgram.training.settings import NOISE_POWER, score_offset
from pairgram.vectors import Vectors

if TYPE_CHECKING:
    from pairgram.engine import Engine
    from pairgram.text.encoders import TextReader
    from pairgram.training.text_state import TextProgress

# These do not change what is trained.
UNTRAINED = ("threads", "rule", "device")
PRETRAINED = "pretrained"
FEW_TEXTS = 256


class TGE(LinkRankedModel):
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
        vectors under learned weights; unknown words by their character n-grams. "pretrained": a
        transformer, fine-tuned (extra `lm`).
    preset
        "paper": the paper's model. "best": the best we know, see Notes.
    pretrained
        Folder of a sentence-transformers model, read by the encoder of that name. Its weights
        learn at a hundredth of the rate. It cuts texts by its own rules, not by `cleaning`.
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
        Centres of a batch; None for a fiftieth of all, 16 to 512.
    epochs
        Most passes over the centres.
    patience
        Epochs without a better AUC_pair (under "calibrated") on 5 % of the links, held back for
        this, before training ends with the best weights; 0 trains on all links for all epochs.
    refit
        After an end by `patience`, train afresh on all links for as many epochs as were best.
    rule
        How links are scored: "dot", "context", "symmetric" or "calibrated". Left None, links of
        known nodes are "ranked" where there is a ranker of them.
    ranker
        Fit rankers too: the links of new texts are then suggested under the rule "ranked", from
        words, phrases, letters, two towers and links of near nodes; and those of known nodes, from
        vectors, paths and words, where `patience` held links back to learn it from. Not for
        `directed`.
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
    Its loss has no offset: without one (`offset=False`) training first pushes all scores down, all
    texts to one vector, and needs many epochs to come back from there. It prints no settings:
    rates, a rate that rises in the first epoch, epochs and sizes are ours.

    `preset="best"` differs from "paper" by: the bag encoder (trains many times faster), contexts
    from text and table (an unseen node is scored from both sides), id vectors (better for known
    nodes), Adam, known links left out of the noise, "words" cleaning, the calibrated rule, and
    rankers for the links of new texts and of known nodes. The tables in `results/` have both side
    by side; docs/research.md says what the parts of the rankers buy.

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
    constraints: ClassVar = CONSTRAINTS

    _weights_: dict[str, NDArray[Any]]
    _reader_: "TextReader | None"
    _pretrained_: Pretrained | None

    def __init__(
        self,
        dim: int = 128,
        order: int = 3,
        times: int = 2,
        encoder: str | None = None,
        preset: str = "paper",
        pretrained: str | None = None,
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
        batch_size: int | None = None,
        epochs: int | None = None,
        patience: int | None = None,
        refit: bool = False,
        rule: str | None = None,
        ranker: bool | None = None,
        device: str = "auto",
        directed: bool = False,
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        self.dim, self.order, self.times = dim, order, times
        self.encoder, self.preset, self.contexts = encoder, preset, contexts
        self.pretrained = pretrained
        self.id_vectors, self.without_char, self.without_word = (
            id_vectors, without_char, without_word,
        )  # fmt: skip
        self.cleaning, self.min_count, self.max_words = cleaning, min_count, max_words
        self.word_vectors, self.word_dropout = word_vectors, word_dropout
        self.negatives, self.shared_negatives = negatives, shared_negatives
        self.mask_known, self.offset, self.l2 = mask_known, offset, l2
        self.optimizer, self.learning_rate, self.batch_size = optimizer, learning_rate, batch_size
        self.epochs, self.patience, self.rule = epochs, patience, rule  # type: ignore[assignment]
        self.refit, self.ranker = refit, ranker
        self.device, self.directed, self.seed, self.threads = device, directed, seed, threads

    def fit(
        self,
        graph: TextGraph,
        checkpoint: str | Path | None = None,
        callback: "Callable[[TextProgress, int], None] | None" = None,
        engine: "Engine | str | None" = None,
    ) -> Self:
        """Learn from a graph with texts.

        Parameters
        ----------
        graph
            The training graph.
        checkpoint
            File or URI (s3://…) to keep the training state in, once a minute, at the end, and when
            `callback` raises. When it holds the state of the same training, that is resumed, and
            on the CPU ends with the same bits as a run without a break.
        callback
            Called after every batch with the progress and the most batches there can be.
        engine
            "local", "ray" or an engine. On Ray workers train together, as many as `threads` says:
            the same number of them gives the same vectors, near those of one machine.
        """
        self._check_params()
        self._check_graph(graph)
        texts, chosen = self._texts(graph), self._all_chosen()
        vocabulary = Vocabulary.fit(texts, chosen["cleaning"], self.min_count)
        parts = None if self.pretrained is None else Pretrained.read(self.pretrained)
        tokens = self._tokens(texts, vocabulary, parts)
        job = Job(chosen, graph, vocabulary, tokens, parts)
        learned = learn(job, self._identity(graph), checkpoint, callback, engine)
        self.graph_, self.fingerprint_ = graph, graph.fingerprint
        self.vectors_ = Vectors(learned.center, learned.context, graph.names)
        self.vocabulary_, self.stats_, self._pretrained_ = vocabulary, learned.stats, parts
        self._weights_, self._reader_ = learned.weights, None
        if chosen["ranker"] and not self.directed:
            with torch_threads(self.threads):
                self._fit_rankers(graph, held_back(chosen, graph))
        return self

    def _continue(self, graph: TextGraph, epochs: int) -> None:
        """Go on from the weights as they are; words keep the vocabulary of the fit."""
        texts, chosen = self._texts(graph), self._all_chosen()
        rate = chosen["learning_rate"] * CONTINUED_RATE
        chosen |= {"epochs": epochs, "patience": 0, "learning_rate": rate}
        tokens = self._tokens(texts, self.vocabulary_, self._pretrained_)
        job = Job(
            chosen, graph, self.vocabulary_, tokens, self._pretrained_, net_weights(self, texts),
            int(self.stats_["word_dim"]),
        )  # fmt: skip
        learned = learn(job, self._identity(graph), None, None)
        self.graph_, self.fingerprint_ = graph, graph.fingerprint
        self.vectors_ = Vectors(learned.center, learned.context, graph.names)
        self.stats_, self._weights_, self._reader_ = learned.stats, learned.weights, None

    def _tokens(
        self, texts: Sequence[str], vocabulary: Vocabulary, parts: Pretrained | None
    ) -> Tokens:
        if parts is None:
            return tokenize(texts, vocabulary, self.max_words)
        return parts.tokenize(texts, self.max_words)

    @property
    def _cleaning(self) -> str:
        return str(self._chosen("cleaning"))

    @property
    def rule_(self) -> str:
        """The rule that this model names as its own."""
        return RANKED if self.links_ is not None and self.rule is None else self.vector_rule_

    @property
    def vector_rule_(self) -> str:
        """The rule for what has vectors alone, such as a new node."""
        return str(self._chosen("rule"))

    @property
    def statistics_(self) -> dict[str, str]:
        """Sha256 of all that was counted in training, by name."""
        return {**super().statistics_, "degrees": degree_hash(self.graph_.degree)}

    def count_statistics(self, graph: TextGraph) -> dict[str, str]:
        """Count the same in another graph."""
        return {**super().count_statistics(graph), "degrees": degree_hash(graph.degree)}

    def _chosen(self, name: str) -> Any:
        """Value of a parameter, the preset's where it is None."""
        given = getattr(self, name)
        return PRESETS[self.preset].get(name) if given is None else given

    def _all_chosen(self) -> dict[str, Any]:
        return {name: self._chosen(name) for name in self.get_params()}

    def _check_params(self) -> None:
        super()._check_params()
        if self.without_char and self.without_word:
            raise ParameterError(
                "TGE cannot read without characters and without words at once: leave out "
                "without_char or without_word."
            )
        if (self._chosen("encoder") == "pretrained") != (self.pretrained is not None):
            raise ParameterError(
                "TGE reads a transformer with encoder='pretrained' and pretrained= its folder: "
                "give both or neither."
            )
        strange = ("word_vectors", "without_char", "without_word")
        given = [name for name in strange if getattr(self, name)]
        if self.pretrained is not None and given:
            raise ParameterError(
                f"The pretrained encoder of TGE reads its own pieces: leave out {given[0]}."
            )

    def _identity(self, graph: TextGraph) -> dict[str, Any]:
        given = {k: v for k, v in self.get_params().items() if k not in UNTRAINED}
        return {"method": self.method, "fingerprint": graph.fingerprint, **given}

    def _reader(self) -> "TextReader":
        """The encoder, made at its first use."""
        if self._reader_ is None:
            import_torch()
            from pairgram.text.encoders import TextReader, resolve_device

            word_dim = int(self.stats_["word_dim"])
            spec = encoder_spec(self._all_chosen(), word_dim, self._pretrained_)
            self._reader_ = TextReader(
                spec, self.vocabulary_, self._weights_, self.max_words, resolve_device(self.device)
            )
        return self._reader_

    def _vectors_of(self, texts: Sequence[str]) -> tuple[Table, Table | None]:
        reader = self._reader()
        # Threads that wait for each other take longer than to add up a few words.
        few = self._chosen("encoder") == "bag" and len(texts) <= FEW_TEXTS
        with torch_threads(1 if few else self.threads):
            return reader.read(texts)

    def _prior_of_new(self) -> float:
        prior, degree = self._tables().prior, max(int(self._noise_degree()[0]), 1)
        return 0.0 if prior is None else float(prior[0] - NOISE_POWER * np.log(degree))

    @property
    def _reads_letters(self) -> bool:
        return not self.without_char

    def _noise_degree(self) -> NDArray[np.int64]:
        return noise_degree(self.graph_, self.directed)

    def _prior(self) -> NDArray[np.floating[Any]]:
        offset = score_offset(self.negatives, self._chosen("offset"))
        return log_noise(self._noise_degree(), self.negatives, NOISE_POWER, offset)

    def _weights(self) -> dict[str, NDArray[Any]]:
        return self._weights_

    def _extra_json(self) -> dict[str, dict[str, Any]]:
        parts = self._pretrained_
        more = {} if parts is None else {PRETRAINED: parts.to_json()}
        return {"vocabulary": self.vocabulary_.to_json(), **more}

    def _take_parts(
        self, weights: dict[str, NDArray[Any]], extra: dict[str, dict[str, Any]]
    ) -> None:
        if not weights or "vocabulary" not in extra:
            raise InputError("weights.safetensors or vocabulary.json is missing.")
        if not isinstance(self.stats_.get("word_dim"), int):
            raise InputError("config.json does not say how long word vectors are.")
        if self.pretrained is not None and PRETRAINED not in extra:
            raise InputError(f"{PRETRAINED}.json is missing.")
        parts = extra.get(PRETRAINED)
        self._pretrained_ = None if parts is None else Pretrained.from_json(parts)
        self.vocabulary_ = Vocabulary.from_json(extra["vocabulary"])
        self._weights_, self._reader_ = weights, None
