"""Counter-based random numbers: a draw is a pure function of its key, so threads never matter.

The mixer is the finaliser of SplitMix64 (Steele, Lea, Flood 2014). A key is folded from what
names the draw (seed, round, centre, ...); nothing is carried from one draw to the next.
"""

import numpy as np

from pairgram.kernels.jit import njit

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_M1 = np.uint64(0xBF58476D1CE4E5B9)
_M2 = np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S32 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(32)
_LOW32 = np.uint64(0xFFFFFFFF)
_TWO32 = np.uint64(1 << 32)
_INV53 = 1.0 / (1 << 53)


@njit(cache=True, nogil=True, inline="always")
def mix64(x):
    """Scramble 64 bits; a bijection."""
    x = (x ^ (x >> _S30)) * _M1
    x = (x ^ (x >> _S27)) * _M2
    return x ^ (x >> _S31)


@njit(cache=True, nogil=True, inline="always")
def fold(key, value):
    """Key of the sub-stream `value` of `key`."""
    return mix64(key + (np.uint64(value) + np.uint64(1)) * GOLDEN)


@njit(cache=True, nogil=True, no_cfunc_wrapper=True)
def stream(seed, a, b):
    """Key of the stream (seed, a, b)."""
    return fold(fold(fold(np.uint64(0), seed), a), b)


@njit(cache=True, nogil=True, no_cfunc_wrapper=True)
def below(key, n):
    """Exactly uniform integer in [0, n), n < 2^32 (Lemire 2019)."""
    size = np.uint64(n)
    product = (key >> _S32) * size
    if (product & _LOW32) < size:
        threshold = (_TWO32 - size) % size
        while (product & _LOW32) < threshold:
            key = mix64(key + GOLDEN)
            product = (key >> _S32) * size
    return np.int64(product >> _S32)


@njit(cache=True, nogil=True, no_cfunc_wrapper=True)
def unit(key):
    """Uniform float64 in [0, 1) on the grid of 2^-53."""
    return np.float64(key >> np.uint64(11)) * _INV53


@njit(cache=True, nogil=True, no_cfunc_wrapper=True)
def round_randomly(expected, key):
    """An integer next to `expected` (floor or ceiling) whose mean is `expected`."""
    whole = np.floor(expected)
    return np.int64(whole) + (1 if unit(key) < expected - whole else 0)
