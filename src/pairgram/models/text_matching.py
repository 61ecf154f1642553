"""Text Matching: nodes are linked when their texts are alike."""

import time
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from pairgram import params
from pairgram.errors import InputError, ParameterError
from pairgram.graph import TextGraph
from pairgram.models.reading import ReadingModel, Table
from pairgram.models.scoring import Tables, unit_rows
from pairgram.text.cleaning import CLEANINGS, cleaner
from pairgram.text.word_table import WordTable
from pairgram.text.word_vectors import read_all_word_vectors
from pairgram.vectors import Vectors

VECTORS, WORDS = "word_vectors", "vocabulary"


class TextMatching(ReadingModel):
    """The mean of word vectors made elsewhere: what text alone says, with nothing learnt.

    Parameters
    ----------
    word_vectors
        File of word vectors, such as GloVe's: text, or npz with `vectors` and `words_utf8`.
    cleaning
        "paper" deletes . , ; : ! ? " ( ) and cuts at white space; "words" takes Unicode words.
    rule
        How links are scored: "dot" is the paper's, "cosine" leaves the lengths out.

    Attributes
    ----------
    words_
        The words of the file with their vectors. All of them are kept, so that a new text is read
        as well as a known one.

    Notes
    -----
    *Differs from the paper.* The paper names GloVe but neither the set nor the length of its
    vectors. Its figure is that of the raw dot product, so that is the default, although "cosine" is
    far better on abstracts: the length of a mean says how common its words are, not what they say.

    References
    ----------
    Chen et al., "Sampled in Pairs and Driven by Text: A New Graph Embedding Framework", WWW 2019,
    section 4.2; Pennington, Socher, Manning, "GloVe: Global Vectors for Word Representation",
    EMNLP 2014.

    Examples
    --------
    >>> import tempfile, pairgram as pg
    >>> texts = {"a": "red apple", "b": "red cherry", "c": "blue boat"}
    >>> graph = pg.TextGraph.from_edges(["a"], ["b"], texts=texts)
    >>> with tempfile.NamedTemporaryFile("w+", suffix=".txt") as file:
    ...     for line in ("red 1 0", "blue 0 1", "boat 0 2"):
    ...         print(line, file=file, flush=True)
    ...     model = pg.TextMatching(file.name, rule="cosine").fit(graph)
    >>> [(s.node, s.why) for s in model.suggest("a red thing", k=2)]
    [('a', '1 shared word: red'), ('b', '1 shared word: red')]
    """

    method: ClassVar[str] = "text_matching"
    citation: ClassVar[str] = "Pennington et al., GloVe, EMNLP 2014"
    constraints: ClassVar = {
        "word_vectors": params.Optional(params.Text()),
        "cleaning": params.Choice(*CLEANINGS),
        "rule": params.Choice("dot", "cosine"),
    }

    words_: WordTable

    def __init__(
        self, word_vectors: str | None = None, cleaning: str = "words", rule: str = "dot"
    ) -> None:
        self.word_vectors, self.cleaning, self.rule = word_vectors, cleaning, rule

    def fit(self, graph: TextGraph) -> Self:
        """Read the word vectors and average them over the text of every node.

        Parameters
        ----------
        graph
            Nodes with texts; links are used only to leave known ones out of suggestions.
        """
        self._check_params()
        self._check_graph(graph)
        if self.word_vectors is None:
            raise ParameterError(
                "TextMatching needs word vectors: give the 'word_vectors' parameter a file such as "
                "glove.6B.100d.txt."
            )
        texts, began = self._texts(graph), time.perf_counter()
        words = WordTable(self.cleaning, *read_all_word_vectors(self.word_vectors))
        center = words.means(texts)
        if not center.any():
            raise InputError(f"{self.word_vectors} holds none of the words of these texts.")
        self.words_ = words
        self.graph_, self.fingerprint_ = graph, graph.fingerprint
        self.vectors_ = Vectors(center, None, graph.names)
        self.stats_ = {
            "pairs": 0, "updates": 0,
            "seconds": {"sample": 0.0, "train": time.perf_counter() - began},
            "word_vectors": len(words.words),
            "texts_without_vector": int(np.count_nonzero(~center.any(axis=1))),
        }  # fmt: skip
        return self

    def _continue(self, graph: TextGraph, epochs: int) -> None:
        """Links teach nothing here; they are known from now on."""
        center = np.concatenate([self.vectors_.center, self.words_.means(
            self._texts(graph)[len(self.vectors_) :]
        )])  # fmt: skip
        self.graph_, self.fingerprint_ = graph, graph.fingerprint
        self.vectors_ = Vectors(center, None, graph.names)

    def words(self, text: str) -> list[str]:
        """Words that the model reads in a text."""
        return cleaner(self.cleaning)(text)

    def _vectors_of(self, texts: Sequence[str]) -> tuple[Table, None]:
        return self.words_.means(texts), None

    @property
    def _word_ids(self) -> Mapping[str, int]:
        return self.words_.ids

    def _make_tables(self) -> Tables:
        center = self.vectors_.center
        return Tables(center, None, None, unit=unit_rows(center))

    def _weights(self) -> dict[str, NDArray[Any]]:
        return {VECTORS: self.words_.vectors}

    def _extra_json(self) -> dict[str, dict[str, Any]]:
        return {WORDS: self.words_.to_json()}

    def _take_parts(
        self, weights: dict[str, NDArray[Any]], extra: dict[str, dict[str, Any]]
    ) -> None:
        if VECTORS not in weights or WORDS not in extra:
            raise InputError("weights.safetensors or vocabulary.json is missing.")
        self.words_ = WordTable.from_json(extra[WORDS], weights[VECTORS])
