"""Hard negatives, buckets by degree, and lexical floors of single pairs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from pairgram.errors import InputError, ParameterError
from pairgram.evaluation import negatives
from pairgram.evaluation.buckets import bucket_names, by_degree
from pairgram.evaluation.negatives import Draw
from pairgram.evaluation.protocols import NOT_DRAWN, draw_trials
from pairgram.graph import TextGraph
from pairgram.search.lexical import LexicalIndex
from pairgram.split import split_edges, split_nodes

ENDS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=6, max_size=40)
WORDS = ("ant", "bee", "cat", "dog")


def text_graph(ends, directed=False):
    source, target = zip(*ends, strict=True)
    texts = [f"{WORDS[i % 4]} {WORDS[i // 4 % 4]} w{i}" for i in range(12)]
    return TextGraph.from_edges(
        list(source), list(target), names=[str(i) for i in range(12)], texts=texts,
        directed=directed,
    )  # fmt: skip


def links_of(graph, node):
    return set(graph.adjacency().neighbours(node).tolist())


@pytest.mark.quick
@pytest.mark.parametrize("kind", ["degree", "text"])
@pytest.mark.parametrize("protocol", ["seen", "all", "zero-shot"])
@settings(max_examples=25, deadline=None)
@given(ends=ENDS, seed=st.integers(0, 9))
def test_hard_negatives_are_legal_and_keep_the_positives(kind, protocol, ends, seed):
    graph = text_graph(ends)
    try:
        split = (split_nodes if protocol == "zero-shot" else split_edges)(graph, 0.5, seed)
    except InputError:
        return
    plain, hard = (draw_trials(split, protocol, seed, kinds) for kinds in ("uniform", kind))
    positives = dict(zip(plain.center.tolist(), plain.positive.tolist(), strict=True))
    degree = np.zeros(12, int)
    degree[split.kept] = split.train.degree
    for center, positive, negative in zip(hard.center, hard.positive, hard.negative, strict=True):
        assert positives.get(int(center), positive) == positive
        assert negative not in links_of(graph, center) | {center}
        assert negative not in split.new
        if protocol == "seen" or kind == "degree":
            assert degree[negative] > 0
        if kind == "text":
            assert set(graph.texts[center].split()) & set(graph.texts[negative].split())


@pytest.mark.quick
@pytest.mark.parametrize("tries", [0, 32])
def test_negatives_by_degree_are_drawn_in_proportion(tries, monkeypatch):
    monkeypatch.setattr(negatives, "_TRIES", tries)
    graph = TextGraph.from_edges([0, 0, 0, 1, 2, 4, 4, 5], [1, 2, 3, 2, 3, 5, 6, 6])
    split = split_edges(graph, 0.875, seed=1)
    center = np.full(4000, 0)
    rng = np.random.default_rng(0)
    drawn = negatives.by_degree(Draw(split, center, np.ones(7, bool), rng))
    legal = np.array([4, 5, 6])
    expected = split.train.degree[legal] / split.train.degree[legal].sum() * len(drawn)
    assert set(drawn.tolist()) <= set(legal[split.train.degree[legal] > 0].tolist())
    assert chisquare([np.count_nonzero(drawn == node) for node in legal], expected).pvalue > 1e-4


@pytest.mark.quick
def test_negatives_by_text_are_among_the_nearest(monkeypatch):
    monkeypatch.setattr(negatives, "NEAREST", 2)
    texts = ["red apple", "red pear", "red apple pie", "blue boat", "apple red red", "blue sky"]
    graph = TextGraph.from_edges([0, 1, 3, 2], [1, 3, 5, 5], texts=texts)
    split = split_edges(graph, 0.5, seed=0)
    drawn = negatives.by_text(
        Draw(split, np.zeros(200, int), np.ones(6, bool), np.random.default_rng(0))
    )
    assert set(drawn.tolist()) == {2, 4}


@pytest.mark.quick
def test_many_centres_are_drawn_from_and_unknown_kinds_are_named(monkeypatch):
    monkeypatch.setattr("pairgram.evaluation.protocols.MOST_TEXT_CENTERS", 5)
    ring = TextGraph.from_edges(np.arange(40), (np.arange(40) + 1) % 40, texts=["red"] * 40)
    trials = draw_trials(split_edges(ring), "all", 0, "text")
    assert len(trials) == 5
    assert trials.left_out[NOT_DRAWN] > 5
    with pytest.raises(ParameterError, match="'negatives' parameter of draw_trials"):
        draw_trials(split_edges(ring), "all", 0, "hard")
    bare = TextGraph.from_edges(np.arange(40), (np.arange(40) + 1) % 40)
    with pytest.raises(InputError, match="Negatives by text need a graph with texts"):
        draw_trials(split_edges(bare), "all", 0, "text")


@pytest.mark.quick
def test_nodes_without_a_link_have_a_bucket_of_their_own():
    assert bucket_names(np.array([0, 1, 2, 3, 7, 8, 31, 32])).tolist() == [
        "0", "1", "2-3", "2-3", "4-7", "8-15", "16-31", "32+",
    ]  # fmt: skip
    star = TextGraph.from_edges(np.zeros(40, int), np.arange(1, 41))
    split = split_edges(star, 0.5)
    trials = draw_trials(split, "all")
    found = by_degree(split, trials, np.ones(len(trials)), np.zeros(len(trials)))
    assert found == {"0": {"centers": 20, "auc_pair": 1.0}}


@pytest.mark.quick
def test_pairs_score_as_whole_lists_do():
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(list("abcdefgh"), 5)) for _ in range(30)]
    for index in (LexicalIndex.bm25(texts, str.split), LexicalIndex.tfidf(texts, str.split)):
        queries = index.queries(texts)
        whole = index.scores(queries)
        rows, others = rng.integers(30, size=(2, 200))
        assert index.pairs(queries, rows, others) == pytest.approx(whole[rows, others], rel=1e-5)
