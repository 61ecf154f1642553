"""The ways into a TextGraph: arrays, files and other libraries' graphs."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from pairgram.errors import InputError
from pairgram.graph import inputs
from pairgram.graph.parts import FloatArray, IntArray

if TYPE_CHECKING:
    from pairgram.io.columns import EdgeColumns

Column = str | int


class Constructors(ABC):
    """Class methods that check input and hand positions on."""

    @classmethod
    def from_edges(
        cls,
        source: inputs.Ids,
        target: inputs.Ids,
        names: Iterable[str] | None = None,
        texts: inputs.Texts = None,
        relation: Any = None,
        weight: Any = None,
        directed: bool = False,
        date: Any = None,
    ) -> Self:
        """Build a graph from two columns of ends.

        Parameters
        ----------
        source, target
            Ends, shape (lines,): strings are names, integers are positions.
        names
            All node names, shape (n,): fixes the order and adds isolated nodes.
        texts
            A mapping from names (or positions) to texts, or one text per node, shape (n,).
        relation
            Label of each edge, shape (lines,).
        weight
            Numbers above 0, shape (lines,).
        directed
            Whether a -> b and b -> a are two edges.
        date
            Numbers or ISO dates, shape (lines,).
        """
        ends = inputs.as_ids(source, "source"), inputs.as_ids(target, "target")
        if len(ends[0]) != len(ends[1]):
            raise InputError(
                "TextGraph: 'source' and 'target' must be equally long, "
                f"got {len(ends[0])} and {len(ends[1])}."
            )
        listed = None if names is None else inputs.as_names(names)
        if isinstance(ends[0], list) and isinstance(ends[1], list):
            listed, left, right = inputs.encode_names(ends[0], ends[1], listed, texts)
            n_nodes = len(listed)
        elif isinstance(ends[0], list) or isinstance(ends[1], list):
            raise InputError("TextGraph: 'source' and 'target' must be both strings or integers.")
        else:
            left, right = ends[0], ends[1]
            n_nodes = inputs.count_positions(left, right, listed, texts)
        return cls._from_positions(
            left,
            right,
            n_nodes,
            names=listed,
            texts=inputs.align_texts(texts, listed, n_nodes),
            relation=inputs.as_relations(relation, len(left)),
            weight=inputs.as_weights(weight, len(left)),
            directed=directed,
            date=inputs.as_dates(date, len(left)),
        )

    @classmethod
    def from_files(
        cls,
        edges: str | Path,
        texts: str | Path | None = None,
        *,
        directed: bool = False,
        source: Column | None = None,
        target: Column | None = None,
        weight: Column | None = None,
        relation: Column | None = None,
        date: Column | None = None,
        id_column: Column | None = None,
        text_columns: Column | Sequence[Column] | None = None,
        label_column: Column | None = None,
        header: bool | None = None,
        delimiter: str | None = None,
    ) -> Self:
        """Read a graph from an edge list and, optionally, a file of texts.

        Both may be csv, tsv or parquet, the text formats also gzipped; edges may be cut by white
        space. Ids stay the strings they are. Nodes are the ids of both files.

        Parameters
        ----------
        edges, texts
            The files. `header` and `delimiter` speak of both where they are text.
        directed
            Whether a -> b and b -> a are two edges.
        source, target, weight, relation, date
            Columns of the edge list, by name or number from 0. The ends default to the usual
            names or the first two columns; the others are read only when asked for.
        id_column, text_columns
            Columns of the texts; several text columns are joined by a blank.
        label_column
            Column of the texts with a label for each node, which suggestions can be filtered by.
        header
            Whether the first line holds column names; None guesses.
        delimiter
            One character, a blank for runs of white space; None guesses.
        """
        from pairgram.io.edges import read_edges
        from pairgram.io.texts import read_texts

        columns = read_edges(edges, source, target, weight, relation, date, header, delimiter)
        if texts is None:
            return cls._from_columns(columns, directed)
        # Texts hold blanks, so a blank can cut the edges alone.
        text_delimiter = None if delimiter == " " else delimiter
        found = read_texts(texts, id_column, text_columns, header, text_delimiter, label_column)
        by_id = dict(zip(found.ids, found.texts, strict=True))
        names = list(dict.fromkeys([*columns.names, *found.ids]))
        aligned = tuple(by_id.get(name, "") for name in names)
        graph = cls._from_columns(replace(columns, names=names, texts=aligned), directed)
        if found.labels is None:
            return graph
        return graph.with_labels(dict(zip(found.ids, found.labels, strict=True)))

    @classmethod
    def from_networkx(
        cls,
        graph: Any,
        *,
        text: str | None = "text",
        weight: str | None = None,
        directed: bool | None = None,
    ) -> Self:
        """Take a NetworkX graph; labels become strings, the node order is kept.

        Parameters
        ----------
        text, weight
            Node and edge attributes to read; an edge without the weight has 1.
        directed
            None follows the graph.
        """
        from pairgram.io.convert import networkx_columns

        columns = networkx_columns(graph, text, weight)
        return cls._from_columns(columns, graph.is_directed() if directed is None else directed)

    @classmethod
    def from_scipy(
        cls,
        matrix: Any,
        names: Iterable[str] | None = None,
        texts: inputs.Texts = None,
        *,
        weight: bool = False,
        directed: bool = False,
    ) -> Self:
        """Take a square sparse matrix, shape (n, n), whose non-zero entries are edges.

        Parameters
        ----------
        weight
            Whether the entries are weights.
        directed
            Whether row -> column is an arc. If not, a symmetric matrix gives each edge once,
            and entries of any other matrix that face each other are merged.
        """
        from pairgram.io.convert import scipy_arrays

        source, target, values, size = scipy_arrays(matrix, directed)
        listed = cls._listed(names, size, "from_scipy")
        return cls._from_positions(
            source,
            target,
            size,
            names=listed,
            texts=inputs.align_texts(texts, listed, size),
            relation=None,
            weight=inputs.as_weights(values, len(values)) if weight else None,
            directed=directed,
            date=None,
        )

    @classmethod
    def from_pandas(
        cls,
        frame: Any,
        source: str = "source",
        target: str = "target",
        *,
        weight: str | None = None,
        relation: str | None = None,
        date: str | None = None,
        texts: inputs.Texts = None,
        directed: bool = False,
    ) -> Self:
        """Take the rows of a data frame for edges.

        As in files, ids of integer columns are names, not positions. `texts` maps ids to texts
        and adds isolated nodes.
        """
        from pairgram.io.convert import pandas_columns

        columns = pandas_columns(frame, source, target, weight, relation, date)
        if isinstance(texts, Mapping):
            names = list(dict.fromkeys([*columns.names, *inputs.text_ids(texts)]))
            columns = replace(columns, names=names)
        aligned = inputs.align_texts(texts, columns.names, len(columns.names))
        return cls._from_columns(replace(columns, texts=aligned), directed)

    @classmethod
    def from_pyg(
        cls,
        data: Any,
        names: Iterable[str] | None = None,
        texts: inputs.Texts = None,
        *,
        weight: str | None = None,
        directed: bool = False,
    ) -> Self:
        """Take a PyTorch Geometric `Data`, or anything with `edge_index` and `num_nodes`.

        Parameters
        ----------
        weight
            Attribute with a weight per arc, such as ``edge_weight``.
        directed
            Whether the arcs keep their direction. If not, arcs that are all mirrored give each
            edge once.
        """
        from pairgram.io.convert import pyg_arrays

        source, target, values, size = pyg_arrays(data, weight, directed)
        listed = cls._listed(names, size, "from_pyg")
        inputs.check_below(source, target, size, "from_pyg")
        return cls._from_positions(
            source,
            target,
            size,
            names=listed,
            texts=inputs.align_texts(texts, listed, size),
            relation=None,
            weight=inputs.as_weights(values, len(source)),
            directed=directed,
            date=None,
        )

    @classmethod
    def _listed(cls, names: Iterable[str] | None, size: int, who: str) -> list[str] | None:
        listed = None if names is None else inputs.as_names(names)
        if listed is not None and len(listed) != size:
            raise InputError(f"{who}: 'names' must have {size} items, got {len(listed)}.")
        return listed

    @classmethod
    def _from_columns(cls, columns: "EdgeColumns", directed: bool) -> Self:
        lines = len(columns.source)
        return cls._from_positions(
            columns.source,
            columns.target,
            len(columns.names),
            names=columns.names,
            texts=columns.texts,
            relation=columns.relation,
            weight=inputs.as_weights(columns.weight, lines),
            directed=directed,
            date=inputs.as_dates(columns.date, lines),
        )

    @abstractmethod
    def with_labels(self, labels: inputs.Texts) -> Self:
        """Return the same graph with a label per node."""

    @classmethod
    @abstractmethod
    def _from_positions(
        cls,
        source: IntArray,
        target: IntArray,
        n_nodes: int,
        names: list[str] | None,
        texts: tuple[str, ...] | None,
        relation: tuple[NDArray[np.int32], tuple[str, ...]] | None,
        weight: FloatArray | None,
        directed: bool,
        date: NDArray[Any] | None,
    ) -> Self:
        """Make the graph from positions that are known to be sound."""
