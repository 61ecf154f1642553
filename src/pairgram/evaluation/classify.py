"""Node classification: how well vectors tell the classes of nodes apart."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairgram.errors import InputError
from pairgram.graph import TextGraph
from pairgram.params import Float, Int, check
from pairgram.search.lexical import Words, plain_words


@dataclass(frozen=True)
class Classification:
    """Scores of one set of features.

    Attributes
    ----------
    micro_f1, macro_f1
        F1 over all test nodes, and its mean over classes.
    train, test, classes
        How many nodes and classes there were.
    """

    micro_f1: float
    macro_f1: float
    train: int
    test: int
    classes: int


def classify(
    features: Any, labels: NDArray[Any], share: float = 0.5, seed: int = 0
) -> Classification:
    """Logistic regression (C = 1, standardised) on a share of the nodes, scored on the others.

    Parameters
    ----------
    features
        Vectors of the labelled nodes, shape (m, dim), dense or sparse.
    labels
        Their classes, shape (m,).
    share
        Share of the nodes to train on; every class keeps its share.
    seed
        Seed of the draw.
    """
    check("classify", {"share": Float(0, 1), "seed": Int(0)}, {"share": share, "seed": seed})
    train, test = _halves(labels, share, seed)
    guess = _fit(features[train], labels[train]).predict(features[test])
    return _score(labels, guess, train, test)


def classify_floors(
    graph: TextGraph,
    rows: NDArray[np.int64],
    labels: NDArray[Any],
    share: float = 0.5,
    seed: int = 0,
    words: Words = plain_words,
) -> dict[str, Classification]:
    """What needs no vectors: the most common class, and where there are texts, TF-IDF.

    Parameters
    ----------
    rows
        Positions of the labelled nodes, shape (m,).
    """
    train, test = _halves(labels, share, seed)
    classes, counts = np.unique(labels[train], return_counts=True)
    guess = np.full(len(test), classes[counts.argmax()])
    found = {"most common class": _score(labels, guess, train, test)}
    if graph.texts is not None:
        from pairgram.search.lexical import LexicalIndex

        # The words of the training nodes alone make the columns and their weights.
        index = LexicalIndex.tfidf([graph.texts[node] for node in rows[train].tolist()], words)
        weights = index.queries([graph.texts[node] for node in rows.tolist()])
        fitted = _fit(weights[train], labels[train], scale=False)
        found["tfidf"] = _score(labels, fitted.predict(weights[test]), train, test)
    return found


def match_labels(
    graph: TextGraph, labels: Mapping[str, str]
) -> tuple[NDArray[np.int64], NDArray[np.str_]]:
    """Positions of the labelled nodes, ascending, and their labels, both of shape (m,)."""
    names = set(graph.names.tolist())
    strange = [name for name in labels if name not in names]
    if strange:
        raise InputError(
            f"{len(strange)} of {len(labels)} labels are of nodes that the graph does not have, "
            f"e.g. {strange[0]!r}."
        )
    rows = np.sort(graph.positions(list(labels)))
    return rows, np.array([labels[str(graph.names[row])] for row in rows.tolist()])


def _halves(
    labels: NDArray[Any], share: float, seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows to train on and to test, every class cut at the same share."""
    rng = np.random.Generator(np.random.PCG64(int(seed)))
    train: list[NDArray[np.int64]] = []
    for value in np.unique(labels):
        rows = rng.permutation(np.flatnonzero(labels == value))
        train.append(rows[: round(share * len(rows))])
    chosen = np.sort(np.concatenate(train)) if train else np.empty(0, dtype=np.int64)
    rest = np.setdiff1d(np.arange(len(labels)), chosen)
    if len(np.unique(labels[chosen])) < 2 or not len(rest):
        raise InputError(
            f"Classification with share={share}: training needs two classes and the test one node. "
            f"Got {len(np.unique(labels[chosen]))} classes to train on and {len(rest)} nodes to "
            f"test, of {len(labels)}; use more labels or another share."
        )
    return chosen, rest


def _fit(features: Any, labels: NDArray[Any], scale: bool = True) -> Any:
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    steps = [StandardScaler()] if scale else []
    model = make_pipeline(*steps, LogisticRegression(C=1.0, max_iter=1000))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(features, labels)


def _score(
    labels: NDArray[Any], guess: NDArray[Any], train: NDArray[np.int64], test: NDArray[np.int64]
) -> Classification:
    from sklearn.metrics import f1_score

    truth = labels[test]
    micro, macro = (float(f1_score(truth, guess, average=kind)) for kind in ("micro", "macro"))
    return Classification(micro, macro, len(train), len(test), len(np.unique(labels)))
