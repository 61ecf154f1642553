import numpy as np
import pytest

import oracles
import pairgram as pg
from pairgram.errors import ParameterError
from pairgram.kernels.sgns import SIGMOID
from pairgram.training.blocks import block_steps
from pairgram.training.partition import number_of_parts, partition
from pairgram.training.settings import Settings

# Ten nodes, the last one isolated.
EDGES = {
    (0, 1): 1.0, (0, 2): 4.0, (1, 2): 2.0, (2, 3): 0.5, (3, 4): 3.0, (4, 5): 1.0, (3, 5): 2.0,
    (5, 6): 0.7, (6, 7): 5.0, (7, 8): 1.0, (6, 8): 1.5, (8, 0): 0.4,
}  # fmt: skip
N = 10


def build(weighted, directed):
    source, target = np.array(list(EDGES)).T
    return pg.TextGraph.from_edges(
        source,
        target,
        names=[str(i) for i in range(N)],
        weight=list(EDGES.values()) if weighted else None,
        directed=directed,
    )


def slow_half(order, weighted, directed, dim, per_edge, model):
    """One half of LINE in plain Python, rows of length 1, shape (10, dim)."""
    arcs = directed and order == 2
    rows = oracles.weighted_rows(EDGES, N, arcs)
    ends = [x for row in rows for x in row] if arcs else [x for e in EDGES for x in e]
    noise = np.bincount(ends, minlength=N) ** 0.75
    seed = model.seed + order
    parts = partition(noise, number_of_parts(N, dim), seed)
    settings = Settings(
        dim=dim, negatives=model.negatives, epochs=model.epochs, l2=model.l2, offset=model.offset,
        learning_rate=model.learning_rate, seed=seed, shared_table=order == 1,
    )  # fmt: skip
    random = np.random.Generator(np.random.Philox(seed + 2))
    e = np.zeros((N, dim))
    e[parts.number] = (random.random((N, dim), np.float32) - np.float32(0.5)) / dim
    c = e if order == 1 else np.zeros((N, dim))
    drawn = oracles.edge_draws(rows, parts.node.tolist(), 0, seed, per_edge, weighted)
    chunk = [(int(parts.number[u]), int(parts.number[v])) for u, v in drawn]
    steps = block_steps(parts.parts, order == 1)
    oracles.sgns([chunk], parts, steps, e, c, settings, sigma_by_cell)
    e = e[parts.number]
    return e / np.linalg.norm(e, axis=1, keepdims=True)


def sigma_by_cell(score):
    return float(SIGMOID[int((np.float32(score) + 8) * 512)])


@pytest.mark.quick
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_equals_a_slow_version_on_ten_nodes(weighted, directed):
    model = pg.LINE(dim=12, per_edge=9.5, epochs=2, seed=4, directed=directed)
    model.fit(build(weighted, directed))
    halves = [slow_half(order, weighted, directed, 6, 9.5, model) for order in (1, 2)]
    np.testing.assert_allclose(model.vectors_.center, np.hstack(halves), atol=2e-4)
    assert model.vectors_.context is None


@pytest.mark.quick
def test_halves_have_length_one():
    center = pg.LINE(dim=12).fit(build(True, False)).vectors_.center
    for half in (center[:, :6], center[:, 6:]):
        np.testing.assert_allclose(np.linalg.norm(half, axis=1), 1, rtol=1e-5)


@pytest.mark.quick
def test_first_order_half_ignores_direction():
    along, ignored = (
        pg.LINE(dim=12, directed=directed).fit(build(True, True)).vectors_.center
        for directed in (True, False)
    )
    np.testing.assert_array_equal(along[:, :6], ignored[:, :6])
    assert (along[:, 6:] != ignored[:, 6:]).any()


@pytest.mark.quick
def test_weights_change_the_vectors():
    weighted, plain = (pg.LINE(dim=12).fit(build(w, False)).vectors_.center for w in (True, False))
    assert (weighted != plain).any()


@pytest.mark.quick
def test_counts_both_halves():
    model = pg.LINE(dim=12, per_edge=7, epochs=3).fit(build(False, False))
    assert model.stats_["pairs"] == 2 * 2 * len(EDGES) * 7
    assert model.stats_["updates"] == 3 * model.stats_["pairs"]
    assert len(model.stats_["loss"]) == 2


@pytest.mark.quick
def test_dim_must_be_even():
    with pytest.raises(ParameterError, match=r"The 'dim' parameter of LINE must be even.* Got 7"):
        pg.LINE(dim=7).fit(build(False, False))
