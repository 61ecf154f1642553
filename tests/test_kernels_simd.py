import numpy as np
import pytest
from numba import njit

from pairgram.kernels.simd import dot, dots_and_norms, exchange, exchange_within, prefetch
from pairgram.kernels.sizes import LANES, ROWS, padded


@njit
def call_dot(a, i, b, j):
    return dot(a, i, b, j)


@njit
def call_dots_and_norms(a, i, b, nodes, begin, at, out):
    dots_and_norms(a, i, b, nodes, begin, at, out)


@njit
def call_exchange_within(a, i, b, j, g, keep):
    exchange_within(a, i, b, j, g, keep)


@njit
def call_exchange(a, i, b, nodes, begin, size, steps):
    exchange(a, i, b, nodes, begin, size, steps)


@njit
def call_prefetch(a, i):
    prefetch(a, i)


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
def test_dots_and_norms_have_the_bits_of_dot(width):
    a, b = tables(width, seed=width)
    nodes = np.array([[4, 4, 0, 3, 3, 1, 2, 0], [0] * 8])
    out = np.full((2, 3 + ROWS), -1, np.float32)
    call_dots_and_norms(a, 1, b, nodes, 1, 2, out)
    for k, j in enumerate(nodes[0, 3 : 3 + ROWS]):
        assert out[0, 2 + k] == call_dot(a, 1, b, j)
        assert out[1, 2 + k] == call_dot(b, j, b, j)
    assert (np.delete(out, np.arange(2, 2 + ROWS), axis=1) == -1).all()  # the rest is left alone


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
def test_exchange_within_equals_numpy_and_touches_two_rows(width, keep):
    a, b = tables(width)
    old_a, old_b = a.copy(), b.copy()
    call_exchange_within(a, 1, b, 3, np.float32(0.25), np.float32(keep))
    np.testing.assert_allclose(a[1], keep * old_a[1] + 0.25 * old_b[3], rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(b[3], keep * old_b[3] + 0.25 * old_a[1], rtol=1e-6, atol=1e-6)
    others = [0, 2, 4]
    np.testing.assert_array_equal(a[[*others, 3]], old_a[[*others, 3]])
    np.testing.assert_array_equal(b[[*others, 1]], old_b[[*others, 1]])


@pytest.mark.quick
def test_exchange_within_of_a_row_with_itself_steps_once():
    a, _ = tables(32)
    old = a.copy()
    call_exchange_within(a, 2, a, 2, np.float32(0.5), np.float32(0.75))
    np.testing.assert_allclose(a[2], 1.25 * old[2], rtol=1e-6)


@pytest.mark.quick
@pytest.mark.parametrize("keeps", [(1.0, 1.0, 1.0, 1.0), (0.75, 0.5, 0.75, 0.9)])
def test_exchange_has_the_bits_of_single_steps(keeps):
    a, b = tables(96)
    one_a, one_b = a.copy(), b.copy()
    nodes = np.array([[0, 0, 3, 2, 3, 1]])
    steps = np.array([[0.25, -0.5, 0.1, 0.3], keeps], np.float32)
    call_exchange(a, 1, b, nodes, 2, 4, steps)
    for k in range(4):
        call_exchange_within(one_a, 1, one_b, nodes[0, 2 + k], steps[0, k], steps[1, k])
    np.testing.assert_array_equal(a, one_a)
    np.testing.assert_array_equal(b, one_b)


@pytest.mark.quick
def test_prefetch_changes_nothing():
    a, _ = tables(128)
    old = a.copy()
    for i in range(5):
        call_prefetch(a, i)
    np.testing.assert_array_equal(a, old)


@pytest.mark.quick
def test_rows_are_padded_to_whole_lanes():
    assert [padded(dim) for dim in (1, 32, 33, 128)] == [32, 32, 64, 128]
