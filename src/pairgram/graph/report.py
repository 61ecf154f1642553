"""What a graph looks like, in numbers."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from pairgram.graph.textgraph import TextGraph

QUANTILES = (0.5, 0.9, 0.99, 0.999)


def describe(graph: "TextGraph") -> dict[str, Any]:
    """Describe a graph by counts, degrees, components and texts, ready for JSON.

    Returns
    -------
    description
        ``nodes``, ``edges``, ``directed``, the fields of `GraphCounts`, and the groups
        ``degree``, ``components`` and ``text`` (None where the graph has no texts).
    """
    return {
        "nodes": graph.n_nodes,
        "edges": graph.n_edges,
        "directed": graph.directed,
        "weighted": graph.weight is not None,
        **asdict(graph.counts),
        "degree": _degrees(graph),
        "components": _components(graph),
        "text": _texts(graph),
    }


def _degrees(graph: "TextGraph") -> dict[str, Any]:
    degree = graph.degree
    if not len(degree):
        return {"mean": 0.0, "median": 0.0, "max": 0, "quantiles": {}, "share": {}}
    tail = np.quantile(degree, QUANTILES, method="inverted_cdf")
    return {
        "mean": float(degree.mean()),
        "median": float(np.median(degree)),
        "max": int(degree.max()),
        "quantiles": {f"{q:.1%}": int(d) for q, d in zip(QUANTILES, tail, strict=True)},
        "share": {str(d): float(np.mean(degree == d)) for d in (0, 1, 2)},
    }


def _components(graph: "TextGraph") -> dict[str, int]:
    if not graph.n_nodes:
        return {"count": 0, "largest": 0}
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    near = graph.adjacency()
    ones = np.ones(len(near.indices), dtype=np.int8)
    shape = (graph.n_nodes, graph.n_nodes)
    matrix = csr_array((ones, near.indices, near.indptr), shape=shape)
    count, label = connected_components(matrix, directed=False)
    return {"count": int(count), "largest": int(np.bincount(label).max())}


def _texts(graph: "TextGraph") -> dict[str, float] | None:
    if graph.texts is None:
        return None
    words = [len(text.split()) for text in graph.texts]
    return {
        "words_mean": float(np.mean(words)) if words else 0.0,
        "words_max": max(words, default=0),
    }
