"""A gradient step on two rows: written-out lanes against what the compiler makes of plain loops.

Run: python benchmarks/row_arithmetic.py
"""

import numpy as np
from numba import njit

from common import median_seconds, write
from pairgram.kernels.simd import dot, exchange_within

ROWS, DIM, STEPS = 1000, 128, 1_000_000


def loops(fastmath: bool):
    @njit(nogil=True, fastmath=fastmath)
    def run(a, b, left, right):
        total = np.float32(0)
        for r in range(left.shape[0]):
            i, j = left[r], right[r]
            score = np.float32(0)
            for k in range(a.shape[1]):
                score += a[i, k] * b[j, k]
            step = np.float32(1e-6) * score
            for k in range(a.shape[1]):
                x, y = a[i, k], b[j, k]
                a[i, k] = x + step * y
                b[j, k] = y + step * x
            total += score
        return total

    return run


@njit(nogil=True)
def lanes(a, b, left, right):
    total = np.float32(0)
    for r in range(left.shape[0]):
        score = dot(a, left[r], b, right[r])
        exchange_within(a, left[r], b, right[r], np.float32(1e-6) * score, np.float32(1))
        total += score
    return total


def main() -> None:
    random = np.random.default_rng(0)
    a, b = (random.standard_normal((ROWS, DIM)).astype(np.float32) for _ in range(2))
    left = np.repeat(random.integers(0, ROWS, STEPS // 10), 10)
    right = random.integers(0, ROWS, STEPS)
    rows = []
    for name, run in [
        ("plain loops, order kept", loops(fastmath=False)),
        ("plain loops, fastmath", loops(fastmath=True)),
        ("32 written-out lanes", lanes),
    ]:
        run(a.copy(), b.copy(), left[:10], right[:10])
        took = median_seconds(lambda run=run: run(a.copy(), b.copy(), left, right), runs=5)
        rows.append({"how": name, "ns per step of dim 128": took["median"] / STEPS * 1e9})
    write("row_arithmetic", rows)


if __name__ == "__main__":
    main()
