"""What every fitted model can do: score links, suggest them, be saved."""

import logging
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from pairgram import params
from pairgram.calibration import Calibration
from pairgram.errors import InputError, NotFittedError, ParameterError
from pairgram.graph import Adjacency, TextGraph
from pairgram.models.estimator import Estimator
from pairgram.models.scoring import Tables, pair_terms, score_block, score_pairs, scorer_of_node
from pairgram.search import top_k
from pairgram.vectors import Vectors

Floats = NDArray[np.floating[Any]]
IntArray = NDArray[np.integer[Any]]

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Suggestion:
    """A node worth linking to; the probability is there where the model is calibrated."""

    node: str
    score: float
    text: str
    why: str
    probability: float | None = None


class Model(Estimator):
    """Base of all methods.

    Attributes
    ----------
    graph_
        The training graph.
    vectors_
        Centre and context vectors with the node names.
    fingerprint_
        Fingerprint of the training graph.
    stats_
        Pairs, updates and seconds of the fit.
    calibrations_
        How scores become probabilities, for a "node" and for a "text"; empty where not calibrated.
    """

    method: ClassVar[str]
    citation: ClassVar[str]

    graph_: TextGraph
    vectors_: Vectors
    fingerprint_: str
    stats_: dict[str, Any]
    calibrations_: Mapping[str, Calibration] = MappingProxyType({})
    _tables_: Tables
    directed: bool = False
    rule: str = "dot"

    @abstractmethod
    def fit(self, graph: TextGraph) -> Self:
        """Learn from a graph; starts afresh every time and changes nothing in it."""

    @property
    def is_fitted(self) -> bool:
        """Whether `fit` or `load` has been called."""
        return hasattr(self, "vectors_")

    @property
    def rules_(self) -> tuple[str, ...]:
        """Scoring rules that this model allows."""
        return self._tables().rules

    @property
    def rule_(self) -> str:
        """The rule that this model names as its own."""
        return self.rule

    def score(self, pairs: Iterable[tuple[str, str]], rule: str | None = None) -> Floats:
        """Scores of links between known nodes.

        Parameters
        ----------
        pairs
            Ids of the two ends.
        rule
            One of `rules_`; None takes the model's own.

        Returns
        -------
        ndarray
            Shape (m,); larger is likelier.
        """
        self._check_fitted()
        ends = list(pairs)
        source = self.graph_.positions([a for a, _ in ends])
        target = self.graph_.positions([b for _, b in ends])
        return self.score_positions(source, target, rule)

    def score_positions(
        self, source: IntArray, target: IntArray, rule: str | None = None
    ) -> Floats:
        """Scores of links between positions of the training graph, both shape (m,)."""
        return score_pairs(self._tables(), self._rule(rule), source, target)

    def score_block(self, nodes: IntArray, rule: str | None = None) -> Floats:
        """Scores of positions, shape (b,), with every node, shape (b, n)."""
        return score_block(self._tables(), self._rule(rule), nodes)

    def terms(self, rule: str | None = None) -> tuple[list[tuple[Floats, Floats]], Floats | None]:
        """What `score_block` adds up: pairs of tables, (n, dim), and a term of the node, (n,)."""
        return pair_terms(self._tables(), self._tables(), self._rule(rule))

    def suggest(
        self,
        text: str | None = None,
        *,
        node: str | None = None,
        k: int = 10,
        direction: str = "both",
        rule: str | None = None,
    ) -> list[Suggestion]:
        """The k most likely new links of a node; known ones are left out.

        Parameters
        ----------
        text
            Text of a new node, for models that read text; then there is no node=.
        node
            Id of a known node.
        k
            How many suggestions.
        direction
            "out" for what the node should point to, "in" for what should point to it; both need a
            model fitted with directed=True.
        rule
            One of `rules_`; None takes the model's own.
        """
        self._check_asked(k, direction)
        if text is not None and node is None:
            return self._suggest_text(text, k, direction, rule)
        if node is None or text is not None:
            raise ParameterError("suggest needs a text or node= with the id of a known node.")
        tables = self._directed_tables(direction)
        position = self.graph_.position(node)
        known = _row(self._known(direction), position)
        score = self._scorer(tables, self._rule(rule), position)
        found, scores = top_k(score, self.graph_.n_nodes, k, np.append(known, position))
        notice_fewer(len(found), k)
        suggested = [
            Suggestion(str(self.graph_.names[v]), float(s), self._text(v), self._why(position, v))
            for v, s in zip(found.tolist(), scores, strict=True)
        ]
        return self._confident("node", suggested, self._rule(rule))

    def _scorer(self, tables: Tables, rule: str, position: int) -> Callable[[int, int], Floats]:
        """Function of (begin, end) that scores the links from a node to those nodes."""
        return scorer_of_node(tables, rule, position)

    def _confident(self, kind: str, found: list[Suggestion], rule: str) -> list[Suggestion]:
        """Suggestions with probabilities, where the model is calibrated for them."""
        calibration = self.calibrations_.get(kind)
        if calibration is None or calibration.rule != rule or not found:
            return found
        if not calibration.is_match(found[0].score):
            logger.warning("no good match: the best suggestion is too unlikely to be a link")
        return [replace(s, probability=float(calibration.probability(s.score))) for s in found]

    def _suggest_text(
        self, text: str, k: int, direction: str, rule: str | None
    ) -> list[Suggestion]:
        raise ParameterError(
            f"{type(self).__name__} learns from structure alone and cannot place a new text. "
            "Pass node= with the id of a known node."
        )

    def _check_asked(self, k: int, direction: str) -> None:
        self._check_fitted()
        params.check(
            type(self).__name__,
            {"k": params.Int(1), "direction": params.Choice("out", "in", "both")},
            {"k": k, "direction": direction},
        )

    def save(self, folder: str | Path) -> None:
        """Write the model folder; an older model there is replaced in one step."""
        from pairgram.models.storage import save

        self._check_fitted()
        save(self, Path(folder))

    def _weights(self) -> dict[str, NDArray[Any]]:
        """Arrays that the model folder keeps beside the vectors."""
        return {}

    def _extra_json(self) -> dict[str, dict[str, Any]]:
        """JSON files of the model folder beside the config, by name without the suffix."""
        return {}

    def _take_parts(
        self, weights: dict[str, NDArray[Any]], extra: dict[str, dict[str, Any]]
    ) -> None:
        """Take up what the two gave; what does not fit raises `InputError`."""

    def _directed_tables(self, direction: str) -> Tables:
        if direction == "both":
            return self._tables()
        if not self.directed:
            raise ParameterError(
                f"direction={direction!r} needs a model fitted with directed=True; this "
                f"{type(self).__name__} ignores direction. Use direction='both'."
            )
        return self._tables() if direction == "out" else self._tables().reversed()

    def _known(self, direction: str) -> Adjacency:
        if direction == "both":
            return self.graph_.adjacency()
        return self.graph_.adjacency(directed=True, reverse=direction == "in")

    def _why(self, u: int, v: int) -> str:
        """Shared neighbours, as many as fit in a line."""
        near = self.graph_.adjacency()
        shared = np.intersect1d(_row(near, u), _row(near, v), assume_unique=True)
        if len(shared) == 0:
            return "no shared neighbour"
        names = ", ".join(str(self.graph_.names[w]) for w in shared[:3])
        more = ", …" if len(shared) > 3 else ""
        return f"{len(shared)} shared neighbour{'s' * (len(shared) > 1)}: {names}{more}"

    def _text(self, v: int) -> str:
        return self.graph_.texts[v] if self.graph_.texts is not None else ""

    def _tables(self) -> Tables:
        """What the rules read, made at its first use: the prior reads every degree."""
        self._check_fitted()
        made: Tables | None = self.__dict__.get("_tables_")
        if made is None or made.center is not self.vectors_.center:
            made = self._tables_ = self._make_tables()
        return made

    def _make_tables(self) -> Tables:
        return Tables(self.vectors_.center, self.vectors_.context, self._prior())

    def _prior(self) -> Floats | None:
        """Log K + log q(v), shape (n,), where the method has a noise distribution."""
        return None

    def _rule(self, rule: str | None) -> str:
        chosen = self.rule_ if rule is None else rule
        allowed: Sequence[str] = self.rules_
        if chosen not in allowed:
            raise ParameterError(
                f"The 'rule' parameter of {type(self).__name__} must be one of "
                f"{', '.join(map(repr, allowed))}. Got {chosen!r} instead."
            )
        return chosen

    def _check_fitted(self) -> None:
        if not self.is_fitted:
            raise NotFittedError(f"This {type(self).__name__} is not fitted yet. Call fit first.")

    def _check_graph(self, graph: TextGraph) -> None:
        if not isinstance(graph, TextGraph):
            raise InputError(
                f"{type(self).__name__}.fit needs a TextGraph. Got {type(graph).__name__} instead: "
                "make one with TextGraph.from_files, from_edges, from_networkx, …"
            )
        if graph.n_edges == 0:
            raise InputError(
                f"{type(self).__name__} needs at least one edge. The graph has "
                f"{graph.n_nodes} nodes and none: check the edge list."
            )
        self.calibrations_ = {}  # those of an earlier fit say nothing of this one


def notice_fewer(found: int, k: int) -> None:
    """Say it when there are not so many nodes as were asked for."""
    if found < k:
        logger.warning("%d suggestions asked for; the graph has %d to offer", k, found)


def _row(graph: Adjacency, u: int) -> IntArray:
    return graph.indices[graph.indptr[u] : graph.indptr[u + 1]]
