"""The graph that `partial_fit` goes on with: the known one, new links and their new ends."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pairgram.errors import InputError
from pairgram.graph import TextGraph
from pairgram.models.keeping import merged

if TYPE_CHECKING:
    from pairgram.models.curating import Curating


def enlarged(
    model: "Curating", edges: Iterable[Sequence[str]], texts: Mapping[str, str]
) -> TextGraph:
    """The model's graph, additions folded in, with new links at its end.

    Parameters
    ----------
    model
        A fitted model.
    edges
        Source and target ids, and a relation where the links of the graph have one.
    texts
        Id -> text of new ends.
    """
    listed = [_checked(edge) for edge in edges]
    if not listed:
        raise InputError("partial_fit needs new links. Got none.")
    graph = (
        merged(model.graph_, model.vectors_, model._held())[0] if model._held() else model.graph_
    )
    known = [name for name in texts if graph.find(name) is not None]
    if known:
        raise InputError(
            f"partial_fit: the model has a node {known[0]!r} already; update gives it another text."
        )
    graph = graph.with_nodes(texts, texts.values(), [""] * len(texts)) if texts else graph
    ends = graph.positions([end for edge in listed for end in edge[:2]]).reshape(-1, 2)
    typed = graph.relation
    if (typed is not None) != all(len(edge) == 3 for edge in listed):
        has = "carry relations: give (source, target, relation)" if typed else "carry no relations"
        raise InputError(f"partial_fit: the links of this graph {has}.")
    old = (graph.source, graph.target) if typed is None else (typed.source, typed.target)
    source, target = (np.append(side, ends[:, i]) for i, side in enumerate(old))
    relation = None
    if typed is not None:
        relation = [*(typed.names[code] for code in typed.code), *(edge[2] for edge in listed)]
    larger = TextGraph.from_edges(
        source,
        target,
        names=graph.names,
        texts=graph.texts,
        relation=relation,
        directed=graph.directed,
    )
    larger = larger.with_values(*_values(graph, ends))
    return larger if graph.labels is None else larger.with_labels(graph.labels)


def _values(graph: TextGraph, ends: NDArray[np.int64]) -> tuple[Any, Any]:
    """Weights and dates of the edges with new ones, (k, 2), which weigh 1 and have no date."""
    weight, date = graph.weight, graph.date
    if weight is not None:
        weight = np.append(weight, np.ones(len(ends)))
    if date is not None:
        none = np.datetime64("NaT") if date.dtype.kind == "M" else np.nan
        date = np.append(date, np.full(len(ends), none, date.dtype))
    if weight is None and date is None:
        return None, None
    source, target = np.append(graph.source, ends[:, 0]), np.append(graph.target, ends[:, 1])
    merged = TextGraph.from_edges(
        source, target, names=graph.names, weight=weight, date=date, directed=graph.directed
    )
    return merged.weight, merged.date


def _checked(edge: Sequence[str]) -> tuple[str, ...]:
    parts = tuple(edge)
    if isinstance(edge, str) or len(parts) not in (2, 3):
        raise InputError(
            "partial_fit needs links as (source, target) or (source, target, relation). "
            f"Got {edge!r}."
        )
    return parts
