import numpy as np
import pytest
from numba import njit

from pairgram.kernels.simd import LANES, dot, dot_and_norm, exchange, padded


@njit
def call_dot(a, i, b, j):
    return dot(a, i, b, j)


@njit
def call_dot_and_norm(a, i, b, j):
    return dot_and_norm(a, i, b, j)


@njit
def call_exchange(a, i, b, j, g, keep):
    exchange(a, i, b, j, g, keep)


def tables(width, seed=0, rows=5):
    random = np.random.default_rng(seed)
    return (random.normal(size=(rows, width)).astype(np.float32) for _ in range(2))


def lane_by_lane(x, y):
    """The documented order: LANES partial sums, each a chain of fused steps, then a tree."""
    sums = np.zeros(LANES)
    for k in range(0, len(x), LANES):
        exact = x[k : k + LANES].astype(float) * y[k : k + LANES].astype(float) + sums
        sums = exact.astype(np.float32).astype(float)
    while len(sums) > 1:
        half = len(sums) // 2
        sums = (sums[:half] + sums[half:]).astype(np.float32).astype(float)
    return np.float32(sums[0])


@pytest.mark.quick
@pytest.mark.parametrize("width", [32, 96, 128])
def test_dot_and_norm_have_the_bits_of_dot(width):
    a, b = tables(width, seed=width)
    score, norm = call_dot_and_norm(a, 1, b, 3)
    assert score == call_dot(a, 1, b, 3)
    assert norm == call_dot(b, 3, b, 3)


@pytest.mark.quick
@pytest.mark.parametrize("width", [32, 64, 128, 320])
def test_dot_equals_numpy(width):
    a, b = tables(width, seed=width)
    for i in range(5):
        for j in range(5):
            got = call_dot(a, i, b, j)
            assert got == pytest.approx(float(a[i].astype(float) @ b[j].astype(float)), abs=1e-4)
            assert got == pytest.approx(lane_by_lane(a[i], b[j]), rel=1e-6, abs=1e-6)


@pytest.mark.quick
@pytest.mark.parametrize(("width", "keep"), [(32, 1.0), (96, 0.75)])
def test_exchange_equals_numpy_and_touches_two_rows(width, keep):
    a, b = tables(width)
    old_a, old_b = a.copy(), b.copy()
    call_exchange(a, 1, b, 3, np.float32(0.25), np.float32(keep))
    np.testing.assert_allclose(a[1], keep * old_a[1] + 0.25 * old_b[3], rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(b[3], keep * old_b[3] + 0.25 * old_a[1], rtol=1e-6, atol=1e-6)
    others = [0, 2, 4]
    np.testing.assert_array_equal(a[[*others, 3]], old_a[[*others, 3]])
    np.testing.assert_array_equal(b[[*others, 1]], old_b[[*others, 1]])


@pytest.mark.quick
def test_exchange_of_a_row_with_itself_steps_once():
    a, _ = tables(32)
    old = a.copy()
    call_exchange(a, 2, a, 2, np.float32(0.5), np.float32(0.75))
    np.testing.assert_allclose(a[2], 1.25 * old[2], rtol=1e-6)


@pytest.mark.quick
def test_rows_are_padded_to_whole_lanes():
    assert [padded(dim) for dim in (1, 32, 33, 128)] == [32, 32, 64, 128]
