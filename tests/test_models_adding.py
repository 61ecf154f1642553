"""Nodes that come, change and go without a new fit."""

import itertools
import json
import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pairgram as pg
from pairgram.errors import InputError, PairgramError, ParameterError, UnknownNodeError
from pairgram.models import METHODS
from pairgram.models.catalog import MOST_FILTERS
from worlds import BLIND_BETWEEN_NEW, READS_TEXT, SIZE, build, world

readers = pytest.mark.parametrize("method", sorted(READS_TEXT))
others = pytest.mark.parametrize("method", sorted(set(METHODS) - READS_TEXT))


@pytest.fixture(scope="module")
def fitted():
    """Fitted models in folders; tests copy what they change."""
    graph = world(extra=["alone"])
    return {method: build(method).fit(graph) for method in METHODS}


def fresh(fitted, method, tmp_path):
    fitted[method].save(tmp_path / "m")
    fitted[method]._home_ = None
    return pg.load(tmp_path / "m")


@pytest.mark.quick
@readers
def test_added_nodes_are_suggested_and_kept(method, fitted, tmp_path):
    model = fresh(fitted, method, tmp_path)
    before = {s.node: s.score for s in model.suggest("red apple", k=50)}
    assert model.add({"new": "red apple", "sea": "blue boat"}) == ["new", "sea"]
    assert model.size_ == 2 * SIZE + 3
    assert model.node_text("new") == "red apple"
    for one in (model, pg.load(tmp_path / "m")):
        found = {s.node: s.score for s in one.suggest("red apple", k=50)}
        assert found["new"] > found["sea"] or (
            method in BLIND_BETWEEN_NEW and found["new"] == found["sea"] == 0
        )
        assert {n: s for n, s in found.items() if n not in ("new", "sea")} == before
        assert "new" not in [s.node for s in one.suggest(node="new", k=50)]
        assert one.suggest(node="new", k=1)[0].node[0] == "a"
        assert one.suggest(node="sea", k=1)[0].node[0] == "b"
        assert one.score([("new", "a0")])[0] > one.score([("sea", "a0")])[0]


@pytest.mark.quick
@readers
def test_an_added_node_scores_as_its_text_does(method, fitted, tmp_path):
    model = fresh(fitted, method, tmp_path)
    by_text = {s.node: s.score for s in model.suggest("red boat", k=50)}
    model.add({"new": "red boat"})
    by_node = {s.node: s.score for s in model.suggest(node="new", k=50)}
    assert by_node.keys() == by_text.keys()
    np.testing.assert_allclose(
        [by_node[n] for n in by_text], list(by_text.values()), rtol=1e-5, atol=1e-6
    )


@pytest.mark.quick
@readers
def test_an_updated_node_keeps_its_links(method, fitted, tmp_path):
    model = fresh(fitted, method, tmp_path)
    # A node that changed is no longer scored by texts read in pairs.
    own = "dot" if model.rule_ == "pair" else None
    same = model.suggest(node="a1", k=50, rule=own)
    # Under "dot": contexts of some methods do not come from text.
    before = {s.node: s.score for s in model.suggest("blue boat", k=50, rule="dot")}
    model.update({"a1": "red apple 1"})  # the text it has
    for one, other in zip(model.suggest(node="a1", k=50, rule=own), same, strict=True):
        assert one.node == other.node
        assert one.score == pytest.approx(other.score, rel=1e-4, abs=1e-5)
    model.update({"a1": "blue boat"})
    assert model.node_text("a1") == "blue boat"
    left = {s.node for s in model.suggest(node="a1", k=50)}
    assert not left & {f"a{i}" for i in range(SIZE)}  # its neighbours are known links still
    assert "a1" not in {s.node for s in model.suggest(node="a2", k=50)}
    for one in (model, pg.load(tmp_path / "m")):
        after = {s.node: s.score for s in one.suggest("blue boat", k=50, rule="dot")}
        assert after["a1"] > before["a1"]
        assert after["a2"] == before["a2"]


