import json

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairgram.graph import TextGraph, describe

EDGES = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=25)


@given(rows=EDGES, directed=st.booleans())
def test_degrees_and_components_equal_those_of_networkx(rows, directed):
    source, target = zip(*rows, strict=True)
    names = [str(node) for node in range(10)]
    found = describe(TextGraph.from_edges(source, target, names=names, directed=directed))
    plain = networkx.Graph()
    plain.add_nodes_from(range(10))
    plain.add_edges_from((a, b) for a, b in rows if a != b)
    degrees = [degree for _, degree in plain.degree]
    parts = list(networkx.connected_components(plain))
    assert found["components"] == {"count": len(parts), "largest": max(map(len, parts))}
    assert found["degree"]["mean"] == pytest.approx(np.mean(degrees))
    assert found["degree"]["median"] == np.median(degrees)
    assert found["degree"]["max"] == max(degrees)
    assert found["degree"]["share"]["1"] == pytest.approx(degrees.count(1) / 10)
    assert found["degree"]["quantiles"]["99.9%"] == max(degrees)
    assert found["isolated"] == degrees.count(0)


@pytest.mark.quick
def test_texts_and_json(small_graph):
    found = describe(small_graph)
    assert found["text"] == {"words_mean": pytest.approx(18 / 7), "words_max": 3}
    assert (found["texts"], found["empty_texts"], found["lines"]) == (6, 1, 7)
    assert json.loads(json.dumps(found)) == found


def test_empty_graph():
    found = describe(TextGraph.from_edges([], []))
    assert found["components"] == {"count": 0, "largest": 0}
    assert found["degree"]["max"] == 0
    assert found["text"] is None
