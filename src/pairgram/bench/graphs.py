"""Graphs of the bench: the registered datasets, and one generated on the spot."""

import numpy as np

from pairgram import datasets
from pairgram.errors import PairgramError
from pairgram.graph import TextGraph

PLANTED = "planted"


def load_graph(name: str) -> TextGraph:
    """Load a dataset by name; `planted` is generated and needs no files."""
    return planted_graph() if name == PLANTED else datasets.load(name)


def absent(name: str) -> str | None:
    """Return why a graph cannot be loaded here, or None where its files are found."""
    if name == PLANTED:
        return None
    try:
        dataset = datasets.info(name)
        if dataset.is_here():
            return None
    except PairgramError as error:
        return str(error)
    return (
        f"the dataset's files are not here: get them from {dataset.address}; "
        f"'pairgram data path {name}' says where they go"
    )


def planted_graph(
    communities: int = 8, size: int = 30, inside: float = 0.6, outside: float = 0.01, seed: int = 0
) -> TextGraph:
    """Build a graph of equal communities: links inside are likelier than links between.

    The text of a node names its community.

    Parameters
    ----------
    communities, size
        Number of communities and of nodes in each.
    inside, outside
        Probability of a link inside a community and between two.

    Examples
    --------
    >>> graph = planted_graph(communities=2, size=3, inside=1.0, outside=0.0)
    >>> graph.n_nodes, graph.n_edges
    (6, 6)
    """
    n_nodes = communities * size
    source, target = np.triu_indices(n_nodes, k=1)
    together = source // size == target // size
    draws = np.random.Generator(np.random.PCG64(seed)).random(len(source))
    linked = draws < np.where(together, inside, outside)
    names = [f"n{i}" for i in range(n_nodes)]
    texts = [f"community {i // size} member {i % size}" for i in range(n_nodes)]
    return TextGraph.from_edges(source[linked], target[linked], names=names, texts=texts)
