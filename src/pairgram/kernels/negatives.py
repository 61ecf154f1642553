"""Noise nodes drawn in proportion to given masses, part by part (alias method, Vose 1991)."""

import numpy as np
from numba import njit

from pairgram.kernels.rng import below, fold

_SCALE32 = 4294967296.0


@njit(cache=True, nogil=True)
def build_alias(mass, begin, end, threshold, alias):
    """Alias table of mass[begin:end], written to the same places of the two output arrays.

    A draw takes a uniform slot i and a uniform 32-bit number; it is i while the number is below
    threshold[i], else alias[i].
    """
    size = end - begin
    total = 0.0
    for i in range(begin, end):
        total += mass[i]
    scaled = np.empty(size)
    stack = np.empty(size, np.int64)
    small, large = 0, size  # two stacks that grow from the two ends
    for i in range(size):
        scaled[i] = mass[begin + i] * size / total if total > 0 else 1.0
        if scaled[i] < 1.0:
            stack[small] = i
            small += 1
        else:
            large -= 1
            stack[large] = i
    while small > 0 and large < size:
        small -= 1
        low = stack[small]
        high = stack[large]
        threshold[begin + low] = np.uint32(min(scaled[low] * _SCALE32, _SCALE32 - 1.0))
        alias[begin + low] = begin + high
        scaled[high] -= 1.0 - scaled[low]
        if scaled[high] < 1.0:
            large += 1
            stack[small] = high
            small += 1
    for i in range(small):
        _certain(begin + stack[i], threshold, alias)
    for i in range(large, size):
        _certain(begin + stack[i], threshold, alias)


@njit(cache=True, nogil=True)
def _certain(i, threshold, alias):
    """Slot i always gives i."""
    threshold[i] = 0
    alias[i] = i


@njit(cache=True, nogil=True, inline="always")
def draw(key, begin, end, threshold, alias):
    """Node of begin..end-1 by the alias table."""
    i = begin + below(key, end - begin)
    if np.uint32(fold(key, 0) >> np.uint64(32)) < threshold[i]:
        return i
    return np.int64(alias[i])
