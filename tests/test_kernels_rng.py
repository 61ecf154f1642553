import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

import oracles
from pairgram.kernels import rng

keys = st.integers(0, 2**64 - 1)


@pytest.mark.quick
@given(keys)
def test_mix64_equals_the_slow_version(key):
    assert int(rng.mix64(np.uint64(key))) == oracles.mix64(key)


@pytest.mark.quick
@given(keys, st.integers(0, 2**63 - 1))
def test_fold_equals_the_slow_version(key, value):
    assert int(rng.fold(np.uint64(key), value)) == oracles.fold(key, value)


@pytest.mark.quick
@given(st.integers(0, 2**63 - 1), st.integers(0, 2**31), st.integers(0, 2**40))
def test_stream_folds_seed_and_both_numbers(seed, a, b):
    assert int(rng.stream(seed, a, b)) == oracles.fold(0, seed, a, b)


@pytest.mark.quick
@given(keys, st.one_of(st.integers(1, 100), st.integers(1, 2**32 - 1)))
def test_below_equals_the_slow_version(key, n):
    drawn = rng.below(np.uint64(key), n)
    assert drawn == oracles.below(key, n)
    assert 0 <= drawn < n


@pytest.mark.quick
@given(keys)
def test_unit_equals_the_slow_version(key):
    assert rng.unit(np.uint64(key)) == oracles.unit(key)
    assert 0.0 <= oracles.unit(key) < 1.0


@pytest.mark.quick
@given(keys, st.floats(0, 1e6))
def test_round_randomly_equals_the_slow_version(key, expected):
    got = rng.round_randomly(expected, np.uint64(key))
    assert got == oracles.round_randomly(expected, key)
    assert got in (math.floor(expected), math.ceil(expected))


def many_keys(count, seed=0):
    return [np.uint64(oracles.fold(0, seed, i)) for i in range(count)]


@pytest.mark.quick
@pytest.mark.parametrize("n", [2, 3, 10, 97])
def test_below_is_uniform(n):
    counts = np.bincount([rng.below(key, n) for key in many_keys(20_000)], minlength=n)
    assert oracles.chi_square_p(counts, np.full(n, 20_000 / n)) > 1e-4


@pytest.mark.quick
@pytest.mark.parametrize("n", [2**31 - 1, 2**31, 2**31 + 1, 3 * 2**30])
def test_below_is_uniform_for_large_n(n):
    drawn = np.array([rng.below(key, n) for key in many_keys(20_000)])
    high = np.bincount(drawn * 64 // n, minlength=64)
    assert oracles.chi_square_p(high, np.full(64, 20_000 / 64)) > 1e-4
    # A multiply without rejection gives every third number of 3·2^30 twice as often.
    low = np.bincount(drawn % 3, minlength=3)
    assert oracles.chi_square_p(low, np.full(3, 20_000 / 3)) > 1e-4


@pytest.mark.quick
def test_sub_streams_are_unrelated():
    parents = many_keys(4000)
    bits = [[int(rng.fold(key, k)) >> 63 for k in range(2)] for key in parents]
    counts = np.bincount([2 * a + b for a, b in bits], minlength=4)
    assert oracles.chi_square_p(counts, np.full(4, 1000)) > 1e-4


@pytest.mark.quick
@pytest.mark.parametrize("expected", [0.01, 0.5, 2.25, 1000.9])
def test_round_randomly_has_the_given_mean(expected):
    whole = int(expected)
    drawn = [rng.round_randomly(expected, key) for key in many_keys(10_000)]
    assert set(drawn) == {whole, whole + 1}
    assert binomtest(drawn.count(whole + 1), 10_000, expected - whole).pvalue > 1e-4


@pytest.mark.quick
def test_round_randomly_keeps_integers():
    assert {rng.round_randomly(7.0, key) for key in many_keys(1000)} == {7}
