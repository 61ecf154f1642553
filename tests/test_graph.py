from collections import defaultdict
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairgram.errors import InputError, UnknownNodeError
from pairgram.graph import Adjacency, TextGraph

NODES = 7
EDGES = st.lists(
    st.tuples(
        st.integers(0, NODES - 1), st.integers(0, NODES - 1), st.integers(1, 9), st.integers(0, 2)
    ),
    max_size=30,
)


def build(rows, directed, **kwargs):
    columns = [list(column) for column in zip(*rows, strict=True)] or [[], [], [], []]
    return TextGraph.from_edges(
        columns[0],
        columns[1],
        names=[f"n{i}" for i in range(NODES)],
        weight=columns[2],
        relation=[f"r{code}" for code in columns[3]],
        date=columns[2],
        directed=directed,
        **kwargs,
    )


def slow_merge(rows, directed):
    """The distinct edges in order: {key: [source, target, weight, date]}, and the counts."""
    edges, seen = {}, set()
    counts = defaultdict(int)
    for source, target, weight, _ in rows:
        counts["lines"] += 1
        if source == target:
            counts["self_loops"] += 1
            continue
        if (source, target) in seen:
            counts["duplicates"] += 1
        elif (target, source) in seen:
            counts["reciprocal"] += 1
        seen.add((source, target))
        key = (source, target) if directed else frozenset((source, target))
        if key not in edges:
            edges[key] = [source, target, 0.0, weight]
        edges[key][2] += weight
        edges[key][3] = min(edges[key][3], weight)
    return list(edges.values()), counts


def slow_lists(edges, closed, reverse=False):
    near = defaultdict(lambda: defaultdict(float))
    for source, target, weight, _ in edges:
        if reverse:
            source, target = target, source  # noqa: PLW2901
        near[source][target] += weight
        if closed:
            near[target][source] += weight
    return [sorted(near[node].items()) for node in range(NODES)]


def lists(adjacency: Adjacency):
    ptr = adjacency.indptr
    return [
        list(
            zip(
                adjacency.indices[ptr[node] : ptr[node + 1]].tolist(),
                adjacency.weight[ptr[node] : ptr[node + 1]].tolist(),
                strict=True,
            )
        )
        for node in range(len(ptr) - 1)
    ]


@pytest.mark.quick
@given(rows=EDGES, directed=st.booleans())
def test_merging_equals_a_slow_version(rows, directed):
    graph = build(rows, directed)
    edges, counts = slow_merge(rows, directed)
    got = zip(graph.source, graph.target, graph.weight, graph.date, strict=True)
    assert [tuple(edge) for edge in edges] == [tuple(map(float, edge)) for edge in got]
    for name in ("lines", "duplicates", "reciprocal", "self_loops"):
        assert getattr(graph.counts, name) == counts[name], name


@given(rows=EDGES, directed=st.booleans())
def test_neighbour_lists_and_degrees_equal_a_slow_version(rows, directed):
    graph = build(rows, directed)
    edges, _ = slow_merge(rows, directed)
    closed = slow_lists(edges, closed=True)
    assert lists(graph.adjacency()) == closed
    assert graph.degree.tolist() == [len(near) for near in closed]
    assert graph.counts.isolated == sum(not near for near in closed)
    if directed:
        assert lists(graph.adjacency(directed=True)) == slow_lists(edges, closed=False)
        back = slow_lists(edges, closed=False, reverse=True)
        assert lists(graph.adjacency(directed=True, reverse=True)) == back


@given(rows=EDGES, directed=st.booleans())
def test_lists_without_weights_have_the_same_entries(rows, directed):
    plain = TextGraph.from_edges(
        np.array([row[0] for row in rows], dtype=np.int64),
        np.array([row[1] for row in rows], dtype=np.int64),
        names=[f"n{i}" for i in range(NODES)],
        directed=directed,
    )
    weighted = build(rows, directed)
    np.testing.assert_array_equal(plain.adjacency().indptr, weighted.adjacency().indptr)
    np.testing.assert_array_equal(plain.adjacency().indices, weighted.adjacency().indices)
    assert plain.adjacency().weight is None
    assert plain.adjacency().indices.dtype == np.int32
    assert plain.adjacency().indptr.dtype == np.int64


