"""Ranking: where the true links of a query stand among all its candidates."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pairgram.errors import InputError
from pairgram.evaluation import device
from pairgram.evaluation.negatives import neighbour_rows
from pairgram.evaluation.protocols import both_ways
from pairgram.evaluation.scorer import Positions, Scores
from pairgram.metrics import Places, join_places, place_block
from pairgram.split import Split

Blocks = Callable[[slice], Mapping[str, Scores]]

_BLOCK_ENTRIES = 4_000_000  # scores held at once by one scorer


@dataclass(frozen=True, eq=False)
class Queries:
    """Nodes whose links are looked for, with positions of their candidates in training.

    Attributes
    ----------
    node
        The queries, ascending positions in the full graph, shape (q,).
    row, target
        Row of the query and candidate of every true link, sorted, shape (l,).
    barred_row, barred
        Row of the query and position of every node that is no candidate, sorted, shape (f,).
    candidates
        Number of training nodes n.
    """

    node: Positions
    row: Positions
    target: Positions
    barred_row: Positions
    barred: Positions
    candidates: int

    def __len__(self) -> int:
        return len(self.node)


@dataclass(frozen=True, eq=False)
class Ranked:
    """What one scorer gives: the places of the links, (l,), and the scores picked out, (p,)."""

    places: Places
    picked: NDArray[np.float64]


def zero_shot_queries(split: Split) -> Queries:
    """Held-out nodes with a link to a training node; candidates are all training nodes."""
    links = both_ways(split)
    is_new = np.zeros(split.full.n_nodes, dtype=bool)
    is_new[split.new] = True
    links = links[is_new[links[:, 0]] & ~is_new[links[:, 1]]]
    node, row = np.unique(links[:, 0], return_inverse=True)
    target = np.searchsorted(split.kept, links[:, 1])
    none = np.empty(0, dtype=np.int64)
    return Queries(node, row, target, none, none, len(split.kept))


def link_queries(split: Split, allowed: NDArray[np.bool_], limit: int, seed: int) -> Queries:
    """Nodes with a held-out link; candidates are all but the query and its training neighbours.

    Parameters
    ----------
    split
        A split of links.
    allowed
        Nodes whose links count, shape (n,); a query's held-out links to others are no candidates.
    limit
        Largest number of queries; where there are more, so many are drawn.
    seed
        Seed of that draw.
    """
    links = both_ways(split)
    counts = allowed[links[:, 0]] & allowed[links[:, 1]]
    node = np.unique(links[counts, 0])
    if len(node) > limit:
        rng = np.random.Generator(np.random.PCG64([int(seed), int(split.hash, 16)]))
        node = np.sort(rng.choice(node, limit, replace=False))
    chosen = np.isin(links[:, 0], node)
    row = np.searchsorted(node, links[:, 0])
    near_row, near = neighbour_rows(split.train, node)
    lost = chosen & ~counts
    barred_row = np.concatenate([np.arange(len(node)), near_row, row[lost]])
    barred = np.concatenate([node, near, links[lost, 1]])
    order = np.lexsort((barred, barred_row))
    scored = chosen & counts
    return Queries(
        node,
        row[scored],
        links[scored, 1],
        barred_row[order],
        barred[order],
        split.full.n_nodes,
    )


def rank(
    blocks: Blocks, queries: Queries, pick: tuple[Positions, Positions] | None = None
) -> dict[str, Ranked]:
    """Run scorers over all queries, a block of them at a time.

    Parameters
    ----------
    blocks
        Scores of the queries of a slice with every training node, shape (b, n), by scorer; arrays,
        or tensors of torch, which are counted on their device.
    queries
        The queries, q of them.
    pick
        Rows of queries, ascending, and positions whose scores are wanted too, shape (p,).
    """
    rows, columns = pick or (queries.row[:0], queries.row[:0])
    places: dict[str, list[Places]] = {}
    picked: dict[str, list[Scores]] = {}
    for block in _slices(len(queries), queries.candidates):
        begin, end = np.searchsorted(rows, [block.start, block.stop])
        for name, scores in blocks(block).items():
            _check_shape(name, scores, (block.stop - block.start, queries.candidates))
            places.setdefault(name, []).append(_places(scores, queries, block))
            wanted = scores[rows[begin:end] - block.start, columns[begin:end]]
            picked.setdefault(name, []).append(device.on_host(wanted))
    return {
        name: Ranked(join_places(found), np.concatenate(picked[name]).astype(np.float64))
        for name, found in places.items()
    }


def _places(scores: Scores, queries: Queries, block: slice) -> Places:
    edges = np.arange(block.start, block.stop + 1)
    links = np.searchsorted(queries.row, edges)
    barred = np.searchsorted(queries.barred_row, edges)
    # A tensor is counted where it lies.
    count = place_block if isinstance(scores, np.ndarray) else device.place_block
    return count(
        scores,
        (queries.target[links[0] : links[-1]], links - links[0]),
        (queries.barred[barred[0] : barred[-1]], barred - barred[0]),
    )


def _slices(count: int, width: int) -> Iterator[slice]:
    step = max(1, _BLOCK_ENTRIES // max(width, 1))
    for begin in range(0, count, step):
        yield slice(begin, min(begin + step, count))


def _check_shape(name: str, scores: Scores, expected: tuple[int, int]) -> None:
    if scores.shape != expected:
        raise InputError(
            f"A block of scores must have shape {expected}. Got {scores.shape} under '{name}'."
        )
