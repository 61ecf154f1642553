"""Models whose links between known nodes can be ranked: the rule `ranked` for nodes."""

import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from pairgram.errors import InputError, ParameterError
from pairgram.graph import TextGraph
from pairgram.models.additions import NEW
from pairgram.models.catalog import Catalog
from pairgram.models.counting import CountingModel
from pairgram.models.link_ranking import LINKS, STRUCTURE, LinkBoard, LinkRanking, moved
from pairgram.models.moment import of_one_moment
from pairgram.models.ranking import BESIDE
from pairgram.models.reading import ranked_block
from pairgram.models.scoring import Floats, IntArray
from pairgram.models.suggesting import Asked
from pairgram.search.ranker import RANKED

logger = logging.getLogger(__name__)

NOTES = "link_ranking"
Features = Callable[[IntArray, IntArray], Floats]


class LinkRankedModel(CountingModel):
    """Base of the methods that may have a ranker of links.

    Attributes
    ----------
    links_
        What the rule "ranked" for known nodes was fitted to; None without.
    """

    links_: LinkRanking | None = None
    _link_board_: LinkBoard | None = None

    device: str
    seed: int
    threads: int | None

    def _fit_rankers(self, graph: TextGraph, smaller: TextGraph | None) -> None:
        """Fit a ranker of new texts and, with links that the vectors never saw, one of links.

        Parameters
        ----------
        graph
            The training graph.
        smaller
            The graph without the links that were held back from the vectors; None for none.
        """
        from pairgram.models.link_rehearsing import fit_links
        from pairgram.models.rehearsing import fit_ranking
        from pairgram.text.encoders import resolve_device

        began, device, words = time.perf_counter(), resolve_device(self.device), self._ranker_words
        self.ranking_ = fit_ranking(graph, words, self.seed, device)
        board = self._board()
        if board is None:
            return
        self.stats_["seconds"]["rank"] = time.perf_counter() - began
        began = time.perf_counter()
        if smaller is None:
            logger.info("no ranker of links: the vectors were trained on all of them")
            return
        points = board.tables["rank_points"]
        made = fit_links(
            graph, smaller, self.vectors_, points, words, self.seed, self.threads, device
        )
        if made is not None:
            self.links_, structure = made
            self._link_board_ = self._new_link_board(structure)
            self.stats_["seconds"]["rank_links"] = time.perf_counter() - began

    @property
    def rules_(self) -> tuple[str, ...]:
        """Scoring rules that this model allows."""
        rules = super().rules_
        return rules if self.links_ is None else (*rules, RANKED)

    @property
    def pair_features(self) -> Features | None:
        """Function that gives what the ranker reads of links, (m, f); None without a ranker."""
        board = self._link_board() if self.rule_ == RANKED else None
        return None if board is None else board.features

    @of_one_moment
    def _score(self, pairs: Sequence[tuple[str, str]], rule: str | None) -> Floats:
        catalog, board = self._catalog(), self._board_for(rule)
        if board is None or not catalog.additions:
            return super()._score(pairs, rule)
        ends = np.array([catalog.positions(pair) for pair in pairs], np.int64).reshape(-1, 2)
        return board.scores(ends[:, 0], ends[:, 1], catalog.additions)

    def score_positions(
        self, source: IntArray, target: IntArray, rule: str | None = None
    ) -> Floats:
        """Scores of links between positions of the training graph, both shape (m,)."""
        board = self._board_for(rule)
        if board is None:
            return super().score_positions(source, target, rule)
        return board.scores(source, target)

    def score_block(self, nodes: IntArray, rule: str | None = None) -> Floats:
        """Scores of positions, shape (b,), with every node, (b, n).

        Under "ranked" nodes that are not worth a look follow the others, by their vectors.
        """
        board = self._board_for(rule)
        if board is None:
            return super().score_block(nodes, rule)
        rows = [board.block(node) for node in np.asarray(nodes).tolist()]
        return np.stack(rows) if rows else np.empty((0, self.graph_.n_nodes), np.float32)

    def terms(self, rule: str | None = None) -> tuple[list[tuple[Floats, Floats]], Floats | None]:
        """What `score_block` adds up; the rule "ranked" is no sum of products of tables."""
        self._check_products(rule)
        return super().terms(rule)

    def build_index(self, rule: str | None = None) -> Self:
        """Build the index for approximate search, by a rule of the vectors."""
        if rule == RANKED:
            self._check_products(rule)
        return super().build_index(rule)

    def _check_products(self, rule: str | None) -> None:
        if self._rule(rule) == RANKED:
            raise ParameterError(
                f"The rule 'ranked' of {type(self).__name__} is no product of tables. "
                f"Use {self.vector_rule_!r}, or another rule of the vectors."
            )

    def _rule_of_node(self, catalog: Catalog, position: int, asked: Asked) -> str:
        own = asked.rule is None and self.rule_ == RANKED and asked.search != "ann"
        if own or (asked.rule == RANKED and self.links_ is not None):
            if asked.search == "ann":
                self._check_products(RANKED)
            return RANKED
        return super()._rule_of_node(catalog, position, asked)

    def _block_of_node(
        self, catalog: Catalog, rule: str, position: int
    ) -> Callable[[slice], Floats] | None:
        if rule != RANKED:
            return super()._block_of_node(catalog, rule, position)
        board, texts = self._link_board(), self._board()
        if board is None or texts is None:
            return super()._block_of_node(catalog, rule, position)
        if self._is_without_links(catalog, position):
            return ranked_block(texts, catalog, [catalog.text(position)])
        scores = board.block(position, catalog.additions)[None]
        return lambda rows: scores[rows]

    def kind_asked(self, node: str, rule: str) -> str:
        """What a node is ranked as: under "ranked", one without links as a text."""
        if rule != RANKED:
            return super().kind_asked(node, rule)
        catalog = self._catalog()
        return "text" if self._is_without_links(catalog, catalog.position(node)) else "node"

    def _is_without_links(self, catalog: Catalog, position: int) -> bool:
        """Whether nothing but its text speaks for a node's links."""
        home = catalog.home(position)
        return home == NEW or not self.graph_.degree[home]

    def _board_for(self, rule: str | None) -> LinkBoard | None:
        """The ranker of links where the rule asks for it."""
        if self.links_ is None or self._rule(rule) != RANKED:
            return None
        return self._link_board()

    def _link_board(self) -> LinkBoard | None:
        """The ranker of links beside the nodes, made at its first use; None without."""
        texts, made = self._board() if self.links_ is not None else None, self._link_board_
        if texts is None or made is None:
            return None
        if made.graph is not self.graph_:  # nodes came or went
            structure = moved(made.structure, made.graph, self.graph_)
            made = self._link_board_ = self._new_link_board(structure)
        return made

    def _new_link_board(self, structure: Iterable[NDArray[Any]]) -> LinkBoard | None:
        texts = self._board()
        if self.links_ is None or texts is None:
            return None
        tables = list(structure)
        return LinkBoard(self.links_, self.graph_, self.vectors_, tables, texts, self._ranker_words)

    def _extra_parts(self) -> dict[str, dict[str, Any]]:
        mine = {} if self.links_ is None else {NOTES: self.links_.to_json()}
        return {**super()._extra_parts(), **mine}

    def _more_weights(self) -> dict[str, NDArray[Any]]:
        arrays = {} if self.links_ is None else self.links_.arrays()
        mine = {f"{BESIDE}{name}": array for name, array in arrays.items()}
        return {**super()._more_weights(), **mine}

    def _more_tables(self) -> dict[str, NDArray[Any]]:
        board = self._link_board()
        mine = {} if board is None else dict(zip(STRUCTURE, board.structure, strict=True))
        return {**super()._more_tables(), **mine}

    def _take_more(
        self,
        weights: Mapping[str, NDArray[Any]],
        tables: Mapping[str, NDArray[Any]],
        extra: Mapping[str, dict[str, Any]],
    ) -> None:
        start = f"{BESIDE}{LINKS}"
        rest = {name: array for name, array in weights.items() if not name.startswith(start)}
        super()._take_more(rest, tables, extra)
        if NOTES not in extra or self.ranking_ is None:  # it reads that one's points
            return
        arrays = {n.removeprefix(BESIDE): a for n, a in weights.items() if n.startswith(start)}
        self.links_ = LinkRanking.load(arrays, extra[NOTES])
        kept = [tables[name] for name in STRUCTURE if name in tables]
        board = self._new_link_board(kept)
        if len(kept) != len(STRUCTURE) or board is None:
            raise InputError("The ranker of links is damaged: tables of its nodes are missing.")
        self._link_board_ = board

    def _forget(self) -> None:
        super()._forget()
        self.links_ = self._link_board_ = None