@pytest.mark.quick
@pytest.mark.parametrize("method", METHODS)
def test_removed_nodes_are_gone(method, fitted, tmp_path):
    model = fresh(fitted, method, tmp_path)
    model.remove(["a0", "b1"])
    for one in (model, pg.load(tmp_path / "m")):
        assert one.size_ == 2 * SIZE - 1
        assert not {s.node for s in one.suggest(node="b2", k=50)} & {"a0", "b1"}
        for use in (lambda m=one: m.suggest(node="a0"), lambda m=one: m.node_text("b1")):
            with pytest.raises(UnknownNodeError, match="was removed"):
                use()
    with pytest.raises(UnknownNodeError):
        model.remove(["a0"])


@pytest.mark.quick
@others
def test_models_of_structure_say_that_they_cannot_add(method, fitted, tmp_path):
    model = fresh(fitted, method, tmp_path)
    with pytest.raises(ParameterError, match="structure alone and cannot place a new node"):
        model.add({"new": "text"})
    model.update({"a0": "another text"})
    assert pg.load(tmp_path / "m").node_text("a0") == "another text"
    assert pg.load(tmp_path / "m").score([("a0", "a1")]) == fitted[method].score([("a0", "a1")])


def snapshot(model):
    """All that a user can see of the nodes."""
    names = sorted(s.node for s in model.suggest("red", k=100))
    # Equal scores come by position, and folding moves nodes to other positions.
    near = {
        name: sorted((round(s.score, 3), s.node) for s in model.suggest(node=name, k=100))
        for name in names
    }
    return {name: (model.node_text(name), near[name]) for name in names}


WORDS = st.sampled_from(["red apple", "blue boat", "red boat", "blue apple", "apple"])
NAMES = st.sampled_from(["a0", "a1", "b0", "b7", "alone", "x", "y", "z"])
STEPS = st.lists(
    st.tuples(st.sampled_from(["add", "update", "remove", "compact"]), NAMES, WORDS), max_size=8
)


@pytest.mark.quick
@settings(max_examples=12)
@given(steps=STEPS)
def test_any_history_reads_back_the_same(steps, fitted, tmp_path_factory):
    model = fresh(fitted, "text_matching", tmp_path_factory.mktemp("m"))
    folder = model._home_.folder
    texts = dict(zip(model.graph_.names, model.graph_.texts, strict=True))  # the slow, obvious one
    for step, name, text in steps:
        if step == "compact":
            model.compact()
        elif (step == "add") == (name in texts):
            with pytest.raises(InputError):
                model.remove([name]) if step == "remove" else getattr(model, step)({name: text})
        elif step == "remove":
            model.remove([name])
            del texts[name]
        else:
            getattr(model, step)({name: text})
            texts[name] = text
    seen = snapshot(model)
    assert {name: text for name, (text, _) in seen.items()} == texts
    assert snapshot(pg.load(folder)) == seen
    model.compact()
    assert snapshot(model) == seen
    assert snapshot(pg.load(folder)) == seen
    model.close()
    model.save(folder / "copy")
    assert snapshot(pg.load(folder / "copy")) == seen


@pytest.mark.quick
def test_compaction_keeps_links_labels_and_relations(tmp_path):
    graph = pg.TextGraph.from_edges(
        ["a", "b", "c"], ["b", "c", "d"], relation=["is_a", "part_of", "is_a"],
        texts=dict.fromkeys("abcd", "red"),
    ).with_labels({"a": "fruit", "d": "ship"})  # fmt: skip
    model = build("text_matching").fit(graph)
    model.save(tmp_path / "m")
    model.add({"e": "blue"}, labels={"e": "ship"})
    model.update({"d": "blue boat"})
    model.remove(["a"])
    model.compact()
    back = pg.load(tmp_path / "m")
    assert back.graph_.names.tolist() == ["b", "c", "d", "e"]
    assert back.graph_.labels == ("", "", "ship", "ship")
    assert back.graph_.texts == ("red", "red", "blue boat", "blue")
    typed = back.graph_.relation
    triples = zip(typed.source, typed.target, typed.code, strict=True)
    assert [(u, v, typed.names[r]) for u, v, r in triples] == [(0, 1, "part_of"), (1, 2, "is_a")]
    assert json.loads((tmp_path / "m" / "config.json").read_text())["generation"] == 1
    assert not (tmp_path / "m" / "vectors.safetensors").exists()


