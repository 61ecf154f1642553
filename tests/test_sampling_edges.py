from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles
import pairgram as pg
from pairgram.errors import InputError, ParameterError
from pairgram.sampling.edges import EdgeSampler

EDGES = {(0, 1): 1.0, (0, 2): 5.0, (1, 2): 0.3, (2, 3): 2.0, (3, 4): 0.7, (4, 0): 3.0}


def build(edges=EDGES, directed=False, weighted=True):
    source, target = np.array(list(edges)).T
    names = [str(i) for i in range(7)]  # the last ones are isolated
    weight = list(edges.values()) if weighted else None
    return pg.TextGraph.from_edges(source, target, names, weight=weight, directed=directed)


def draw(sampler, turn, centres=range(7)):
    center, context = sampler.sample(np.array(centres), turn)
    return list(zip(center.tolist(), context.tolist(), strict=True))


@st.composite
def edge_sets(draw):
    ends = st.tuples(st.integers(0, 6), st.integers(0, 6)).filter(lambda e: e[0] < e[1])
    return draw(st.dictionaries(ends, st.floats(0.01, 100), min_size=1, max_size=15))


@pytest.mark.quick
@settings(max_examples=80)
@given(edge_sets(), st.booleans(), st.booleans(), st.floats(0.1, 9), st.integers(0, 2**40))
def test_draws_equal_the_slow_version(edges, directed, weighted, per_edge, seed):
    sampler = EdgeSampler(build(edges, directed, weighted), per_edge, seed, directed)
    rows = oracles.weighted_rows(edges, 7, directed)
    for turn in (0, 3):
        expected = oracles.edge_draws(rows, range(7), turn, seed, per_edge, weighted)
        assert draw(sampler, turn) == expected


@pytest.mark.quick
@pytest.mark.parametrize("directed", [False, True])
def test_draws_are_proportional_to_weight(directed):
    sampler = EdgeSampler(build(directed=directed), per_edge=20, directed=directed)
    counts = Counter(pair for turn in range(50) for pair in draw(sampler, turn))
    arcs = dict(EDGES) if directed else EDGES | {(b, a): w for (a, b), w in EDGES.items()}
    assert set(counts) == set(arcs)
    expected = 20 * 50 * np.array(list(arcs.values())) * len(arcs) / sum(arcs.values())
    assert oracles.chi_square_p([counts[arc] for arc in arcs], expected) > 1e-4
    # Rounding at random keeps the number of draws itself near what is asked for.
    assert counts.total() == pytest.approx(20 * 50 * len(arcs), rel=0.01)


@pytest.mark.quick
def test_without_weights_every_centre_is_exact():
    graph = build(weighted=False)
    centres = [u for u, _ in draw(EdgeSampler(graph, per_edge=3), turn=0)]
    assert np.bincount(centres, minlength=7).tolist() == (3 * graph.degree).tolist()


@pytest.mark.quick
def test_a_light_edge_is_drawn_in_proportion_beside_heavy_ones():
    # In one running sum over all arcs the weights 1 and 3 vanish beside 1e17.
    edges = {(0, 1): 1e17, (1, 2): 1e17, (3, 4): 1.0, (3, 5): 3.0}
    sampler = EdgeSampler(build(edges), per_edge=1e20)
    counts = Counter(draw(sampler, 0, [3]))
    assert counts.total() > 1000
    assert counts[3, 5] / counts.total() == pytest.approx(0.75, abs=0.05)


@pytest.mark.quick
def test_draws_depend_on_seed_turn_and_centre_alone():
    sampler = EdgeSampler(build(), per_edge=5, seed=1)
    whole = draw(sampler, 2)
    assert whole == [pair for u in range(7) for pair in draw(sampler, 2, [u])]
    assert whole == draw(EdgeSampler(build(), per_edge=5, seed=1), 2)
    assert whole != draw(sampler, 3)
    assert whole != draw(EdgeSampler(build(), per_edge=5, seed=2), 2)


@pytest.mark.quick
def test_isolated_nodes_give_no_edge():
    assert draw(EdgeSampler(build(), per_edge=5), 0, [5, 6]) == []


@pytest.mark.quick
@pytest.mark.parametrize(("name", "value"), [("per_edge", 0.0), ("seed", -1), ("directed", "no")])
def test_parameters_are_checked(name, value):
    with pytest.raises(ParameterError, match=f"The '{name}' parameter of EdgeSampler must be"):
        EdgeSampler(build(), **{name: value})
    with pytest.raises(InputError, match="read it with directed=True"):
        EdgeSampler(build(), directed=True)
