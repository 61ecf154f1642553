"""The ranker of a model: how it is kept, and asked for the links of new texts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairgram.errors import InputError
from pairgram.graph import TextGraph
from pairgram.models.placed import Placed
from pairgram.models.scoring import Floats, IntArray
from pairgram.search.clues import Added, Clues, node_vectors
from pairgram.search.graph_judge import GraphJudge
from pairgram.search.ranker import RANKED, Ranker
from pairgram.search.towers import Towers
from pairgram.search.vote import arc_matrix, link_matrix
from pairgram.text.latent import LatentSpace
from pairgram.text.read import Read

Table = NDArray[np.float32]
Cut = Callable[[str], list[str]]

BESIDE = "ranking/"
"""Beginning of the names of its weights in a model folder."""
EARLIER = ("ranker/", "judge/", "reader/", "panel/")
"""Beginnings of the names of judges that read no links, no direction, no levels, no letters."""
MOST_KEPT = 1 << 28
TABLES = ("rank_points", "rank_near", "rank_query", "rank_node")


@dataclass(frozen=True)
class RankingNotes:
    """How good the parts were on the nodes that were held out to train the ranker.

    Attributes
    ----------
    mrr
        MRR by part: BM25, towers, these with phrases and letters, and the whole, on queries that
        the judge was not trained with; links never looked at count 0.
    queries
        Held-out nodes.
    """

    mrr: dict[str, float]
    queries: int


@dataclass(frozen=True, eq=False)
class Ranking:
    """A latent space, towers and a ranker, fitted on one graph."""

    space: LatentSpace
    towers: Towers
    ranker: Ranker
    notes: RankingNotes

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All arrays but those of nodes, by name."""
        parts = {
            "space": self.space.arrays(),
            "towers": self.towers.weights,
            "jury": self.ranker.judge.arrays(),
        }
        return {f"{p}/{name}": a for p, arrays in parts.items() for name, a in arrays.items()}

    def to_json(self) -> dict[str, Any]:
        """The rest, as a JSON object."""
        return asdict(self.notes)

    @classmethod
    def load(cls, arrays: Mapping[str, NDArray[Any]], stored: Mapping[str, Any]) -> "Ranking":
        """Read what the two gave; what does not fit raises `InputError`."""
        parts: dict[str, dict[str, NDArray[Any]]] = {"space": {}, "towers": {}, "jury": {}}
        try:
            for name, array in arrays.items():
                part, _, rest = name.partition("/")
                parts[part][rest] = array
            space = LatentSpace.from_arrays(parts["space"])
            notes = RankingNotes(**stored)
        except (KeyError, TypeError, UnicodeDecodeError):
            raise InputError("The ranker is damaged: parts of it are missing.") from None
        judge = GraphJudge.from_arrays(parts["jury"])
        return cls(space, Towers(parts["towers"]), Ranker(judge), notes)


class Board:
    """A ranking beside the nodes of a graph, ready to be asked.

    Parameters
    ----------
    ranking
        What was fitted.
    graph
        The graph, n nodes with texts.
    words
        How a text is cut into words.
    tables
        Arrays of the nodes by the names of `TABLES`, as a folder keeps them; None makes them.
    """

    def __init__(
        self,
        ranking: Ranking,
        graph: TextGraph,
        words: Cut,
        tables: Mapping[str, NDArray[Any]] | None = None,
    ) -> None:
        self.ranking, self.graph, self._words = ranking, graph, words
        self._links = link_matrix(graph)
        self.tables = dict(tables or self._make_tables())
        self._clues: Clues | None = None
        self._added: tuple[int, Added] | None = None

    def scores(
        self, texts: Sequence[str], rows: Sequence[str] = (), home: IntArray | None = None
    ) -> Floats:
        """Scores of new texts with all nodes, and with m rows that came since; (q, n + m)."""
        added = self._add(rows, home) if home is not None and len(rows) else None
        return self.ranking.ranker.scores(self._ready(), self._read(texts), added)

    def _read(self, texts: Sequence[str], points: Table | None = None) -> Read:
        return Read.of(texts, self._words, self.ranking.space, points)

    def _ready(self) -> Clues:
        if self._clues is None:
            points, *vectors = (self.tables[name] for name in TABLES)
            self._clues = Clues(
                self._read(self.graph.texts or (), points), self._links, arc_matrix(self.graph),
                self.ranking.towers, (vectors[0], vectors[1], vectors[2]),
            )  # fmt: skip
        return self._clues

    def _add(self, rows: Sequence[str], home: IntArray) -> Added:
        """The rows, read once for as long as they are the same."""
        key = hash((tuple(rows), home.tobytes()))
        found = self._added
        if found is None or found[0] != key:
            found = self._added = key, self._ready().add(self._read(rows), home.astype(np.int64))
        return found[1]

    def _make_tables(self) -> dict[str, NDArray[Any]]:
        cut = [self._words(text) for text in self.graph.texts or ()]
        points = self.ranking.space.vectors(cut)
        near, *vectors = node_vectors(self.ranking.towers, points, self._links)
        # Of points few rows are read at a time: half precision is enough.
        halved = points.astype(np.float16), near.astype(np.float16)
        return dict(zip(TABLES, (*halved, *vectors), strict=True))


class RankedPlaced(Placed):
    """New texts whose links are scored by `ranked`, or by any rule that the model has."""

    def __init__(self, placed: Placed, texts: Sequence[str], board: Board) -> None:
        self.__dict__.update(placed.__dict__)
        self._under, self._texts, self._board = placed, list(texts), board
        self.rules, self.rule = (*placed.rules, RANKED), RANKED
        self._kept: dict[int, NDArray[np.float32]] = {}

    # Ranked scores are no products of tables, so nobody else can add them up.
    terms = None  # type: ignore[assignment]

    def block(self, rows: slice, rule: str | None = None) -> Floats:
        """Scores of some new nodes with every known one, shape (b, n)."""
        if (rule or self.rule) != RANKED:
            return self._under.block(rows, rule)
        return np.stack([self._row(row) for row in range(*rows.indices(len(self._texts)))])

    def _row(self, row: int) -> NDArray[np.float32]:
        """Scores of one new node, kept as long as they are few: an evaluation asks again."""
        found = self._kept.get(row)
        if found is None:
            found = self._board.scores(self._texts[row : row + 1])[0].astype(np.float32)
            if (len(self._kept) + 1) * len(found) <= MOST_KEPT:
                self._kept[row] = found
        return found

    def pairs(self, rows: IntArray, target: IntArray, rule: str | None = None) -> Floats:
        """Scores of new nodes with known ones at positions `target`, all of shape (k,)."""
        if (rule or self.rule) != RANKED:
            return self._under.pairs(rows, target, rule)
        scores = np.empty(len(rows))
        for row in np.unique(rows).tolist():
            mine = rows == row
            scores[mine] = self._row(row)[target[mine]]
        return scores

    def between(self, rows: IntArray, others: IntArray, rule: str | None = None) -> Floats:
        """Scores of new nodes with other new ones, all of shape (k,)."""
        return self._under.between(rows, others, rule)