@pytest.mark.quick
def test_bad_input_is_one_line_and_nothing_is_lost(fitted, tmp_path):
    model = fresh(fitted, "text_matching", tmp_path)
    model.add({"new": "red"})
    for use, message in (
        (lambda: model.add({"new": "blue"}), "has a node 'new' already; update gives it another"),
        (lambda: model.add({"fine": "red", "a0": "blue"}), "has a node 'a0' already"),
        (lambda: model.add({"empty": "  "}), "the text of 'empty' is empty"),
        (lambda: model.add({"": "red"}), "needs strings for ids"),
        (lambda: model.add({3: "red"}), "needs strings for ids"),
        (lambda: model.add(["red"]), "needs a mapping of ids to texts. Got list"),
        (lambda: model.add({"odd": "\ud800"}), "holds a character that is no text"),
        (lambda: model.add({"z": "red"}, labels={"y": "fruit"}), "a label for 'y' but no text"),
        (lambda: model.update({"nobody": "red"}), "has no node 'nobody'"),
        (lambda: model.remove(["a0", "nobody"]), "has no node 'nobody'"),
        (lambda: model.remove(["a0", "a0"]), "Got one of them twice"),
    ):
        with pytest.raises(InputError, match=message) as caught:
            use()
        assert "\n" not in str(caught.value)
    for one in (model, pg.load(tmp_path / "m")):
        assert one.size_ == 2 * SIZE + 2
        assert one.node_text("new") == "red"


@pytest.mark.quick
def test_one_writer_and_readers_that_follow(fitted, tmp_path):
    writer, reader = fresh(fitted, "text_matching", tmp_path), pg.load(tmp_path / "m")
    assert not reader.refresh()
    writer.add({"new": "red"})
    with pytest.raises(PairgramError, match="being written by another process or model"):
        reader.add({"other": "red"})
    with pytest.raises(PairgramError, match="being written by another process or model"):
        fitted["text_matching"].save(tmp_path / "m")
    with pytest.raises(UnknownNodeError):
        reader.node_text("new")
    assert reader.refresh()
    assert reader.node_text("new") == "red"
    writer.compact()
    writer.add({"more": "blue"})
    assert reader.refresh()
    assert snapshot(reader) == snapshot(writer)
    writer.close()
    reader.add({"other": "red"})
    assert snapshot(pg.load(tmp_path / "m")) == snapshot(reader)
    assert writer.refresh()
    assert writer.node_text("other") == "red"


@pytest.mark.quick
def test_a_model_that_lives_nowhere_adds_in_memory(fitted, tmp_path):
    model = build("text_matching").fit(world())
    model.add({"new": "red"})
    assert model.node_text("new") == "red"
    model.save(tmp_path / "m")
    assert pg.load(tmp_path / "m").node_text("new") == "red"
    model.add({"later": "red"})
    assert pg.load(tmp_path / "m").node_text("later") == "red"
    model.fit(world())
    assert not model.suggest("red", k=50, prefix="new")


@pytest.mark.quick
def test_a_large_log_is_folded_in(fitted, tmp_path, monkeypatch):
    monkeypatch.setattr("pairgram.models.keeping.FEWEST_ROWS", 3)
    model = fresh(fitted, "text_matching", tmp_path)
    for i in range(8):
        model.add({f"n{i}": "red"})
    assert model._home_.generation == 2
    assert pg.load(tmp_path / "m").size_ == 2 * SIZE + 9


