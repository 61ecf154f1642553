"""The ranker of links between known nodes: how it is kept, and asked."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pairgram.errors import InputError
from pairgram.graph import TextGraph
from pairgram.models.additions import Additions
from pairgram.models.ranking import Board, Cut, Table
from pairgram.models.scoring import Floats, IntArray
from pairgram.search.graph_judge import BOUND
from pairgram.search.link_clues import FEATURES, LinkClues, Rows
from pairgram.search.ranker import Judge
from pairgram.search.vote import link_matrix

if TYPE_CHECKING:
    from pairgram.vectors import Vectors

LINKS = "links/"
"""Beginning of the names of its weights among those of what was fitted beside a method."""
STRUCTURE = ("link_center", "link_context")
"""Names of its tables in a model folder: vectors of the structure alone."""


@dataclass(frozen=True)
class LinkNotes:
    """How good the parts were on the links that were held back to train the judge.

    Attributes
    ----------
    mrr
        By part: MRR of the links among the nodes that were looked at.
    auc
        By part: share of nodes drawn at random that a link stands above.
    queries, links
        Nodes with a held-back link that were looked at, and their held-back links.
    """

    mrr: dict[str, float]
    auc: dict[str, float]
    queries: int
    links: int


@dataclass(frozen=True, eq=False)
class LinkRanking:
    """A judge of pairs of known nodes."""

    judge: Judge
    notes: LinkNotes

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All arrays but those of nodes, by name."""
        return self.judge.arrays(LINKS)

    def to_json(self) -> dict[str, Any]:
        """The rest, as a JSON object."""
        return asdict(self.notes)

    @classmethod
    def load(cls, arrays: Mapping[str, NDArray[Any]], stored: Mapping[str, Any]) -> "LinkRanking":
        """Read what the two gave; what does not fit raises `InputError`."""
        try:
            notes = LinkNotes(**stored)
        except TypeError:
            raise InputError("The ranker of links is damaged: its notes do not fit.") from None
        return cls(Judge.from_arrays(arrays, LINKS, len(FEATURES)), notes)


class LinkBoard:
    """A ranking of links beside the nodes of a graph, ready to be asked.

    Parameters
    ----------
    ranking
        What was fitted.
    graph
        The graph, n nodes with texts.
    vectors
        The method's vectors of the nodes.
    structure
        Vectors of the structure alone, centre and context, both (n, p).
    texts
        The ranking of new texts: it has the points of the nodes.
    words
        How a text is cut into words.
    """

    def __init__(
        self,
        ranking: LinkRanking,
        graph: TextGraph,
        vectors: "Vectors",
        structure: Sequence[NDArray[Any]],
        texts: Board,
        words: Cut,
    ) -> None:
        self.ranking, self.graph, self.structure = ranking, graph, tuple(structure)
        self._vectors, self._texts, self._words = vectors, texts, words
        self._clues: LinkClues | None = None
        self._rows: tuple[int, LinkClues] | None = None

    def scores(self, source: IntArray, target: IntArray, held: Additions | None = None) -> Floats:
        """Scores of the links (source, target) between positions of a catalog, shape (m,)."""
        clues = self._now(held)
        return self.ranking.judge.scores(clues.pairs(_whole(source), _whole(target)))

    def features(self, source: IntArray, target: IntArray) -> Table:
        """What the judge reads of links, scaled as it does, and its score, (m, features + 1)."""
        judge = self.ranking.judge
        found = self._now(None).pairs(_whole(source), _whole(target))
        scaled = np.clip((found - judge.mean) / judge.spread, -BOUND, BOUND)
        return np.column_stack([scaled, judge.scores(found)]).astype(np.float32)

    def block(self, node: int, held: Additions | None = None) -> Floats:
        """Scores of a node with every position, shape (n + m,).

        What is not worth a look follows what is, by the method's vectors.
        """
        clues = self._now(held)
        places, by_vectors = next(clues.worth(np.array([node])))
        scores = self.ranking.judge.scores(clues.pairs(np.full(len(places), node), places))
        below = scores.min(initial=0) - 1 - by_vectors.max(initial=-np.inf)
        row: Floats = np.empty(self.graph.n_nodes + (0 if held is None else held.size), np.float32)
        row[: len(by_vectors)] = by_vectors + below
        row[places] = scores
        return row

    def _now(self, held: Additions | None) -> LinkClues:
        """All nodes, and what came since."""
        if self._clues is None:
            center, context = self._vectors.center, self._vectors.context
            kept = self._texts.tables
            tables = {
                # Nodes that came by their text alone may have no context vector.
                "center": center, "context": center if context is None else _numbers(context),
                "structure_center": self.structure[0], "structure_context": self.structure[1],
                "points": kept["rank_points"], "near": kept["rank_near"],
            }  # fmt: skip
            cut = [self._words(text) for text in self.graph.texts or ()]
            self._clues = LinkClues(cut, link_matrix(self.graph), tables)
        if held is None or not held.size:
            return self._clues
        key = hash((tuple(held.rows.texts[: held.size]), held.home.tobytes()))
        found = self._rows
        if found is None or found[0] != key:
            found = self._rows = key, self._clues.with_rows(self._read(held))
        return found[1]

    def _read(self, held: Additions) -> Rows:
        """What came since: read by its text, with the structure of the node it was before."""
        home = held.home.astype(np.int64)
        cut = [self._words(text) for text in held.rows.texts[: held.size]]
        near = self._texts.tables["rank_near"]
        tables = {
            "center": np.asarray(held.center), "context": np.nan_to_num(held.context),
            "structure_center": _at_home(self.structure[0], home),
            "structure_context": _at_home(self.structure[1], home),
            "points": self._texts.ranking.space.vectors(cut), "near": _at_home(near, home),
        }  # fmt: skip
        return Rows(cut, tables, home)


def moved(structure: Sequence[NDArray[Any]], before: TextGraph, now: TextGraph) -> list[Table]:
    """Tables of one graph's nodes for the nodes of another, by name; 0 for those it lacks.

    A node without links has 0 too: it may have the name of one that was removed.
    """
    found = (before.find(str(name)) for name in now.names)
    home = np.array([-1 if place is None else place for place in found], np.int64)
    home[now.degree == 0] = -1
    return [_at_home(table, home).astype(table.dtype) for table in structure]


def _at_home(table: NDArray[Any], home: IntArray) -> Table:
    """Rows of a table, 0 for a home of -1, shape (m, dim)."""
    if not len(table):
        return np.zeros((len(home), table.shape[1]), np.float32)
    return np.where(home[:, None] >= 0, table[home], 0).astype(np.float32)


def _numbers(table: NDArray[Any]) -> NDArray[Any]:
    """A table with 0 for what is no number; itself where all are."""
    return np.nan_to_num(table) if np.isnan(table[:, 0]).any() else table


def _whole(positions: IntArray) -> NDArray[np.int64]:
    return np.asarray(positions, np.int64)
