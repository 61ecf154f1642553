import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score

from pairgram.errors import InputError
from pairgram.metrics import auc_pair, average_precision, roc_auc

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
