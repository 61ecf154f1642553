import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairgram.training.schedule import LEAST, Schedule

scores = st.lists(st.floats(0, 1), max_size=40)


@pytest.mark.quick
@given(st.integers(1, 40), st.integers(1, 5))
def test_without_patience_the_rate_falls_linearly_whatever_the_scores(epochs, chunks):
    schedule = Schedule(epochs, chunks)
    for said in ([], [0.9, 0.1, 0.1]):
        assert schedule.turns(said) == epochs * chunks
        for turn in range(epochs * chunks):
            assert schedule.share(turn, said) == max(1 - turn / (epochs * chunks), LEAST)


@pytest.mark.quick
@given(st.integers(1, 40), st.integers(1, 3), st.integers(1, 4), scores)
def test_a_rate_is_level_then_falls_and_never_rises_again(epochs, chunks, patience, said):
    schedule = Schedule(epochs, chunks, patience)
    done, shares = 0, []
    while done < schedule.turns(said[: done // chunks]):
        shares.append(schedule.share(done, said[: done // chunks]))
        done += 1
    assert done <= epochs * chunks
    assert shares == sorted(shares, reverse=True)
    assert LEAST <= shares[-1] <= 1
    assert shares[0] == 1 or epochs == 1


@pytest.mark.quick
def test_the_descent_begins_when_the_score_stops_rising():
    schedule = Schedule(epochs=30, chunks=2, patience=2)
    rising = [0.1, 0.2, 0.3, 0.4]
    assert schedule.turns(rising) == 60
    assert schedule.turns([*rising, 0.39]) == 60
    assert schedule.turns([*rising, 0.39, 0.4]) == 2 * (6 + 3)
    assert schedule.turns([*rising, 0.39, 0.4, 0.9]) == 2 * (6 + 3)  # too late
    assert schedule.share(12, [*rising, 0.39, 0.4]) == 1
    assert schedule.share(15, [*rising, 0.39, 0.4]) == 0.5


@pytest.mark.quick
def test_a_score_that_always_rises_leaves_a_third_for_the_descent():
    schedule = Schedule(epochs=9, chunks=1, patience=1)
    rising = [k / 10 for k in range(9)]
    assert [round(schedule.share(k, rising[:k]), 3) for k in range(9)] == [
        1, 1, 1, 1, 1, 1, 1, 0.667, 0.333
    ]  # fmt: skip
