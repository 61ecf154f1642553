"""Classification, review and tuning by themselves."""

from types import SimpleNamespace

import numpy as np
import pytest

import pairgram as pg
from pairgram.errors import InputError, PairgramError, ParameterError
from pairgram.evaluation.classify import classify, classify_floors, match_labels
from pairgram.evaluation.review import NEAR_TEXT, SAME_LINKS, SAME_TEXT, twins, weakest_links
from pairgram.evaluation.tuning import draw, space_of, tune
from pairgram.models import METHODS
from pairgram.split import split_edges


@pytest.mark.quick
def test_vectors_that_hold_the_class_are_read_and_noise_is_not():
    rng = np.random.default_rng(0)
    labels = np.repeat(list("abc"), 100)
    telling = np.eye(3)[np.repeat([0, 1, 2], 100)] + 0.01 * rng.normal(size=(300, 3))
    found = classify(telling, labels, 0.5, seed=1)
    assert (found.micro_f1, found.macro_f1) == (1.0, 1.0)
    assert (found.train, found.test, found.classes) == (150, 150, 3)
    noise = classify(rng.normal(size=(300, 3)), labels, 0.5, seed=1)
    assert noise.micro_f1 < 0.5
    again = classify(rng.normal(size=(300, 3)), labels, 0.5, seed=1)
    assert again.train == noise.train


@pytest.mark.quick
def test_the_floors_of_classification():
    texts = [f"{'red' if i < 20 else 'blue'} w{i}" for i in range(50)]
    graph = pg.TextGraph.from_edges(np.arange(49), np.arange(1, 50), texts=texts)
    labels = np.array(["warm"] * 20 + ["cold"] * 30)
    found = classify_floors(graph, np.arange(50), labels, 0.5, seed=0)
    assert found["most common class"].micro_f1 == pytest.approx(0.6)
    assert found["tfidf"].micro_f1 == 1.0
    rows, matched = match_labels(graph, {"3": "x", "1": "y"})
    assert (rows.tolist(), matched.tolist()) == ([1, 3], ["y", "x"])


@pytest.mark.quick
def test_labels_that_cannot_be_learned_are_named():
    with pytest.raises(InputError, match=r"training needs two classes .* Got 1 classes"):
        classify(np.ones((4, 2)), np.array(list("aaaa")))
    with pytest.raises(ParameterError, match="'share' parameter of classify"):
        classify(np.ones((4, 2)), np.array(list("aabb")), share=2)


@pytest.mark.quick
def test_the_weakest_links_come_first():
    graph = pg.TextGraph.from_edges(list("abcd"), list("bcda"))
    scores = np.array([0.5, -1.0, 0.5, 3.0])
    model = SimpleNamespace(graph_=graph, score_positions=lambda s, t, rule: scores)
    found = weakest_links(model, k=3)
    assert [(one.source, one.target, one.below) for one in found] == [
        ("b", "c", 0.0), ("a", "b", 0.25), ("c", "d", 0.25),
    ]  # fmt: skip


@pytest.mark.quick
def test_twins_by_text_and_by_links():
    long = " ".join(f"w{i}" for i in range(50))
    texts = ["Red apple.", "red  APPLE", long, long + " x", "blue", "", ""]
    # 5 and 6 have no text but the same two neighbours.
    graph = pg.TextGraph.from_edges([0, 1, 5, 5, 6, 6], [4, 2, 2, 3, 2, 3], texts=texts)
    assert [(one.first, one.second, one.why) for one in twins(graph)] == [
        ("0", "1", SAME_TEXT), ("2", "3", NEAR_TEXT), ("5", "6", SAME_LINKS),
    ]  # fmt: skip
    assert len(twins(graph, k=1)) == 1


@pytest.mark.quick
def test_settings_are_drawn_once_each():
    found = draw({"a": (1, 2), "b": (1, 2, 3)}, 20, seed=0)
    assert found[0] == {}
    assert len(found) == 7
    assert draw({"a": tuple(range(99))}, 5, 0) == draw({"a": tuple(range(99))}, 5, 0)
    for method in METHODS.values():
        space = space_of(method(), {"order": 3})
        assert "order" not in space
        assert set(space) <= set(method().get_params())


@pytest.mark.quick
def test_tuning_prefers_what_validation_prefers():
    """A method whose score is perfect with `good` and turned round without."""
    links = [(a, b) for a in range(12) for b in range(a)]
    links += [(a + 12, b + 12) for a, b in links]
    graph = pg.TextGraph.from_edges(*map(list, zip(*links, strict=True)))
    side = np.repeat([1.0, -1.0], 12)
    fitted = []

    class Fake:
        rules_, rule_ = ("dot",), "dot"
        is_fitted = False

        def __init__(self, given):
            self.good = given.get("good", False)
            self.epochs = given.get("epochs", 9)
            self.stats_ = {}

        def get_params(self):
            return {"good": self.good, "epochs": self.epochs}

        def fit(self, graph):
            fitted.append((self.good, self.epochs))
            self.fingerprint_, self.is_fitted = graph.fingerprint, True
            self.vectors_ = SimpleNamespace(center=np.stack([side, side], 1).astype(np.float32))
            return self

        def score_positions(self, source, target, rule=None):
            return (1 if self.good else -1) * side[source] * side[target]

    split = split_edges(graph, 0.7)
    found = tune(Fake, split, {"good": (True,)}, share=0.2)
    assert found.chosen == {"good": True, "rule": "dot"}
    assert found.score > 0.8  # test links look like non-links to validation
    assert fitted == [(False, 1), (True, 1), (True, 3), (True, 9)]
    assert not found.stopped
    with pytest.raises(ParameterError, match="'metric' of tune"):
        tune(Fake, split, {}, metric="f1")

    def broken(given):
        model = Fake(given)
        model.fit = lambda graph: (_ for _ in ()).throw(InputError("no luck"))
        return model

    with pytest.raises(PairgramError, match="No setting could be trained: no luck"):
        tune(broken, split, {})
