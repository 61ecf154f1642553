"""Known graphs by name: where they come from, what they hold, and loading them."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pairgram.datasets import cane, icd10cm, snap, snomed, terminologies
from pairgram.datasets.base import DataFile, Dataset
from pairgram.datasets.encoders import ENCODERS
from pairgram.datasets.glove import WORD_VECTORS
from pairgram.errors import InputError
from pairgram.graph import TextGraph

__all__ = [
    "ENCODERS",
    "WORD_VECTORS",
    "DataFile",
    "Dataset",
    "info",
    "label_file",
    "load",
    "names",
    "node_dates",
    "path",
    "sentence_encoder",
    "word_vectors",
]

REGISTRY: dict[str, Dataset] = {
    dataset.name: dataset
    for family in (cane, snap, terminologies, icd10cm, snomed)
    for dataset in family.DATASETS
}


def names() -> tuple[str, ...]:
    """Names of all datasets.

    >>> [name for name in names() if not name.startswith("openmed-")]
    ['cora', 'zhihu', 'facebook', 'astroph', 'hepth', 'openmed', 'mesh', 'icd10cm', 'snomed']
    """
    return tuple(REGISTRY)


def info(name: str) -> Dataset:
    """Look a dataset up: its origin, licence, citation, counts and files."""
    if name not in REGISTRY:
        known = ", ".join(REGISTRY)
        raise InputError(f"There is no dataset {name!r}; known are {known}.")
    return REGISTRY[name]


def path(name: str) -> Path:
    """Folder that holds a dataset's files, or would hold them."""
    return info(name).folder()


def load(name: str, *, directed: bool = False, verify: bool = False) -> TextGraph:
    """Load a dataset and compare its counts with the published ones.

    Parameters
    ----------
    directed
        Whether edges keep their direction.
    verify
        Whether to compare the files' sha256 too.
    """
    return info(name).load(directed=directed, verify=verify)


def node_dates(name: str, graph: TextGraph) -> NDArray[np.datetime64]:
    """Month of every node of a dataset's graph, shape (n,); ids without dates raise."""
    month_of = info(name).month_of
    if month_of is None:
        raise InputError(f"The dataset {name!r} does not say when its nodes appeared.")
    return np.array([month_of(node) for node in graph.names.tolist()], dtype="datetime64[M]")


def word_vectors(name: str) -> Path:
    """File of word vectors that are known by name."""
    if name not in WORD_VECTORS:
        known = ", ".join(WORD_VECTORS)
        raise InputError(f"There are no word vectors {name!r}; known are {known}.")
    return WORD_VECTORS[name].path()


def sentence_encoder(name: str) -> Path:
    """Folder of a sentence encoder that is known by name."""
    if name not in ENCODERS:
        known = ", ".join(ENCODERS)
        raise InputError(f"There is no sentence encoder {name!r}; known are {known}.")
    return ENCODERS[name].path()


def label_file(name: str) -> Path:
    """File of node ids and classes of a dataset; one without classes raises."""
    dataset = info(name)
    if dataset.label_file is None:
        raise InputError(f"The dataset {name!r} has no classes; give --labels with a file.")
    return dataset.locate(dataset.label_file)
