"""Explanations: what is named is what carries the score."""

import numpy as np
import pytest

import pairgram as pg
from pairgram.errors import ParameterError
from worlds import READS_TEXT, build, world

readers = pytest.mark.parametrize("method", sorted(READS_TEXT))


@pytest.fixture(scope="module")
def fitted():
    graph = world(extra=["alone"])
    return {method: build(method).fit(graph) for method in (*READS_TEXT, "ps")}


def slow_effect(model, text, word, target, rule):
    """Score with and without a word, by the public calls alone."""
    rest = " ".join(w for w in model.words(text) if w != word)
    scores = [
        {s.node: s.score for s in model.suggest(some, k=99, rule=rule)}[target]
        for some in (text, rest)
    ]
    return scores[0] - scores[1]


@readers
def test_effects_are_the_differences_of_scores(method, fitted):
    model = fitted[method]
    # A transformer reads stop words and commas too, which no word is named for.
    text = "red boat zebra" if method == "sentence_encoder" else "a red boat, zebra"
    for rule in model.place([text]).rules:
        said = model.explain("a3", text, k=9, rule=rule)
        found = {s.node: s.score for s in model.suggest(text, k=99, rule=rule)}
        assert said.score == pytest.approx(found["a3"], rel=1e-4, abs=1e-5)
        for one in said.words:
            effect = slow_effect(model, text, one.word, "a3", rule)
            assert one.effect == pytest.approx(effect, rel=1e-3, abs=1e-4)
            assert one.effect > 0
            assert one.known == (one.word != "zebra")
        assert [w.effect for w in said.words] == sorted(
            (w.effect for w in said.words), reverse=True
        )


# CANE reads words two by two: what one says depends on the next.
@pytest.mark.quick
@pytest.mark.parametrize("method", sorted(READS_TEXT - {"cane"}))
def test_words_that_agree_are_named(method, fitted):
    said = fitted[method].explain("a3", "a red boat")
    assert said.words[0].word == "red"
    assert "boat" not in [one.word for one in said.words]
    assert {one.node for one in said.neighbours} <= {f"a{i}" for i in range(8)} | {"b0"}
    assert said.neighbours[0].similarity == max(n.similarity for n in said.neighbours)
    assert str(said).startswith("your words: red (+")


@pytest.mark.quick
def test_suggestions_bring_their_explanations(fitted):
    model = fitted["text_matching"]
    for one in model.suggest("red", k=3, explain=True):
        assert one.explanation == model.explain(one.node, "red")
        assert one.explanation.words[0].word == "red"
    assert model.suggest("red", k=1)[0].explanation is None
    known = model.suggest(node="a1", k=2, explain=True)
    assert [one.explanation.target for one in known] == [one.node for one in known]


@pytest.mark.quick
def test_structure_alone_still_names_neighbours(fitted):
    said = fitted["ps"].explain("a1", node="b1")
    assert not said.words
    assert said.neighbours
    with pytest.raises(ParameterError, match="reads no texts: pass node="):
        fitted["ps"].explain("a1", "red")
    with pytest.raises(ParameterError, match="explain needs a text or node="):
        fitted["ps"].explain("a1")


def deletion_world(seed):
    """Topics of words of their own, and words that all texts share."""
    random = np.random.default_rng(seed)
    topics = [[f"t{t}w{i}" for i in range(6)] for t in range(8)]
    common = [f"c{i}" for i in range(30)]
    texts, edges = [], []
    for node in range(240):
        own = random.choice(topics[node % 8], 3, replace=False).tolist()
        texts.append(" ".join([*own, *random.choice(common, 5, replace=False)]))
        edges += [(node, int(other)) for other in random.choice(range(node % 8, 240, 8), 4)]
    source, target = (np.array(side) for side in zip(*edges, strict=True))
    return pg.TextGraph.from_edges(source, target, texts=texts), topics, common


def test_deleting_the_named_words_costs_more_than_deleting_others():
    graph, topics, common = deletion_world(0)
    model = pg.TGE(dim=16, preset="best", epochs=8, patience=0, threads=1, ranker=False).fit(graph)
    random, named, other = np.random.default_rng(1), [], []
    for query in range(40):
        own = random.choice(topics[query % 8], 3, replace=False).tolist()
        words = [*own, *random.choice(common, 5, replace=False).tolist()]
        best = model.suggest(" ".join(words), k=1, explain=True)[0]
        chosen = [one.word for one in best.explanation.words[:2]]
        drawn = random.choice(words, len(chosen), replace=False).tolist()
        for gone, falls in ((chosen, named), (drawn, other)):
            rest = " ".join(w for w in words if w not in gone)
            after = {s.node: s.score for s in model.suggest(rest, k=240)}[best.node]
            falls.append(best.score - after)
    named, other = np.array(named), np.array(other)
    assert named.mean() > 2 * other.mean()
    assert (named > other).mean() > 0.8
