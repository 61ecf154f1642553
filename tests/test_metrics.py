from itertools import permutations
from math import log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score

from pairgram import metrics
from pairgram.errors import InputError
from pairgram.metrics import (
    auc_pair,
    average_precision,
    join_places,
    place_block,
    place_links,
    ranking,
    roc_auc,
)

# Few distinct values, so that ties are the rule.
SCORE = st.one_of(st.integers(-3, 3).map(float), st.floats(-1e6, 1e6), st.sampled_from([-np.inf]))
TRIALS = st.lists(st.tuples(SCORE, SCORE), min_size=1, max_size=40)
LABELLED = st.lists(st.tuples(SCORE, st.booleans()), min_size=2, max_size=40)


def slow_auc(positive, negative):
    wins = [1.0 if p > n else 0.5 if p == n else 0.0 for p in positive for n in negative]
    return sum(wins) / len(wins)


@pytest.mark.quick
@given(TRIALS)
def test_auc_pair_is_the_mean_of_single_comparisons(trials):
    expected = sum(slow_auc([p], [n]) for p, n in trials) / len(trials)
    assert auc_pair(*zip(*trials, strict=True)) == pytest.approx(expected, abs=1e-12)


@pytest.mark.quick
@given(LABELLED.filter(lambda rows: len({label for _, label in rows}) == 2))
def test_roc_auc_is_the_share_of_ordered_couples(rows):
    scores, labels = map(np.array, zip(*rows, strict=True))
    expected = slow_auc(scores[labels], scores[~labels])
    assert roc_auc(scores, labels) == pytest.approx(expected, abs=1e-12)


@pytest.mark.quick
@settings(deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 300), st.sampled_from([1, 5, 10**6]))
def test_agrees_with_scikit_learn(seed, count, levels):
    rng = np.random.default_rng(seed)
    scores = rng.integers(levels, size=count) / 7
    labels = np.append(rng.integers(2, size=count - 2), [0, 1])
    assert roc_auc(scores, labels) == pytest.approx(roc_auc_score(labels, scores), abs=1e-12)
    expected = average_precision_score(labels, scores)
    assert average_precision(scores, labels) == pytest.approx(expected, abs=1e-12)


@pytest.mark.quick
def test_known_answers():
    assert auc_pair([1, 1], [0, 0]) == 1.0
    assert auc_pair([2, 2], [2, 2]) == 0.5
    assert roc_auc([3, 3, 3], [1, 0, 1]) == 0.5
    assert roc_auc([np.inf, 0, -np.inf], [1, 0, 0]) == 1.0
    assert average_precision([1, 1, 1, 1], [True, False, False, False]) == 0.25
    assert average_precision([4, 3, 2, 1], [0, 0, 0, 1]) == 0.25


@pytest.mark.quick
@pytest.mark.parametrize(
    ("call", "word"),
    [
        (
            lambda: auc_pair([0.1, np.nan], [0.0, 0.0]),
            "positive must be numbers. Got NaN in 1 of 2",
        ),
        (lambda: auc_pair([0.1], [np.nan]), "negative must be numbers"),
        (lambda: auc_pair([], []), "non-empty"),
        (lambda: auc_pair([1.0], [1.0, 2.0]), "one shape"),
        (lambda: auc_pair([[1.0]], [[1.0]]), "non-empty row"),
        (lambda: roc_auc([1.0, 2.0], [1, 1]), "2 ones, 0 zeros"),
        (lambda: roc_auc([1.0, 2.0], [1, 2]), "0 or 1"),
        (lambda: roc_auc([1.0, np.nan], [1, 0]), "scores must be numbers"),
        (lambda: average_precision([1.0, 2.0], [0, 0]), "at least one 1"),
    ],
)
def test_bad_input_is_named(call, word):
    with pytest.raises(InputError, match=word):
        call()


def slow_rank(score, others):
    """Mean over all orders of the ties of the place of a link among the other candidates."""
    above, tied = sum(o > score for o in others), sum(o == score for o in others)
    return sum(1 + above + place for place in range(tied + 1)) / (tied + 1)


def slow_lists(true, others):
    """Every order that the scores allow, as rows of whether a candidate is a true link."""
    candidates = [(s, True) for s in true] + [(s, False) for s in others]
    for order in permutations(candidates):
        scores = [score for score, _ in order]
        if scores == sorted(scores, reverse=True):
            yield [is_true for _, is_true in order]


def place(true, others, barred=()):
    """Place links whose scores, and those of the others, are mixed with nodes that are barred."""
    scores = np.array([*barred, *true, *others], dtype=float)
    return place_links(scores, np.arange(len(true)) + len(barred), np.arange(len(barred)))


TIED = st.integers(-2, 3)
QUERY = st.tuples(
    st.lists(TIED, min_size=1, max_size=12), st.lists(TIED, max_size=40), st.lists(TIED, max_size=5)
)


