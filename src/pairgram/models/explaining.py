"""What carried a suggestion, found by leaving it out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pairgram import params
from pairgram.errors import ParameterError
from pairgram.models.catalog import Catalog
from pairgram.models.scoring import PRODUCTS, Floats, Tables, pair_terms, unit_rows
from pairgram.search.fusion import FUSED
from pairgram.search.ranker import RANKED

if TYPE_CHECKING:
    from pairgram.models.curating import Curating

MOST_WORDS = 64
"""Words of a text that are left out one by one: the first ones."""
PIECE = 4
"""Letters of a sub-word."""
MOST_NEIGHBOURS = 1000


@dataclass(frozen=True)
class Word:
    """A word or sub-word, and by how much the score falls without it.

    Attributes
    ----------
    word
        As the model reads it.
    effect
        Score of the whole text minus score without the word: above 0 it carried the score.
    known
        Whether the model knows the word; of an unknown one only the letters count.
    """

    word: str
    effect: float
    known: bool


@dataclass(frozen=True)
class Neighbour:
    """A known neighbour of the target, and the cosine of its vector with the query's."""

    node: str
    text: str
    similarity: float


@dataclass(frozen=True)
class Explanation:
    """What carried the score of one suggestion.

    Attributes
    ----------
    target
        The suggested node.
    score, rule
        Its score, and the rule of it.
    words
        Words of the query that carried it, the strongest first.
    pieces
        Sub-words of those of them that the model does not know.
    target_words
        Words of the target's text that carried it.
    neighbours
        Known neighbours of the target, the nearest to the query first.
    """

    target: str
    score: float
    rule: str
    words: tuple[Word, ...]
    pieces: tuple[Word, ...]
    target_words: tuple[Word, ...]
    neighbours: tuple[Neighbour, ...]

    def __str__(self) -> str:
        parts = (
            ("your words", [f"{one.word} ({one.effect:+.2g})" for one in self.words]),
            ("letters", [f"{one.word} ({one.effect:+.2g})" for one in self.pieces]),
            ("its words", [f"{one.word} ({one.effect:+.2g})" for one in self.target_words]),
            ("near it", [f"{one.node} ({one.similarity:.2f})" for one in self.neighbours]),
        )
        said = "; ".join(f"{name}: {', '.join(found)}" for name, found in parts if found)
        return said or "nothing that can be named"


def explain(
    model: "Curating", target: str, text: str | None, node: str | None, k: int, rule: str | None
) -> Explanation:
    """Explain the score of a node for a text or for another node; see `Model.explain`."""
    model._check_fitted()
    if (text is None) == (node is None):
        raise ParameterError("explain needs a text or node= with the id of a known node.")
    params.check(type(model).__name__, {"k": params.Int(1)}, {"k": k})
    catalog = model._catalog()
    aim = catalog.position(target)
    source = None if node is None else catalog.position(node)
    said = catalog.text(source) if source is not None else str(text)
    query = _query(model, catalog, source, said)
    is_new = source is None or source >= catalog.n_fitted
    chosen = model._rule_for(catalog, query, _learned(model, rule), is_new=is_new)
    if chosen not in PRODUCTS:  # what reads two texts together has no terms: the vectors have
        chosen = "dot"
    goal = catalog.take(np.array([aim]))
    score = float(_scores(query, goal, chosen)[0])
    words: list[Word] = []
    pieces: list[Word] = []
    target_words: list[Word] = []
    if hasattr(model, "words"):
        ours = _Scorer(model, catalog, query, said, lambda some: _scores(some, goal, chosen))
        words = ours.effects(score, k)
        pieces = ours.letters(score, [one.word for one in words if not one.known], k)
        theirs = _Scorer(
            model, catalog, goal, catalog.text(aim), lambda some: _scores(query, some, chosen)
        )
        target_words = theirs.effects(score, k)
    near = _neighbours(model, catalog, query, aim, source, k)
    return Explanation(
        target, score, chosen, tuple(words), tuple(pieces), tuple(target_words), tuple(near)
    )


