import itertools
from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles
import pairgram as pg
from pairgram.errors import InputError, ParameterError
from pairgram.sampling.walks import WalkSampler, iter_walks, window_pairs


@st.composite
def worlds(draw, most=15):
    """(nodes, {edge: weight}, directed); every edge once, so weights need no merging."""
    n = draw(st.integers(2, most))
    node = st.integers(0, n - 1)
    ends = st.tuples(node, node).filter(lambda e: e[0] < e[1])
    weight = st.one_of(st.floats(0.1, 10), st.floats(1e-6, 1e12))
    edges = draw(st.dictionaries(ends, weight, min_size=1, max_size=3 * n))
    return n, edges, draw(st.booleans())


def build(n, edges, directed=False, weighted=True):
    source, target = np.array(list(edges)).T
    return pg.TextGraph.from_edges(
        source,
        target,
        names=[str(i) for i in range(n)],
        weight=list(edges.values()) if weighted else None,
        directed=directed,
    )


@pytest.mark.quick
@settings(max_examples=80)
@given(worlds(), st.booleans(), st.integers(2, 12), st.integers(0, 2**40))
def test_first_order_equals_the_slow_version(world, weighted, length, seed):
    n, edges, directed = world
    graph = build(n, edges, directed, weighted)
    got = list(iter_walks(graph, length, 2, seed=seed, threads=1, directed=directed))
    rows = oracles.weighted_rows(edges, n, directed)
    expected = [
        oracles.first_order_walk(rows, start, round_, length, seed, weighted)
        for round_ in range(2)
        for start in range(n)
    ]
    assert np.concatenate(got).tolist() == expected


# A hub, two triangles, a square, a leaf, and arcs into a node without a way on.
EDGES = {
    (0, 1): 1.0, (0, 2): 4.0, (0, 3): 0.5, (0, 4): 2.0, (1, 2): 3.0, (3, 4): 1.0, (4, 5): 2.0,
    (5, 6): 1.0, (6, 0): 2.5, (2, 7): 1.5, (3, 1): 0.7, (5, 0): 1.0, (1, 5): 2.0,
}  # fmt: skip


def check_transitions(edges, n, p, q, weighted, directed, length=12, times=800):
    graph = build(n, edges, directed, weighted)
    rows = oracles.weighted_rows(edges, n, directed)
    if not weighted:
        rows = [dict.fromkeys(row, 1.0) for row in rows]
    seen = defaultdict(Counter)
    for walks in iter_walks(graph, length, times, p, q, seed=3, directed=directed):
        for steps in zip(walks[:, :-2].T, walks[:, 1:-1].T, walks[:, 2:].T, strict=True):
            for before, v, x in zip(*(s.tolist() for s in steps), strict=True):
                if x >= 0:
                    seen[before, v][x] += 1
    groups = []
    for (before, v), counts in seen.items():
        expected = oracles.second_order_step(rows, before, v, p, q)
        assert set(counts) <= set(expected)
        total = sum(counts.values())
        groups.append(([counts[x] for x in expected], [total * m for m in expected.values()]))
    return oracles.chi_square_groups_p(groups)


@pytest.mark.quick
@pytest.mark.parametrize(("p", "q"), [(0.25, 4.0), (4.0, 0.25), (1.0, 0.5), (2.0, 2.0)])
@pytest.mark.parametrize("weighted", [False, True])
def test_second_order_has_the_transitions_of_node2vec(p, q, weighted):
    assert check_transitions(EDGES, 8, p, q, weighted, directed=False) > 1e-4


@pytest.mark.quick
@pytest.mark.parametrize("weighted", [False, True])
def test_second_order_along_arcs_with_dead_ends(weighted):
    graph = build(8, EDGES, directed=True)
    walks = WalkSampler(graph, 6, 0.5, 2.0, directed=True).walk(np.full(50, 2), np.arange(50))
    assert {tuple(walk) for walk in walks.tolist()} == {(2, 7, -1, -1, -1, -1)}
    assert check_transitions(EDGES, 8, 0.5, 2.0, weighted, directed=True) > 1e-4


