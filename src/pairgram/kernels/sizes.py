"""Sizes that kernels and their callers agree on, kept apart from numba, which is slow to import."""

# Row arithmetic: partial sums of a product, and rows whose products are taken together.
LANES, ROWS = 32, 4
CACHE_LINE = 64
# Noise nodes drawn together.
VECTOR = 8
# Rows whose scores are taken before any of them moves.
STEP_BATCH = 8
# Branches drawn together, levels of a ball, and slots of a sampler's state before its levels.
DRAWN_TOGETHER = 256
LEVELS, SLOTS = 16, 6
STATE_SIZE = SLOTS + LEVELS
# What numbering ids says in place of a count.
NOT_PLAIN, TABLE_FULL = -1, -2


def padded(dim: int) -> int:
    """Row length that holds `dim` values.

    >>> padded(100), padded(128)
    (128, 128)
    """
    return -(-dim // LANES) * LANES
