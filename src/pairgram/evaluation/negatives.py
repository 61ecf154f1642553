"""Negatives: for every centre a candidate that has no link with it in the full graph.

uniform
    Any of them alike.
degree
    In proportion to the training degree: a model that only knows which nodes have many links
    gains nothing.
text
    Any of the 100 candidates without a link whose texts are nearest by BM25: sharing words is not
    enough.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairgram.errors import InputError
from pairgram.graph import TextGraph
from pairgram.split import Split

Positions = NDArray[np.int64]
Mask = NDArray[np.bool_]

NEAREST = 100
_TRIES = 32  # draws by degree before the legal candidates of a centre are listed
_BLOCK_ENTRIES = 4_000_000


@dataclass(frozen=True, eq=False)
class Draw:
    """What a draw needs: the split, the centres, shape (k,), the candidates, shape (n,), chance."""

    split: Split
    center: Positions
    allowed: Mask
    rng: np.random.Generator


def uniform(draw: Draw) -> Positions:
    """One candidate for every centre, uniform over its non-links; -1 where it has none.

    Exact and without rejection: the r-th legal candidate of a centre is r plus the number of
    forbidden ones before it, and the forbidden rank f_j (the j-th of its row) is before it
    exactly when f_j - j <= r.
    """
    row, rank = _forbidden(draw)
    candidates = np.flatnonzero(draw.allowed)
    row_size = np.bincount(row, minlength=len(draw.center))
    row_start = np.cumsum(row_size) - row_size
    legal = len(candidates) - row_size
    chance = below(legal, draw.rng)

    legal_before = rank - (np.arange(len(row)) - row_start[row])
    width = len(candidates) + 1
    ends = np.searchsorted(
        row * width + legal_before, np.arange(len(draw.center)) * width + chance, side="right"
    )
    chosen = chance + ends - row_start
    return np.where(legal > 0, candidates[np.minimum(chosen, len(candidates) - 1)], -1)


def by_degree(draw: Draw) -> Positions:
    """One candidate for every centre in proportion to its training degree; -1 where none has any.

    Draws that hit a link are repeated, so the draw stays exactly proportional; a centre that is
    linked to most of the mass gets its legal candidates listed.
    """
    mass = _mass(draw)
    until = np.cumsum(mass)
    chosen = np.full(len(draw.center), -1, dtype=np.int64)
    if not len(until) or until[-1] == 0:
        return chosen
    open_rows = np.arange(len(draw.center))
    for _ in range(_TRIES):
        spots = draw.rng.random(len(open_rows)) * until[-1]
        drawn = np.searchsorted(until, spots, side="right")
        legal = ~_linked(draw, open_rows, drawn)
        chosen[open_rows[legal]] = drawn[legal]
        open_rows = open_rows[~legal]
        if not len(open_rows):
            break
    for row in open_rows.tolist():
        chosen[row] = _by_listing(draw, row, mass)
    return chosen


def by_text(draw: Draw) -> Positions:
    """One of the 100 candidates nearest by BM25 for every centre, links left out; -1: none."""
    from pairgram.search.lexical import LexicalIndex

    split, texts = draw.split, draw.split.full.texts
    if texts is None or split.train.texts is None:
        raise InputError("Negatives by text need a graph with texts.")
    index = LexicalIndex.bm25(split.train.texts)
    queries = index.queries([texts[node] for node in draw.center.tolist()])
    candidate = draw.allowed[split.kept]
    chosen = np.full(len(draw.center), -1, dtype=np.int64)
    step = max(1, _BLOCK_ENTRIES // max(index.n_texts, 1))
    for begin in range(0, len(draw.center), step):
        scores = index.scores(queries[begin : begin + step])
        for offset, row_scores in enumerate(scores):
            row = begin + offset
            row_scores[~candidate] = 0
            row_scores[_training_links(draw, row)] = 0
            near = nearest(row_scores, NEAREST)
            if len(near):
                spot = int(draw.rng.random() * len(near))
                chosen[row] = split.kept[near[spot]]
    return chosen


KINDS: dict[str, Callable[[Draw], Positions]] = {
    "uniform": uniform,
    "degree": by_degree,
    "text": by_text,
}


def nearest(scores: NDArray[np.floating[Any]], count: int) -> NDArray[np.intp]:
    """Positions of the `count` largest positive scores, in no order."""
    positive = np.flatnonzero(scores > 0)
    if len(positive) <= count:
        return positive
    return positive[np.argpartition(scores[positive], -count)[-count:]]


def neighbour_rows(graph: TextGraph, nodes: Positions) -> tuple[Positions, Positions]:
    """Row in `nodes` and position of every neighbour of the nodes, sorted, both of shape (f,)."""
    adjacency = graph.adjacency()
    size = np.diff(adjacency.indptr)[nodes]
    row = np.repeat(np.arange(len(nodes)), size)
    offset = np.arange(len(row)) - (np.cumsum(size) - size)[row]
    return row, adjacency.indices[adjacency.indptr[nodes][row] + offset].astype(np.int64)


def below(limit: NDArray[np.int64], rng: np.random.Generator) -> Positions:
    """Uniform integers in [0, limit), 0 where the limit is 0; shape of `limit`."""
    return (rng.random(len(limit)) * limit).astype(np.int64)


def _forbidden(draw: Draw) -> tuple[Positions, Positions]:
    """Row of the centre and rank among the candidates of every node forbidden to it.

    Both of shape (f,), sorted by row, then rank; forbidden are the neighbours in the full graph
    and the centre itself.
    """
    allowed, center = draw.allowed, draw.center
    row, neighbour = neighbour_rows(draw.split.full, center)
    row = np.concatenate([row, np.arange(len(center))])
    node = np.concatenate([neighbour, center])
    row, node = row[allowed[node]], node[allowed[node]]
    rank = (np.cumsum(allowed) - 1)[node]
    # Two sorted runs one after the other: the stable sort merges them in linear time.
    keys = np.sort(row * len(allowed) + rank, kind="stable")
    return keys // len(allowed), keys % len(allowed)


def _mass(draw: Draw) -> NDArray[np.float64]:
    """Training degree of every candidate by its position in the full graph, 0 of others; (n,)."""
    mass = np.zeros(draw.split.full.n_nodes)
    mass[draw.split.kept] = draw.split.train.degree
    return np.where(draw.allowed, mass, 0.0)


def _linked(draw: Draw, rows: Positions, nodes: Positions) -> Mask:
    """Whether the centres of some rows are linked to, or are, the nodes; shape (r,)."""
    n_nodes = draw.split.full.n_nodes
    row, neighbour = neighbour_rows(draw.split.full, draw.center[rows])
    keys = row * n_nodes + neighbour
    wanted = np.arange(len(rows)) * n_nodes + nodes
    spot = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
    linked: Mask = draw.center[rows] == nodes
    return linked | (keys[spot] == wanted) if len(keys) else linked


def _by_listing(draw: Draw, row: int, mass: NDArray[np.float64]) -> int:
    legal = mass.copy()
    legal[draw.split.full.adjacency().neighbours(draw.center[row])] = 0
    legal[draw.center[row]] = 0
    until = np.cumsum(legal)
    if until[-1] == 0:
        return -1
    return int(np.searchsorted(until, draw.rng.random() * until[-1], side="right"))


def _training_links(draw: Draw, row: int) -> Positions:
    """Training positions of the centre and of all that it is linked to in the full graph."""
    center = int(draw.center[row])
    nodes = np.append(draw.split.full.adjacency().neighbours(center), center)
    spot = np.searchsorted(draw.split.kept, nodes)
    known = spot < len(draw.split.kept)
    spot, nodes = spot[known], nodes[known]
    links: Positions = spot[draw.split.kept[spot] == nodes]
    return links
