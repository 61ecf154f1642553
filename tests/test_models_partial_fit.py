"""Training that goes on with new links."""

import numpy as np
import pytest

import pairgram as pg
from pairgram.errors import InputError, ParameterError, UnknownNodeError
from pairgram.models import METHODS
from pairgram.models.tge_weights import net_weights
from worlds import READS_TEXT, SIZE, build, world


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
