import builtins
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairgram.errors import InputError, MissingExtraError
from pairgram.graph import TextGraph

EDGES = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(1, 9)), min_size=1, max_size=20
)


def build(rows, directed, weighted):
    return TextGraph.from_edges(
        [f"n{row[0]}" for row in rows],
        [f"n{row[1]}" for row in rows],
        names=[f"n{i}" for i in range(6)],
        texts={"n1": "one", "n5": "five"},
        weight=[row[2] for row in rows] if weighted else None,
        directed=directed,
    )


def content(graph, with_texts=True):
    """The graph as sets, free of edge order and of the orientation of undirected edges."""
    weights = np.ones(graph.n_edges) if graph.weight is None else graph.weight
    edges = set()
    for source, target, weight in zip(graph.source, graph.target, weights, strict=True):
        ends = (graph.names[source], graph.names[target])
        edges.add((ends if graph.directed else frozenset(ends), float(weight)))
    return (
        graph.names.tolist(),
        graph.directed,
        graph.weight is None,
        edges,
        graph.texts if with_texts else None,
    )


@given(rows=EDGES, directed=st.booleans(), weighted=st.booleans())
def test_networkx_and_back(rows, directed, weighted):
    graph = build(rows, directed, weighted)
    made = graph.to_networkx()
    assert made.is_directed() == directed
    assert made.nodes["n1"]["text"] == "one"
    back = TextGraph.from_networkx(made, weight="weight" if weighted else None)
    assert content(back) == content(graph)


@given(rows=EDGES, directed=st.booleans(), weighted=st.booleans())
def test_scipy_and_back(rows, directed, weighted):
    graph = build(rows, directed, weighted)
    matrix = graph.to_scipy()
    assert matrix.shape == (6, 6)
    if not directed:
        assert (matrix != matrix.T).nnz == 0
    back = TextGraph.from_scipy(
        matrix, graph.names, graph.texts, weight=weighted, directed=directed
    )
    assert content(back) == content(graph)


@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")
@given(rows=EDGES, directed=st.booleans(), weighted=st.booleans())
def test_pyg_and_back(rows, directed, weighted):
    graph = build(rows, directed, weighted)
    data = graph.to_pyg()
    assert data.num_nodes == 6
    assert data.edge_index.shape[1] == graph.n_edges * (1 if directed else 2)
    weight = "edge_weight" if weighted else None
    back = TextGraph.from_pyg(data, graph.names, graph.texts, weight=weight, directed=directed)
    assert content(back) == content(graph)


def test_pyg_is_duck_typed():
    data = SimpleNamespace(edge_index=np.array([[0, 1], [1, 0]]), num_nodes=3)
    graph = TextGraph.from_pyg(data)
    assert (graph.n_nodes, graph.n_edges) == (3, 1)
    data.num_nodes = 1
    with pytest.raises(InputError, match="position 1 is not among the 1 nodes"):
        TextGraph.from_pyg(data)
    with pytest.raises(InputError, match=r"shape \(2, m\)"):
        TextGraph.from_pyg(SimpleNamespace(edge_index=np.zeros((3, 2), int), num_nodes=3))
    with pytest.raises(InputError, match="no 'edge_weight'"):
        TextGraph.from_pyg(data, weight="edge_weight")


def test_networkx_labels_become_names():
    import networkx

    made = networkx.path_graph(3)
    graph = TextGraph.from_networkx(made)
    assert graph.names.tolist() == ["0", "1", "2"]
    assert graph.texts is None
    made.add_edge("1", 5)
    with pytest.raises(InputError, match="have the same name"):
        TextGraph.from_networkx(made)
    many = networkx.MultiDiGraph([(0, 1), (0, 1), (1, 0)])
    assert TextGraph.from_networkx(many).n_edges == 2
    assert TextGraph.from_networkx(many, directed=False).counts.duplicates == 1


@pytest.mark.quick
def test_scipy_matrix_that_is_not_symmetric_is_merged():
    from scipy.sparse import csr_array

    matrix = csr_array(np.array([[0, 2.0, 0], [1.0, 0, 0], [0, 0, 4.0]]))
    graph = TextGraph.from_scipy(matrix, weight=True)
    assert graph.weight.tolist() == [3.0]
    assert graph.counts.self_loops == 1
    assert TextGraph.from_scipy(matrix, directed=True).n_edges == 2
    with pytest.raises(InputError, match="must be square"):
        TextGraph.from_scipy(csr_array(np.zeros((2, 3))))
    with pytest.raises(InputError, match="must have 3 items, got 1"):
        TextGraph.from_scipy(matrix, names=["a"])


def test_pandas():
    import pandas

    frame = pandas.DataFrame(
        {
            "u": [1001, 7],
            "v": ["x", "1001"],
            "w": [1.0, 2.0],
            "kind": ["r", "s"],
            "day": pandas.to_datetime(["2020-01-02", "2019-01-01"]),
        }
    )
    graph = TextGraph.from_pandas(
        frame, "u", "v", weight="w", relation="kind", date="day", texts={"z": "alone"}
    )
    assert graph.names.tolist() == ["1001", "x", "7", "z"]
    assert graph.texts == ("", "", "", "alone")
    assert graph.weight.tolist() == [1.0, 2.0]
    assert graph.relation.names == ("r", "s")
    assert str(graph.date[0]) == "2020-01-02T00:00:00"
    with pytest.raises(InputError, match="no column 'source'"):
        TextGraph.from_pandas(frame)
    with pytest.raises(InputError, match="must hold strings or integers, got double"):
        TextGraph.from_pandas(frame, "u", "w")
    with pytest.raises(InputError, match="no value in row 1"):
        TextGraph.from_pandas(frame.assign(v=["x", None]), "u", "v")
    with pytest.raises(InputError, match="weights must be finite"):
        TextGraph.from_pandas(frame.assign(w=[1, -1]), "u", "v", weight="w")


@pytest.mark.parametrize(
    ("module", "method", "extra"),
    [("networkx", "to_networkx", "networkx"), ("torch", "to_pyg", "pyg")],
)
def test_absent_library_names_its_extra(monkeypatch, small_graph, module, method, extra):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=rf"pip install 'pairgram\[{extra}\]'"):
        getattr(small_graph, method)()


@pytest.mark.quick
def test_from_edges_needs_no_file_libraries(monkeypatch):
    real = builtins.__import__

    def refuse(name, *args, **kwargs):
        if name.split(".")[0] in ("pyarrow", "pandas", "networkx", "torch"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)
    graph = TextGraph.from_edges(["a", "b"], ["b", "c"], texts={"a": "x"})
    assert graph.adjacency().indices.tolist() == [1, 0, 2, 1]
    assert len(graph.fingerprint) == 64
