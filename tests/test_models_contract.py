"""What every method promises, in one world with a known answer."""

import itertools
import re

import numpy as np
import pytest

import pairgram as pg
from pairgram.errors import ParameterError
from pairgram.models import METHODS
from worlds import READS_TEXT, SIZE, SMALL, TRAINED, WORD_VECTORS, build, build_brief, world

# Another value of every parameter, from the one in use.
OTHER = {
    "tables": lambda old: 3 - old,
    "noise_power": lambda old: old / 3,
    "dim": lambda old: old + 8,
    "order": lambda old: old - 1,
    "times": lambda old: old + 1,
    "length": lambda old: old - 1,
    "window": lambda old: old - 1,
    "p": lambda old: 4 * old,
    "q": lambda old: old / 4,
    "per_edge": lambda old: old / 2,
    "negatives": lambda old: old - 1,
    "epochs": lambda old: (old or 2) + 1,
    "learning_rate": lambda old: old / 2,
    "l2": lambda old: (old or 0.0) + 0.01,
    "offset": lambda old: not old,
    "seed": lambda old: old + 1,
    "directed": lambda old: not old,
    "encoder": lambda old: "bag",
    "contexts": lambda old: "table",
    "id_vectors": lambda old: not old,
    "without_char": lambda old: not old,
    "without_word": lambda old: not old,
    "min_count": lambda old: old + 2,
    "max_words": lambda old: 2,
    "word_vectors": lambda old: WORD_VECTORS.replace(".", "_other.") if old else WORD_VECTORS,
    "word_dropout": lambda old: old + 0.3,
    "shared_negatives": lambda old: 2 if old == 1 else 0,
    "self_pairs": lambda old: old + 0.5,
    "mask_known": lambda old: not old,
    "optimizer": lambda old: "adagrad",
    "batch_size": lambda old: old + 4,
    "features": lambda old: old - 1,
    "neighbours": lambda old: old - 1,
    "text_epochs": lambda old: old + 1,
    "with_attention": lambda old: not old,
    "structure_weight": lambda old: old + 0.5,
    "text_weight": lambda old: old + 0.5,
    "cross_weight": lambda old: old + 0.5,
    "dropout": lambda old: old + 0.3,
    "samples": lambda old: 4 if old is None else old + 1,
    "start_epochs": lambda old: 3,
    "part": lambda old: "discriminator",
    "temperature": lambda old: 2 * old,
    "epoch_links": lambda old: 5,
    "far_neighbours": lambda old: old - 1,
    "alone": lambda old: old + 0.25,
}
QUIET = {"rule", "threads", "device"}  # these leave the vectors alone
# Other worlds: test_models_tge.py, _ranking.py, _ps.py and test_text_pretrained.py.
ELSEWHERE = {"cleaning", "patience", "preset", "pretrained", "ranker", "refit"}

methods = pytest.mark.parametrize("method", METHODS)


@pytest.fixture(scope="module")
def fitted():
    """One fitted model a method; tests must not change them."""
    graph = world()
    return {method: build(method).fit(graph) for method in METHODS}


@pytest.fixture(scope="module")
def briefly():
    """The same after a moment of training."""
    graph = world()
    return {method: build_brief(method).fit(graph) for method in METHODS}


def tables(model):
    vectors = model.vectors_
    return [vectors.center] if vectors.context is None else [vectors.center, vectors.context]


def assert_equal(one, other):
    for left, right in zip(tables(one), tables(other), strict=True):
        np.testing.assert_array_equal(left, right)


def differ(one, other):
    left, right = one.vectors_.center, other.vectors_.center
    return left.shape != right.shape or bool((left != right).any())


@pytest.mark.quick
@methods
def test_same_clique_pairs_come_first(method, fitted):
    model = fitted[method]
    pairs = list(itertools.permutations(model.graph_.names.tolist(), 2))
    same = np.array([a[0] == b[0] for a, b in pairs])
    bridge = np.array([{a, b} == {f"a{SIZE - 1}", "b0"} for a, b in pairs])
    for rule in {model.rule_, "dot"}:
        score = model.score(pairs, rule=rule)
        auc = (score[same][:, None] > score[~same & ~bridge]).mean()
        assert auc > 0.99, rule


@pytest.mark.quick
@methods
def test_every_rule_that_is_offered_works(method, fitted):
    model = fitted[method]
    assert model.rule_ in model.rules_
    assert len(set(model.rules_)) == len(model.rules_)
    pairs = list(itertools.combinations(model.graph_.names.tolist(), 2))
    scores = [model.score(pairs, rule=rule) for rule in model.rules_]
    assert all(s.shape == (len(pairs),) and np.isfinite(s).all() for s in scores)
    for one, other in itertools.combinations(scores, 2):
        assert (one != other).any()
    np.testing.assert_array_equal(model.score(pairs), scores[model.rules_.index(model.rule_)])


@pytest.mark.quick
@methods
def test_repeats_itself_and_differs_with_another_seed(method, fitted):
    assert_equal(build(method).fit(world()), fitted[method])
    if method in TRAINED:
        assert differ(build(method, seed=1).fit(world()), fitted[method])


@pytest.mark.quick
@pytest.mark.parametrize("method", [method for method in METHODS if method not in READS_TEXT])
def test_bits_do_not_depend_on_threads(method, fitted, monkeypatch):
    monkeypatch.setattr("pairgram.engine.local.available_threads", lambda: 8)
    for threads in (1, 2, 8):
        assert_equal(build(method, threads=threads).fit(world()), fitted[method])


def other_value(method, name):
    old = build_brief(method).get_params()[name]
    return OTHER[name](old)


