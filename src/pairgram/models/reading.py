"""Models that read texts: a new node is placed by its text alone."""

import logging
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairgram.errors import InputError
from pairgram.graph import TextGraph
from pairgram.models.base import Model
from pairgram.models.catalog import Catalog
from pairgram.models.curating import notice_fewer
from pairgram.models.finding import Finder
from pairgram.models.fusing import Evidence, FusedPlaced
from pairgram.models.moment import of_one_moment
from pairgram.models.naming import Namer
from pairgram.models.placed import Placed
from pairgram.models.ranking import BESIDE, EARLIER, TABLES, Board, RankedPlaced, Ranking
from pairgram.models.scoring import Floats, Tables, unit_rows
from pairgram.models.suggesting import Asked, Strings, Suggestion
from pairgram.search.fusion import FUSED, LEARNED, Fusion
from pairgram.search.ranker import RANKED
from pairgram.text.cleaning import beginning

logger = logging.getLogger(__name__)

Table = NDArray[np.float32]
FUSION, RANKING = "fusion", "ranking"

# Shared words are looked for in so much of a new text.
MOST_CHARACTERS = 1 << 15


class ReadingModel(Model):
    """Base of the methods whose vectors come from text.

    Attributes
    ----------
    ranking_
        What the rule "ranked" for new texts was fitted to; None without.
    """

    ranking_: Ranking | None = None
    _evidence_: Evidence | None = None
    _board_: Board | None = None

    @abstractmethod
    def words(self, text: str) -> list[str]:
        """Words that the model reads in a text."""

    @abstractmethod
    def _vectors_of(self, texts: Sequence[str]) -> tuple[Table, Table | None]:
        """Centre vectors and, where they come from text, context vectors, both (m, dim)."""

    @property
    @abstractmethod
    def _word_ids(self) -> Mapping[str, int]:
        """Known words; the larger the number, the rarer the word."""

    @property
    def _reads_letters(self) -> bool:
        """Whether an unknown word still says something."""
        return False

    def embed(self, texts: Sequence[str]) -> Table:
        """Vectors of texts, known or new, shape (m, dim)."""
        return self._read(texts)[0]

    def place(self, texts: Sequence[str]) -> Placed:
        """New texts ready to be scored against known nodes and each other."""
        placed = self._placed(texts, "both")
        if self.fusion_ is not None:
            placed = FusedPlaced(placed, texts, self.fusion_, self._evidence())
        board = self._board()
        return placed if board is None else RankedPlaced(placed, texts, board)

    def _read(self, texts: Sequence[str]) -> tuple[Table, Table | None]:
        self._check_fitted()
        if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
            raise InputError(
                f"{type(self).__name__} reads a list of texts. Got something else: pass [text]."
            )
        return self._vectors_of(texts)

    def _placed(self, texts: Sequence[str], direction: str) -> Placed:
        center, context = self._read(texts)
        tables = self._directed_tables(direction)
        return Placed(tables, self.vector_rule_, center, context, self._prior_of_new())

    def _texts(self, graph: TextGraph) -> tuple[str, ...]:
        return needed_texts(type(self).__name__, graph)

    @of_one_moment
    def suggest_many(
        self,
        texts: Sequence[str],
        k: int = 10,
        direction: str = "both",
        rule: str | None = None,
        prefix: Strings = None,
        label: Strings = None,
        relation: str | None = None,
        search: str = "auto",
    ) -> list[list[Suggestion]]:
        """The k most likely links of each of many new nodes; parameters as in `suggest`."""
        self._check_fitted()
        return self._suggest_texts(
            texts, self._asked(k, direction, rule, prefix, label, relation, search)
        )

    def transform(self, texts: Sequence[str]) -> Table:
        """Vectors of texts, as a step of a scikit-learn pipeline, shape (m, dim)."""
        return self.embed(list(texts))

    def _suggest_texts(self, texts: Sequence[str], asked: Asked) -> list[list[Suggestion]]:
        catalog = self._catalog(asked.direction)
        query = self._query(texts, catalog)
        board = self._board() if asked.rule in (None, RANKED) and asked.search != "ann" else None
        if asked.rule == FUSED and self.fusion_ is not None:
            rule, block = FUSED, self._fused(catalog, query, texts, self.fusion_)
        elif board is not None:
            rule, block = RANKED, ranked_block(board, catalog, texts)
        else:
            rule, block = self._rule_for(catalog, query, asked.rule, is_new=True), None
        read = [set(self.words(beginning(text, MOST_CHARACTERS))) for text in texts]
        self._notice_unread(read)
        barred = catalog.barred(asked.prefix, asked.label)
        namer = Namer.of(self, catalog, asked)
        results = Finder(catalog, rule, asked, self.index_, namer, block).find_many(query, barred)
        found = []
        for row, (words, (places, scores)) in enumerate(zip(read, results, strict=True)):
            listed = zip(places.tolist(), scores, strict=True)
            some = [self._suggestion(catalog, words, v, s) for v, s in listed]
            found.append(some if namer is None else namer.name(query, row, places, some))
        notice_fewer(min(map(len, found), default=asked.k), asked.k)
        return [self._confident("text", one, rule) for one in found]

    def _fused(
        self, catalog: Catalog, query: Tables, texts: Sequence[str], fusion: Fusion
    ) -> Callable[[slice], Floats]:
        """Function that gives the fused scores of some texts with every position."""
        evidence = self._evidence()

        def block(rows: slice) -> Floats:
            learned = np.nan_to_num(catalog.block(query, fusion.rule, rows), nan=-np.inf)
            least = learned.min(axis=1, keepdims=True, where=np.isfinite(learned), initial=0)
            parts = evidence.parts(texts[rows], catalog)
            return fusion.combine({LEARNED: np.maximum(learned, least), **parts})

        return block

    def _board(self) -> Board | None:
        """The ranker beside the nodes, made at its first use; None for a model without."""
        if self.ranking_ is None:
            return None
        if self._board_ is None or self._board_.graph is not self.graph_:
            self._board_ = Board(self.ranking_, self.graph_, self._ranker_words)
        return self._board_

    def _ranker_words(self, text: str) -> list[str]:
        """Words of a text that the ranker reads."""
        return self.words(beginning(text, MOST_CHARACTERS))

    def _evidence(self) -> Evidence:
        """BM25, votes and degrees, made at their first use."""
        made = self._evidence_
        if made is None or made.graph is not self.graph_:
            made = self._evidence_ = Evidence(self.graph_, self.words)
        return made

    def _extra_parts(self) -> dict[str, dict[str, Any]]:
        fused = {} if self.fusion_ is None else {FUSION: self.fusion_.to_json()}
        ranked = {} if self.ranking_ is None else {RANKING: self.ranking_.to_json()}
        return {**fused, **ranked}

    def _take_extra(self, extra: Mapping[str, dict[str, Any]]) -> None:
        self.fusion_ = Fusion.from_json(extra[FUSION]) if FUSION in extra else None

    def _more_weights(self) -> dict[str, NDArray[Any]]:
        if self.ranking_ is None:
            return {}
        return {f"{BESIDE}{name}": array for name, array in self.ranking_.arrays().items()}

    def _more_tables(self) -> dict[str, NDArray[Any]]:
        board = self._board()
        return {} if board is None else dict(board.tables)

    def _take_more(
        self,
        weights: Mapping[str, NDArray[Any]],
        tables: Mapping[str, NDArray[Any]],
        extra: Mapping[str, dict[str, Any]],
    ) -> None:
        if RANKING not in extra:
            return
        arrays = {name.removeprefix(BESIDE): array for name, array in weights.items()}
        if any(name.startswith(EARLIER) for name in arrays):
            logger.warning("the ranker was fitted by an earlier version and is left out: fit again")
            return
        self.ranking_ = Ranking.load(arrays, extra[RANKING])
        kept = {name: tables[name] for name in TABLES if name in tables}
        if len(kept) != len(TABLES):
            raise InputError("The ranker is damaged: tables of its nodes are missing.")
        self._board_ = Board(self.ranking_, self.graph_, self._ranker_words, kept)

    def _forget(self) -> None:
        super()._forget()
        self.fusion_ = self._evidence_ = self.ranking_ = self._board_ = None

    def _query(self, texts: Sequence[str], catalog: Catalog) -> Tables:
        """Vectors of new texts as those of queries."""
        center, context = self._read(texts)
        prior = self._prior_of_new()
        bias = None if prior is None else np.full(len(center), prior, np.float32)
        unit = None if catalog.tables.unit is None else unit_rows(center)
        return Tables(center, context, bias, catalog.tables.backwards, unit)

    def _suggestion(self, catalog: Catalog, read: set[str], v: int, score: float) -> Suggestion:
        text = catalog.text(v)
        return Suggestion(catalog.name(v), float(score), text, self._shared(read, text))

    def _vectors_of_new(self, texts: Sequence[str]) -> tuple[Table, Table | None]:
        return self._read(texts)

    def _vectors_of_changed(
        self, ids: Sequence[str], texts: Sequence[str]
    ) -> tuple[Table, Table | None]:
        """What a node has beside its text's vector, such as an id vector, stays as it is."""
        catalog = self._catalog()
        at = catalog.positions(ids)
        known = catalog.take(at)
        before, after = self._read([catalog.text(v) for v in at.tolist()]), self._read(texts)
        center = known.center + (after[0] - before[0])
        if known.context is None:
            return center, after[1]
        if before[1] is None or after[1] is None:
            return center, np.asarray(known.context)
        return center, known.context + (after[1] - before[1])

    def _notice_unread(self, read: Sequence[set[str]]) -> None:
        """Say how many texts have no words, or no known ones."""
        known = self._word_ids.keys()
        empty = sum(not words for words in read)
        strange = sum(not words & known for words in read) - empty
        if empty:
            said = "%d of %d texts without a word to read: what is suggested is the same for all"
            logger.warning(said, empty, len(read))
        if strange:
            rest = "only their letters count" if self._reads_letters else "they count for nothing"
            said = "%d of %d texts with unknown words alone: %s"
            logger.warning(said, strange, len(read), rest)

    def _shared(self, read: set[str], text: str) -> str:
        """Shared words, the rarest first, as many as fit in a line."""
        ids = self._word_ids
        common = sorted(read & set(self.words(text)), key=lambda w: (-ids.get(w, 0), w))
        if not common:
            return "no shared word"
        more = ", …" if len(common) > 3 else ""
        return f"{len(common)} shared word{'s' * (len(common) > 1)}: {', '.join(common[:3])}{more}"


def ranked_block(board: Board, catalog: Catalog, texts: Sequence[str]) -> Callable[[slice], Floats]:
    """Function that gives the ranked scores of some texts with every position."""
    held = catalog.additions
    rows = held.rows.texts[: held.size] if held else ()
    home = held.home[: held.size] if held else None
    return lambda part: board.scores(texts[part], rows, home)


def needed_texts(method: str, graph: TextGraph) -> tuple[str, ...]:
    """Texts of a graph; one without any raises."""
    if graph.texts is None or not any(graph.texts):
        raise InputError(
            f"{method} needs texts and none of the {graph.n_nodes} nodes has one. "
            "Give them with texts=, or use PS, which learns from structure alone."
        )
    return graph.texts