@given(rows=EDGES, directed=st.booleans())
def test_relations_keep_distinct_triples(rows, directed):
    table = build(rows, directed).relation
    graph = build(rows, directed)
    expected = dict.fromkeys((s, t, f"r{code}") for s, t, _, code in rows if s != t)
    got = [
        (int(s), int(t), table.names[code])
        for s, t, code in zip(table.source, table.target, table.code, strict=True)
    ]
    assert got == list(expected)
    for edge, source, target in zip(table.edge, table.source, table.target, strict=True):
        assert {source, target} == {graph.source[edge], graph.target[edge]}


@given(rows=EDGES, directed=st.booleans(), data=st.data())
def test_fewer_edges_are_those_of_the_mask(rows, directed, data):
    graph = build(rows, directed, texts={"n0": "x", "n1": "x"})
    size = graph.n_edges
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)), dtype=bool)
    smaller = graph.with_edges(mask)
    np.testing.assert_array_equal(smaller.source, graph.source[mask])
    np.testing.assert_array_equal(smaller.weight, graph.weight[mask])
    assert smaller.texts == graph.texts
    assert smaller.counts.repeated_texts == 1
    assert smaller.names.tolist() == graph.names.tolist()
    assert smaller.adjacency().indptr[-1] == smaller.degree.sum()
    kept = set(zip(smaller.source.tolist(), smaller.target.tolist(), strict=True))
    for edge in smaller.relation.edge:
        assert (smaller.source[edge], smaller.target[edge]) in kept
    stays = {int(e) for e, keep in enumerate(mask) if keep}
    assert len(smaller.relation.edge) == sum(int(e) in stays for e in graph.relation.edge)


@given(rows=EDGES, directed=st.booleans(), data=st.data())
def test_induced_graph_has_the_edges_between_kept_nodes(rows, directed, data):
    graph = build(rows, directed, texts={"n3": "three"})
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=NODES, max_size=NODES)), dtype=bool)
    smaller = graph.induced(mask)
    assert smaller.names.tolist() == [f"n{i}" for i in range(NODES) if mask[i]]
    named = [
        (graph.names[s], graph.names[t])
        for s, t in zip(graph.source, graph.target, strict=True)
        if mask[s] and mask[t]
    ]
    got = [
        (smaller.names[s], smaller.names[t])
        for s, t in zip(smaller.source, smaller.target, strict=True)
    ]
    assert got == named
    assert smaller.counts.texts == int(mask[3])
    relations = smaller.relation
    assert set(relations.source.tolist()) <= set(range(smaller.n_nodes))


@pytest.mark.quick
def test_order_of_names_is_first_appearance_then_texts():
    graph = TextGraph.from_edges(["007", "a b"], ["7", "007"], texts={"z": "zed", "7": "seven"})
    assert graph.names.tolist() == ["007", "7", "a b", "z"]
    assert graph.texts == ("", "seven", "", "zed")
    assert graph.counts.texts == 2
    assert graph.counts.empty_texts == 2
    assert graph.counts.isolated == 1


def test_positions_count_up_to_the_largest_and_texts_add_nodes():
    assert TextGraph.from_edges([0, 4], [1, 1]).n_nodes == 5
    assert TextGraph.from_edges([0], [1], texts=["x", "y", "z"]).n_nodes == 3
    assert TextGraph.from_edges([0], [1], texts={7: "x"}).n_nodes == 8
    assert TextGraph.from_edges([], [], names=["a"]).n_nodes == 1
    assert TextGraph.from_edges([], []).n_nodes == 0


def test_lazy_names_of_positions():
    graph = TextGraph.from_edges(np.array([3], dtype=np.uint8), np.array([1], dtype=np.uint8))
    assert graph.names.tolist() == ["0", "1", "2", "3"]
    assert graph.position("3") == 3
    assert graph.source.dtype == np.int64