@pytest.mark.quick
def test_a_folder_that_cannot_be_written(fitted, tmp_path, monkeypatch):
    model = fresh(fitted, "text_matching", tmp_path)
    real = os.open

    def read_only(path, flags, *more, **given):
        if flags & os.O_CREAT:
            raise OSError(30, "Read-only file system")
        return real(path, flags, *more, **given)

    with monkeypatch.context() as patch:
        patch.setattr("pairgram.io.lock.os.open", read_only)
        with pytest.raises(PairgramError, match="cannot be written: Read-only file system"):
            model.add({"new": "red"})
    assert model.size_ == 2 * SIZE + 1
    model.add({"new": "red"})
    assert pg.load(tmp_path / "m").node_text("new") == "red"


@pytest.mark.quick
def test_the_masks_of_few_filters_are_kept():
    model = build("tge").fit(world())
    expected = model.suggest("red boat", k=50, prefix="b")
    for number in range(3 * MOST_FILTERS):
        model.suggest("red boat", k=1, prefix=("b", f"none{number}"))
    assert len(model._catalog()._filters) == MOST_FILTERS
    assert model.suggest("red boat", k=50, prefix="b") == expected


def test_filters_by_prefix_and_label(fitted, tmp_path):
    labels = {name: "even" if int(name[1]) % 2 == 0 else "odd" for name in world().names}
    model = build("text_matching").fit(world().with_labels(labels))
    model.save(tmp_path / "m")
    model.add({"c0": "red boat"}, labels={"c0": "even"})
    for one in (model, pg.load(tmp_path / "m")):
        every = [s.node for s in one.suggest("red boat", k=50)]

        def kept(test, every=every):
            return [name for name in every if test(name)]

        assert [s.node for s in one.suggest("red boat", k=50, prefix="b")] == kept(
            lambda n: n[0] == "b"
        )
        assert [s.node for s in one.suggest("red boat", k=50, prefix=["b", "c"])] == kept(
            lambda n: n[0] in "bc"
        )
        assert [s.node for s in one.suggest("red boat", k=50, label="even")] == kept(
            lambda n: int(n[1]) % 2 == 0
        )
        both = one.suggest("red boat", k=50, label="odd", prefix="a")
        assert [s.node for s in both] == kept(lambda n: n[0] == "a" and int(n[1]) % 2)
        assert one.suggest_many(["red boat"], 50, prefix="b")[0] == one.suggest(
            "red boat", k=50, prefix="b"
        )
        assert [s.node for s in one.suggest(node="a0", k=50, prefix="a")] == []
    with pytest.raises(
        ParameterError, match="'prefix' parameter of TextMatching must be a str, a list"
    ):
        model.suggest("red", prefix=3)
    with pytest.raises(ParameterError, match="read them with label_column="):
        fitted["ps"].suggest(node="a0", label="odd")


@pytest.mark.quick
@pytest.mark.parametrize("method", ["ps", "text_matching"])
def test_the_index_finds_what_a_full_search_finds(method, tmp_path):
    pytest.importorskip("faiss")
    random = np.random.default_rng(0)
    n = 400
    names = [f"{'ab'[i % 2]}{i}" for i in range(n)]
    texts = [
        " ".join(random.choice(["red", "blue", "boat", "apple", str(i % 7)], 3)) for i in range(n)
    ]
    source, target = ([names[i] for i in random.integers(0, n, 900)] for _ in range(2))
    graph = pg.TextGraph.from_edges(source, target, names=names, texts=texts)
    model = build(method).fit(graph)
    with pytest.raises(ParameterError, match="needs an index for the rule"):
        model.suggest(node="a0", search="ann")
    model.build_index().save(tmp_path / "m")
    if method in READS_TEXT:
        model.add({"new": "red boat"})
    model.remove(["a2"])
    for one, rule in itertools.product((model, pg.load(tmp_path / "m")), (None, "dot")):
        for name in names[::50]:
            for prefix in (None, "b"):
                exact = one.suggest(node=name, k=5, rule=rule, prefix=prefix, search="exact")
                auto = one.suggest(node=name, k=5, rule=rule, prefix=prefix)
                assert np.allclose(
                    [s.score for s in auto], [s.score for s in exact], rtol=1e-4, atol=1e-5
                )
    model.compact()
    assert pg.load(tmp_path / "m").index_.size == len(pg.load(tmp_path / "m").vectors_)
