"""The analysis of sampling against values computed by hand, and against slow versions."""

import json
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import pairgram as pg
from oracles import distances, neighbours
from pairgram.cli.main import app
from pairgram.sampling import iter_walks, sample_pairs
from pairgram.sampling.analysis import analyse, paired, spread, walked
from pairgram.sampling.laws import pairs_law, pairs_until_covered, walk_law

pytestmark = pytest.mark.quick

# A path a - b - c - d and a triangle with a tail.
PATH = pg.TextGraph.from_edges([0, 1, 2], [1, 2, 3])
TRIANGLE = pg.TextGraph.from_edges([0, 1, 0, 2], [1, 2, 2, 3])


def law(of, graph, center, order):
    context, beta = of(graph.adjacency(), center, order)
    return dict(zip(context.tolist(), beta.tolist(), strict=True))


def test_walk_law_by_hand():
    # From a: b in one step; a or c, each one half, in two.
    assert law(walk_law, PATH, 0, 2) == pytest.approx({1: 0.5, 0: 0.25, 2: 0.25})
    # From the triangle's node 2 (neighbours 0, 1, 3) in one step.
    assert law(walk_law, TRIANGLE, 2, 1) == pytest.approx({0: 1 / 3, 1: 1 / 3, 3: 1 / 3})


def test_pairs_law_by_hand():
    # From a of the path: b, then c, then d, each once a round.
    assert law(pairs_law, PATH, 0, 3) == pytest.approx({1: 1 / 3, 2: 1 / 3, 3: 1 / 3})
    # From 0 of the triangle: 1 and 2 once; 1 has no successor at distance 2, 2 leads to 3.
    assert law(pairs_law, TRIANGLE, 0, 2) == pytest.approx({1: 1 / 3, 2: 1 / 3, 3: 1 / 3})
    # Two ways to one node count twice, and each half of a fork one half.
    fork = pg.TextGraph.from_edges([0, 0, 1, 2, 1], [1, 2, 3, 3, 4])
    assert law(pairs_law, fork, 0, 2) == pytest.approx({1: 1 / 4, 2: 1 / 4, 3: 1.5 / 4, 4: 0.5 / 4})


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 4))
def test_laws_are_distributions_over_the_neighbourhood(seed, order):
    random = np.random.default_rng(seed)
    edges = random.integers(0, 12, (20, 2)).tolist()
    graph = pg.TextGraph.from_edges(*np.array(edges).T, names=[str(i) for i in range(12)])
    adjacent = neighbours(edges, 12)
    for center in range(12):
        if not adjacent[center]:
            continue
        within = {v for v, d in distances(adjacent, center).items() if 0 < d <= order}
        for of in (walk_law, pairs_law):
            beta = law(of, graph, center, order)
            assert sum(beta.values()) == pytest.approx(1)
            assert set(beta) - {center} == within


def test_pairs_law_is_the_limit_of_the_sampler():
    random = np.random.default_rng(3)
    graph = pg.TextGraph.from_edges(*random.integers(0, 15, (2, 30)))
    pairs = sample_pairs(graph, order=3, times=4000, seed=5, threads=1)
    for center in (0, 4, 9):
        counted = Counter(pairs.context[pairs.center == center].tolist())
        total = sum(counted.values())
        shares = {v: c / total for v, c in counted.items()}
        assert shares == pytest.approx(law(pairs_law, graph, center, 3), abs=0.01)


def test_walk_law_is_the_limit_of_long_walks():
    walks = np.concatenate(list(iter_walks(TRIANGLE, length=4000, times=20, seed=1, threads=1)))
    counted = Counter()
    for walk in walks.tolist():
        for step in (1, 2):
            for a, b in zip(walk, walk[step:], strict=False):
                counted[a, b] += 1
                counted[b, a] += 1
    total = sum(c for (a, _), c in counted.items() if a == 2)
    shares = {v: c / total for (a, v), c in counted.items() if a == 2}
    assert shares == pytest.approx(law(walk_law, TRIANGLE, 2, 2), abs=0.01)


def test_pairs_until_covered_of_equal_and_unequal_outcomes():
    for k in (1, 2, 10):  # k equal outcomes: k · (1 + 1/2 + … + 1/k)
        expected = k * sum(1 / i for i in range(1, k + 1))
        assert pairs_until_covered(np.full(k, 1 / k)) == pytest.approx(expected, rel=1e-3)
    # Two outcomes p and q: 1/p + 1/q − 1/(p + q).
    assert pairs_until_covered(np.array([0.9, 0.1])) == pytest.approx(1 / 0.9 + 10 - 1, rel=1e-3)
    # A draw that gives nothing half of the time doubles it.
    assert pairs_until_covered(np.array([0.25, 0.25])) == pytest.approx(6, rel=1e-3)


