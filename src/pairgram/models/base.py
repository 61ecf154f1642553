"""What every fitted model can do: score links, suggest them, be saved."""

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from pairgram.errors import InputError, NotFittedError, ParameterError
from pairgram.graph import TextGraph
from pairgram.models.additions import Additions
from pairgram.models.curating import Curating
from pairgram.models.moment import of_one_moment
from pairgram.models.placed import aligned
from pairgram.models.scoring import Tables, pair_terms, score_block, score_pairs
from pairgram.vectors import Vectors

if TYPE_CHECKING:
    from pairgram.io.folder import ModelFolder

Floats = NDArray[np.floating[Any]]
IntArray = NDArray[np.integer[Any]]
Table = NDArray[np.float32]


class Model(Curating):
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
    """

    method: ClassVar[str]
    citation: ClassVar[str]

    graph_: TextGraph
    vectors_: Vectors
    fingerprint_: str
    stats_: dict[str, Any]
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

    def __sklearn_is_fitted__(self) -> bool:
        return self.is_fitted

    @property
    def rules_(self) -> tuple[str, ...]:
        """Scoring rules that this model allows."""
        return self._tables().rules

    @property
    def rule_(self) -> str:
        """The rule that this model names as its own."""
        return self.rule

    @property
    def vector_rule_(self) -> str:
        """Its own rule, or where that reads more than vectors, the one that it takes for them."""
        return self.rule_

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
            Shape (m,); larger is likelier. NaN where the rule reads a context vector that a node
            added by its text does not have.
        """
        self._check_fitted()
        return self._score(list(pairs), rule)

    @of_one_moment
    def _score(self, pairs: Sequence[tuple[str, str]], rule: str | None) -> Floats:
        catalog = self._catalog()
        find = catalog.positions if catalog.additions else self.graph_.positions
        source, target = find([a for a, _ in pairs]), find([b for _, b in pairs])
        if not catalog.additions:
            return self.score_positions(source, target, rule)
        return aligned(catalog.take(source), catalog.take(target), self._rule(rule))

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

    def _extra_parts(self) -> dict[str, dict[str, Any]]:
        """More of them, of what was fitted beside the method itself."""
        return {}

    def _take_extra(self, extra: Mapping[str, dict[str, Any]]) -> None:
        """Take up what `_extra_parts` gave; what does not fit raises `InputError`."""

    def _more_weights(self) -> dict[str, NDArray[Any]]:
        """Arrays of what was fitted beside the method itself, by names under `BESIDE`."""
        return {}

    def _more_tables(self) -> dict[str, NDArray[Any]]:
        """Arrays with a row for every node, beside the vectors."""
        return {}

    def _folded_parts(self, held: Additions) -> dict[str, Any]:
        """Attributes that have an entry for every node, as they are with additions folded in."""
        return {}

    def _take_more(
        self,
        weights: Mapping[str, NDArray[Any]],
        tables: Mapping[str, NDArray[Any]],
        extra: Mapping[str, dict[str, Any]],
    ) -> None:
        """Take up what the two gave, and JSON; what does not fit raises `InputError`."""

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

    def _prior_of_new(self) -> float | None:
        """Log K + log q of a node without a link, where the method has a noise distribution."""
        return None

    def _vectors_of_new(self, texts: Sequence[str]) -> tuple[Table, Table | None]:
        raise ParameterError(
            f"{type(self).__name__} learns from structure alone and cannot place a new node. Fit a "
            "model that reads text, such as TGE, or add the node's links and fit again."
        )

    def _vectors_of_changed(
        self, ids: Sequence[str], texts: Sequence[str]
    ) -> tuple[Table, Table | None]:
        kept = self._catalog().take(self._catalog().positions(ids))
        return np.asarray(kept.center), None if kept.context is None else np.asarray(kept.context)

    def _fold_in_memory(self) -> None:
        from pairgram.models.storage import fold_in_memory

        fold_in_memory(self)

    def _fold(self) -> None:
        from pairgram.models.storage import fold

        fold(self)

    def _take_folder(self, path: Path, folder: "ModelFolder") -> None:
        from pairgram.models.storage import take

        take(self, path, folder)

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
        # What an earlier fit left says nothing of this one.
        self._forget()
        self.calibrations_, self.index_, self._relations_ = {}, None, None
