"""Models that read texts by a vocabulary counted in training."""

from collections.abc import Mapping

from pairgram.graph import TextGraph
from pairgram.models.reading import ReadingModel
from pairgram.text.cleaning import cleaner
from pairgram.text.vocabulary import Vocabulary


class CountingModel(ReadingModel):
    """Base of the methods that count words; an audit counts them again and compares."""

    vocabulary_: Vocabulary
    cleaning: str | None
    min_count: int

    @property
    def _cleaning(self) -> str:
        """How a text is cut into words."""
        return str(self.cleaning)

    def words(self, text: str) -> list[str]:
        """Words that the model reads in a text."""
        return cleaner(self._cleaning)(text)

    @property
    def statistics_(self) -> dict[str, str]:
        """Sha256 of all that was counted in training, by name."""
        self._check_fitted()
        return self.vocabulary_.fingerprints

    def count_statistics(self, graph: TextGraph) -> dict[str, str]:
        """Count the same in another graph."""
        return Vocabulary.fit(self._texts(graph), self._cleaning, self.min_count).fingerprints

    @property
    def _word_ids(self) -> Mapping[str, int]:
        return self.vocabulary_.ids
