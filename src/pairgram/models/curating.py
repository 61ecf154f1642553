"""What a curator asks of a model: links, with reasons, relations and more training."""

import logging
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from pairgram import params
from pairgram.calibration import Calibration
from pairgram.errors import ParameterError
from pairgram.graph import Adjacency, TextGraph
from pairgram.models.catalog import Catalog
from pairgram.models.finding import Finder
from pairgram.models.keeping import WRITING, Keeping
from pairgram.models.moment import of_one_moment
from pairgram.models.naming import Namer
from pairgram.models.placed import allowed, next_best, possible_rules
from pairgram.models.scoring import Tables, pair_terms
from pairgram.models.suggesting import Asked, Strings, Suggestion

if TYPE_CHECKING:
    from pairgram.models.explaining import Explanation
    from pairgram.search.ann import AnnIndex
    from pairgram.search.fusion import Fusion
    from pairgram.search.relations import RelationModel

Floats = NDArray[np.floating[Any]]

logger = logging.getLogger(__name__)

CONTINUED_RATE = 0.25
"""Share of the first learning rate at which `partial_fit` goes on."""


class Curating(Keeping):
    """Suggestions of a fitted model.

    Attributes
    ----------
    calibrations_
        How scores become probabilities, for a "node" and for a "text"; empty where not calibrated.
    index_
        Index for approximate search, see `build_index`; None where there is none.
    fusion_
        Weights of the rule "fused" for new texts, see `pairgram fit --fuse`; None without.
    """

    calibrations_: Mapping[str, Calibration] = MappingProxyType({})
    index_: "AnnIndex | None" = None
    fusion_: "Fusion | None" = None
    _relations_: "RelationModel | None" = None

    @property
    @abstractmethod
    def rule_(self) -> str:
        """The rule that this model names as its own."""

    @property
    @abstractmethod
    def vector_rule_(self) -> str:
        """The rule for what has vectors alone, such as a new node."""

    @abstractmethod
    def _rule(self, rule: str | None) -> str:
        """The rule of known nodes: that of the user if the model has it, or its own."""

    @abstractmethod
    def _tables(self) -> Tables:
        """What the rules read."""

    @abstractmethod
    def _directed_tables(self, direction: str) -> Tables:
        """The same for links in one direction."""

    @abstractmethod
    def _prior_of_new(self) -> float | None:
        """Log K + log q of a node without a link, where the method has a noise distribution."""

    @abstractmethod
    def _fold_in_memory(self) -> None:
        """Make what was added part of the tables."""

    @of_one_moment
    def suggest(
        self,
        text: str | None = None,
        *,
        node: str | None = None,
        k: int = 10,
        direction: str = "both",
        rule: str | None = None,
        prefix: Strings = None,
        label: Strings = None,
        relation: str | None = None,
        explain: bool = False,
        search: str = "auto",
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
        prefix
            Suggest only ids that begin with this, or with one of these.
        label
            Suggest only nodes that have this label, or one of these.
        relation
            Suggest only nodes whose likeliest relation is this; ignored with a notice where edges
            carry none.
        explain
            Say of each suggestion what carried it.
        search
            "exact" looks at every node, "ann" at those that the index finds; "auto" takes the index
            where there is one for the rule.
        """
        self._check_fitted()
        asked = self._asked(k, direction, rule, prefix, label, relation, search)
        if (text is None) == (node is None):
            raise ParameterError("suggest needs a text or node= with the id of a known node.")
        if text is not None:
            found = self._suggest_texts([text], asked)[0]
        else:
            found = self._suggest_node(str(node), asked)
        if not explain:
            return found
        said = (self.explain(one.node, text, node=node, rule=rule) for one in found)
        return [replace(one, explanation=why) for one, why in zip(found, said, strict=True)]

    @of_one_moment
    def explain(
        self,
        target: str,
        text: str | None = None,
        *,
        node: str | None = None,
        k: int = 5,
        rule: str | None = None,
    ) -> "Explanation":
        """What carried the score of a suggestion.

        Parameters
        ----------
        target
            Id of the suggested node.
        text, node
            What it was suggested for, as in `suggest`.
        k
            How many words and neighbours at most.
        rule
            One of `rules_`; None takes the model's own.
        """
        from pairgram.models.explaining import explain

        return explain(self, target, text, node, k, rule)

    def build_index(self, rule: str | None = None) -> Self:
        """Build the index for approximate search by a rule; the folder keeps it (extra `ann`)."""
        from pairgram.search.ann import AnnIndex

        chosen = self._rule(self.vector_rule_ if rule is None else rule)
        terms, bias = pair_terms(self._tables(), self._tables(), chosen)
        self.index_ = AnnIndex.build(chosen, [right for _, right in terms], bias)
        return self

    @property
    def relations_(self) -> "RelationModel | None":
        """What names the relations of suggestions, made at its first use; None without any."""
        self._check_fitted()
        typed = self.graph_.relation
        if self._relations_ is None and typed is not None and len(typed.code):
            from pairgram.search.relations import RelationModel

            triples = (typed.source, typed.target, typed.code)
            self._relations_ = RelationModel.fit(
                self.vectors_.center, self.graph_.degree, triples, typed.names
            )
        return self._relations_

    def _asked(
        self,
        k: int,
        direction: str,
        rule: str | None,
        prefix: Strings = None,
        label: Strings = None,
        relation: str | None = None,
        search: str = "auto",
    ) -> Asked:
        who = type(self).__name__
        asked = Asked.checked(who, k, direction, rule, prefix, label, relation, search)
        if asked.label and self.graph_.labels is None and not any(self._held().rows.labels):
            raise ParameterError(
                f"label={asked.label[0]!r} needs nodes with labels, and these have none: read them "
                "with label_column= (--label-column)."
            )
        return asked

    def _suggest_node(self, node: str, asked: Asked) -> list[Suggestion]:
        catalog = self._catalog(asked.direction)
        position = catalog.position(node)
        query = catalog.query(position)
        rule = self._rule_of_node(catalog, position, asked)
        barred = catalog.barred(asked.prefix, asked.label)
        barred[catalog.neighbours(position, self._near(asked.direction))] = True
        barred[position] = True
        namer = Namer.of(self, catalog, asked)
        block = self._block_of_node(catalog, rule, position)
        finder = Finder(catalog, rule, asked, self.index_, namer, block)
        found, scores = finder.find(query, 0, barred)
        notice_fewer(len(found), asked.k)
        suggested = [
            Suggestion(catalog.name(v), float(s), catalog.text(v), self._why(catalog, position, v))
            for v, s in zip(found.tolist(), scores, strict=True)
        ]
        named = suggested if namer is None else namer.name(query, 0, found, suggested)
        return self._confident(self.kind_asked(node, rule), named, rule)

    def kind_asked(self, node: str, rule: str) -> str:
        """What a node is ranked as under a rule, and so which calibration holds: "node"."""
        return "node"

    def _rule_of_node(self, catalog: Catalog, position: int, asked: Asked) -> str:
        """The rule for a node that is asked for by its id."""
        is_new = position >= catalog.n_fitted
        return self._rule_for(catalog, catalog.query(position), asked.rule, is_new)

    def _suggest_texts(self, texts: Sequence[str], asked: Asked) -> list[list[Suggestion]]:
        raise ParameterError(
            f"{type(self).__name__} learns from structure alone and cannot place a new text. "
            "Pass node= with the id of a known node."
        )

    def _rule_for(self, catalog: Catalog, query: Tables, rule: str | None, is_new: bool) -> str:
        """The rule for a query: that of the user, or the model's own where it can be used."""
        if not is_new:
            return self._rule(self.vector_rule_ if rule is None else rule)
        possible = possible_rules(query, catalog.tables)
        return next_best(self.vector_rule_, possible) if rule is None else allowed(rule, possible)

    def _block_of_node(
        self, catalog: Catalog, rule: str, position: int
    ) -> Callable[[slice], Floats] | None:
        """Scores of a node with every position, (1, n + m), where a rule is no sum of products."""
        return None

    def _confident(self, kind: str, found: list[Suggestion], rule: str) -> list[Suggestion]:
        """Suggestions with probabilities, where the model is calibrated for them."""
        calibration = self.calibrations_.get(kind)
        if calibration is None or calibration.rule != rule or not found:
            return found
        if not calibration.is_match(found[0].score):
            logger.warning("no good match: the best suggestion is too unlikely to be a link")
        return [replace(s, probability=float(calibration.probability(s.score))) for s in found]

    def _near(self, direction: str) -> Adjacency:
        if direction == "both":
            return self.graph_.adjacency()
        return self.graph_.adjacency(directed=True, reverse=direction == "in")

    def _why(self, catalog: Catalog, u: int, v: int) -> str:
        """Shared neighbours, as many as fit in a line."""
        near = catalog.graph.adjacency()
        shared = np.intersect1d(catalog.neighbours(u, near), catalog.neighbours(v, near))
        if len(shared) == 0:
            return "no shared neighbour"
        names = ", ".join(catalog.name(w) for w in shared[:3].tolist())
        more = ", …" if len(shared) > 3 else ""
        return f"{len(shared)} shared neighbour{'s' * (len(shared) > 1)}: {names}{more}"

    def _catalog(self, direction: str = "both") -> Catalog:
        """All nodes at this moment."""
        self._check_fitted()
        found = self._catalogs_.get(direction)
        if found is None:
            with WRITING:  # graph, vectors and additions of one moment
                tables = self._directed_tables(direction)
                found = Catalog(self.graph_, tables, self._held(), self._prior_of_new())
                self._catalogs_ = {**self._catalogs_, direction: found}
        return found

    def partial_fit(
        self,
        edges: Iterable[Sequence[str]],
        texts: Mapping[str, str] | None = None,
        epochs: int = 1,
    ) -> Self:
        """Go on training with new links, from the vectors as they are.

        It costs `epochs` passes over the pairs of the larger graph, at a quarter of the first
        learning rate. The model no longer lives in its folder then: save it to keep what it learnt.
        Calibrations and fused weights stay as they are.

        Parameters
        ----------
        edges
            New links: source and target ids, and a relation where the links of the graph have one.
        texts
            Id -> text of ends that the model does not have.
        epochs
            Passes over the pairs.
        """
        from pairgram.models.continuing import enlarged

        self._check_fitted()
        params.check(type(self).__name__, {"epochs": params.Int(1)}, {"epochs": epochs})
        with WRITING:
            graph, before = enlarged(self, edges, texts or {}), dict(self.__dict__)
            try:
                self._fold_in_memory()
                self._continue(graph, epochs)
                self._catalogs_, self._relations_ = {}, None
                if self.index_ is not None:
                    self.build_index(self.index_.rule)
            except BaseException:
                self.__dict__ = before  # what could not go on is as it was, in its folder too
                raise
            self.close()
            self._home_ = None
        return self

    def _continue(self, graph: TextGraph, epochs: int) -> None:
        """Train on a graph whose first nodes are the fitted ones."""
        raise self._cannot_continue()

    def _cannot_continue(self) -> ParameterError:
        return ParameterError(
            f"{type(self).__name__} cannot go on from its vectors: fit it again on all links."
        )


def notice_fewer(found: int, k: int) -> None:
    """Say it when there are not so many nodes as were asked for."""
    if found < k:
        logger.warning("%d suggestions asked for; the graph has %d to offer", k, found)
