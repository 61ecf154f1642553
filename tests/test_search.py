import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairgram.search import exact, top_k, top_k_rows


def slow(scores, k, leave_out):
    """Sort everything: best first, ties by position, what is no number last."""
    free = [v for v in range(len(scores)) if v not in set(leave_out)]
    ranked = sorted(free, key=lambda v: (np.isnan(scores[v]), -scores[v], v))
    return ranked[:k]


values = st.one_of(st.integers(-3, 3).map(float), st.floats(-1e6, 1e6), st.just(float("-inf")))


@pytest.mark.quick
@given(
    st.lists(values, max_size=40), st.integers(1, 50), st.integers(1, 30), st.integers(1, 9),
    st.data(),
)  # fmt: skip
def test_equals_a_full_sort(scores, k, block, group, data):
    n = len(scores)
    leave_out = data.draw(st.lists(st.integers(0, n - 1), max_size=10)) if n else []
    array = np.array(scores)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exact, "BLOCK", block)
        patch.setattr(exact, "GROUP", group)
        nodes, found = top_k(lambda a, b: array[a:b], n, k, np.array(leave_out, np.int64))
    assert nodes.tolist() == slow(scores, k, leave_out)
    assert found.tolist() == [scores[v] for v in nodes]


@pytest.mark.quick
def test_scores_that_are_no_numbers_come_last():
    scores = np.array([np.nan, 1.0, np.nan, 2.0])
    nodes, _ = top_k(lambda a, b: scores[a:b], 4, 4, np.empty(0, np.int64))
    assert nodes.tolist() == [3, 1, 0, 2]


@pytest.mark.quick
@pytest.mark.parametrize("strange", [0, 30, 4900])
def test_many_scores_equal_a_full_sort(strange):
    random = np.random.default_rng(strange)
    scores = random.integers(0, 900, 5000).astype(np.float32)
    scores[random.choice(5000, strange, replace=False)] = np.nan
    nodes, _ = top_k(lambda a, b: scores[a:b], 5000, 20, np.array([3]))
    assert nodes.tolist() == slow(scores.tolist(), 20, [3])


@pytest.mark.quick
def test_scores_are_asked_for_in_blocks(monkeypatch):
    monkeypatch.setattr(exact, "BLOCK", 10)
    asked = []

    def score(begin, end):
        asked.append((begin, end))
        return np.arange(begin, end, dtype=np.float32)

    nodes, found = top_k(score, 25, 3, np.array([24]))
    assert asked == [(0, 10), (10, 20), (20, 25)]
    assert nodes.tolist() == [23, 22, 21]
    assert found.tolist() == [23.0, 22.0, 21.0]


@pytest.mark.quick
def test_many_ties_come_by_position(monkeypatch):
    monkeypatch.setattr(exact, "BLOCK", 400)
    scores = np.random.default_rng(0).integers(0, 2, 1000).astype(float)
    nodes, _ = top_k(lambda a, b: scores[a:b], 1000, 300, np.array([7]))
    assert nodes.tolist() == slow(scores, 300, [7])


@pytest.mark.quick
@given(
    st.integers(0, 12).flatmap(
        lambda n: st.lists(
            st.lists(st.one_of(values, st.just(float("nan"))), min_size=n, max_size=n), max_size=4
        )
    ),
    st.integers(1, 14), st.integers(0, 14), st.data(),
)  # fmt: skip
def test_rows_equal_full_sorts(rows, k, few, data):
    n = len(rows[0]) if rows else 0
    barred = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)), bool)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exact, "FEW", few)
        found = list(top_k_rows(np.array(rows).reshape(len(rows), n), k, barred))
    for row, (nodes, scores) in zip(rows, found, strict=True):
        strange = np.isnan(row)
        assert nodes.tolist() == slow(row, k, np.flatnonzero(barred | strange).tolist())
        assert scores.tolist() == [row[v] for v in nodes]