def _learned(model: "Curating", rule: str | None) -> str | None:
    """The rule; of fused and ranked scores the learned part is explained."""
    fusion = getattr(model, "fusion_", None)
    if rule == FUSED and fusion is not None:
        return str(fusion.rule)
    return None if rule == RANKED else rule


def _query(model: "Curating", catalog: Catalog, source: int | None, text: str) -> Tables:
    if source is not None:
        return catalog.query(source)
    made: Tables = reading(model)._query([text], catalog)
    return made


class _Scorer:
    """Scores variants of one end's text; what the end has beside its text stays as it is."""

    def __init__(
        self,
        model: "Curating",
        catalog: Catalog,
        whole: Tables,
        text: str,
        score: Callable[[Tables], Floats],
    ) -> None:
        self._model, self._catalog, self._whole, self._score = reading(model), catalog, whole, score
        self._words = self._model.words(text)
        self._base = self._model._query([" ".join(self._words)], catalog)

    def effects(self, score: float, k: int) -> list[Word]:
        """The words without which the score falls most, at most k, only those that lower it."""
        distinct = list(dict.fromkeys(self._words))[:MOST_WORDS]
        rest = [" ".join(w for w in self._words if w != word) for word in distinct]
        return self._ranked(distinct, rest, score, k)

    def letters(self, score: float, unknown: Sequence[str], k: int) -> list[Word]:
        """The same for runs of letters of unknown words."""
        found, rest = [], []
        for word in unknown:
            for begin in range(max(len(word) - PIECE + 1, 1)):
                piece = word[begin : begin + PIECE]
                if piece != word and piece not in found:
                    cut = word[:begin] + word[begin + PIECE :]
                    found.append(piece)
                    rest.append(" ".join(cut if w == word else w for w in self._words))
        return self._ranked(found, rest, score, k)

    def _ranked(
        self, words: Sequence[str], rest: Sequence[str], score: float, k: int
    ) -> list[Word]:
        if not words:
            return []
        effect = score - self._score(self._changed(rest))
        known = self._model._word_ids
        best = [i for i in np.argsort(-effect, kind="stable")[:k] if effect[i] > 0]
        return [Word(words[i], float(effect[i]), words[i] in known) for i in best]

    def _changed(self, texts: Sequence[str]) -> Tables:
        """Vectors of this end if its text were another, one row a text."""
        new, old, whole = self._model._query(texts, self._catalog), self._base, self._whole
        center = np.asarray(whole.center + (new.center - old.center))
        context = whole.context
        if context is not None:
            moved = 0 if new.context is None or old.context is None else new.context - old.context
            context = context + moved + np.zeros_like(center)
        prior = None if whole.prior is None else np.repeat(whole.prior, len(texts))
        unit = None if whole.unit is None else unit_rows(center)
        return Tables(center, context, prior, whole.backwards, unit)


def _scores(first: Tables, second: Tables, rule: str) -> Floats:
    """Scores of rows with rows, one of the two repeated where it is a single one, shape (m,)."""
    terms, bias = pair_terms(first, second, rule)
    scores: Floats = sum((left * right).sum(axis=1) for left, right in terms)
    return scores if bias is None else scores + bias


def _neighbours(
    model: "Curating", catalog: Catalog, query: Tables, aim: int, source: int | None, k: int
) -> list[Neighbour]:
    """Known neighbours of a node by the cosine of their vectors with the query's."""
    near = catalog.neighbours(aim, catalog.graph.adjacency())[:MOST_NEIGHBOURS]
    near = near if source is None else near[near != source]
    if not len(near):
        return []
    alike = unit_rows(catalog.take(near).center) @ unit_rows(query.center)[0]
    best = np.argsort(-alike, kind="stable")[:k]
    return [
        Neighbour(catalog.name(v), catalog.text(v), float(a))
        for v, a in zip(near[best].tolist(), alike[best], strict=True)
    ]


def reading(model: "Curating") -> Any:
    """The model, if it reads texts."""
    if not hasattr(model, "_query"):
        raise ParameterError(
            f"{type(model).__name__} learns from structure alone and reads no texts: pass node=."
        )
    return model
