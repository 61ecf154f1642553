"""Vectors: what training gives, and every later stage reads."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairgram.errors import InputError
from pairgram.io.vector_files import Format, Which, read_vectors, write_vectors


@dataclass(frozen=True, eq=False)
class Vectors:
    """Centre and context vectors of nodes.

    Attributes
    ----------
    center
        The vectors to use, shape (n, dim), float32.
    context
        The vectors of nodes as contexts, shape (n, dim), float32, or None.
    names
        Node ids, shape (n,).

    Examples
    --------
    >>> vectors = Vectors(np.zeros((2, 3), dtype=np.float32), None, ["a", "b"])
    >>> vectors
    Vectors(2 nodes, dim 3, center only)
    """

    center: NDArray[np.float32]
    context: NDArray[np.float32] | None
    names: NDArray[np.object_]

    def __post_init__(self) -> None:
        names = np.empty(len(self.names), dtype=object)
        names[:] = list(self.names)
        object.__setattr__(self, "names", names)
        _check("center", self.center, len(names))
        if self.context is not None:
            _check("context", self.context, len(names))
            if self.context.shape != self.center.shape:
                raise InputError(
                    "Vectors: 'context' must have the shape of 'center' "
                    f"{self.center.shape}, got {self.context.shape}."
                )

    @property
    def dim(self) -> int:
        """Length of a vector."""
        return int(self.center.shape[1])

    def __len__(self) -> int:
        return len(self.center)

    def matrix(self, which: Which) -> NDArray[np.float32]:
        """One of the two matrices by name, shape (n, dim)."""
        if which not in ("center", "context"):
            raise InputError(f"Vectors has 'center' and 'context', got {which!r}.")
        found = self.center if which == "center" else self.context
        if found is None:
            raise InputError("Vectors: these have no context vectors, only 'center'.")
        return found

    def save(
        self,
        path: str | Path,
        which: Which = "center",
        format: Format | None = None,  # noqa: A002
    ) -> None:
        """Write one of the matrices: .parquet, .npz, .txt or .w2v (word2vec), .bin (binary)."""
        write_vectors(path, self.names, self.matrix(which), which, format)

    @classmethod
    def load(
        cls,
        path: str | Path,
        format: Format | None = None,  # noqa: A002
    ) -> "Vectors":
        """Read centre vectors from a file that `save` or another tool wrote."""
        names, matrix, which = read_vectors(path, format)
        if which == "context":
            raise InputError(
                f"{path}: holds context vectors; save the centre vectors to load them."
            )
        return cls(center=matrix, context=None, names=np.array(names, dtype=object))

    def __repr__(self) -> str:
        parts = "center only" if self.context is None else "center and context"
        return f"Vectors({len(self)} nodes, dim {self.dim}, {parts})"


def _check(name: str, matrix: Any, rows: int) -> None:
    if not isinstance(matrix, np.ndarray) or matrix.dtype != np.float32:
        came = getattr(matrix, "dtype", type(matrix).__name__)
        raise InputError(f"Vectors: '{name}' must be a float32 array, got {came}.")
    if matrix.ndim != 2 or len(matrix) != rows:
        raise InputError(
            f"Vectors: '{name}' must have the shape ({rows}, dim), got {matrix.shape}."
        )
