"""Paper2Vec: walks over links and likeness of texts, started from paragraph vectors."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from pairgram import params
from pairgram.engine import Engine, open_engine
from pairgram.errors import InputError
from pairgram.graph import TextGraph
from pairgram.models.additions import Additions
from pairgram.models.deepwalk import WALK_CONSTRAINTS
from pairgram.models.keeping import survivors
from pairgram.models.reading import needed_texts
from pairgram.models.scoring import unit_rows
from pairgram.models.sgns import SGNS_CONSTRAINTS, Callback, SgnsModel, Trained
from pairgram.sampling.walks import WalkSampler
from pairgram.search.neighbours import nearest_rows
from pairgram.text.cleaning import CLEANINGS
from pairgram.text.ragged import Ragged
from pairgram.text.tokens import known_words
from pairgram.text.vocabulary import Vocabulary
from pairgram.training.blocks import PairSource
from pairgram.training.paragraph import DocumentWords
from pairgram.training.sources import WalkWindows
from pairgram.vectors import Vectors

DEGREE = "degree"
MOST_WORDS = 1 << 16


class Paper2Vec(SgnsModel):
    """Vectors of texts first, then of walks that also step between nodes with similar texts.

    Parameters
    ----------
    dim
        Length of a vector.
    neighbours
        Links k added from every node to the nodes of the nearest texts.
    text_epochs
        Passes over the words of all texts for the paragraph vectors.
    length
        Nodes of a walk, L.
    times
        Walks from every node, T.
    window
        Steps W on each side of the centre.
    negatives
        Noise nodes K per pair, drawn in proportion to degree^0.75; noise words alike, by count.
    epochs
        Passes over the walks.
    learning_rate
        First rate of both trainings; it falls linearly.
    l2
        Weight of the squared lengths of the vectors in the loss of every pair of a walk.
    offset
        Take log K off every score in training, so that vectors start at "as likely as noise".
    cleaning
        "paper" deletes . , ; : ! ? " ( ) and cuts at white space; "words" takes Unicode words.
    min_count
        Words that occur less often are not read.
    rule
        How links are scored: "dot", "context", "symmetric" or "calibrated".
    seed
        The same seed gives the same vectors, bit for bit, at any thread count.
    threads
        None takes all cores.

    Notes
    -----
    *Differs from the paper.* Paragraph vectors are of the kind that foretells words from the
    document alone (PV-DBOW), trained by the same kernel as the walks. The nearest texts are found
    exactly, by cosine; a text without words gets no such link. Window and walks are those of the
    other walk methods here, so that what differs from them is the text.

    References
    ----------
    Ganguly, Pudi, "Paper2vec: Combining Graph and Text Information for Scientific Paper
    Representation", ECIR 2017; Le, Mikolov, "Distributed Representations of Sentences and
    Documents", ICML 2014.

    Examples
    --------
    >>> import pairgram as pg
    >>> texts = {"a": "red apple", "b": "red cherry", "c": "blue boat", "d": "blue ship"}
    >>> graph = pg.TextGraph.from_edges(["a", "c"], ["b", "d"], texts=texts)
    >>> pg.Paper2Vec(dim=8, length=10, times=2, neighbours=1).fit(graph).vectors_.center.shape
    (4, 8)
    """

    method: ClassVar[str] = "paper2vec"
    citation: ClassVar[str] = "Ganguly and Pudi, Paper2vec, ECIR 2017"
    constraints: ClassVar = {
        **{name: c for name, c in SGNS_CONSTRAINTS.items() if name != "directed"},
        **WALK_CONSTRAINTS,
        "neighbours": params.Int(0, 1000),
        "text_epochs": params.Int(1),
        "cleaning": params.Choice(*CLEANINGS),
        "min_count": params.Int(1),
    }

    _degree_: NDArray[np.int64]

    def __init__(
        self,
        dim: int = 128,
        neighbours: int = 4,
        text_epochs: int = 20,
        length: int = 80,
        times: int = 10,
        window: int = 5,
        negatives: int = 5,
        epochs: int = 1,
        learning_rate: float = 0.025,
        l2: float = 0.0,
        offset: bool = False,
        cleaning: str = "words",
        min_count: int = 1,
        rule: str = "symmetric",
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        self.dim, self.neighbours, self.text_epochs = dim, neighbours, text_epochs
        self.length, self.times, self.window = length, times, window
        self.negatives, self.epochs, self.learning_rate = negatives, epochs, learning_rate
        self.l2, self.offset = l2, offset
        self.cleaning, self.min_count = cleaning, min_count
        self.rule, self.seed, self.threads = rule, seed, threads

    def fit(
        self,
        graph: TextGraph,
        checkpoint: str | Path | None = None,
        callback: Callback | None = None,
        engine: Engine | str | None = None,
    ) -> Self:
        """Learn vectors; parameters as in `PS.fit`, a checkpoint for texts and one for walks."""
        self._check_params()
        self._check_graph(graph)
        words, size = self._words(graph)
        files = [None if checkpoint is None else Path(f"{checkpoint}.{i}") for i in (1, 2)]
        with open_engine(engine, self.threads) as opened:
            texts = self._read(words, size, graph, opened, files[0], callback)
            documents = texts[0][: graph.n_nodes]
            wider = self._with_text_links(graph, documents, words.lengths > 0, opened)
            walks = self._train(
                self._source(wider), graph, self._settings(wider), opened, files[1], callback,
                wider.degree, start=documents,
            )  # fmt: skip
        self._text_degree_ = wider.degree - graph.degree
        self._remember(graph, Vectors(walks[0], walks[1], graph.names), texts[2], walks[2])
        self.stats_["text_links"] = wider.n_edges - graph.n_edges
        return self

    def _words(self, graph: TextGraph) -> tuple[Ragged, int]:
        """Known words of every text, and how many there are."""
        texts = needed_texts(type(self).__name__, graph)
        vocabulary = Vocabulary.fit(texts, self.cleaning, self.min_count)
        if len(vocabulary) == 1:
            raise InputError(
                f"Paper2Vec finds no word in these texts that occurs {self.min_count} times or "
                "more."
            )
        return known_words(texts, vocabulary, MOST_WORDS), len(vocabulary)

    def _read(
        self,
        words: Ragged,
        size: int,
        graph: TextGraph,
        engine: Engine,
        checkpoint: Path | None,
        callback: Callback | None,
    ) -> Trained:
        """Paragraph vectors: rows of the documents, then of words."""
        source = DocumentWords(words, size)
        settings = replace(
            self._settings(graph), epochs=self.text_epochs, l2=0.0, seed=(self.seed + 1) % 2**63
        )
        return self._train(source, graph, settings, engine, checkpoint, callback, source.frequency)

    def _with_text_links(
        self,
        graph: TextGraph,
        documents: NDArray[np.float32],
        has_words: NDArray[np.bool_],
        engine: Engine,
    ) -> TextGraph:
        """Add links from each node to those of the nearest texts, with the mean weight of links."""
        readable = np.flatnonzero(has_words)
        near = nearest_rows(unit_rows(documents[readable]), self.neighbours, engine)
        row, column = np.nonzero(near >= 0)
        source, target = readable[row], readable[near[row, column]]
        weight = None
        if graph.weight is not None:
            weight = np.append(graph.weight, np.full(len(source), graph.weight.mean()))
        return TextGraph.from_edges(
            np.append(graph.source, source), np.append(graph.target, target), names=graph.names,
            weight=weight,
        )  # fmt: skip

    def _source(self, graph: TextGraph) -> PairSource:
        sampler = WalkSampler(graph, self.length, seed=self.seed)
        return WalkWindows(sampler, graph.n_nodes, self.times, self.window)

    def _noise_degree(self, graph: TextGraph) -> NDArray[np.int64]:
        """Degrees with the links between texts, which are not part of the model's graph.

        A node that came after the fit has none of those.
        """
        more = np.zeros(graph.n_nodes, np.int64)
        more[: len(self._text_degree_)] = self._text_degree_
        degree: NDArray[np.int64] = graph.degree + more
        return degree

    def _continue(self, graph: TextGraph, epochs: int) -> None:
        degree = self._noise_degree(graph)
        super()._continue(graph, epochs)
        self._text_degree_ = degree - graph.degree

    def _folded_parts(self, held: Additions) -> dict[str, Any]:
        keep, rows = survivors(len(self._text_degree_), held)
        degree = np.append(self._text_degree_[keep], np.zeros(len(rows), np.int64))
        return {"_text_degree_": degree}

    def _more_tables(self) -> dict[str, NDArray[Any]]:
        return {**super()._more_tables(), DEGREE: self._text_degree_[:, None]}

    def _take_more(
        self,
        weights: Mapping[str, NDArray[Any]],
        tables: Mapping[str, NDArray[Any]],
        extra: Mapping[str, dict[str, Any]],
    ) -> None:
        if DEGREE not in tables:
            raise InputError("vectors.safetensors lacks the links between texts: fit it again.")
        self._text_degree_ = np.array(tables[DEGREE])[:, 0]
