"""Approximate search: the only file that imports faiss."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from pairgram.errors import FileFormatError, MissingExtraError

Floats = NDArray[np.floating[Any]]

PROBES = 128
"""Lists that a query looks into; see docs/decisions/0008-approximate-search.md."""
LISTS = 2
"""Lists, in square roots of the number of nodes."""
SAMPLE = 64
"""Nodes a list that its centre is learnt from."""
BLOCK = 1 << 16


class AnnIndex:
    """Nodes in lists around centres (IVF) for one scoring rule; a query looks into some lists.

    A rule is a sum of products and a term of the node, so one product of longer vectors: [left, 1]
    with [right, term]. The mean of the latter is taken off: that changes no order, and without it
    an index finds few of the best.

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
    Jégou, Douze, Schmid: Product Quantization for Nearest Neighbor Search, 2011, section 4; Douze
    et al.: The Faiss Library, 2024.
    """

    def __init__(self, rule: str, size: int, source: Any) -> None:
        self.rule, self.size, self._source = rule, size, source

    @classmethod
    def build(cls, rule: str, parts: Sequence[Floats], bias: Floats | None) -> Self:
        """Index all nodes; `parts` are the tables of the rule's products, `bias` its term."""
        faiss = _faiss()
        size = len(parts[0])
        columns = [*parts, *(() if bias is None else (bias[:, None],))]
        means = [np.nanmean(part, axis=0) for part in columns]

        def rows(some: Any) -> NDArray[np.float32]:
            pairs = zip(columns, means, strict=True)
            moved = np.hstack([part[some] - mean for part, mean in pairs])
            return np.ascontiguousarray(np.nan_to_num(moved), np.float32)

        lists = max(1, min(int(LISTS * np.sqrt(size)), size // 2))
        index = faiss.index_factory(
            sum(map(len, means)), f"IVF{lists},Flat", faiss.METRIC_INNER_PRODUCT
        )
        index.cp.min_points_per_centroid = 1
        sample = np.random.default_rng(0).permutation(size)[: SAMPLE * lists]
        index.train(rows(np.sort(sample)))
        for begin in range(0, size, BLOCK):
            index.add(rows(slice(begin, begin + BLOCK)))
        return cls(rule, size, index)

    def search(self, query: Floats, count: int, allowed: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Positions of about the best allowed nodes, at most `count`.

        Parameters
        ----------
        query
            The left sides of the rule's products, one after the other.
        count
            How many.
        allowed
            Nodes that may be found, shape (n,).
        """
        faiss, index = _faiss(), self._index()
        padded = np.ones((1, index.d), np.float32)  # the term of the node counts as it is
        padded[0, : len(query)] = query
        bits = np.packbits(allowed, bitorder="little")
        chosen = faiss.SearchParametersIVF(nprobe=PROBES, sel=faiss.IDSelectorBitmap(bits))
        found = index.search(padded, count, params=chosen)[1][0]
        return np.asarray(found[found >= 0], np.int64)

    def save(self, path: Path) -> None:
        """Write the index to a file."""
        _faiss().write_index(self._index(), str(path))

    def _index(self) -> Any:
        if isinstance(self._source, Path):
            faiss = _faiss()
            try:
                index = faiss.read_index(str(self._source), faiss.IO_FLAG_MMAP)
            except RuntimeError:
                raise FileFormatError(self._source, "is no index, or a damaged one.") from None
            if index.ntotal != self.size:
                raise FileFormatError(self._source, f"is no index of the {self.size} nodes.")
            self._source = index
        return self._source


def _faiss() -> Any:
    try:
        import faiss
    except ImportError:
        raise MissingExtraError("Approximate search", "ann") from None
    return faiss
