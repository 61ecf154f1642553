"""Parts of the node set for orthogonal blocks."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pairgram.kernels.ready import build_aliases

ROWS_BYTES = 1 << 19
FEWEST, MOST = 8, 64


@dataclass(frozen=True, eq=False)
class Partition:
    """Nodes renumbered so that each part is a range, with the noise tables of the parts.

    Attributes
    ----------
    node
        Node at each new number, shape (n,).
    number
        New number of each node, shape (n,).
    bounds
        Part p holds the numbers bounds[p] .. bounds[p+1]-1, shape (P+1,).
    part_of
        Part of each new number, shape (n,).
    mass
        Share of the noise distribution in each part, shape (P,).
    threshold, alias
        Alias table of the noise inside each part, by new number, shape (n,).
    """

    node: NDArray[np.int64]
    number: NDArray[np.int64]
    bounds: NDArray[np.int64]
    part_of: NDArray[np.int32]
    mass: NDArray[np.float64]
    threshold: NDArray[np.uint32]
    alias: NDArray[np.int64]

    def __post_init__(self) -> None:
        # What a worker of a cluster reads from shared memory cannot be written either: frozen
        # here, it is one type for the compiler.
        for array in vars(self).values():
            array.flags.writeable = False

    @property
    def parts(self) -> int:
        """Number of parts P."""
        return len(self.mass)


def number_of_parts(n_nodes: int, dim: int, shared_negatives: int = 1) -> int:
    """P from |V| and settings alone: rows of a part near 512 KiB, to stay in a core's cache.

    Shared noise leaves few rows to a centre in a block; parts twice as large make up for it.

    >>> number_of_parts(10, 128), number_of_parts(2_000, 128), number_of_parts(27_400, 128)
    (5, 8, 27)
    >>> number_of_parts(100_000, 128), number_of_parts(100_000, 128, shared_negatives=5)
    (64, 49)
    """
    rows = max(1, ROWS_BYTES * (1 if shared_negatives == 1 else 2) // (4 * dim))
    wanted = min(max(FEWEST, round(n_nodes / rows)), MOST)
    return max(1, min(wanted, n_nodes // 2))


def partition(noise: NDArray[np.float64], parts: int, seed: int) -> Partition:
    """Deal the nodes into parts of nearly equal noise mass, at random among equals.

    Parameters
    ----------
    noise
        Unnormalised noise mass of each node, shape (n,).
    parts
        Number of parts.
    seed
        Seed of the draw.
    """
    n = len(noise)
    shuffled = np.random.Generator(np.random.Philox(seed)).permutation(n)
    by_mass = shuffled[np.argsort(-noise[shuffled], kind="stable")]
    turn = np.arange(n) % (2 * parts)
    dealt = np.where(turn < parts, turn, 2 * parts - 1 - turn)
    # Inside a part the order is random again: trained centres must not come by degree.
    order = np.lexsort((np.random.Generator(np.random.Philox(seed + 1)).permutation(n), dealt))
    node = by_mass[order].astype(np.int64)
    number = np.empty(n, np.int64)
    number[node] = np.arange(n)
    bounds = np.searchsorted(dealt[order], np.arange(parts + 1)).astype(np.int64)
    return Partition(
        node, number, bounds, dealt[order].astype(np.int32), *_noise(noise[node], bounds)
    )


def _noise(
    noise: NDArray[np.float64], bounds: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.uint32], NDArray[np.int64]]:
    """Mass of each part and the alias tables inside; without any mass all nodes weigh alike."""
    if noise.sum() == 0:
        noise = np.ones(len(noise))
    threshold, alias = np.empty(len(noise), np.uint32), np.empty(len(noise), np.int64)
    scratch = np.empty(len(noise)), np.empty(len(noise), np.int64)
    build_aliases(noise, bounds, *scratch, threshold, alias)
    mass = np.add.reduceat(noise, bounds[:-1]) / noise.sum()
    return mass, threshold, alias
