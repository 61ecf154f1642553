"""Nodes move as the obvious loop moves them, and what comes out is a good division."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
from pairgram.graph import TextGraph
from pairgram.kernels.communities import move_nodes
from pairgram.map.communities import by_size, communities
from worlds import world

pytestmark = pytest.mark.quick


@st.composite
def weighted(draw):
    n = draw(st.integers(2, 9))
    pairs = draw(st.sets(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=20))
    edges = sorted({(min(a, b), max(a, b)) for a, b in pairs})
    # Weights without common sums, so that no two gains are the same but by design.
    return n, [(a, b, 1 + 0.37 * k + 0.011 * k * k) for k, (a, b) in enumerate(edges)]


@given(weighted(), st.integers(1, 3))
def test_nodes_move_as_in_a_plain_loop(graph, sweeps):
    n, edges = graph
    arcs = sorted([(a, b, w) for a, b, w in edges] + [(b, a, w) for a, b, w in edges])
    indptr = np.searchsorted([a for a, _, _ in arcs], np.arange(n + 1))
    indices = np.array([b for _, b, _ in arcs], np.int64)
    weight = np.array([w for _, _, w in arcs], float)
    degree = np.bincount([a for a, _, _ in arcs], weight, n).astype(float)
    community = np.arange(n)
    moves = move_nodes(indptr, indices, weight, degree, community, sweeps)
    wanted, wanted_moves = oracles.move_nodes(edges, n, range(n), sweeps)
    assert community.tolist() == wanted
    assert moves == wanted_moves


def test_two_cliques_are_two_communities():
    graph = world(extra=["alone"])
    found = communities(graph.adjacency())
    names = graph.names.tolist()
    sides = [{found[names.index(f"{side}{i}")] for i in range(8)} for side in "ab"]
    assert sorted(map(sorted, sides)) == [[0], [1]]
    assert found[names.index("alone")] == 2


@pytest.mark.parametrize("seed", range(3))
def test_modularity_is_close_to_that_of_networkx(seed):
    made = nx.stochastic_block_model(
        [30, 25, 20, 10], np.full((4, 4), 0.02) + 0.3 * np.eye(4), seed=seed
    )
    source, target = zip(*made.edges, strict=True)
    graph = TextGraph.from_edges(list(source), list(target), names=[str(v) for v in made])
    ours = communities(graph.adjacency()).tolist()
    theirs = nx.community.louvain_communities(made, seed=seed)
    member = {v: c for c, nodes in enumerate(theirs) for v in nodes}
    edges = [(a, b, 1.0) for a, b in made.edges]
    best = oracles.modularity(edges, [member[v] for v in made])
    assert nx.community.modularity(made, theirs) == pytest.approx(best)
    assert oracles.modularity(edges, ours) > best - 0.02


@given(st.lists(st.integers(0, 6), min_size=1, max_size=30))
def test_groups_are_numbered_by_size(member):
    found = by_size(np.array(member)).tolist()
    sizes = [found.count(c) for c in range(max(found) + 1)]
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(zip(found, member, strict=True))) == len(set(member)) == len(sizes)