@pytest.mark.quick
@pytest.mark.parametrize(("p", "q"), [(1e7, 1e7), (1e7, 1e-7), (0.01, 1.0)])
@pytest.mark.parametrize("weighted", [False, True])
def test_extreme_parameters_stay_exact_in_bounded_time(p, q, weighted):
    # A square with a tail has no triangle: nearly every try is rejected when p and q are large.
    edges = {(0, 1): 1.0, (1, 2): 3.0, (2, 3): 2.0, (3, 0): 1.0, (0, 4): 5.0, (4, 5): 1.0}
    assert check_transitions(edges, 6, p, q, weighted, directed=False) > 1e-4


def long_walk(rows, start, round_, length, seed, p, q):
    """node2vec's walk by rejection, one try after the other, on a graph without weights."""
    most, key = max(1 / p, 1.0, 1 / q), oracles.fold(0, seed, round_, start)
    walk = [start]
    while len(walk) < length and rows[walk[-1]]:
        row, t = list(rows[walk[-1]]), len(walk)
        attempt, taken = 0, None
        while taken is None:
            x = row[oracles.below(oracles.fold(key, t, attempt), len(row))]
            height = oracles.unit(oracles.fold(key, t, attempt + 1)) * most
            near = x in rows[walk[-2]] if t > 1 else True
            alpha = most if t == 1 else 1 / p if x == walk[-2] else 1.0 if near else 1 / q
            taken = x if height < alpha or t == 1 else None
            attempt += 2
        walk.append(taken)
    return walk + [-1] * (length - len(walk))


@pytest.mark.quick
@settings(max_examples=60)
@given(worlds(), st.sampled_from([(0.5, 2.0), (2.0, 0.5), (3.0, 1.0), (1.0, 0.9)]), st.booleans())
def test_second_order_equals_the_slow_version(world, parameters, many):
    n, edges, directed = world
    times = 12 if many else 1  # more and fewer walks than a group has walkers
    graph = build(n, edges, directed, weighted=False)
    got = list(iter_walks(graph, 9, times, *parameters, seed=4, threads=1, directed=directed))
    rows = oracles.weighted_rows(edges, n, directed)
    expected = [
        long_walk(rows, start, round_, 9, 4, *parameters)
        for round_ in range(times)
        for start in range(n)
    ]
    assert np.concatenate(got).tolist() == expected


@pytest.mark.quick
@pytest.mark.parametrize("parameters", [(1.0, 1.0), (0.5, 2.0)])
def test_threads_and_blocks_change_no_walk(parameters, monkeypatch):
    monkeypatch.setattr("pairgram.engine.local.available_threads", lambda: 8)
    graph = build(8, EDGES, directed=True)
    walks = [
        np.concatenate(
            list(iter_walks(graph, 7, 40, *parameters, 3, threads, True, block_walks=block))
        ).tolist()
        for threads, block in [(1, 1 << 12), (2, 1), (8, 65), (8, 1000)]
    ]
    assert all(other == walks[0] for other in walks)


@pytest.mark.quick
def test_p_and_q_of_one_are_a_first_order_walk():
    graph = build(8, EDGES)
    first = np.concatenate(list(iter_walks(graph, 10, 3, seed=5)))
    again = np.concatenate(list(iter_walks(graph, 10, 3, 1, 1, seed=5)))
    other = np.concatenate(list(iter_walks(graph, 10, 3, 1, 0.999, seed=5)))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


@pytest.mark.quick
def test_a_light_row_keeps_its_proportions_beside_a_heavy_one():
    graph = build(6, {(0, 1): 1e18, (0, 2): 1e18, (1, 2): 1e18, (3, 4): 1.0, (3, 5): 3.0})
    walks = WalkSampler(graph, length=2).walk(np.full(4000, 3), np.arange(4000))
    counts = np.bincount(walks[:, 1], minlength=6)
    assert counts[:4].sum() == 0
    assert oracles.chi_square_p(counts[4:], [1000, 3000]) > 1e-4


@pytest.mark.quick
@settings(max_examples=80)
@given(st.data(), st.integers(1, 12), st.integers(1, 8))
def test_window_pairs_equal_the_slow_version(data, length, window):
    n = data.draw(st.integers(1, 6))
    whole = st.lists(st.integers(0, n - 1), min_size=1, max_size=length)
    walks = data.draw(st.lists(whole.map(lambda w: w + [-1] * (length - len(w))), max_size=6))
    array = np.array(walks, np.int32).reshape(-1, length)
    center, context = window_pairs(array, window, n)
    got = list(zip(center.tolist(), context.tolist(), strict=True))
    assert got == oracles.window_pairs(walks, window)


