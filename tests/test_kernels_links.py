"""Sums over links: the kernel, and its gradient in the judge's training."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from pairgram.kernels.ready import gather_links
from pairgram.training.graph_judge import _Links

pytestmark = pytest.mark.quick


def slow_sums(by, to, rows, count):
    sums = np.zeros((count, rows.shape[1]))
    for w, v in zip(by, to, strict=True):
        sums[v] += rows[w]
    return sums


@st.composite
def graphs(draw):
    count = draw(st.integers(1, 12))
    pairs = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1))
    links = draw(st.lists(pairs, unique=True, max_size=60))
    by, to = np.array(links, np.int32).reshape(-1, 2).T
    return count, by.copy(), to.copy(), draw(st.integers(1, 6)), draw(st.integers(0, 99))


@given(graphs())
def test_sums_over_links_are_the_slow_ones_and_so_is_their_gradient(graph):
    count, by, to, dim, seed = graph
    random = np.random.default_rng(seed)
    rows, weight = (random.normal(size=(count, dim)).astype(np.float32) for _ in range(2))
    given_rows = torch.from_numpy(rows).requires_grad_()
    sums = _Links(by, to, count, "cpu").sums(given_rows)
    np.testing.assert_allclose(
        sums.detach().numpy(), slow_sums(by, to, rows, count), rtol=1e-4, atol=1e-5
    )
    (sums * torch.from_numpy(weight)).sum().backward()
    back = given_rows.grad.numpy()
    np.testing.assert_allclose(back, slow_sums(to, by, weight, count), rtol=1e-4, atol=1e-5)


def test_rows_without_links_are_zero_whatever_was_there():
    begin, by = np.array([0, 0, 1], np.int32), np.array([0], np.int32)
    sums = np.full((2, 3), np.nan, np.float32)
    gather_links(begin, by, np.ones((2, 3), np.float32), sums)
    assert sums.tolist() == [[0, 0, 0], [1, 1, 1]]
