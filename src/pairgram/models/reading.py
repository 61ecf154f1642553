"""Models that read texts: a new node is placed by its text alone."""

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pairgram.errors import InputError
from pairgram.graph import TextGraph
from pairgram.models.base import Model, Suggestion
from pairgram.models.placed import Placed
from pairgram.search import top_k

Table = NDArray[np.float32]


class ReadingModel(Model):
    """Base of the methods whose vectors come from text."""

    @abstractmethod
    def words(self, text: str) -> list[str]:
        """Words that the model reads in a text."""

    @abstractmethod
    def _vectors_of(self, texts: Sequence[str]) -> tuple[Table, Table | None]:
        """Centre vectors and, where they come from text, context vectors, both (m, dim)."""

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
        if graph.texts is None or not any(graph.texts):
            raise InputError(
                f"{type(self).__name__} needs texts and none of the {graph.n_nodes} nodes has one. "
                "Give them with texts=, or use PS, which learns from structure alone."
            )
        return graph.texts

    def _suggest_text(
        self, text: str, k: int, direction: str, rule: str | None
    ) -> list[Suggestion]:
        scores = self._placed([text], direction).block(slice(0, 1), rule)[0]
        nothing = np.empty(0, np.int64)
        found, best = top_k(lambda a, b: scores[a:b], self.graph_.n_nodes, k, nothing)
        read = self.words(text)
        return [
            Suggestion(str(self.graph_.names[v]), float(s), self._text(v), self._shared(read, v))
            for v, s in zip(found.tolist(), best, strict=True)
        ]

    def _shared(self, read: list[str], v: int) -> str:
        """Shared words, the rarest first, as many as fit in a line."""
        common = sorted(set(read) & set(self.words(self._text(v))), key=self._commonness)
        if not common:
            return "no shared word"
        more = ", …" if len(common) > 3 else ""
        return f"{len(common)} shared word{'s' * (len(common) > 1)}: {', '.join(common[:3])}{more}"

    def _commonness(self, word: str) -> tuple[float, str]:
        """Sort key of words, the rarest first; without counts the longest."""
        return -len(word), word
