"""Letters around nodes, against slow versions."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from pairgram.search import surroundings
from pairgram.search.lexical import K1, B
from pairgram.search.surroundings import OWN, PRIOR, Surroundings

pytestmark = pytest.mark.quick


@st.composite
def worlds(draw):
    """Texts as sets of terms, links with a direction, a query, other texts at nodes or nowhere."""
    count, width = draw(st.integers(1, 8)), draw(st.integers(1, 12))
    terms = st.sets(st.integers(0, width - 1))
    texts = draw(st.lists(terms, min_size=count, max_size=count))
    pairs = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1))
    arcs = draw(st.sets(pairs.filter(lambda pair: pair[0] != pair[1])))
    others = draw(st.lists(st.tuples(terms, st.integers(-1, count - 1)), max_size=4))
    return width, texts, arcs, draw(terms), others


def rows_of(texts, width):
    dense = np.zeros((len(texts), width), np.int8)
    for row, text in enumerate(texts):
        dense[row, list(text)] = 1
    return csr_array(dense)


def made(width, texts, arcs):
    dense = np.zeros((len(texts), len(texts)), np.float32)
    for u, v in arcs:
        dense[u, v] = 1
    return Surroundings(rows_of(texts, width), csr_array(dense), csr_array(dense.T))


def slow_score(query, text, texts):
    count, mean = len(texts), max(sum(map(len, texts)) / len(texts), 1)
    total = 0.0
    for term in query & text:
        frequency = sum(term in other for other in texts)
        if frequency:
            idf = math.log1p((count - frequency + 0.5) / (frequency + 0.5))
            total += idf / (1 + K1 * (1 - B + B * len(text) / mean))
    return total


def slow_around(query, own, home, texts, arcs):
    gave = [texts[v] for u, v in arcs if u == home]
    took = [texts[u] for u, v in arcs if v == home]

    def ratios(near):
        for term in sorted(query):
            share = sum(term in text for text in texts) / len(texts)
            if share:
                found = sum(term in text for text in near) + OWN * (term in own)
                expected = (len(near) + OWN + PRIOR) * share
                yield math.log((found + PRIOR * share) / expected)

    every = list(ratios(gave + took))
    return [sum(every), sum(max(r, 0) for r in every), sum(ratios(gave)), sum(ratios(took))]


@settings(max_examples=150, deadline=None)
@given(worlds())
def test_letters_of_nodes_and_around_them_are_the_slow_ones(world):
    width, texts, arcs, query, others = world
    found = made(width, texts, arcs)
    spelled = found.spell(rows_of([query], width))
    known = {term for term in query if any(term in text for text in texts)}
    assert spelled.terms.tolist() == sorted(known)
    for node, text in enumerate(texts):
        mine = spelled.terms[spelled.found[spelled.first[node] : spelled.first[node + 1]]]
        assert mine.tolist() == sorted(known & text)
    slow = [slow_score(query, text, texts) for text in texts]
    np.testing.assert_allclose(spelled.scores, slow, rtol=1e-5, atol=1e-6)
    nodes = np.arange(len(texts))
    slow = [slow_around(query, texts[node], node, texts, arcs) for node in nodes]
    np.testing.assert_allclose(found.around(spelled, nodes), slow, rtol=1e-4, atol=1e-5)
    if others:
        rows = rows_of([text for text, _ in others], width)
        slow = [slow_score(query, text, texts) for text, _ in others]
        np.testing.assert_allclose(found.scores_of(spelled, rows), slow, rtol=1e-5, atol=1e-6)
        slow = [slow_around(query, text, home, texts, arcs) for text, home in others]
        home = np.array([home for _, home in others])
        np.testing.assert_allclose(found.around(spelled, home, rows), slow, rtol=1e-4, atol=1e-5)


def test_of_a_hub_evenly_spaced_neighbours_are_read(monkeypatch):
    monkeypatch.setattr(surroundings, "MOST", 3)
    texts = [set(), *({0} if node % 2 else {1} for node in range(1, 8))]
    star = made(2, texts, {(0, node) for node in range(1, 8)})
    spelled = star.spell(rows_of([{0, 1}], 2))
    read = [texts[1 + at * 7 // 3] for at in range(3)]  # of 1 to 7 the first, third and fifth
    counts = np.array([sum(term in text for text in read) for term in (0, 1)])
    share = np.array([4, 3]) / 8
    slow = np.log((counts + PRIOR * share) / ((3 + OWN + PRIOR) * share)).sum()
    assert star.around(spelled, np.array([0]))[0, 0] == pytest.approx(slow, rel=1e-4)


def test_common_sequences_and_too_many_do_not_count(monkeypatch):
    texts = [{0, 1}, {0, 2}, {0, 2}, {0, 2}]
    query = rows_of([{0, 1, 2}], 3)
    assert made(3, texts, set()).spell(query).terms.tolist() == [0, 1, 2]
    monkeypatch.setattr(surroundings, "FEW", 3)
    assert made(3, texts, set()).spell(query).terms.tolist() == [1, 2]
    monkeypatch.setattr(surroundings, "LISTED", 3)
    found = made(3, texts, set()).spell(query)
    assert found.terms.tolist() == [1]
    assert found.found.tolist() == [0]


def test_nothing_in_common_says_nothing():
    found = made(3, [{0}, set()], {(0, 1)})
    spelled = found.spell(rows_of([{2}], 3))
    assert spelled.scores.tolist() == [0, 0]
    assert found.around(spelled, np.array([0, 1])).tolist() == [[0] * 4] * 2
    assert found.scores_of(spelled, rows_of([{0}], 3)).tolist() == [0]
