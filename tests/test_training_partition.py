import inspect

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairgram.training.partition import Partition, number_of_parts, partition


def noise(n, seed=0):
    return np.random.default_rng(seed).pareto(1.2, n) ** 0.75


worlds = st.tuples(st.integers(2, 200), st.integers(0, 2**32), st.data())


def check(parts: Partition, n: int) -> None:
    assert sorted(parts.node.tolist()) == list(range(n))
    np.testing.assert_array_equal(parts.number[parts.node], np.arange(n))
    assert parts.bounds[0] == 0
    assert parts.bounds[-1] == n
    for p, (begin, end) in enumerate(zip(parts.bounds[:-1], parts.bounds[1:], strict=True)):
        assert end > begin
        assert set(parts.part_of[begin:end].tolist()) == {p}


@pytest.mark.quick
@given(worlds)
def test_parts_are_ranges_of_a_bijection(world):
    n, seed, data = world
    wanted = data.draw(st.integers(1, n // 2))
    mass = noise(n, seed)
    parts = partition(mass, wanted, seed)
    assert parts.parts == wanted
    check(parts, n)
    sizes = np.diff(parts.bounds)
    assert sizes.max() - sizes.min() <= 2
    for p in range(wanted):
        mine = parts.node[parts.bounds[p] : parts.bounds[p + 1]]
        assert parts.mass[p] == pytest.approx(mass[mine].sum() / mass.sum())


@pytest.mark.quick
def test_masses_of_parts_are_nearly_equal():
    mass = np.random.default_rng(0).uniform(1, 10, 2000)
    shares = partition(mass, 8, seed=1).mass
    assert shares.sum() == pytest.approx(1)
    assert np.abs(shares * 8 - 1).max() < 0.01


@pytest.mark.quick
def test_seed_changes_the_parts_and_repeats_them():
    mass = np.ones(100)
    first, again, other = (partition(mass, 5, seed).node for seed in (3, 3, 4))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


@pytest.mark.quick
def test_order_inside_a_part_is_not_by_mass():
    mass = np.sort(noise(1000))[::-1]
    parts = partition(mass, 4, seed=0)
    inside = mass[parts.node[: parts.bounds[1]]]
    assert abs(np.corrcoef(np.arange(len(inside)), np.argsort(np.argsort(inside)))[0, 1]) < 0.3


@pytest.mark.quick
def test_no_mass_at_all_is_uniform_and_a_part_without_mass_stays_empty():
    nothing = partition(np.zeros(10), 2, seed=0)
    np.testing.assert_allclose(nothing.mass, [0.5, 0.5])
    one = partition(np.eye(1, 10)[0], 2, seed=0)
    assert sorted(one.mass.tolist()) == [0.0, 1.0]


@pytest.mark.quick
@given(st.integers(1, 10**9), st.integers(1, 65536))
def test_number_of_parts_is_bounded(n, dim):
    count = number_of_parts(n, dim)
    assert 1 <= count <= 64
    assert count <= max(1, n // 2)
    assert count >= min(8, max(1, n // 2))


@pytest.mark.quick
def test_number_of_parts_knows_nodes_and_dim_alone(monkeypatch):
    assert list(inspect.signature(number_of_parts).parameters) == [
        "n_nodes", "dim", "shared_negatives"
    ]  # fmt: skip
    before = number_of_parts(27_400, 128)
    monkeypatch.setattr("os.cpu_count", lambda: 96)
    monkeypatch.setattr("pairgram.engine.local.available_threads", lambda: 96)
    assert number_of_parts(27_400, 128) == before == 27
