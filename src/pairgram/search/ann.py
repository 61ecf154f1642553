"""Approximate search: the only file that imports usearch."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from pairgram.errors import FileFormatError, MissingExtraError

Floats = NDArray[np.floating[Any]]

LINKS, EFFORT_ADD, EFFORT = 16, 128, 512
FETCH = 10
"""Candidates for every suggestion; they are scored exactly afterwards."""
MOST = 4096
BLOCK = 1 << 16


class AnnIndex:
    """A graph index (HNSW) over all nodes for one scoring rule.

    A rule is a sum of products and a term of the node, so one product of longer vectors: [left, 1]
    with [right, term]. The mean of the latter is taken off: that changes no order, and without it
    the index finds few of the best. Candidates are scored exactly by the caller.

    Parameters
    ----------
    rule
        The rule.
    size
        Number of nodes.
    source
        An index, or the file of one, which is mapped into memory at its first use.

    References
    ----------
    Malkov, Yashunin: Efficient and Robust Approximate Nearest Neighbor Search Using Hierarchical
    Navigable Small World Graphs, 2018.
    """

    def __init__(self, rule: str, size: int, source: Any) -> None:
        self.rule, self.size, self._source = rule, size, source

    @classmethod
    def build(cls, rule: str, parts: Sequence[Floats], bias: Floats | None) -> Self:
        """Index all nodes; `parts` are the tables of the rule's products, `bias` its term."""
        index_class = _usearch().Index
        size = len(parts[0])
        columns = [*parts, *(() if bias is None else (bias[:, None],))]
        means = [np.nanmean(part, axis=0) for part in columns]

        def block(begin: int) -> Floats:
            some = slice(begin, begin + BLOCK)
            pairs = zip(columns, means, strict=True)
            moved: Floats = np.hstack([part[some] - mean for part, mean in pairs])
            return np.nan_to_num(moved)

        index = index_class(
            ndim=sum(map(len, means)), metric="ip", dtype="f16", connectivity=LINKS,
            expansion_add=EFFORT_ADD, expansion_search=EFFORT,
        )  # fmt: skip
        for begin in range(0, size, BLOCK):
            items = block(begin).astype(np.float32)
            index.add(np.arange(begin, begin + len(items)), items)
        return cls(rule, size, index)

    def search(self, query: Floats, count: int) -> NDArray[np.int64]:
        """Positions of about the best nodes, at most `count`.

        Parameters
        ----------
        query
            The left sides of the rule's products, one after the other.
        """
        index = self._index()
        padded = np.ones(index.ndim, np.float32)  # the term of the node counts as it is
        padded[: len(query)] = query
        found = index.search(padded, min(count, self.size))
        return np.asarray(found.keys, np.int64)

    def efforts(self, k: int) -> Iterator[int]:
        """How many candidates to ask for, more when too many of them fall to filters."""
        count = max(FETCH * k, EFFORT)
        while count <= MOST and count < self.size:
            yield count
            count *= 4

    def save(self, path: Path) -> None:
        """Write the index to a file."""
        self._index().save(str(path))

    def _index(self) -> Any:
        if isinstance(self._source, Path):
            try:
                index = _usearch().Index.restore(str(self._source), view=True)
            except RuntimeError as error:
                raise FileFormatError(self._source, f"cannot be read: {error}.") from None
            if index is None or len(index) != self.size:
                raise FileFormatError(self._source, f"is no index of the {self.size} nodes.")
            index.expansion_search = EFFORT
            self._source = index
        return self._source


def _usearch() -> Any:
    try:
        import usearch.index
    except ImportError:
        raise MissingExtraError("Approximate search", "ann") from None
    return usearch.index