@pytest.mark.quick
@pytest.mark.parametrize(("length", "window", "times"), [(10, 3, 2), (5, 4, 1), (40, 1, 3)])
def test_count_of_the_paper_without_dead_ends(length, window, times):
    graph = build(8, EDGES)
    walks = np.concatenate(list(iter_walks(graph, length, times, seed=1)))
    assert len(walks) == times * 8
    center, context = window_pairs(walks, window, 8)
    expected = (2 * length - window - 1) * window * times * 8
    assert len(center) == len(context) == expected


def power_law(n=600, m=3000):
    random = np.random.default_rng(0)
    ends = (n * random.random((m, 2)) ** 3).astype(np.int64)
    names = [str(i) for i in range(n)]
    return pg.TextGraph.from_edges(ends[:, 0], ends[:, 1], names, weight=random.uniform(1, 9, m))


@pytest.mark.quick
@pytest.mark.parametrize(("p", "q"), [(1.0, 1.0), (0.5, 2.0)])
def test_threads_and_blocks_change_nothing(p, q, monkeypatch):
    monkeypatch.setattr("pairgram.engine.local.available_threads", lambda: 8)
    graph = power_law()
    expected = np.concatenate(list(iter_walks(graph, 20, 3, p, q, seed=7, threads=1)))
    assert (expected >= -1).all()
    for threads, block in [(2, 1), (8, 100), (8, 1 << 20)]:
        blocks = list(iter_walks(graph, 20, 3, p, q, 7, threads, block_walks=block))
        assert len(blocks) == -(-len(expected) // block)
        np.testing.assert_array_equal(np.concatenate(blocks), expected)


@pytest.mark.quick
def test_a_walk_depends_on_its_own_start_and_round_alone():
    graph = power_law()
    sampler = WalkSampler(graph, 15, 0.5, 2.0, seed=1)
    starts, rounds = np.array([5, 17, 5, 300]), np.array([0, 3, 1, 0])
    together = sampler.walk(starts, rounds)
    one_by_one = [sampler.walk(starts[i : i + 1], rounds[i : i + 1])[0] for i in range(4)]
    np.testing.assert_array_equal(together, one_by_one)
    assert (together[0] != together[2]).any()


@pytest.mark.quick
def test_walks_go_along_edges():
    graph = build(8, EDGES, directed=True)
    walks = np.concatenate(list(iter_walks(graph, 8, 20, 0.5, 2.0, directed=True)))
    for walk in walks.tolist():
        for a, b in itertools.pairwise(walk):
            assert (a, b) in EDGES or b == -1


@pytest.mark.quick
def test_isolated_nodes_walk_nowhere():
    graph = pg.TextGraph.from_edges([0], [1], names=["a", "b", "alone"])
    assert WalkSampler(graph, 4).walk(np.array([2]), np.array([0])).tolist() == [[2, -1, -1, -1]]


@pytest.mark.quick
@pytest.mark.parametrize(
    ("name", "value"),
    [("length", 1), ("p", 0.0), ("q", -1.0), ("q", float("nan")), ("seed", -1), ("directed", 0)],
)
def test_parameters_are_checked(name, value):
    with pytest.raises(ParameterError, match=f"The '{name}' parameter of WalkSampler must be"):
        WalkSampler(build(8, EDGES), **{name: value})


@pytest.mark.quick
def test_times_blocks_and_windows_are_checked():
    graph = build(8, EDGES)
    for name in ("times", "block_walks"):
        with pytest.raises(ParameterError, match=f"The '{name}' parameter of iter_walks must be"):
            next(iter_walks(graph, **{name: 0}))
    with pytest.raises(ParameterError, match="The 'window' parameter of window_pairs must be"):
        window_pairs(np.array([[0, 1]]), 0, 2)
    with pytest.raises(InputError, match="read it with directed=True"):
        WalkSampler(graph, directed=True)
