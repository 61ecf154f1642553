"""Relations of suggestions."""

import logging

import numpy as np
import pytest

import pairgram as pg
from pairgram.errors import ParameterError
from pairgram.search.relations import RelationModel
from worlds import SIZE, build, world

pytestmark = pytest.mark.quick


def typed_world(directed=False):
    """In clique a links are `likes`, in clique b `knows`; the bridge is `meets`."""
    plain = world(directed)
    names = plain.names.tolist()
    ends = [(names[u], names[v]) for u, v in zip(plain.source, plain.target, strict=True)]
    kind = {("a", "a"): "likes", ("b", "b"): "knows"}
    relation = [kind.get((u[0], v[0]), "meets") for u, v in ends]
    texts = dict(zip(names, plain.texts, strict=True))
    source, target = zip(*ends, strict=True)
    return pg.TextGraph.from_edges(
        list(source), list(target), relation=relation, texts=texts, directed=directed
    )


def test_probabilities_are_a_softmax():
    random = np.random.default_rng(0)
    vectors = random.normal(size=(30, 4))
    names, degree = ("r", "s"), np.arange(30)
    triples = tuple(random.integers(0, high, 60) for high in (30, 30, 2))
    model = RelationModel.fit(vectors, degree, triples, names)
    assert model.names == ("r", "s", "^r", "^s")
    share = model.probabilities(vectors[:1], vectors[5:9], degree[5:9])
    u = 2 * vectors[0] / np.linalg.norm(vectors[0])
    for row, v in zip(share, range(5, 9), strict=True):
        other = 2 * vectors[v] / np.linalg.norm(vectors[v])
        features = np.concatenate([[1], u, other, u * other, [np.log1p(v)]])
        scores = np.exp([w @ features for w in model.weight])
        np.testing.assert_allclose(row, scores / scores.sum(), rtol=1e-5)
    for direction, zero in (("out", [2, 3]), ("in", [0, 1])):
        part = model.probabilities(vectors[:1], vectors[5:9], degree[5:9], direction)
        assert (part[:, zero] == 0).all()
        np.testing.assert_allclose(part.sum(axis=1), 1)


def test_the_relation_and_its_direction_are_learnt():
    """u -> v is `up` where the second number of v is larger, and `side` where both are alike."""
    random = np.random.default_rng(1)
    vectors = random.normal(size=(200, 3))
    u, v = random.integers(0, 200, (2, 3000))
    rising = vectors[v, 1] - vectors[u, 1] > 0
    source, target = np.where(rising, u, v), np.where(rising, v, u)
    model = RelationModel.fit(
        vectors, np.ones(200, int), (source, target, np.zeros(3000, int)), ("up",)
    )
    first, second = random.integers(0, 200, (2, 500))
    likely = model.probabilities(vectors[first], vectors[second], np.ones(500, int)).argmax(axis=1)
    truth = (vectors[second, 1] < vectors[first, 1]).astype(int)  # 1 is ^up
    assert (likely == truth).mean() > 0.9


@pytest.mark.parametrize("method", ["ps", "text_matching"])
def test_suggestions_name_their_relation(method, tmp_path):
    model = build(method).fit(typed_world())
    model.save(tmp_path / "m")
    for one in (model, pg.load(tmp_path / "m")):
        assert set(one.relations_.names) == {
            "likes", "knows", "meets", "^likes", "^knows", "^meets"
        }  # fmt: skip
        found = one.suggest(node="a1", k=2 * SIZE)
        for s in found:
            assert s.relation == next(iter(s.relations))
            assert sum(s.relations.values()) == pytest.approx(1)
            assert list(s.relations.values()) == sorted(s.relations.values(), reverse=True)
    if method == "text_matching":
        model.add({"new": "red apple"})
        named = {s.node: s.relation.strip("^") for s in model.suggest("red apple", k=SIZE + 1)}
        assert set(named.values()) == {"likes"}
        named = {s.node: s.relation.strip("^") for s in model.suggest("blue boat", k=SIZE)}
        assert set(named.values()) == {"knows"}


def test_only_one_relation_is_wanted(caplog):
    model = build("text_matching").fit(typed_world())
    every = model.suggest("red apple", k=2 * SIZE)
    wanted = every[0].relation
    expected = [s.node for s in every if s.relation == wanted]
    assert 0 < len(expected) < len(every)
    for found in (
        model.suggest("red apple", k=2 * SIZE, relation=wanted),
        model.suggest_many(["red apple"], 2 * SIZE, relation=wanted)[0],
    ):
        assert [s.node for s in found] == expected
    with pytest.raises(
        ParameterError, match="'relation' parameter of suggest must be one of 'likes'"
    ):
        model.suggest("red", relation="eats")
    plain = build("text_matching").fit(world())
    with caplog.at_level(logging.WARNING):
        found = plain.suggest("red", k=2, relation="likes")
    assert "carry no relations: relation='likes' is ignored" in caplog.text
    assert [s.relation for s in found] == [None, None]


def test_directed_models_name_relations_of_one_direction():
    model = build("ps", directed=True).fit(typed_world(directed=True))
    for direction, backwards in (("out", False), ("in", True)):
        found = model.suggest(node="a4", k=5, direction=direction)
        assert all(s.relation.startswith("^") == backwards for s in found)
