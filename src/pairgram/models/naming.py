"""Naming the relation of suggestions."""

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pairgram.errors import ParameterError
from pairgram.models.additions import NEW
from pairgram.models.catalog import Catalog, Mask
from pairgram.models.scoring import IntArray, Tables
from pairgram.models.suggesting import Asked, Suggestion
from pairgram.search.relations import RelationModel

if TYPE_CHECKING:
    from pairgram.models.curating import Curating

logger = logging.getLogger(__name__)

BLOCK = 1 << 15


class Namer:
    """Names the relations of links from queries to nodes of a catalog.

    Parameters
    ----------
    relations
        What was learnt from the links of the graph.
    catalog
        All nodes.
    asked
        The direction, and the relation that is wanted.
    """

    def __init__(self, relations: RelationModel, catalog: Catalog, asked: Asked) -> None:
        self._relations, self._catalog = relations, catalog
        self._direction, self._wanted = asked.direction, asked.relation
        if asked.relation is not None and asked.relation not in relations.names:
            known = ", ".join(map(repr, relations.names))
            raise ParameterError(
                f"The 'relation' parameter of suggest must be one of {known}. "
                f"Got {asked.relation!r} instead."
            )

    @classmethod
    def of(cls, model: "Curating", catalog: Catalog, asked: Asked) -> "Namer | None":
        """Make one where the links of the graph carry relations, and say it where not."""
        if model.relations_ is not None:
            return cls(model.relations_, catalog, asked)
        if asked.relation is not None:
            logger.warning(
                "the links of this graph carry no relations: relation=%r is ignored", asked.relation
            )
        return None

    def name(
        self, query: Tables, row: int, places: IntArray, found: Sequence[Suggestion]
    ) -> list[Suggestion]:
        """Suggestions with their likeliest relations."""
        if not len(places):
            return list(found)
        ranked = map(self._relations.ranked, self._probabilities(query, row, places))
        return [
            replace(one, relation=next(iter(likely)), relations=likely)
            for one, likely in zip(found, ranked, strict=True)
        ]

    def fits(self, query: Tables, row: int) -> Mask:
        """Whether the wanted relation is the likeliest one of each position, shape (n + m,)."""
        wanted = self._relations.names.index(str(self._wanted))
        mask = np.empty(self._catalog.size, bool)
        for begin in range(0, len(mask), BLOCK):
            places = np.arange(begin, min(begin + BLOCK, len(mask)))
            likely = self._probabilities(query, row, places).argmax(axis=1)
            mask[places] = likely == wanted
        return mask

    def _probabilities(self, query: Tables, row: int, places: IntArray) -> NDArray[Any]:
        homes = np.array([self._catalog.home(v) for v in places.tolist()], np.int64)
        degree = np.where(homes == NEW, 0, self._catalog.graph.degree[homes])
        target = self._catalog.take(places).center
        return self._relations.probabilities(
            query.center[row : row + 1], target, degree, self._direction
        )
