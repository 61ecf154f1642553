"""Neighbours drawn for a mean, beside their definition."""

import numpy as np
import pytest

import pairgram as pg
from pairgram.kernels.fanout import draw_fanout


def drawn(near, nodes, avoid, size, turn=0, seed=0):
    out = np.empty((len(nodes), size), np.int64)
    nodes, avoid = np.asarray(nodes), np.asarray(avoid)
    draw_fanout(nodes, avoid, np.arange(len(nodes)), turn, seed, near.indptr, near.indices, out)
    return out


@pytest.fixture
def near():
    """A hub with twenty leaves, a path, and a node alone."""
    source = [*["hub"] * 20, "p0", "p1"]
    target = [*(f"n{i:02}" for i in range(20)), "p1", "p2"]
    texts = {"alone": "x"}
    return pg.TextGraph.from_edges(source, target, texts=texts)


@pytest.mark.quick
def test_few_neighbours_are_all_taken_but_the_avoided(near):
    graph, adjacency = near, near.adjacency()
    nodes = [graph.position(name) for name in ("p1", "p1", "p0", "p0", "alone")]
    avoid = [-1, graph.position("p2"), -1, graph.position("p1"), -1]
    found = drawn(adjacency, nodes, avoid, 3)
    p0, p1, p2 = (graph.position(name) for name in ("p0", "p1", "p2"))
    assert [sorted(v for v in row if v >= 0) for row in found.tolist()] == [
        sorted((p0, p2)), [p0], [p1], [], []
    ]  # fmt: skip


@pytest.mark.quick
def test_many_neighbours_are_drawn_alike(near):
    graph, adjacency = near, near.adjacency()
    hub, left_out = graph.position("hub"), graph.position("n07")
    leaves = set(adjacency.neighbours(hub).tolist())
    times, size = 4000, 5
    for avoid, allowed in ((-1, leaves), (left_out, leaves - {left_out})):
        found = drawn(adjacency, [hub] * times, [avoid] * times, size)
        kinds, counts = np.unique(found, return_counts=True)
        assert set(kinds.tolist()) == allowed
        expected = times * size / len(allowed)
        assert ((counts - expected) ** 2 / expected).sum() < 50  # chi-square, 19 degrees


@pytest.mark.quick
def test_a_row_depends_on_its_key_alone(near):
    adjacency, hub = near.adjacency(), near.position("hub")
    whole = drawn(adjacency, [hub] * 6, [-1] * 6, 4, turn=3, seed=9)
    part = np.empty((2, 4), np.int64)
    draw_fanout(
        np.array([hub, hub]), np.array([-1, -1]), np.array([4, 1]), 3, 9,
        adjacency.indptr, adjacency.indices, part,
    )  # fmt: skip
    np.testing.assert_array_equal(part, whole[[4, 1]])
    assert (whole != drawn(adjacency, [hub] * 6, [-1] * 6, 4, turn=4, seed=9)).any()
    assert (whole != drawn(adjacency, [hub] * 6, [-1] * 6, 4, turn=3, seed=8)).any()
