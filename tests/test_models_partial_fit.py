"""Training that goes on with new links."""

import numpy as np
import pytest

import pairgram as pg
from pairgram.errors import InputError, ParameterError, UnknownNodeError
from pairgram.models import METHODS
from pairgram.models.tge_weights import net_weights
from worlds import READS_TEXT, SIZE, build, build_brief, world


def without(node):
    """The world without the links of a node."""
    graph = world()
    v = graph.position(node)
    return graph.with_edges((graph.source != v) & (graph.target != v))


def margin(model):
    """How much better a3 goes with its own clique than with the other."""
    own, other = (
        model.score([("a3", f"{side}{i}") for i in range(SIZE) if i != 3]).mean() for side in "ab"
    )
    return own - other


FITTED_ANEW = {"line", "graphgan"}


@pytest.mark.parametrize("method", [m for m in METHODS if m not in READS_TEXT | FITTED_ANEW])
def test_new_links_teach_the_model(method):
    model = build(method).fit(without("a3"))
    before = margin(model)
    links = [("a3", f"a{i}") for i in range(SIZE) if i not in (3, 5)]
    model.partial_fit(links, epochs=20)
    assert margin(model) > before + 0.1
    assert model.graph_.n_edges == world().n_edges - 1
    found = model.suggest(node="a3", k=50)
    assert found[0].node == "a5"
    assert not {s.node for s in found} & {v for _, v in links}


@pytest.mark.quick
def test_going_on_starts_from_what_was_learnt():
    model = build("tge").fit(world())
    center, context = model.vectors_.center.copy(), model.vectors_.context.copy()
    weights = net_weights(model, model.graph_.texts)
    by_text, head = model._vectors_of(model.graph_.texts)
    np.testing.assert_allclose(by_text + weights["id.weight"], center, atol=1e-5)
    np.testing.assert_allclose(head + weights["table.weight"], context, atol=1e-5)
    model.partial_fit([("a0", "b3")])
    moved = np.linalg.norm(model.vectors_.center - center, axis=1)
    assert 0 < moved.mean() < 0.5 * np.linalg.norm(center, axis=1).mean()
    other = build("tge", seed=1).fit(world()).vectors_.center
    assert moved.mean() < np.linalg.norm(other - center, axis=1).mean()


@pytest.mark.quick
@pytest.mark.parametrize("method", ["tge", "text_matching"])
def test_new_ends_come_with_their_texts(method, tmp_path):
    model = build(method).fit(world())
    model.save(tmp_path / "m")
    model.add({"x": "red apple"})
    model.remove(["b7"])
    model.partial_fit([("new", "a1"), ("x", "a2")], texts={"new": "red apple 9"})
    assert "a1" not in {s.node for s in model.suggest(node="new", k=50)}
    assert "x" not in {s.node for s in model.suggest(node="a2", k=50)}
    assert not model.has("b7")
    assert not pg.load(tmp_path / "m").has("new")  # kept when it is saved
    model.save(tmp_path / "m")
    back = pg.load(tmp_path / "m")
    assert back.suggest("red", k=50) == model.suggest("red", k=50)
    assert back.graph_.degree[back.graph_.position("new")] == 1


@pytest.mark.quick
def test_what_cannot_go_on_is_one_line():
    for method in sorted(FITTED_ANEW):
        name = METHODS[method].__name__
        with pytest.raises(ParameterError, match=f"{name} cannot go on from its vectors"):
            build(method).fit(world()).partial_fit([("a0", "b0")])
    model = build("text_matching").fit(world())
    for edges, texts, kind, message in (
        ([], None, InputError, "needs new links. Got none"),
        (["ab"], None, InputError, "needs links as"),
        ([("a0", "x")], None, UnknownNodeError, "has no node 'x'"),
        ([("a0", "b0", "likes")], None, InputError, "carry no relations"),
        ([("a0", "b1")], {"a0": "red"}, InputError, "has a node 'a0' already"),
    ):
        with pytest.raises(kind, match=message):
            model.partial_fit(edges, texts)
    with pytest.raises(ParameterError, match="'epochs' parameter of TextMatching"):
        model.partial_fit([("a0", "b1")], epochs=0)
    typed = pg.TextGraph.from_edges(
        ["a"], ["b"], relation=["is_a"], texts={"a": "red", "b": "blue", "c": "red"}
    )
    model = build("text_matching").fit(typed)
    with pytest.raises(InputError, match="carry relations: give"):
        model.partial_fit([("a", "c")])
    model.partial_fit([("c", "a", "part_of")])
    assert set(model.relations_.names) == {"is_a", "part_of", "^is_a", "^part_of"}


@pytest.mark.quick
@pytest.mark.parametrize("date", [np.array([3.0, 1.0]), np.array(["2001", "2003"], "M8[Y]")])
def test_weights_and_dates_go_on(date):
    graph = pg.TextGraph.from_edges(["d", "a"], ["c", "b"], weight=[2.0, 4.0], date=date)
    model = pg.DeepWalk(dim=8, length=10, times=2).fit(graph).partial_fit([("c", "b"), ("a", "b")])
    known = model.graph_
    ends = [
        (known.names[u], known.names[v]) for u, v in zip(known.source, known.target, strict=True)
    ]
    assert dict(zip(ends, known.weight.tolist(), strict=True)) == {
        ("d", "c"): 2, ("a", "b"): 5, ("c", "b"): 1
    }  # fmt: skip
    dated = dict(zip(ends, known.date, strict=True))
    assert (dated["d", "c"], dated["a", "b"]) == tuple(graph.date)
    assert np.isnan(dated["c", "b"]) if date.dtype.kind == "f" else np.isnat(dated["c", "b"])


@pytest.mark.quick
@pytest.mark.parametrize("method", ["ps", "tge"])
def test_what_fails_leaves_the_model_as_it_was(method, tmp_path, monkeypatch):
    model = build_brief(method).fit(world())
    if method in READS_TEXT:
        model.add({"new": "red apple"})
    before, kept = model.score([("a0", "a1")]), dict(model.__dict__)
    monkeypatch.setattr(model, "_continue", raising, raising=True)
    with pytest.raises(MemoryError):
        model.partial_fit([("a0", "b3")])
    monkeypatch.undo()
    assert model.graph_ is kept["graph_"]
    assert model.vectors_ is kept["vectors_"]
    np.testing.assert_array_equal(model.score([("a0", "a1")]), before)
    assert model.has("new") == (method in READS_TEXT)
    model.save(tmp_path / "m")
    assert pg.load(tmp_path / "m").has("new") == (method in READS_TEXT)


def raising(graph, epochs):
    """In the place of training: the memory is over."""
    raise MemoryError


@pytest.mark.quick
def test_a_node_that_was_added_starts_its_context_at_zero():
    model = build_brief("tge", contexts="table").fit(world())
    model.add({"new": "red apple"})
    model.partial_fit([("new", "a1")])
    center, context = model.vectors_.center, model.vectors_.context
    assert np.isfinite(center).all()
    assert np.isfinite(context).all()
    assert np.abs(context[model.graph_.position("new")]).max() > 0
