"""Models that read texts: a new node is placed by its text alone."""

import logging
from abc import abstractmethod
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from pairgram.errors import InputError
from pairgram.graph import TextGraph
from pairgram.models.base import Model, Suggestion, notice_fewer
from pairgram.models.placed import Placed
from pairgram.models.scoring import Floats
from pairgram.search import top_k
from pairgram.text.cleaning import beginning

logger = logging.getLogger(__name__)

Table = NDArray[np.float32]

BLOCK_SCORES = 1 << 24
# Shared words are looked for in so much of a new text.
MOST_CHARACTERS = 1 << 15
NOTHING = np.empty(0, np.int64)


class ReadingModel(Model):
    """Base of the methods whose vectors come from text."""

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
        return self._placed(texts, "both")

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
        return Placed(tables, self.rule_, center, context, self._prior_of_new())

    def _prior_of_new(self) -> float | None:
        """Log K + log q of a node without a link, where the method has a noise distribution."""
        return None

    def _texts(self, graph: TextGraph) -> tuple[str, ...]:
        return needed_texts(type(self).__name__, graph)

    def suggest_many(
        self, texts: Sequence[str], k: int = 10, direction: str = "both", rule: str | None = None
    ) -> list[list[Suggestion]]:
        """The k most likely links of each of many new nodes; parameters as in `suggest`."""
        self._check_asked(k, direction)
        placed = self._placed(texts, direction)
        step = max(1, BLOCK_SCORES // self.graph_.n_nodes)
        blocks = (slice(begin, begin + step) for begin in range(0, len(texts), step))
        rows = (scores for block in blocks for scores in placed.block(block, rule))
        read = [set(self.words(beginning(text, MOST_CHARACTERS))) for text in texts]
        self._notice_unread(read)
        found = [self._best(words, row, k) for words, row in zip(read, rows, strict=True)]
        notice_fewer(min(map(len, found), default=k), k)
        return [self._confident("text", one, rule or placed.rule) for one in found]

    def _suggest_text(
        self, text: str, k: int, direction: str, rule: str | None
    ) -> list[Suggestion]:
        return self.suggest_many([text], k, direction, rule)[0]

    def _best(self, read: set[str], scores: Floats, k: int) -> list[Suggestion]:
        found, best = top_k(lambda a, b: scores[a:b], len(scores), k, NOTHING)
        return [
            Suggestion(str(self.graph_.names[v]), float(s), self._text(v), self._shared(read, v))
            for v, s in zip(found.tolist(), best, strict=True)
        ]

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

    def _shared(self, read: set[str], v: int) -> str:
        """Shared words, the rarest first, as many as fit in a line."""
        ids = self._word_ids
        common = sorted(read & set(self.words(self._text(v))), key=lambda w: (-ids.get(w, 0), w))
        if not common:
            return "no shared word"
        more = ", …" if len(common) > 3 else ""
        return f"{len(common)} shared word{'s' * (len(common) > 1)}: {', '.join(common[:3])}{more}"


def needed_texts(method: str, graph: TextGraph) -> tuple[str, ...]:
    """Texts of a graph; one without any raises."""
    if graph.texts is None or not any(graph.texts):
        raise InputError(
            f"{method} needs texts and none of the {graph.n_nodes} nodes has one. "
            "Give them with texts=, or use PS, which learns from structure alone."
        )
    return graph.texts
