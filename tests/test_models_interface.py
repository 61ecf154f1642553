"""Parameters, errors and directions, for every method."""

import inspect

import numpy as np
import pytest
from sklearn.base import clone

import pairgram as pg
from pairgram.errors import InputError, NotFittedError, ParameterError, UnknownNodeError
from pairgram.models import METHODS
from worlds import DIRECTED, READS_TEXT, SIZE, TRAINED, build, build_brief, world

methods = pytest.mark.parametrize("method", METHODS)
trained = pytest.mark.parametrize("method", TRAINED)


@pytest.fixture(scope="module")
def fitted():
    graph = world()
    return {method: build_brief(method).fit(graph) for method in METHODS}


@pytest.fixture(scope="module")
def along_arcs():
    graph = world(directed=True)
    return {method: build_brief(method, directed=True).fit(graph) for method in DIRECTED}


class Strange:
    """No valid value of any parameter."""


@pytest.mark.quick
@methods
def test_constructor_stores_unchanged_and_checks_nothing(method):
    names = list(inspect.signature(METHODS[method]).parameters)
    values = {name: Strange() for name in names}
    model = METHODS[method](**values)
    for name in names:
        assert getattr(model, name) is values[name]
    assert model.get_params() == values
    assert not model.is_fitted


@pytest.mark.quick
@methods
def test_fit_checks_every_parameter_by_name(method):
    for name in build(method).get_params():
        with pytest.raises(
            ParameterError, match=f"The '{name}' parameter of {METHODS[method].__name__} must be"
        ) as caught:
            build(method, **{name: Strange()}).fit(world())
        assert "\n" not in str(caught.value)


@pytest.mark.quick
@methods
def test_scikit_learn_clones(method, fitted):
    model = fitted[method]
    copy = clone(model)
    assert copy is not model
    assert copy.get_params() == model.get_params()
    assert not copy.is_fitted
    assert repr(copy) == repr(model)
    assert eval(
        repr(copy), vars(pg).copy() | {c.__name__: c for c in METHODS.values()}
    ).get_params() == (model.get_params())


@pytest.mark.quick
@trained
def test_set_params_stores_and_refuses_unknown_names(method):
    model = build(method)
    first = next(iter(model.get_params()))
    size = "dim" if "dim" in model.constraints else "max_words"
    assert model.set_params(**{size: 32}, seed=7) is model
    assert (model.get_params()[size], model.get_params()["seed"]) == (32, 7)
    before = model.get_params()
    with pytest.raises(ParameterError, match=rf"has no parameter 'dimension'. It has: {first}"):
        model.set_params(seed=8, dimension=3)
    assert model.get_params() == before


@pytest.mark.quick
@trained
def test_numbers_of_numpy_fit_and_save(method, tmp_path, fitted):
    given = build_brief(method).get_params()
    rate = {k: np.float64(given[k]) for k in ("learning_rate", "l2") if given.get(k) is not None}
    size = {"dim": np.int64(16)} if "dim" in given else {}
    model = build_brief(method, **size, **rate)
    model.fit(world()).save(tmp_path / "model")
    np.testing.assert_array_equal(model.vectors_.center, fitted[method].vectors_.center)
    assert pg.load(tmp_path / "model").get_params() == fitted[method].get_params()


@pytest.mark.quick
@trained
def test_the_largest_seed_works(method):
    center = build_brief(method, seed=2**63 - 1).fit(world()).vectors_.center
    assert np.isfinite(center).all()


@pytest.mark.quick
@methods
def test_unfitted_use_is_said(method, tmp_path):
    model = build(method)
    for use in (
        lambda: model.score([("a0", "a1")]),
        lambda: model.score_positions(np.array([0]), np.array([1])),
        lambda: model.suggest(node="a0"),
        lambda: model.save(tmp_path / "model"),
        lambda: model.rules_,
    ):
        with pytest.raises(NotFittedError, match=f"This {METHODS[method].__name__} is not fitted"):
            use()
    assert not (tmp_path / "model").exists()


