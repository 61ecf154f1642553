import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairgram import params
from pairgram.errors import InputError, ParameterError


@pytest.mark.quick
@given(st.integers(), st.integers(-5, 5), st.integers(-5, 5))
def test_int_is_a_closed_range(value, low, high):
    assert params.Int(low, high).allows(value) == (low <= value <= high)
    assert params.Int(low).allows(value) == (low <= value)
    assert params.Int().allows(value)


@pytest.mark.quick
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_float_may_leave_out_its_lower_end(value):
    assert params.Float(0.0, 2.0).allows(value) == (0 <= value <= 2)
    assert params.Float(0.0, open_low=True).allows(value) == (value > 0)


@pytest.mark.quick
@pytest.mark.parametrize(
    ("constraint", "yes", "no"),
    [
        (params.Int(1, 8), [1, 8, np.int32(3)], [0, 9, 1.0, "1", None, True, np.bool_(True)]),
        (
            params.Float(0.0),
            [0, 0.5, np.float32(1)],
            [-1e-9, float("nan"), float("inf"), "1", True],
        ),
        (params.Bool(), [True, False], [0, 1, None, "yes"]),
        (params.Choice("dot", "context"), ["dot"], ["", "Dot", None, 1, ["dot"]]),
        (params.Optional(params.Int(1)), [None, 1], [0, "None", 1.5]),
    ],
)
def test_what_is_allowed(constraint, yes, no):
    assert all(constraint.allows(value) for value in yes)
    assert not any(constraint.allows(value) for value in no)


@pytest.mark.quick
@pytest.mark.parametrize(
    ("constraint", "words"),
    [
        (params.Int(1, 8), "an int in [1, 8]"),
        (params.Int(1), "an int in [1, inf)"),
        (params.Int(), "an int"),
        (params.Float(0.0, open_low=True), "a float in (0.0, inf)"),
        (params.Float(high=1.0), "a float in (-inf, 1.0]"),
        (params.Bool(), "a bool"),
        (params.Choice("a", "b"), "one of 'a', 'b'"),
        (params.Optional(params.Int(1)), "an int in [1, inf) or None"),
    ],
)
def test_what_is_said(constraint, words):
    assert str(constraint) == words


@pytest.mark.quick
def test_check_names_the_first_bad_value():
    constraints = {"order": params.Int(1, 8), "times": params.Int(1)}
    params.check("PS", constraints, {"order": 8, "times": 1, "other": object()})
    params.check("PS", constraints, {})
    with pytest.raises(ParameterError) as caught:
        params.check("PS", constraints, {"order": 0, "times": 0})
    assert str(caught.value) == (
        "The 'order' parameter of PS must be an int in [1, 8]. Got 0 instead."
    )
    assert isinstance(caught.value, InputError)
    assert isinstance(caught.value, ValueError)


@pytest.mark.quick
def test_plain_values_are_those_of_python():
    given = {"a": np.int64(3), "b": np.float32(0.5), "c": None, "d": "x", "e": True, "f": 2.5}
    plain = params.plain(given)
    assert plain == {"a": 3, "b": 0.5, "c": None, "d": "x", "e": True, "f": 2.5}
    assert [type(v) for v in plain.values()] == [int, float, type(None), str, bool, float]
