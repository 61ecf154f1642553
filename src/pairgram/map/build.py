"""A map: where every node lies, and which group it is in."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pairgram import params
from pairgram.errors import InputError
from pairgram.graph import TextGraph
from pairgram.map.communities import by_size, communities
from pairgram.map.project import METHODS, Floats, project

logger = logging.getLogger(__name__)

MOST_GROUPS = 400
NAME_WIDTH = 48
REST = "others"


@dataclass(frozen=True)
class Group:
    """A label or community: its name and number of nodes."""

    name: str
    size: int


@dataclass(frozen=True, eq=False)
class Map:
    """Where every node lies.

    Attributes
    ----------
    points
        Shape (n, 2), float32 in [-1, 1].
    group
        Number of each node's group, shape (n,), uint16; the largest is 0.
    groups
        The groups by number. From 400 on, small ones are one: "others", the last.
    method
        "umap" or "pca".
    coloring
        "label" or "community".
    """

    points: NDArray[np.float32]
    group: NDArray[np.uint16]
    groups: tuple[Group, ...]
    method: str
    coloring: str

    def __len__(self) -> int:
        return len(self.points)

    def to_bytes(self) -> bytes:
        """The points, then the groups, little-endian."""
        return self.points.astype("<f4").tobytes() + self.group.astype("<u2").tobytes()


def make_map(
    vectors: Floats,
    graph: TextGraph,
    labels: Sequence[str] | None = None,
    method: str = "auto",
    seed: int = 0,
    say: Callable[[str], None] = logger.info,
) -> Map:
    """Draw the map of a graph.

    Parameters
    ----------
    vectors
        A vector of each node, shape (n, dim).
    graph
        Its links make communities, its degrees and texts their names.
    labels
        A label of each node, shape (n,); None takes the graph's own, or without any, communities.
    method
        "umap", "pca" or "auto".
    seed
        Seed of UMAP.
    say
        Told what takes long, and about how long.

    Examples
    --------
    >>> graph = TextGraph.from_edges(["a", "b", "c"], ["b", "c", "a"], texts={"d": "alone"})
    >>> drawn = make_map(np.eye(4, dtype=np.float32), graph, method="pca")
    >>> drawn.group.tolist(), [group.size for group in drawn.groups]
    ([0, 0, 0, 1], [3, 1])
    """
    params.check("make_map", {"method": params.Choice(*METHODS)}, {"method": method})
    if len(vectors) != graph.n_nodes:
        raise InputError(
            f"make_map needs a vector of each of the {graph.n_nodes} nodes. Got {len(vectors)}."
        )
    labels = graph.labels if labels is None else labels
    points, used = project(vectors, method, seed, say)
    group, groups = _label_groups(labels) if labels is not None else _community_groups(graph)
    return Map(points, group, groups, used, "community" if labels is None else "label")


def _community_groups(graph: TextGraph) -> tuple[NDArray[np.uint16], tuple[Group, ...]]:
    member = communities(graph.adjacency())
    # The best-connected node of each group names it.
    order = np.lexsort((np.arange(graph.n_nodes), -graph.degree, member))
    heads = order[np.flatnonzero(np.diff(member[order], prepend=-1))]
    names = [_title(graph, node) for node in heads[: MOST_GROUPS - 1].tolist()]
    return _largest(member, names)


def _label_groups(labels: Sequence[str]) -> tuple[NDArray[np.uint16], tuple[Group, ...]]:
    values, number = np.unique(np.array(labels, dtype=object).astype(str), return_inverse=True)
    member = by_size(number)
    names = [""] * len(values)
    for rank, value in zip(member.tolist(), values[number].tolist(), strict=True):
        names[rank] = value
    return _largest(member, names[: MOST_GROUPS - 1])


def _largest(
    member: NDArray[np.int64], names: Sequence[str]
) -> tuple[NDArray[np.uint16], tuple[Group, ...]]:
    """Groups of that many names, and the rest as one."""
    cut = np.minimum(member, len(names)).astype(np.uint16)
    sizes = np.bincount(cut, minlength=len(names)).tolist()
    named = [*names, REST] if len(sizes) > len(names) else list(names)
    return cut, tuple(Group(name, size) for name, size in zip(named, sizes, strict=True))


def _title(graph: TextGraph, node: int) -> str:
    text = "" if graph.texts is None else " ".join(graph.texts[node].split())
    name = text or str(graph.names[node])
    return name if len(name) <= NAME_WIDTH else name[: NAME_WIDTH - 1].rstrip() + "…"
