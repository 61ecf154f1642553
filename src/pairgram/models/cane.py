"""CANE: a vector for the structure, and a text vector that depends on the other node."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from pairgram import params
from pairgram.errors import InputError, PairgramError, ParameterError
from pairgram.graph import TextGraph
from pairgram.models.additions import NEW
from pairgram.models.cane_fit import anchors, averaged, learn
from pairgram.models.cane_rank import rerank
from pairgram.models.catalog import Catalog
from pairgram.models.counting import CountingModel
from pairgram.models.moment import of_one_moment
from pairgram.models.reading import Table
from pairgram.models.scoring import Floats, IntArray, Tables
from pairgram.models.tge_fit import import_torch, torch_threads
from pairgram.text.cleaning import CLEANINGS
from pairgram.text.tokens import known_words
from pairgram.text.vocabulary import Vocabulary
from pairgram.vectors import Vectors

if TYPE_CHECKING:
    from pairgram.training.cane import PairTexts
    from pairgram.training.cane_net import CaneNet
    from pairgram.training.text_state import TextProgress

PAIR = "pair"
WORDS, STRUCTURE = "vocabulary", "structure.weight"
# These do not change what is trained.
UNTRAINED = ("threads", "rule", "device")


class CANE(CountingModel):
    """Vectors [s ; t]: s learnt for the node, t read from its text in view of the other's.

    `vectors_` holds s beside the mean of t over the node's training neighbours; of a node without
    any, and of a new text, over 32 seeded known texts (its s is zero).

    Parameters
    ----------
    dim
        Length of a vector, even: half of it for s, half for t.
    with_attention
        Read a text in view of the other one; otherwise a text has one vector.
    structure_weight
        Weight of s·s in the loss.
    text_weight
        Weight of t·t.
    cross_weight
        Weight of t·s and of s·t.
    negatives
        Noise nodes K per link, drawn in proportion to degree^0.75.
    epochs
        Passes over the links, both directions.
    learning_rate
        Rate of Adam.
    batch_size
        Links of a batch.
    max_words
        Words of a text that are read.
    cleaning
        "paper" deletes . , ; : ! ? " ( ) and cuts at white space; "words" takes Unicode words.
    min_count
        Words that occur less often are not read.
    rule
        How links are scored: "pair" by s·s + t·t with the two texts in view of each other, "dot"
        by the vectors in `vectors_`. Where all nodes are ranked, "pair" ranks the best 1,000 of
        "dot" anew and leaves the others behind them. Without attention there is "dot" alone.
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
    *Differs from the paper.* Weights of the parts of the loss are those of the authors' newest
    command line, 1 for texts and 0.3 for the others; their paper searches them. Padding has no part
    in the attention. Noise is scored as a link would be, in view of the centre and the centre in
    view of it; their code keeps the centre in view of the link's other end. Their code bounds the
    length of s by 1, their paper does not, nor do we. Every link is taken in both directions.

    References
    ----------
    Tu, Liu, Liu, Sun, "CANE: Context-Aware Network Embedding for Relation Modeling", ACL 2017.

    Examples
    --------
    >>> import pairgram as pg
    >>> texts = {"a": "red apple", "b": "red cherry", "c": "blue boat", "d": "blue ship"}
    >>> graph = pg.TextGraph.from_edges(["a", "c"], ["b", "d"], texts=texts)
    >>> model = pg.CANE(dim=8, epochs=30).fit(graph)
    >>> model.vectors_.center.shape, model.rules_
    ((4, 8), ('dot', 'pair'))
    """

    method: ClassVar[str] = "cane"
    citation: ClassVar[str] = "Tu et al., CANE, ACL 2017"
    constraints: ClassVar = {
        "dim": params.Int(2, 65536),
        "with_attention": params.Bool(),
        "structure_weight": params.Float(0.0),
        "text_weight": params.Float(0.0),
        "cross_weight": params.Float(0.0),
        "negatives": params.Int(1, 1000),
        "epochs": params.Int(1),
        "learning_rate": params.Float(0.0, open_low=True),
        "batch_size": params.Int(1),
        "max_words": params.Int(1, 65536),
        "cleaning": params.Choice(*CLEANINGS),
        "min_count": params.Int(1),
        "rule": params.Choice("dot", PAIR),
        "device": params.Choice("auto", "cpu", "cuda", "mps"),
        "seed": params.Int(0, 2**63 - 1),
        "threads": params.Optional(params.Int(1)),
    }

    _weights_: dict[str, NDArray[Any]]
    _reader_: "tuple[tuple[TextGraph, int], PairTexts] | None"

    def __init__(
        self,
        dim: int = 200,
        with_attention: bool = True,
        structure_weight: float = 0.3,
        text_weight: float = 1.0,
        cross_weight: float = 0.3,
        negatives: int = 1,
        epochs: int = 200,
        learning_rate: float = 0.001,
        batch_size: int = 64,
        max_words: int = 300,
        cleaning: str = "words",
        min_count: int = 1,
        rule: str = PAIR,
        device: str = "auto",
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        self.dim, self.with_attention = dim, with_attention
        self.structure_weight, self.text_weight = structure_weight, text_weight
        self.cross_weight, self.negatives, self.epochs = cross_weight, negatives, epochs
        self.learning_rate, self.batch_size, self.max_words = learning_rate, batch_size, max_words
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
        texts = self._texts(graph)
        vocabulary = Vocabulary.fit(texts, self._cleaning, self.min_count)
        if len(vocabulary) == 1:
            raise InputError(
                f"CANE finds no word in these texts that occurs {self.min_count} times or more."
            )
        words = known_words(texts, vocabulary, self.max_words)
        with torch_threads(self.threads):
            given, device = self.get_params(), self._device()
            kept = {name: value for name, value in given.items() if name not in UNTRAINED}
            identity = {"method": self.method, "fingerprint": graph.fingerprint, **kept}
            net, progress = learn(
                given, graph, words, len(vocabulary), device, identity, checkpoint, callback
            )
            self._take(graph, vocabulary, net)
            center = averaged(graph, words, net, device, self.seed)
            self.vectors_ = Vectors(center, None, graph.names)
        self.stats_ = {
            "pairs": progress.pairs,
            "updates": progress.updates,
            "passes": progress.passes,
            "epochs": progress.epoch,
            "loss": [progress.loss],
            "seconds": progress.seconds,
            "words": vocabulary.n_distinct,
            "device": str(self._device()),
        }
        return self

    @property
    def rules_(self) -> tuple[str, ...]:
        """Scoring rules that this model allows."""
        own = super().rules_
        return (*own, PAIR) if self.with_attention else own

    @property
    def rule_(self) -> str:
        """The rule that this model names as its own."""
        return self.rule if self.with_attention else "dot"

    def pair_vectors(self, source: IntArray, target: IntArray) -> tuple[Table, Table]:
        """Vectors [s ; t] of both ends of links, texts in view of each other, both (m, dim)."""
        self._check_fitted()
        center, half = self.vectors_.center, self.dim // 2
        with torch_threads(self.threads):
            read = self._reader(()).read(np.asarray(source, np.int64), np.asarray(target, np.int64))
        ends = zip((source, target), read, strict=True)
        left, right = (np.hstack((center[nodes, :half], text)) for nodes, text in ends)
        return left, right

    def pair_features(self, source: IntArray, target: IntArray) -> Table:
        """Element-wise products of the ends' vectors under the model's own rule, (m, dim)."""
        if self.rule_ == PAIR:
            left, right = self.pair_vectors(source, target)
            return left * right
        center = self.vectors_.center
        return center[source] * center[target]

    @of_one_moment
    def _score(self, pairs: Sequence[tuple[str, str]], rule: str | None) -> Floats:
        catalog = self._catalog()
        if self._rule(rule) != PAIR or not catalog.additions:
            return super()._score(pairs, rule)
        ends = np.array([catalog.positions(pair) for pair in pairs], np.int64).reshape(-1, 2)
        return self._score_now(catalog, ends[:, 0], ends[:, 1])

    def score_positions(
        self, source: IntArray, target: IntArray, rule: str | None = None
    ) -> Floats:
        """Scores of links between positions of the training graph, both shape (m,)."""
        if self._rule(rule) != PAIR:
            return super().score_positions(source, target, rule)
        left, right = self.pair_vectors(source, target)
        scores: Floats = np.einsum("ij,ij->i", left, right)
        return scores

    def score_block(self, nodes: IntArray, rule: str | None = None) -> Floats:
        """Scores of positions, shape (b,), with every node, (b, n); "pair" as `rule` says."""
        block = super().score_block(nodes, "dot")
        if self._rule(rule) == PAIR:
            rerank(block, nodes, lambda u, v: self.score_positions(u, v, PAIR))
        return block

    def terms(self, rule: str | None = None) -> tuple[list[tuple[Floats, Floats]], Floats | None]:
        """What `score_block` adds up; the rule "pair" is no sum of products of tables."""
        if self._rule(rule) == PAIR:
            raise ParameterError(
                "CANE's rule 'pair' reads the two texts together and is no product of tables. "
                "Use 'dot'."
            )
        return super().terms(rule)

    def build_index(self, rule: str | None = None) -> Self:
        """Build the index for approximate search by "dot"; "pair" is no product of tables."""
        chosen = "dot" if rule is None else self._rule(rule)
        self.terms(chosen)
        return super().build_index(chosen)

    def _rule_for(self, catalog: Catalog, query: Tables, rule: str | None, is_new: bool) -> str:
        """The rule; "dot" for "pair" where the query came after the fit, without structure."""
        if is_new and self._rule(rule) == PAIR:
            return "dot"
        return super()._rule_for(catalog, query, rule, is_new)

    def _block_of_node(
        self, catalog: Catalog, rule: str, position: int
    ) -> Callable[[slice], Floats] | None:
        if rule != PAIR or catalog.home(position) == NEW:
            return None
        scores = catalog.block(catalog.query(position), "dot", slice(0, 1))
        rerank(scores, np.array([position]), lambda u, v: self._score_now(catalog, u, v))
        return lambda rows: scores[rows]

    def _score_now(self, catalog: Catalog, source: IntArray, target: IntArray) -> Floats:
        """Scores by pairs of current positions, both (m,), by "dot" where an end is new."""
        left, right = catalog.take(source).center, catalog.take(target).center
        scores: Floats = np.einsum("ij,ij->i", left, right)
        home = np.append(np.arange(catalog.n_fitted), catalog.additions.home)
        old = (home[source] != NEW) & (home[target] != NEW)
        reader, half = self._reader(catalog.additions.rows.texts), self.dim // 2
        with torch_threads(self.threads):
            texts = reader.read(source[old].astype(np.int64), target[old].astype(np.int64))
        scores[old] = np.einsum("ij,ij->i", left[old, :half], right[old, :half])
        scores[old] += np.einsum("ij,ij->i", *texts)
        return scores

    def _check_params(self) -> None:
        super()._check_params()
        if self.dim % 2:
            raise ParameterError(
                f"The 'dim' parameter of CANE must be even, half for the structure and half for "
                f"the text. Got {self.dim} instead."
            )

    def _take(self, graph: TextGraph, vocabulary: Vocabulary, net: "CaneNet") -> None:
        from pairgram.training.text import weights_of

        weights = weights_of(net)
        if not all(np.isfinite(array).all() for array in weights.values()):
            raise PairgramError(
                "CANE did not converge: its weights are no longer numbers. The learning rate was "
                f"{self.learning_rate}; use a smaller one."
            )
        self.graph_, self.fingerprint_, self.vocabulary_ = graph, graph.fingerprint, vocabulary
        self._weights_ = {k: array for k, array in weights.items() if k != STRUCTURE}
        self._reader_ = None

    def _vectors_of(self, texts: Sequence[str]) -> tuple[Table, None]:
        from pairgram.training.cane import PairTexts

        known = self._texts(self.graph_)
        listed = [*texts, *(known[node] for node in anchors(self.graph_, self.seed).tolist())]
        words = known_words(listed, self.vocabulary_, self.max_words)
        rows, others = np.split(np.arange(len(listed)), [len(texts)])
        with torch_threads(self.threads):
            reader = PairTexts(self._net(), words, self._device())
            found = reader.means_over(rows, others)
        return np.hstack((np.zeros_like(found), found)), None

    def _reader(self, more: Sequence[str]) -> "PairTexts":
        """Reader of the known texts and of those that came since, made when they are others."""
        key = self.graph_, len(more)
        if self._reader_ is None or self._reader_[0] != key:
            from pairgram.training.cane import PairTexts

            texts = (*self._texts(self.graph_), *more)
            words = known_words(texts, self.vocabulary_, self.max_words)
            self._reader_ = key, PairTexts(self._net(), words, self._device())
        return self._reader_[1]

    def _net(self) -> "CaneNet":
        """The module that reads texts; structure vectors are in `vectors_`."""
        torch = import_torch()
        from pairgram.training.cane_net import CaneNet

        net = CaneNet(1, len(self.vocabulary_), self.dim // 2, self.with_attention)
        weights = {k: torch.from_numpy(np.array(array)) for k, array in self._weights_.items()}
        try:
            net.load_state_dict(weights | {STRUCTURE: net.structure.weight})
        except RuntimeError:
            raise InputError("The weights do not fit the model and its vocabulary.") from None
        net.to(self._device())
        return net

    def _device(self) -> Any:
        import_torch()
        from pairgram.text.encoders import resolve_device

        return resolve_device(self.device)

    def _weights(self) -> dict[str, NDArray[Any]]:
        return self._weights_

    def _extra_json(self) -> dict[str, dict[str, Any]]:
        return {WORDS: self.vocabulary_.to_json()}

    def _take_parts(
        self, weights: dict[str, NDArray[Any]], extra: dict[str, dict[str, Any]]
    ) -> None:
        if not weights or WORDS not in extra:
            raise InputError("weights.safetensors or vocabulary.json is missing.")
        self.vocabulary_ = Vocabulary.from_json(extra[WORDS])
        self._weights_, self._reader_ = weights, None
        self._texts(self.graph_)
