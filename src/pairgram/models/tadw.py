"""TADW: the transition matrix of a graph, factorised with the texts' features."""

import time
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from pairgram import params
from pairgram.errors import InputError, ParameterError
from pairgram.graph import TextGraph
from pairgram.models.counting import CountingModel
from pairgram.models.reading import Table
from pairgram.models.scoring import Tables, unit_rows
from pairgram.text.cleaning import CLEANINGS
from pairgram.text.tfidf import directions, tfidf
from pairgram.text.vocabulary import Vocabulary
from pairgram.training.tadw import factorise, transitions
from pairgram.vectors import Vectors

WORDS, TEXT_MAP = "vocabulary", "text_map"


class TADW(CountingModel):
    """Vectors [W ; T·Hᵀ] with W·(T·Hᵀ)ᵀ near M = (A + A²)/2, T the texts' reduced TF-IDF.

    M holds how likely a walk is at a node after one or two steps. It is never formed, so the
    memory is that of the links and of a few numbers a node.

    Parameters
    ----------
    dim
        Length of a vector, even: half of it, k, for the structure W, half for the text T·Hᵀ.
    features
        Length f of a text's features: TF-IDF reduced by a singular value decomposition.
    epochs
        Sweeps: how often W and H are solved for.
    l2
        Weight λ of the squared entries of W and H.
    cleaning
        "paper" deletes . , ; : ! ? " ( ) and cuts at white space; "words" takes Unicode words.
    min_count
        Words that occur less often are not read.
    rule
        How links are scored: "context" is the entry of M that the factors give, "symmetric" adds
        that of the other direction; "dot" and "cosine" take the vectors as they are.
    directed
        Walk along arcs only.
    seed
        Seed of the decomposition and of the first H.

    Attributes
    ----------
    vocabulary_
        Words of the training texts.

    Notes
    -----
    *Differs from the paper.* Its M is a matrix of all pairs of nodes in memory and its solver
    takes conjugate gradient steps; here both problems are solved exactly from M·T, which costs two
    sparse products. The paper does not say how TF-IDF is scaled: rows have length 1. It classifies
    nodes and scores no links: "symmetric" reads the factors as what they were fitted to be. A new
    text has T·Hᵀ alone, its half of W is zero; the paper places no new nodes.

    References
    ----------
    Yang, Liu, Zhao, Sun, Chang, "Network Representation Learning with Rich Text Information",
    IJCAI 2015.

    Examples
    --------
    >>> import pairgram as pg
    >>> texts = {"a": "red apple", "b": "red cherry", "c": "blue boat", "d": "blue ship"}
    >>> graph = pg.TextGraph.from_edges(["a", "c"], ["b", "d"], texts=texts)
    >>> model = pg.TADW(dim=4).fit(graph)
    >>> model.vectors_.center.shape
    (4, 4)
    >>> sorted(s.node for s in model.suggest("a red thing", k=2))
    ['a', 'b']
    """

    method: ClassVar[str] = "tadw"
    citation: ClassVar[str] = "Yang et al., TADW, IJCAI 2015"
    constraints: ClassVar = {
        "dim": params.Int(2, 65536),
        "features": params.Int(1, 65536),
        "epochs": params.Int(1),
        "l2": params.Float(0.0, open_low=True),
        "cleaning": params.Choice(*CLEANINGS),
        "min_count": params.Int(1),
        "rule": params.Choice("dot", "context", "symmetric", "cosine"),
        "directed": params.Bool(),
        "seed": params.Int(0, 2**63 - 1),
    }

    _text_map_: Table

    def __init__(
        self,
        dim: int = 160,
        features: int = 200,
        epochs: int = 10,
        l2: float = 0.2,
        cleaning: str = "words",
        min_count: int = 1,
        rule: str = "symmetric",
        directed: bool = False,
        seed: int = 0,
    ) -> None:
        self.dim, self.features, self.epochs, self.l2 = dim, features, epochs, l2
        self.cleaning, self.min_count = cleaning, min_count
        self.rule, self.directed, self.seed = rule, directed, seed

    def fit(self, graph: TextGraph) -> Self:
        """Factorise the graph with the texts of its nodes.

        Parameters
        ----------
        graph
            The training graph; its weights are honoured.
        """
        self._check_params()
        self._check_graph(graph)
        if self.dim % 2:
            raise ParameterError(
                f"The 'dim' parameter of TADW must be even, half for W and half for the text. Got "
                f"{self.dim} instead."
            )
        texts, began = self._texts(graph), time.perf_counter()
        vocabulary = Vocabulary.fit(texts, self._cleaning, self.min_count)
        if len(vocabulary) == 1:
            raise InputError(
                f"TADW finds no word in these texts that occurs {self.min_count} times or more."
            )
        rows = tfidf(texts, vocabulary)
        axes = directions(rows, self.features, self.seed)
        read = time.perf_counter()
        near = graph.adjacency(directed=self.directed)
        found = factorise(
            transitions(near), rows @ axes, self.dim // 2, self.l2, self.epochs, self.seed
        )
        self.graph_, self.fingerprint_, self.vocabulary_ = graph, graph.fingerprint, vocabulary
        self._text_map_ = (axes @ found.map.T).astype(np.float32)
        center = np.hstack((found.structure, found.text)).astype(np.float32)
        self.vectors_ = Vectors(center, None, graph.names)
        # No pairs are drawn: what is read are the entries of A, in every sweep.
        self.stats_ = {
            "pairs": len(near.indices),
            "updates": self.epochs * len(near.indices),
            "loss": found.losses,
            "seconds": {"sample": read - began, "train": time.perf_counter() - read},
            "features": axes.shape[1],
        }
        return self

    def _vectors_of(self, texts: Sequence[str]) -> tuple[Table, Table]:
        read = (tfidf(texts, self.vocabulary_) @ self._text_map_).astype(np.float32)
        center = np.hstack((np.zeros_like(read), read))
        return center, _as_context(center)

    def _make_tables(self) -> Tables:
        center = self.vectors_.center
        return Tables(center, _as_context(center), None, unit=unit_rows(center))

    def _weights(self) -> dict[str, NDArray[Any]]:
        return {TEXT_MAP: self._text_map_}

    def _extra_json(self) -> dict[str, dict[str, Any]]:
        return {WORDS: self.vocabulary_.to_json()}

    def _take_parts(
        self, weights: dict[str, NDArray[Any]], extra: dict[str, dict[str, Any]]
    ) -> None:
        if TEXT_MAP not in weights or WORDS not in extra:
            raise InputError("weights.safetensors or vocabulary.json is missing.")
        self.vocabulary_ = Vocabulary.from_json(extra[WORDS])
        self._text_map_ = weights[TEXT_MAP]
        if self._text_map_.shape != (len(self.vocabulary_), self.dim // 2):
            raise InputError("The vocabulary is damaged: its parts do not fit together.")


def _as_context(center: Table) -> Table:
    """[T·Hᵀ ; 0] of [W ; T·Hᵀ], so that e_u·e'_v is the entry (u, v) of W·(T·Hᵀ)ᵀ."""
    text = center[:, center.shape[1] // 2 :]
    return np.hstack((text, np.zeros_like(text)))