@pytest.mark.quick
@settings(max_examples=50, deadline=None)
@given(queries=st.lists(QUERY, min_size=1, max_size=5))
def test_filtered_ranks_give_mrr_and_hits(queries):
    places = join_places([place(*query) for query in queries])
    owner = np.repeat(np.arange(len(queries)), [len(true) for true, *_ in queries])
    ranks = [slow_rank(score, others) for true, others, _ in queries for score in true]
    assert places.rank.tolist() == pytest.approx(ranks)
    found = ranking(places, owner)
    assert found["mrr"] == pytest.approx(np.mean([1 / rank for rank in ranks]), abs=1e-12)
    for k in (1, 10, 50):
        assert found[f"hits@{k}"] == np.mean([rank <= k for rank in ranks])


@pytest.mark.quick
@settings(max_examples=40)
@given(st.lists(st.integers(0, 2), min_size=1, max_size=4), st.lists(st.integers(0, 2), max_size=3))
def test_recall_and_ndcg_are_means_over_the_orders_of_ties(true, others):
    lists = list(slow_lists(true, others))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(metrics, "DEPTH", 3)  # within reach of all orders
        found = ranking(place(true, others, [3, 1]), np.zeros(len(true)))
    recall = np.mean([sum(order[:3]) / len(true) for order in lists])
    ideal = sum(1 / log2(place + 2) for place in range(min(3, len(true))))
    gains = [sum(1 / log2(i + 2) for i in range(min(3, len(o))) if o[i]) / ideal for o in lists]
    assert found["recall@3"] == pytest.approx(recall, abs=1e-12)
    assert found["ndcg@3"] == pytest.approx(np.mean(gains), abs=1e-12)


@pytest.mark.quick
def test_ndcg_agrees_with_scikit_learn():
    from sklearn.metrics import ndcg_score

    rng = np.random.default_rng(0)
    for _ in range(50):
        scores, labels = rng.integers(15, size=60), rng.permutation(np.arange(60) < 7)
        found = ranking(place_links(scores, np.flatnonzero(labels)), np.zeros(7))
        expected = ndcg_score([labels], [scores], k=10)  # averages ties too
        assert found["ndcg@10"] == pytest.approx(expected, abs=1e-9)


@pytest.mark.quick
def test_places_of_broken_scores_are_refused():
    with pytest.raises(InputError, match=r"scores must be numbers\. Got NaN in 1 of 2"):
        place_links([1.0, np.nan], [0])
    with pytest.raises(InputError, match="true must be a non-empty row"):
        place_links([1.0], [])
    with pytest.raises(InputError, match="places and query must have one shape"):
        ranking(place_links([1.0], [0]), [0, 1])


@pytest.mark.quick
def test_mrr_and_hits_agree_with_a_full_sort_on_fifty_cases_with_ties():
    """An implementation of its own: sort the whole list, read the places off, average the ties."""
    rng = np.random.default_rng(1)
    for _ in range(50):
        n = int(rng.integers(20, 300))
        scores = rng.integers(0, max(2, n // 4), size=(3, n)).astype(np.float32)
        ends, target, barred_ends, barred, ranks = [0], [], [0], [], []
        for row in scores:
            chosen = rng.permutation(n)[: int(rng.integers(2, 16))]
            links, absent = chosen[: len(chosen) // 2], chosen[len(chosen) // 2 :]
            target += links.tolist()
            barred += absent.tolist()
            ends.append(len(target))
            barred_ends.append(len(barred))
            for link in links:
                others = [v for v in range(n) if v == link or v not in chosen]
                order = sorted(others, key=lambda v, row=row: -row[v])
                tied = [at + 1 for at, v in enumerate(order) if row[v] == row[link]]
                ranks.append(sum(tied) / len(tied))
        places = place_block(scores, (target, ends), (barred, barred_ends))
        found = ranking(places, np.repeat(np.arange(3), np.diff(ends)))
        assert found["mrr"] == pytest.approx(np.mean(1 / np.array(ranks)), abs=1e-6)
        for k in (1, 10, 50):
            assert found[f"hits@{k}"] == pytest.approx(np.mean(np.array(ranks) <= k), abs=1e-6)


@pytest.mark.quick
def test_recall_agrees_with_scikit_learn_where_nothing_ties():
    from sklearn.metrics import recall_score

    rng = np.random.default_rng(2)
    for _ in range(20):
        scores, labels = rng.permutation(50), rng.permutation(np.arange(50) < 9)
        found = ranking(place_links(scores, np.flatnonzero(labels)), np.zeros(9))
        top = np.isin(np.arange(50), np.argsort(-scores)[:10])
        assert found["recall@10"] == pytest.approx(recall_score(labels, top))