def parameters():
    return [
        pytest.param(method, name, id=f"{method}-{name}")
        for method in METHODS
        for name in build(method).get_params()
        if name not in QUIET | ELSEWHERE
    ]


@pytest.mark.quick
@pytest.mark.parametrize(("method", "name"), parameters())
def test_every_parameter_does_something(method, name, briefly):
    graph = world(directed=name == "directed")
    before = build_brief(method).fit(graph) if name == "directed" else briefly[method]
    after = build_brief(method, **{name: other_value(method, name)}).fit(graph)
    assert differ(before, after)


@pytest.mark.quick
@methods
def test_rule_changes_scores_alone(method, briefly):
    rules = briefly[method].rules_
    pairs = list(itertools.combinations(world().names.tolist(), 2))
    for rule in rules:
        model = build_brief(method, rule=rule).fit(world())
        assert_equal(model, briefly[method])
        np.testing.assert_array_equal(model.score(pairs), briefly[method].score(pairs, rule=rule))
    with pytest.raises(ParameterError, match="The 'rule' parameter of"):
        build(method, rule="best").fit(world())


@pytest.mark.quick
@methods
def test_survives_isolated_nodes_and_empty_texts(method):
    graph = world(extra=["alone", "lonely"])
    model = build_brief(method).fit(graph)
    assert len(model.vectors_) == 2 * SIZE + 2
    assert all(np.isfinite(table).all() for table in tables(model))
    found = model.suggest(node="alone", k=50)
    assert len(found) == 2 * SIZE + 1
    assert all(np.isfinite(s.score) for s in found)
    assert np.isfinite(model.score([("alone", "lonely"), ("a0", "alone")])).all()
    top = [s.node for s in model.suggest(node="a0", k=SIZE)]
    assert f"a{SIZE - 1}" not in top  # known


@pytest.mark.quick
@methods
@pytest.mark.parametrize("directed", [False, True])
def test_save_and_load_give_the_same_model(method, directed, tmp_path):
    graph = world(directed, extra=["alone"])
    model = build_brief(method, directed=directed).fit(graph)
    model.save(tmp_path / "model")
    loaded = pg.load(tmp_path / "model")
    assert type(loaded) is type(model)
    assert loaded.get_params() == model.get_params()
    assert loaded.is_fitted
    assert loaded.fingerprint_ == model.fingerprint_ == graph.fingerprint
    assert loaded.stats_ == model.stats_
    assert (loaded.rules_, loaded.rule_) == (model.rules_, model.rule_)
    assert_equal(loaded, model)
    pairs = list(itertools.permutations(graph.names.tolist(), 2))
    directions = ("both", "out", "in") if model.directed else ("both",)
    for rule in model.rules_:
        np.testing.assert_array_equal(loaded.score(pairs, rule), model.score(pairs, rule))
        for direction in directions:
            one, other = (
                m.suggest(node="a1", k=5, direction=direction, rule=rule) for m in (loaded, model)
            )
            assert one == other


@pytest.mark.quick
@methods
def test_a_second_fit_starts_afresh(method, fitted):
    model = build(method)
    texts = {"x": "red", "y": "two boats, blue"}
    other = pg.TextGraph.from_edges(["x", "y", "z"], ["y", "z", "w"], texts=texts)
    assert model.fit(other) is model
    assert len(model.vectors_) == 4
    model.fit(world())
    assert_equal(model, fitted[method])
    counts = ("pairs", "updates")
    assert [model.stats_[c] for c in counts] == [fitted[method].stats_[c] for c in counts]
    assert model.fingerprint_ == world().fingerprint


@pytest.mark.quick
@methods
def test_fit_changes_no_input(method):
    graph = world(extra=["alone"])
    near = graph.adjacency()
    arrays = {
        "source": graph.source, "target": graph.target, "degree": graph.degree,
        "indptr": near.indptr, "indices": near.indices, "names": graph.names,
    }  # fmt: skip
    before = {name: array.copy() for name, array in arrays.items()}
    texts, fingerprint = graph.texts, graph.fingerprint
    model = build_brief(method)
    given = model.get_params()
    model.fit(graph)
    for name, array in arrays.items():
        np.testing.assert_array_equal(array, before[name])
    assert graph.texts == texts
    assert world(extra=["alone"]).fingerprint == fingerprint == graph.fingerprint
    assert model.get_params() == given


@pytest.mark.quick
@methods
def test_stats_say_what_was_done(method, fitted):
    stats = fitted[method].stats_
    assert (stats["updates"] >= stats["pairs"] > 0) == (method in TRAINED)
    assert set(stats["seconds"]) == {"sample", "train"}
    assert all(seconds >= 0 for seconds in stats["seconds"].values())


@methods
@pytest.mark.quick
def test_is_documented(method):
    cls = METHODS[method]
    assert cls.method == method
    assert re.fullmatch(r".+, .+ (19|20)\d\d", cls.citation)
    doc = cls.__doc__
    assert "Differs from the paper" in doc
    assert re.search(r"References\n +-+\n +\S", doc)
    assert ">>> " in doc
    for name in build(method).get_params():
        assert re.search(rf"^    {name}\n        \S", doc, re.MULTILINE), f"{name} has no entry"


@pytest.mark.quick
def test_every_method_has_a_contract_run():
    assert set(SMALL) == set(METHODS)
    assert {name for m in METHODS for name in build(m).get_params()} == (
        set(OTHER) | QUIET | ELSEWHERE
    )
    for method, cls in METHODS.items():
        assert getattr(pg, cls.__name__) is cls
        assert set(cls.constraints) == set(build(method).get_params())
