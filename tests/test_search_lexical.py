import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pairgram.graph import TextGraph
from pairgram.search.lexical import LexicalIndex
from pairgram.search.vote import fuse, link_matrix, vote

WORD = st.sampled_from(["a", "b", "c", "d", "e"])
TEXT = st.lists(WORD, max_size=6).map(" ".join)
CORPUS = st.lists(TEXT, min_size=1, max_size=8)


def slow_bm25(query, texts, k1=1.2, b=0.75):
    bags = [Counter(text.split()) for text in texts]
    lengths = [sum(bag.values()) for bag in bags]
    mean = sum(lengths) / len(lengths)
    scores = []
    for bag, length in zip(bags, lengths, strict=True):
        score = 0.0
        for word in query.split():
            df = sum(word in other for other in bags)
            if bag[word]:
                idf = math.log(1 + (len(bags) - df + 0.5) / (df + 0.5))
                score += idf * bag[word] / (bag[word] + k1 * (1 - b + b * length / mean))
        scores.append(score)
    return scores


def slow_vote(similarity, adjacency, nearest, power):
    order = sorted(range(len(similarity)), key=lambda node: (-similarity[node], node))[:nearest]
    votes = np.zeros(len(similarity))
    for node in order:
        if similarity[node] > 0:
            votes += adjacency[node] * (similarity[node] / max(similarity)) ** power
    return votes


@pytest.mark.quick
@settings(max_examples=60)
@given(CORPUS, st.lists(TEXT, min_size=1, max_size=4))
def test_bm25_equals_the_slow_one(texts, queries):
    index = LexicalIndex.bm25(texts, str.split)
    found = index.scores(index.queries(queries))
    assert found.shape == (len(queries), len(texts))
    expected = np.array([slow_bm25(query, texts) for query in queries])
    assert found == pytest.approx(expected, abs=1e-5)


@pytest.mark.quick
def test_tfidf_equals_scikit_learn():
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts, queries = ["red apple red", "blue boat", "", "red boat"], ["red boat sinks", "", "apple"]
    index = LexicalIndex.tfidf(texts, str.split)
    reference = TfidfVectorizer(analyzer=str.split).fit(texts)
    expected = reference.transform(queries) @ reference.transform(texts).T
    assert index.scores(index.queries(queries)) == pytest.approx(expected.toarray(), abs=1e-6)


@pytest.mark.quick
@pytest.mark.parametrize("build", [LexicalIndex.bm25, LexicalIndex.tfidf])
def test_texts_without_words_score_nothing(build):
    index = build(["", "!?"])
    assert index.scores(index.queries(["anything", ""])).tolist() == [[0, 0], [0, 0]]


@pytest.mark.quick
def test_words_cut_both_sides():
    index = LexicalIndex.bm25(["Apple", "apple pie"], lambda text: [text.lower()])
    assert (index.scores(index.queries(["APPLE PIE"])) > 0).tolist() == [[False, True]]


@pytest.mark.quick
@given(
    st.lists(st.integers(0, 3), min_size=6, max_size=6), st.integers(1, 8), st.sampled_from([1, 3])
)
def test_vote_equals_the_slow_one(similarity, nearest, power):
    graph = TextGraph.from_edges([0, 1, 2, 3, 0], [1, 2, 3, 4, 5])
    adjacency = graph.to_scipy().toarray()
    scores = np.array([similarity, similarity[::-1]], dtype=np.float32)
    found = vote(scores, link_matrix(graph), nearest, power)
    expected = [slow_vote(row.tolist(), adjacency, nearest, power) for row in scores]
    assert found == pytest.approx(np.array(expected), abs=1e-6)


@pytest.mark.quick
def test_fusion_divides_each_by_its_maximum():
    votes, lexical = np.array([[4.0, 0.0], [0.0, 0.0]]), np.array([[1.0, 10.0], [0.0, 5.0]])
    assert fuse(votes, lexical, 0.75) == pytest.approx(np.array([[0.775, 0.25], [0.0, 0.25]]))


@pytest.mark.quick
@settings(max_examples=40)
@given(CORPUS, st.lists(TEXT, min_size=1, max_size=4))
def test_indexes_counted_once_are_those_counted_one_by_one(corpus, queries):
    cut, asked = [text.split() for text in corpus], [text.split() for text in queries]
    kinds = (LexicalIndex.bm25, LexicalIndex.tfidf, LexicalIndex.shared)
    for together, kind in zip(LexicalIndex.family(cut), kinds, strict=True):
        alone = kind(corpus, str.split)
        expected = alone.scores(alone.queries(queries))
        np.testing.assert_allclose(
            together.scores(together.queries(asked)), expected, rtol=1e-5, atol=1e-6
        )
        at = np.arange(len(corpus))[::-1]
        one = together.queries(asked[:1])
        np.testing.assert_allclose(together.at(one, at), expected[0][at], rtol=1e-5, atol=1e-6)