@pytest.mark.quick
@methods
def test_a_graph_without_edges_or_of_another_type_is_one_clear_line(method):
    nothing = pg.TextGraph.from_edges([], [], names=["a", "b"])
    with pytest.raises(InputError, match=r"needs at least one edge. The graph has 2 nodes"):
        build(method).fit(nothing)
    with pytest.raises(InputError, match=r"needs a TextGraph. Got list instead"):
        build(method).fit([("a", "b")])
    if method in DIRECTED:
        with pytest.raises(InputError, match="read it with directed=True"):
            build(method, directed=True).fit(world())


@pytest.mark.quick
@methods
def test_a_failed_fit_keeps_the_old_one(method, fitted):
    model = build_brief(method).fit(world())
    with pytest.raises(InputError):
        model.fit(None)
    np.testing.assert_array_equal(model.vectors_.center, fitted[method].vectors_.center)


@pytest.mark.quick
@methods
def test_unknown_nodes_and_rules_are_said(method, fitted):
    model = fitted[method]
    with pytest.raises(UnknownNodeError, match="a99"):
        model.score([("a0", "a99")])
    with pytest.raises(UnknownNodeError, match="a99"):
        model.suggest(node="a99")
    for use in (
        lambda r: model.score([("a0", "a1")], r),
        lambda r: model.suggest(node="a0", rule=r),
    ):
        with pytest.raises(
            ParameterError, match=r"The 'rule' parameter of .* must be one of 'dot'"
        ):
            use("best")
    assert model.score([]).shape == (0,)


@pytest.mark.quick
@methods
def test_suggest_is_the_best_of_the_scores(method, fitted):
    model = fitted[method]
    for rule in model.rules_:
        found = model.suggest(node="b0", k=100, rule=rule)
        others = [
            f"a{i}" for i in range(SIZE - 1)
        ]  # all but the bridge's end, its own clique, itself
        assert sorted(s.node for s in found) == others
        scores = model.score([("b0", s.node) for s in found], rule)
        np.testing.assert_allclose([s.score for s in found], scores, rtol=1e-5, atol=1e-6)
        assert [s.score for s in found] == sorted((s.score for s in found), reverse=True)
        assert model.suggest(node="b0", k=3, rule=rule) == found[:3]
    best = found[0]
    assert best.text == f"red apple {best.node[1:]}"
    assert best.why == "1 shared neighbour: a7"


@pytest.mark.quick
@methods
@pytest.mark.parametrize("bad", [{"k": 0}, {"k": 2.5}, {"direction": "up"}, {"text": "new"}, {}])
def test_suggest_checks_its_arguments(method, fitted, bad):
    given = bad if ("text" in bad and method not in READS_TEXT) or not bad else {"node": "a0"} | bad
    with pytest.raises(ParameterError) as caught:
        fitted[method].suggest(**given)
    assert "\n" not in str(caught.value)


@pytest.mark.quick
@methods
def test_directions_need_a_directed_model(method, fitted):
    for direction in ("out", "in"):
        with pytest.raises(ParameterError, match=f"direction='{direction}' needs a model fitted"):
            fitted[method].suggest(node="a0", direction=direction)
    undirected = build_brief(method).fit(world(directed=True))
    with pytest.raises(ParameterError, match="needs a model fitted"):
        undirected.suggest(node="a0", direction="out")


@pytest.mark.quick
@pytest.mark.parametrize("method", DIRECTED)
def test_directions_of_a_directed_model(method, along_arcs):
    model = along_arcs[method]
    lists = {d: model.suggest(node="a3", k=100, direction=d) for d in ("out", "in", "both")}
    nodes = {d: [s.node for s in found] for d, found in lists.items()}
    # Arcs go from lower to higher numbers, and from a7 to b0.
    assert nodes["out"] != nodes["in"]
    assert not {f"a{i}" for i in range(4, SIZE)} & set(nodes["out"])
    assert {"a0", "a1", "a2"} <= set(nodes["out"])
    assert not {"a0", "a1", "a2"} & set(nodes["in"])
    assert {f"a{i}" for i in range(4, SIZE)} <= set(nodes["in"])
    assert set(nodes["both"]) == {f"b{i}" for i in range(SIZE)}
    for rule in set(model.rules_) & {"dot", "context", "symmetric"}:
        found = model.suggest(node="a3", k=100, direction="in", rule=rule)
        backwards = model.score([(s.node, "a3") for s in found], rule)
        np.testing.assert_allclose([s.score for s in found], backwards, rtol=1e-5, atol=1e-6)
