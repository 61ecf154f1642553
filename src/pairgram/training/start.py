"""Vectors before training: drawn row by row in the order of nodes, so that anyone can draw any."""

import numpy as np
from numpy.typing import NDArray

from pairgram.kernels.sizes import padded
from pairgram.training.partition import Partition
from pairgram.training.progress import Progress, aligned_zeros
from pairgram.training.settings import Settings

Table = NDArray[np.float32]

ROWS = 1 << 13
"""Rows drawn at a time."""


def draw_centres(parts: Partition, settings: Settings, low: int, rows: Table) -> None:
    """Fill the rows of the numbers low .. low + len(rows) - 1, uniform in ±0.5 / dim or ±`spread`.

    All rows are drawn and those of others thrown away: cheap beside training on them, and no
    worker needs to be sent any.
    """
    random = np.random.Generator(np.random.Philox(settings.seed + 2))
    for begin in range(0, len(parts.number), ROWS):
        number = parts.number[begin : begin + ROWS] - low
        drawn = random.random((len(number), settings.dim), np.float32)
        spread = drawn - np.float32(0.5)
        if settings.spread is None:
            spread /= settings.dim
        else:
            spread *= np.float32(2 * settings.spread)
        own = (number >= 0) & (number < len(rows))
        rows[number[own], : settings.dim] = spread[own]


def begun(parts: Partition, settings: Settings, given: Table | None = None) -> Progress:
    """Centres as given, (n, dim), or drawn; contexts zero; one table for both when shared."""
    shape = len(parts.node), padded(settings.dim)
    center = aligned_zeros(shape)
    if given is None:
        draw_centres(parts, settings, 0, center)
    else:
        center[parts.number, : settings.dim] = given
    if settings.shared_table:
        return Progress(center, center)
    return Progress(center, aligned_zeros(shape))