def test_spread_by_hand():
    found = spread(np.array([1, 3]))
    assert (found.mean, found.smallest, found.median, found.largest) == (2, 1, 2, 3)
    assert found.variation == pytest.approx(0.5)
    assert found.gini == pytest.approx(0.25)


@pytest.mark.parametrize("window", [1, 2, 3])
def test_counts_of_walks_equal_a_slow_version(window):
    random = np.random.default_rng(1)
    graph = pg.TextGraph.from_edges(*random.integers(0, 9, (2, 14)), names=list("abcdefghi"))
    linked = np.flatnonzero(graph.degree)
    every = np.arange(9)
    got = walked(graph, linked, every, window, 7, 3, 0, 1)

    walks = np.concatenate(list(iter_walks(graph, 7, 3, seed=0, threads=1))).tolist()
    pairs, visits, own, between = [], Counter(), 0, 0
    for walk in walks:
        there = [v for v in walk if v >= 0]
        visits.update(there)
        for p, a in enumerate(there):
            for q, b in enumerate(there):
                if p != q and abs(p - q) <= window:
                    pairs.append((a, b))
                    own += a == b
                    between += walk[0] not in (a, b)
    assert got.pairs == len(pairs)
    assert got.self_pairs == pytest.approx(own / len(pairs))
    assert got.neighbour_pairs == pytest.approx(between / len(pairs))
    assert got.repeated == pytest.approx(1 - len(set(pairs)) / len(pairs))
    assert got.windows.mean == pytest.approx(np.mean([visits[v] / 3 for v in linked]))
    centers = Counter(a for a, _ in pairs)
    assert got.per_center.largest == max(centers.values())


def test_counts_of_pairs_sampling_equal_a_slow_version():
    random = np.random.default_rng(2)
    graph = pg.TextGraph.from_edges(*random.integers(0, 30, (2, 60)))
    linked = np.flatnonzero(graph.degree)
    got = paired(graph, linked, np.arange(graph.n_nodes), 3, 4, 0, 1)
    sampled = sample_pairs(graph, 3, 4, 0, 1)
    pairs = list(zip(sampled.center.tolist(), sampled.context.tolist(), strict=True))
    assert got.pairs == len(pairs)
    assert got.repeated == pytest.approx(1 - len(set(pairs)) / len(pairs))
    assert (got.windows.mean, got.windows.variation) == (1.0, 0.0)  # α is zero everywhere
    assert got.self_pairs == got.neighbour_pairs == 0.0


def test_only_tracked_centres_are_compared():
    star = pg.TextGraph.from_edges([0] * 4, [1, 2, 3, 4])
    got = paired(star, np.arange(5), np.array([0]), 1, 3, 0, 1)
    assert (got.tracked, got.repeated) == (1, pytest.approx(2 / 3))


def test_nodes_without_an_edge_take_no_part():
    lonely = pg.TextGraph.from_edges([0], [1], names=["a", "b", "c"])
    found = analyse(lonely, order=2, times=3, length=6, walks=2)
    assert found["walks"]["windows"]["smallest"] == 6.0
    assert found["ps"]["pairs"] == 6
    assert found["ps"]["beta"]["neighbourhood"] == 1
    empty = pg.TextGraph.from_edges([], [], names=["a", "b"])
    assert analyse(empty)["walks"] is None


def test_inspect_shows_both_samplers(tmp_path):
    edges = tmp_path / "edges.tsv"
    ring = pairwise([*range(8), 0])
    edges.write_text("".join(f"n{a}\tn{b}\n" for a, b in ring))
    flags = ["--sampling", "--order", "2", "--length", "10", "--walks", "2", "--centers", "3"]
    shown = CliRunner().invoke(app, ["inspect", str(edges), *flags])
    assert shown.exit_code == 0, shown.output
    assert "Pairs Sampling" in shown.stdout
    assert "neighbour-neighbour pairs" in shown.stdout
    machine = CliRunner().invoke(app, ["inspect", str(edges), *flags, "--json"])
    found = json.loads(machine.stdout)["sampling"]
    assert found["settings"]["centers"] == 3
    assert found["ps"]["pairs"] == 8 * 2 * 2 * 2
    assert "sampling" not in json.loads(
        CliRunner().invoke(app, ["inspect", str(edges), "--json"]).stdout
    )
