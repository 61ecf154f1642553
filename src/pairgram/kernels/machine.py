"""Kernels that show what the machine can do: bytes moved and operations done in a second."""

import numpy as np

from pairgram.kernels.jit import njit

LANES = 64


@njit(cache=True, nogil=True)
def triad(a, b, c):
    """STREAM's triad, a = b + 3c; all of one shape."""
    for i in range(len(a)):
        a[i] = b[i] + np.float32(3) * c[i]


@njit(cache=True, nogil=True, fastmath={"contract"})
def multiply_add(cells, rounds):
    """Rounds of x = 0.999x + 0.001 on LANES independent numbers that stay in registers."""
    lanes = np.empty(LANES, np.float32)
    for i in range(LANES):
        lanes[i] = cells[i]
    for _ in range(rounds):
        for i in range(LANES):
            lanes[i] = lanes[i] * np.float32(0.999) + np.float32(0.001)
    for i in range(LANES):
        cells[i] = lanes[i]
