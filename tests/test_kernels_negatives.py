import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import chi_square_p, fold, noise_node
from pairgram.kernels.negatives import build_alias, draw, draw_many
from pairgram.kernels.sizes import VECTOR

masses = st.lists(
    st.one_of(st.just(0.0), st.integers(1, 10**6).map(float), st.floats(1e-3, 1e9)),
    min_size=1,
    max_size=40,
)


def table(mass, begin=0, end=None):
    mass = np.asarray(mass, float)
    threshold, alias = np.zeros(len(mass), np.uint32), np.zeros(len(mass), np.int64)
    end = len(mass) if end is None else end
    scratch = np.empty(len(mass)), np.empty(len(mass), np.int64)
    build_alias(mass, begin, end, *scratch, threshold, alias)
    return threshold, alias


def probabilities(threshold, alias, begin, end):
    """What a draw gives, exactly: slots are uniform, thresholds are shares of 2^32."""
    share = np.zeros(len(threshold))
    for i in range(begin, end):
        stays = int(threshold[i]) / 2**32
        share[i] += stays
        share[alias[i]] += 1 - stays
    return share / (end - begin)


@pytest.mark.quick
@given(masses)
def test_table_holds_the_masses(mass):
    threshold, alias = table(mass)
    total = sum(mass)
    expected = np.array(mass) / total if total else np.full(len(mass), 1 / len(mass))
    got = probabilities(threshold, alias, 0, len(mass))
    np.testing.assert_allclose(got, expected, atol=1e-9)
    if total:
        assert got[np.array(mass) == 0].sum() == 0  # exactly: never drawn


@pytest.mark.quick
@settings(max_examples=50)
@given(masses, st.data())
def test_parts_are_separate_tables(mass, data):
    begin = data.draw(st.integers(0, len(mass) - 1))
    end = data.draw(st.integers(begin + 1, len(mass)))
    threshold, alias = table(mass, begin, end)
    alone_threshold, alone_alias = table(mass[begin:end])
    np.testing.assert_array_equal(threshold[begin:end], alone_threshold)
    np.testing.assert_array_equal(alias[begin:end], alone_alias + begin)
    assert threshold[:begin].sum() == threshold[end:].sum() == 0  # the rest is left alone


@pytest.mark.quick
@settings(max_examples=50)
@given(masses, st.integers(0, 2**63 - 1))
def test_draw_equals_the_slow_version(mass, seed):
    threshold, alias = table(mass)
    for key in (fold(0, seed, k) for k in range(20)):
        got = draw(np.uint64(key), 0, len(mass), threshold, alias)
        assert got == noise_node(key, 0, len(mass), threshold, alias)


@pytest.mark.quick
@pytest.mark.parametrize("n", [1, 7, 1000, 200_000])
def test_many_draws_equal_single_ones(n):
    # With 200,000 nodes one key in 21,000 is drawn again.
    threshold, alias = table(np.random.default_rng(n).pareto(1.2, n))
    for size in (0, 1, VECTOR, 100_003 if n > 1000 else 21):
        nodes = np.full(size + VECTOR, -1)
        draw_many(np.uint64(fold(3, n)), 5, size, 0, n, threshold, alias, nodes)
        expected = [draw(np.uint64(fold(3, n, 5 + k)), 0, n, threshold, alias) for k in range(size)]
        np.testing.assert_array_equal(nodes[:size], expected)
        assert (nodes[-(-size // VECTOR) * VECTOR :] == -1).all()


@pytest.mark.quick
def test_draws_follow_the_masses():
    mass = np.array([0.0, 1.0, 2.0, 0.0, 5.0, 40.0, 0.5, 3.0])
    threshold, alias = table(mass)
    drawn = [draw(np.uint64(fold(7, k)), 0, 8, threshold, alias) for k in range(30_000)]
    counts = np.bincount(drawn, minlength=8)
    assert counts[0] == counts[3] == 0
    assert chi_square_p(counts, 30_000 * mass / mass.sum()) > 1e-4


@pytest.mark.quick
def test_a_part_of_one_node_always_gives_it():
    threshold, alias = table([3.0, 9.0, 4.0], 1, 2)
    assert {draw(np.uint64(fold(1, k)), 1, 2, threshold, alias) for k in range(100)} == {1}