@pytest.mark.quick
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"source": [True], "target": [0]}, "got a bool"),
        ({"source": [0.5], "target": [0]}, "got float 0.5"),
        ({"source": np.array([0.0]), "target": [0]}, "got dtype float64"),
        ({"source": [-1], "target": [0]}, r"0 or more, got -1 at 'source'\[0\]"),
        ({"source": np.array([0, -3]), "target": [0, 0]}, r"got -3 at 'source'\[1\]"),
        ({"source": ["a"], "target": [0]}, "both strings or integers"),
        ({"source": ["a", 1], "target": ["b", "c"]}, "only strings"),
        ({"source": [0], "target": [0, 1]}, "equally long, got 1 and 2"),
        ({"source": [2], "target": [0], "names": ["a", "b"]}, "position 2 is beyond the 2 'names'"),
        ({"source": ["a"], "target": ["b"], "names": ["a"]}, "'b' is not among the 1 'names'"),
        ({"source": ["a"], "target": ["b"], "names": ["a", "b", "a"]}, "distinct, got 'a' twice"),
        ({"source": [0], "target": [1], "weight": [np.nan]}, r"got nan at 'weight'\[0\]"),
        ({"source": [0], "target": [1], "weight": [-1]}, "above 0, got -1.0"),
        ({"source": [0], "target": [1], "weight": ["x"]}, "must hold numbers"),
        ({"source": [0], "target": [1], "weight": [1, 2]}, r"shape \(1,\)"),
        ({"source": [0], "target": [1], "date": ["soon"]}, "ISO dates"),
        ({"source": ["a"], "target": ["b"], "texts": ["x"]}, "one text for each of the 2 nodes"),
        ({"source": ["a"], "target": ["b"], "texts": {"a": 3}}, "string or None, got int 3"),
        ({"source": ["a"], "target": ["b"], "names": "ab", "texts": {"c": ""}}, "1 ids that are"),
        ({"source": [2**40], "target": [0]}, "pass them as strings"),
        ({"source": [2**70], "target": [0]}, "beyond 64 bits"),
    ],
)
def test_bad_input_gives_one_clear_line(arguments, message):
    with pytest.raises(InputError, match=message) as caught:
        TextGraph.from_edges(**arguments)
    assert "\n" not in str(caught.value)


def test_dates_keep_their_kind():
    graph = TextGraph.from_edges(["a", "b"], ["b", "a"], date=["2020-05-01", "2019-01-01"])
    assert graph.date.dtype == np.dtype("datetime64[s]")
    assert str(graph.date[0]) == "2019-01-01T00:00:00"
    missing = TextGraph.from_edges(["a", "b"], ["b", "a"], date=[np.nan, 3.0])
    assert missing.date.tolist() == [3.0]


@pytest.mark.quick
def test_unknown_node_gets_a_hint(small_graph):
    assert small_graph.position("alone") == 6
    assert small_graph.positions(["b", "a"]).tolist() == [1, 0]
    with pytest.raises(UnknownNodeError, match=r"no node 'alnoe' .* did you mean 'alone'\?"):
        small_graph.position("alnoe")
    with pytest.raises(UnknownNodeError, match="and 1 more"):
        small_graph.positions(["a", "x", "y"])
    with pytest.raises(InputError, match="Node ids are strings, got int 3; pass '3'"):
        small_graph.position(3)


def test_directed_lists_of_an_undirected_graph_raise(small_graph):
    with pytest.raises(InputError, match="read it with directed=True"):
        small_graph.adjacency(directed=True)


def test_adjacency_is_made_once_and_arrays_are_frozen(small_graph):
    assert small_graph.adjacency() is small_graph.adjacency(reverse=True)
    for array in (small_graph.source, small_graph.degree, small_graph.adjacency().indices):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 5
    with pytest.raises(FrozenInstanceError):
        small_graph.n_nodes = 3


@pytest.mark.parametrize("mask", [[True], np.ones(7, dtype=int)])
def test_wrong_mask_raises(small_graph, mask):
    with pytest.raises(InputError, match="needs a mask of 7 bools"):
        small_graph.with_edges(mask)
    with pytest.raises(InputError, match="needs a mask of 7 bools"):
        small_graph.induced(mask)


@pytest.mark.quick
def test_fingerprint_sees_every_part():
    base = {"source": ["a", "b"], "target": ["b", "c"]}
    graphs = [
        TextGraph.from_edges(**base),
        TextGraph.from_edges(**base, directed=True),
        TextGraph.from_edges(**base, weight=[1, 1]),
        TextGraph.from_edges(**base, weight=[1, 2]),
        TextGraph.from_edges(**base, texts={}),
        TextGraph.from_edges(**base, texts={"a": "bc"}),
        TextGraph.from_edges(**base, texts={"a": "b", "b": "c"}),
        TextGraph.from_edges(["a", "b"], ["b", "a"]),
        TextGraph.from_edges(["b", "a"], ["c", "b"]),
        TextGraph.from_edges([0, 1], [1, 2]),
    ]
    prints = {graph.fingerprint for graph in graphs}
    assert len(prints) == len(graphs)
    assert TextGraph.from_edges(**base).fingerprint == graphs[0].fingerprint
    assert graphs[0].with_edges(np.ones(2, dtype=bool)).fingerprint == graphs[0].fingerprint
