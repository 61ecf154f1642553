import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pairgram.evaluation import floors
from pairgram.evaluation.floors import FLOORS
from pairgram.graph import TextGraph

ENDS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=40)


def slow_floor(name, graph, first, second):
    lists = [set() for _ in range(graph.n_nodes)]
    for source, target in zip(graph.source, graph.target, strict=True):
        lists[source].add(int(target))
        lists[target].add(int(source))
    common = lists[first] & lists[second]
    return {
        "degree": len(lists[second]),
        "common_neighbours": len(common),
        "resource_allocation": sum(1 / len(lists[node]) for node in common),
    }[name]


@pytest.mark.quick
@pytest.mark.parametrize("name", ["degree", "common_neighbours", "resource_allocation"])
@pytest.mark.parametrize("block", [1, 7, 4_000_000])
def test_floor_equals_the_slow_one_for_any_block(name, block, monkeypatch):
    monkeypatch.setattr(floors, "_BLOCK_ENTRIES", block)
    names = [str(node) for node in range(11)]

    @settings(deadline=None, max_examples=30)
    @given(ENDS, st.booleans())
    def agrees(ends, directed):
        source, target = zip(*ends, strict=True)
        weight = np.full(len(ends), 2.5)  # floors count links, whatever they weigh
        graph = TextGraph.from_edges(
            list(source), list(target), names=names, directed=directed, weight=weight
        )
        first, second = (side.ravel() for side in np.mgrid[0:11, 0:11])
        expected = [slow_floor(name, graph, *pair) for pair in zip(first, second, strict=True)]
        assert FLOORS[name](graph, first, second) == pytest.approx(expected, abs=1e-12)

    agrees()


@pytest.mark.quick
def test_no_pairs_give_no_scores():
    graph = TextGraph.from_edges([0, 1], [1, 2])
    none = np.zeros(0, dtype=np.int64)
    assert [score(graph, none, none).shape for score in FLOORS.values()] == [(0,)] * len(FLOORS)
