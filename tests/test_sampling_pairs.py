import logging

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pairgram as pg
from oracles import chi_square_p, distances, neighbours, pairs_sampling
from pairgram.errors import InputError, ParameterError
from pairgram.sampling import pairs as module
from pairgram.sampling.pairs import iter_pairs, sample_pairs

# The graph of the paper's architecture figure: A; B C D E; F G H from B, I from D, J K from E.
FIGURE = ["AB", "AC", "AD", "AE", "BF", "BG", "BH", "DI", "EJ", "EK"]


def rows(pairs):
    columns = (pairs.center, pairs.context, pairs.order, pairs.round)
    return list(zip(*(c.tolist() for c in columns), strict=True))


@st.composite
def graphs(draw, most=24):
    n = draw(st.integers(2, most))
    node = st.integers(0, n - 1)
    edges = draw(st.lists(st.tuples(node, node), min_size=1, max_size=5 * n))
    return n, edges


def build(n, edges, directed=False):
    source, target = np.array(edges).T
    return pg.TextGraph.from_edges(
        source, target, names=[str(i) for i in range(n)], directed=directed
    )


@pytest.mark.quick
@settings(max_examples=150, deadline=None)
@given(graphs(), st.integers(1, 8), st.integers(1, 3), st.integers(0, 2**40), st.booleans())
def test_equals_the_slow_version(world, order, times, seed, directed):
    n, edges = world
    got = sample_pairs(build(n, edges, directed), order, times, seed, 1, directed=directed)
    assert rows(got) == pairs_sampling(neighbours(edges, n, directed), order, times, seed)


@pytest.mark.quick
@settings(max_examples=100, deadline=None)
@given(graphs(), st.integers(2, 5), st.integers(0, 2**40), st.booleans())
def test_equals_the_slow_version_with_heavy_nodes(world, order, seed, directed):
    n, edges = world
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "HEAVY_FROM", 5)
        got = sample_pairs(build(n, edges, directed), order, 2, seed, 1, directed=directed)
    expected = pairs_sampling(neighbours(edges, n, directed), order, 2, seed, heavy_from=5)
    assert rows(got) == expected


@settings(max_examples=30, deadline=None)
@given(graphs(60), st.integers(2, 4), st.integers(0, 9))
def test_a_full_memory_changes_nothing(world, order, seed):
    graph = build(*world)
    expected = rows(sample_pairs(graph, order, 3, seed, 1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "REMEMBERED", 3)
        assert rows(sample_pairs(graph, order, 3, seed, 1)) == expected


@pytest.mark.quick
@settings(max_examples=60, deadline=None)
@given(graphs(60), st.integers(2, 5), st.integers(1, 3), st.integers(0, 9), st.booleans())
def test_what_a_level_may_cost_changes_nothing(world, order, times, seed, directed):
    # Nothing allowed: local tests first. Everything: the ball is stamped at once.
    graph = build(*world, directed)
    drawn = []
    for allowance in (0, 1, 1 << 30):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "ALLOWANCE", allowance)
            drawn.append(rows(sample_pairs(graph, order, times, seed, 1, directed=directed)))
    assert drawn[0] == drawn[1] == drawn[2]


