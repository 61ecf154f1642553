"""Fused scores: weights fitted on validation, never below the best part there."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pairgram as pg
from cli_files import run, write_cliques
from oracles import slow_mrr
from pairgram.errors import InputError, ParameterError
from pairgram.evaluation.fusing import fit_fusion, fuse, fuse_for_use
from pairgram.models.fusing import Evidence
from pairgram.search.fusion import FUSED, PARTS, Candidates, Fusion, scaled, search_weights
from pairgram.search.lexical import LexicalIndex
from worlds import WORD_VECTORS, build, world

WEIGHTS = {"learned": 1.0, "bm25": 0.5, "vote": 2.0, "degree": 0.1}


@pytest.fixture(scope="module")
def graph():
    """Topics of shared words; links inside a topic, most of them to its first node."""
    random = np.random.default_rng(0)
    colours = ["red", "blue", "apple", "boat"]
    texts, source, target = [], [], []
    for node in range(120):
        topic = node % 4
        texts.append(f"{colours[topic]} {random.integers(0, 9)} n{random.integers(0, 30)}")
        source += [node, node]
        target += [topic, int(random.choice(range(topic, 120, 4)))]
    return pg.TextGraph.from_edges(np.array(source), np.array(target), texts=texts)


def text_matching():
    return pg.TextMatching(WORD_VECTORS, rule="cosine")


@pytest.mark.quick
def test_combining_is_a_weighted_sum_of_scaled_parts():
    random = np.random.default_rng(0)
    parts = {name: random.random((3, 7)) for name in PARTS}
    parts["vote"][1] = 0
    fused = Fusion("dot", WEIGHTS, {}, 1).combine(parts)
    for row in range(3):
        learned = parts["learned"][row]
        expected = (learned - learned.mean()) / learned.std()
        for name in ("bm25", "vote", "degree"):
            largest = parts[name][row].max() or 1
            expected = expected + WEIGHTS[name] * parts[name][row] / largest
        np.testing.assert_allclose(fused[row], expected)
    for name in PARTS:
        order = np.argsort(parts[name], axis=1, kind="stable")
        np.testing.assert_array_equal(
            np.argsort(scaled(name, parts[name]), axis=1, kind="stable"), order
        )


@pytest.mark.quick
@given(st.integers(0, 10**6))
def test_mrr_of_candidates_is_that_of_a_full_sort(seed):
    random = np.random.default_rng(seed)
    values = random.integers(0, 4, (3, 6, 2)).astype(np.float32)
    is_link = random.random((3, 6)) < 0.4
    is_link[0, 0] = True
    padding = random.random((3, 6)) < 0.2
    is_link &= ~padding
    if not is_link.any():
        return
    found = Candidates(values, ~is_link & ~padding, *np.nonzero(is_link))
    weights = (1.0, 0.5)
    rows = [
        (np.where(padding[q], -np.inf, values[q] @ np.array(weights)), np.flatnonzero(is_link[q]))
        for q in range(3)
    ]
    assert found.mrr(weights) == pytest.approx(slow_mrr(rows))
    first, second = search_weights(found, [0, 1])
    assert found.mrr(first) >= found.mrr((1, 0))
    assert found.mrr(second) >= found.mrr((0, 1))


@pytest.mark.quick
def test_texts_outside_of_an_index_are_weighed_as_those_inside():
    texts = ["red apple", "blue boat boat", "red boat", "", "zebra apple apple apple"]
    for kind in (LexicalIndex.bm25, LexicalIndex.tfidf):
        index = kind(texts)
        queries = index.queries(["a red boat", "apple boat boat"])
        np.testing.assert_allclose(
            index.scores_of(queries, texts), index.scores(queries), rtol=1e-5
        )


def test_fused_is_not_below_its_parts_on_validation(graph):
    for seed in range(3):
        split = pg.split_nodes(graph, hold_out=0.2, seed=seed)
        fusion = fit_fusion(text_matching().fit(split.train), split)
        assert set(fusion.mrr) == {*PARTS, FUSED}
        assert fusion.mrr[FUSED] >= max(fusion.mrr[name] for name in PARTS)
        assert fusion.mrr[FUSED] > fusion.mrr["learned"]


def test_the_report_of_an_evaluation_has_the_fused_scores(graph):
    split = pg.split_nodes(graph, hold_out=0.2, seed=0)
    model = text_matching().fit(split.train)
    model.fusion_ = fuse(text_matching, split)
    report = pg.evaluate(model, split)
    assert report["mrr/fused"] > report["mrr/cosine"]
    placed = model.place(["red 1 n1"])
    whole = placed.block(slice(0, 1), FUSED)[0]
    some = placed.pairs(np.array([0, 0]), np.array([3, 1]), FUSED)
    np.testing.assert_allclose(some, whole[[3, 1]])


def test_suggestions_by_fused_scores(graph, tmp_path):
    model = text_matching().fit(graph)
    with pytest.raises(ParameterError, match=r"can be scored by 'dot', 'cosine'\. Got 'fused'"):
        model.suggest("red", rule="fused")
    model.fusion_ = Fusion("cosine", WEIGHTS, {}, 3)
    model.save(tmp_path / "m")
    back = pg.load(tmp_path / "m")
    assert back.fusion_ == model.fusion_
    parts = Evidence(graph, model.words).parts(["red n1"])
    expected = model.fusion_.combine(
        {"learned": model.place(["red n1"]).block(slice(0, 1)), **parts}
    )
    for one in (model, back):
        found = one.suggest("red n1", k=120, rule="fused")
        scores = {s.node: s.score for s in found}
        np.testing.assert_allclose([scores[name] for name in graph.names], expected[0], rtol=1e-5)
        assert one.suggest_many(["red n1", "boat"], 120, rule="fused")[0] == found
        assert (
            one.suggest("red n1", k=1, rule="fused", explain=True)[0].explanation.rule == "cosine"
        )
    model.add({"new": "red n1"})
    model.update({"4": "red n1"})
    model.remove(["0"])
    found = {s.node: s.score for s in model.suggest("red n1", k=130, rule="fused")}
    assert found.keys() == {*graph.names.tolist(), "new"} - {"0"}
    assert found["new"] > np.median(list(found.values()))
    before = found
    model.compact()
    after = {s.node: s.score for s in model.suggest("red n1", k=130, rule="fused")}
    assert after.keys() == before.keys()


@pytest.mark.quick
def test_damage_and_models_of_structure():
    for stored in ({}, {"rule": "dot", "weights": {"bm25": 1}, "mrr": {}, "queries": 1}):
        with pytest.raises(InputError, match="fusion is damaged"):
            Fusion.from_json(stored)
    with pytest.raises(InputError, match="fusion is damaged: its weights"):
        Fusion.from_json(Fusion("dot", dict.fromkeys(PARTS, 0.0), {}, 1).to_json())
    with pytest.raises(InputError, match="this model reads none"):
        fuse_for_use(lambda: build("ps"), world())


def test_fit_with_fusion(tmp_path):
    edges, texts = write_cliques(tmp_path)
    arguments = ("--texts", texts, "--model", "text_matching", "--word-vectors", WORD_VECTORS)
    texts.write_text(
        texts.read_text()
        .replace("the text of a", "red apple ")
        .replace("the text of b", "blue boat ")
    )
    said = run("fit", edges, *arguments, "--fuse", "-o", tmp_path / "m").stdout
    assert "fused: MRR" in said
    assert run("suggest", tmp_path / "m", "red", "--rule", "fused").stdout
