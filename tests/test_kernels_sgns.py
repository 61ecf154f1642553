import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairgram.kernels.sgns import GRID, MINUS_LOG, REACH, SIGMOID, bucket


@pytest.mark.quick
def test_tables_hold_the_middle_of_every_cell():
    score = np.linspace(-REACH, REACH, 100_001)[:-1]
    cell = ((score + REACH) * GRID / (2 * REACH)).astype(int)
    exact = 1 / (1 + np.exp(-score))
    half_a_cell = REACH / GRID
    assert np.abs(SIGMOID[cell] - exact).max() < half_a_cell / 4 + 1e-6  # σ' is at most 1/4
    assert np.abs(MINUS_LOG[cell] + np.log(exact)).max() < half_a_cell + 1e-5
    np.testing.assert_allclose(SIGMOID + SIGMOID[::-1], 1, atol=1e-6)


@pytest.mark.quick
@given(st.integers(1, 5), st.data())
def test_bucket_orders_by_context_part_and_keeps_the_rest(parts, data):
    part_of = np.array(data.draw(st.lists(st.integers(0, parts - 1), min_size=1, max_size=12)))
    node = st.integers(0, len(part_of) - 1)
    pairs = data.draw(st.lists(st.tuples(node, node), max_size=30))
    center, context = np.array(pairs, np.int32).reshape(-1, 2).T.copy()
    begin = data.draw(st.integers(0, len(pairs)))
    end = data.draw(st.integers(begin, len(pairs)))
    out_center, out_context = np.full_like(center, -1), np.full_like(context, -1)
    block_begin = np.empty(parts + 1, np.int64)
    part_of = part_of.astype(np.int32)
    place = np.empty_like(block_begin)
    bucket(begin, end, center, context, part_of, block_begin, place, out_center, out_context)
    mine = sorted(pairs[begin:end], key=lambda pair: part_of[pair[1]])  # stable
    got = list(zip(out_center.tolist(), out_context.tolist(), strict=True))
    assert got == [(-1, -1)] * begin + mine + [(-1, -1)] * (len(pairs) - end)
    assert block_begin[0] == begin
    assert block_begin[-1] == end
    for p in range(parts):
        block = out_context[block_begin[p] : block_begin[p + 1]]
        assert (part_of[block] == p).all()