@pytest.mark.quick
def test_more_branches_than_a_batch_holds():
    # 300 branches per round, 90 rounds: batches are cut inside and between rounds.
    edges = [(0, i) for i in range(1, 301)] + [(i, 300 + i // 2 + 1) for i in range(1, 301)]
    edges += [(i, 301 + i % 7) for i in range(1, 60)]
    got = sample_pairs(build(452, edges), 3, 90, seed=2)
    assert rows(got) == pairs_sampling(neighbours(edges, 452), 3, 90, seed=2)


@pytest.mark.quick
def test_marks_run_out_and_are_renewed():
    # 5,000 centres use up the 65,536 values of the marks of one thread.
    edges = [(i, (i * i + 1) % 5000) for i in range(5000)]
    sampler = module.PairSampler(build(5000, edges), 3, 2, seed=1)
    whole = rows(sampler.sample(np.arange(5000, dtype=np.int32)))
    fresh = module.PairSampler(build(5000, edges), 3, 2, seed=1)
    assert whole[-200:] == rows(fresh.sample(np.arange(4000, 5000, dtype=np.int32)))[-200:]


def power_law(n=3000, m=12000, seed=0):
    rng = np.random.default_rng(seed)
    ends = (n * rng.random((m, 2)) ** 3).astype(np.int64)
    return pg.TextGraph.from_edges(ends[:, 0], ends[:, 1], names=[str(i) for i in range(n)])


@pytest.mark.quick
@pytest.mark.parametrize("order", [3, 5])
def test_threads_and_blocks_change_nothing(order, monkeypatch):
    monkeypatch.setattr("pairgram.engine.local.available_threads", lambda: 8)
    graph = power_law()
    expected = rows(sample_pairs(graph, order, 2, seed=7, threads=1))
    for threads, block in [(2, 1), (8, 1000), (8, 1 << 20)]:
        blocks = iter_pairs(graph, order, 2, 7, threads, block_pairs=block)
        assert [row for b in blocks for row in rows(b)] == expected


@pytest.mark.quick
def test_hubs_against_the_slow_version():
    graph = power_law(400, 3000)
    edges = zip(graph.source.tolist(), graph.target.tolist(), strict=True)
    expected = pairs_sampling(neighbours(edges, 400), 4, 3, seed=1)
    assert rows(sample_pairs(graph, 4, 3, seed=1)) == expected
    assert {row[2] for row in expected} == {1, 2, 3, 4}


@pytest.mark.quick
def test_more_rounds_and_orders_keep_the_earlier_pairs():
    graph = power_law(300, 900)
    small = set(rows(sample_pairs(graph, 2, 1, seed=3)))
    large = set(rows(sample_pairs(graph, 4, 3, seed=3)))
    assert small < large


@pytest.mark.quick
def test_unique_filters_the_output_alone():
    graph = power_law(300, 900)
    all_rows = rows(sample_pairs(graph, 3, 3, seed=3))
    first = {}
    for row in all_rows:
        first.setdefault(row[:2], row)
    kept = rows(sample_pairs(graph, 3, 3, seed=3, unique=True))
    assert kept == list(first.values())
    assert len(kept) < len(all_rows)


@pytest.mark.quick
def test_the_figure_of_the_paper():
    graph = pg.TextGraph.from_edges([e[0] for e in FIGURE], [e[1] for e in FIGURE])
    seen = set()
    for seed in range(60):
        pairs = sample_pairs(graph, order=2, times=1, seed=seed, threads=1)
        mine = pairs.center == graph.position("A")
        names = [str(graph.names[v]) for v in pairs.context[mine]]
        assert names[:4] == ["B", "C", "D", "E"]  # order 1: all neighbours
        assert names[4] in "FGH"  # one successor of B, none of C,
        assert names[5] == "I"  # the only one of D,
        assert names[6] in "JK"  # one of E
        assert len(names) == 7
        seen.add(names[4] + names[6])
    assert "HJ" in seen  # the draw that the paper shows
    assert seen == {a + b for a in "FGH" for b in "JK"}


@pytest.mark.quick
def test_successors_are_uniform():
    # Hub 0 - node 1 with 40 neighbours, 5 of them also neighbours of 0: 35 fit.
    edges = [(0, 1)] + [(1, i) for i in range(2, 42)] + [(0, i) for i in range(2, 7)]
    graph = build(42, edges)
    counts = np.zeros(42)
    for seed in range(40):
        pairs = sample_pairs(graph, 2, 100, seed, 1)
        mine = (pairs.center == 0) & (pairs.order == 2)
        counts += np.bincount(pairs.context[mine], minlength=42)
    expected = np.zeros(42)
    expected[7:] = 4000 / 35
    assert counts[:7].sum() == 0
    assert chi_square_p(counts, expected) > 1e-4


@pytest.mark.quick
def test_rare_successors_are_uniform():
    # All but 3 of node 1's 400 neighbours are neighbours of 0 too: rejection mostly fails.
    edges = [(0, 1)] + [(1, i) for i in range(2, 402)] + [(0, i) for i in range(2, 399)]
    graph = build(402, edges)
    counts = np.zeros(402)
    for seed in range(10):
        pairs = sample_pairs(graph, 2, 300, seed, 1)
        # position 0 of the frontier is node 1; the other branches go on through it as well
        mine = (pairs.center == 0) & (pairs.order == 2)
        counts += np.bincount(pairs.context[mine], minlength=402)
    assert counts[:399].sum() == 0
    assert chi_square_p(counts[399:], np.full(3, counts.sum() / 3)) > 1e-4


@pytest.mark.quick
def test_orders_are_distances():
    graph = power_law(200, 400)
    adjacent = neighbours(zip(graph.source, graph.target, strict=True), 200)
    pairs = sample_pairs(graph, 6, 1, seed=0)
    for u in range(0, 200, 17):
        distance = distances(adjacent, u)
        mine = pairs.center == u
        assert [distance[v] for v in pairs.context[mine]] == pairs.order[mine].tolist()


@pytest.mark.quick
def test_bound_of_the_paper():
    graph = power_law(500, 2000)
    degree = graph.adjacency().indptr[-1]
    pairs = sample_pairs(graph, 3, 4, seed=0)
    assert len(pairs) <= 4 * 3 * degree
    assert np.bincount(pairs.order)[1] == 4 * degree


@pytest.mark.quick
@pytest.mark.parametrize(
    ("name", "value"),
    [("order", 0), ("order", 9), ("order", 2.5), ("times", 0), ("seed", -1), ("unique", 1)],
)
def test_parameters_are_checked(name, value):
    with pytest.raises(ParameterError, match=f"The '{name}' parameter of PairSampler must be"):
        sample_pairs(build(3, [(0, 1)]), **{name: value})


@pytest.mark.quick
def test_weights_are_ignored_with_a_notice(caplog):
    plain = pg.TextGraph.from_edges([0, 1, 2], [1, 2, 3])
    weighted = pg.TextGraph.from_edges([0, 1, 2], [1, 2, 3], weight=[1.0, 9.0, 2.0])
    with caplog.at_level(logging.WARNING):
        got = sample_pairs(weighted, seed=5)
    assert rows(got) == rows(sample_pairs(plain, seed=5))
    assert "does not use edge weights" in caplog.text


@pytest.mark.quick
def test_directed_needs_a_directed_graph():
    with pytest.raises(InputError, match="directed=True"):
        sample_pairs(pg.TextGraph.from_edges([0], [1]), directed=True)


@pytest.mark.quick
def test_isolated_nodes_and_empty_graphs():
    graph = pg.TextGraph.from_edges([0], [1], names=["a", "b", "alone"])
    assert rows(sample_pairs(graph, 3, 1)) == [(0, 1, 1, 0), (1, 0, 1, 0)]
    nothing = pg.TextGraph.from_edges(
        np.empty(0, np.int64), np.empty(0, np.int64), names=["a", "b"]
    )
    assert rows(sample_pairs(nothing)) == []


def test_more_threads_than_cores_is_said(caplog):
    graph = power_law(50, 100)
    with caplog.at_level(logging.WARNING):
        got = sample_pairs(graph, threads=4096)
    assert rows(got) == rows(sample_pairs(graph, threads=1))
    assert caplog.text.count("threads asked for") == 1


def test_bounded_work_on_a_star_and_a_clique():
    # Quadratic stamping of either would take minutes to hours.
    n = 200_000
    star = pg.TextGraph.from_edges(np.zeros(n, np.int64), np.arange(1, n + 1))
    assert sum(map(len, iter_pairs(star, 3, 2))) == 2 * (2 * n + n)
    clique = pg.TextGraph.from_edges(*np.triu_indices(1500, 1))
    assert sum(map(len, iter_pairs(clique, 3, 2))) == 2 * 1500 * 1499
