import pytest
from numba import njit

import pairgram.kernels.jit  # noqa: F401  # listens to numba
from pairgram.kernels.notice import when_compiling


@pytest.mark.quick
def test_told_once_before_the_first_compilation_and_not_later():
    @njit
    def double(x):
        return 2 * x

    told = []
    with when_compiling(lambda: told.append(len(double.signatures))):
        assert double(1) == 2
        assert double(1.5) == 3.0
    assert told == [0]
    with when_compiling(lambda: told.append("again")):
        assert double(4) == 8
    assert told == [0]
    assert double(1 + 1j) == 2 + 2j  # outside of the context nobody listens
    assert told == [0]
