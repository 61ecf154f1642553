import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
import pairgram as pg
from pairgram.engine import LocalEngine
from pairgram.kernels.sgns import SIGMOID
from pairgram.kernels.sizes import padded
from pairgram.training import sgns as module
from pairgram.training.blocks import block_steps
from pairgram.training.partition import Partition, number_of_parts, partition
from pairgram.training.progress import Progress
from pairgram.training.settings import Settings, noise_mass
from pairgram.training.sgns import train


class Listed:
    """A source that holds its chunks: lists of (centre, context) in node positions."""

    def __init__(self, chunks):
        self.lists, self.chunks = chunks, len(chunks)

    def numbered(self, k, parts):
        pairs = [(int(parts.number[u]), int(parts.number[v])) for u, v in self.lists[k]]
        return sorted(pairs, key=lambda pair: pair[0])

    def chunk(self, k, parts, engine, span=None):
        pairs = np.array(self.numbered(k, parts), np.int64).reshape(-1, 2)
        return pairs[:, 0].copy(), pairs[:, 1].copy()


def random_chunks(n, sizes, seed=0):
    random = np.random.default_rng(seed)
    return [
        [(u, v) for u, v in random.integers(0, n, (size, 2)).tolist() if u != v] for size in sizes
    ]


def run(source, degree, settings, progress=None, threads=1, **kwargs):
    with LocalEngine(threads) as engine:
        return train(source, degree, settings, engine, progress, **kwargs)


def parts_of(degree, settings):
    count = number_of_parts(len(degree), settings.dim, settings.shared_negatives)
    return partition(noise_mass(degree), count, settings.seed)


def random_start(n, settings, seed=0):
    """Tables larger than the real start, so that every product matters."""
    random = np.random.default_rng(seed)
    center, context = np.zeros((2, n, padded(settings.dim)), np.float32)
    center[:, : settings.dim] = random.normal(0, 0.5, (n, settings.dim))
    context[:, : settings.dim] = random.normal(0, 0.5, (n, settings.dim))
    return Progress(center, center if settings.shared_table else context)


def sigma_by_cell(score):
    """σ the way the kernel reads it: at the middle of a cell 1/512 wide."""
    return float(SIGMOID[int((np.float32(score) + 8) * 512)])


# The kernel's σ leaves float32 rounding alone to differ, the exact one half a cell of each step.
@pytest.mark.quick
@pytest.mark.parametrize(("sigma", "within"), [(sigma_by_cell, 1e-5), (oracles.sigmoid, 1e-4)])
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize(
    "more",
    [{}, {"offset": True, "l2": 0.1}, {"offset": True, "l2": 0.1, "shared_negatives": 3}],
    ids=["plain", "offset-l2", "shared"],
)
@pytest.mark.parametrize(("n", "sizes", "epochs"), [(10, [40], 1), (30, [60, 50], 2)])
def test_equals_the_slow_version(n, sizes, epochs, more, shared, sigma, within):
    degree = np.random.default_rng(n).integers(0, 9, n)
    settings = Settings(
        dim=8, negatives=4, epochs=epochs, learning_rate=0.05, seed=n, shared_table=shared, **more
    )
    source, parts = Listed(random_chunks(n, sizes, n)), parts_of(degree, settings)
    start = random_start(n, settings)
    e = start.center.astype(float)
    c = e if shared else start.context.astype(float)
    loss = oracles.sgns(
        [source.numbered(k, parts) for k in range(len(sizes))], parts,
        block_steps(parts.parts, shared), e, c, settings, sigma,
    )  # fmt: skip
    center, context, progress = run(source, degree, settings, start)
    np.testing.assert_allclose(center, e[parts.number, :8], atol=within)
    np.testing.assert_allclose(context, c[parts.number, :8], atol=within)
    assert progress.loss == pytest.approx(loss, rel=1e-3)
    assert progress.updates == epochs * sum(map(len, source.lists))
    assert progress.pairs == sum(map(len, source.lists))
    assert progress.turn == epochs * len(sizes)


@pytest.mark.quick
@given(st.integers(1, 70))
def test_schedule_has_every_block_once_and_chains_apart(parts):
    for shared in (False, True):
        steps = block_steps(parts, shared)
        blocks = [block for step in steps for chain in step for block in chain]
        assert sorted(blocks) == list(itertools.product(range(parts), repeat=2))
        for step in steps:
            rows = [chain_rows(chain, shared) for chain in step]
            assert sum(map(len, rows)) == len(set().union(*rows))


def chain_rows(chain, shared):
    """What a chain writes: parts of the one table, or of either of the two."""
    if shared:
        return {part for block in chain for part in block}
    return {("center", i) for i, _ in chain} | {("context", j) for _, j in chain}


@pytest.mark.quick
@pytest.mark.parametrize("shared", [False, True])
def test_bits_do_not_depend_on_threads(shared, monkeypatch):
    monkeypatch.setattr("pairgram.engine.local.available_threads", lambda: 8)
    degree = np.random.default_rng(1).integers(1, 50, 300)
    settings = Settings(dim=20, epochs=2, seed=4, shared_table=shared)
    source = Listed(random_chunks(300, [3000, 2000]))
    expected = run(source, degree, settings, threads=1)
    for threads in (2, 8):
        got = run(source, degree, settings, threads=threads)
        np.testing.assert_array_equal(got[0], expected[0])
        np.testing.assert_array_equal(got[1], expected[1])
        assert got[2].loss == expected[2].loss


@pytest.mark.quick
def test_shared_negatives_keep_the_expected_gradient():
    # One step of a tiny rate from the same tables: the mean over seeds estimates the gradient.
    degree = np.random.default_rng(3).integers(1, 30, 40)
    source = Listed(random_chunks(40, [400], seed=3))
    moved = {}
    for shared in (1, 5):
        steps = []
        for seed in range(60):
            settings = Settings(dim=8, learning_rate=1e-4, seed=seed, shared_negatives=shared)
            start, parts = random_start(40, settings), parts_of(degree, settings)
            # The tables are by number, which the seed changes: the same ones by node.
            for table in (start.center, start.context):
                table[:] = table[parts.node]
            before = start.context[parts.number, :8]
            steps.append(run(source, degree, settings, start)[1] - before)
        moved[shared] = np.mean(steps, 0), np.std(steps, 0) / np.sqrt(len(steps))
    (one, error_one), (five, error_five) = moved[1], moved[5]
    off = (five - one) / np.hypot(error_one, error_five)
    assert np.abs(off).mean() < 1.0
    assert np.abs(off).max() < 5.5
    assert error_five.mean() > 1.5 * error_one.mean()  # fewer draws, each weighing more


@pytest.mark.quick
def test_start_is_small_centres_and_zero_contexts():
    degree = np.arange(40)
    center, context, progress = run(Listed([[]]), degree, Settings(dim=10, seed=3))
    assert context.any() == False  # noqa: E712
    assert np.abs(center).max() <= 0.05
    assert center.std() == pytest.approx(0.1 / np.sqrt(12), rel=0.15)
    assert len(np.unique(center)) == center.size
    assert (progress.pairs, progress.updates, progress.turn) == (0, 0, 1)
    other = run(Listed([[]]), degree, Settings(dim=10, seed=4))[0]
    assert (center != other).all()


def count_negatives(source, degree, settings):
    """How often every node (n,) was drawn as noise, read off the contexts of a training run.

    Centre part i is the unit vector i and the rate tiny, so every noise draw v of a centre in part
    i takes half the rate of its block off coordinate i of v, and every positive adds as much.
    """
    parts = parts_of(degree, settings)
    assert parts.parts <= settings.dim
    n = len(degree)
    center = np.eye(padded(settings.dim), dtype=np.float32)[parts.part_of]
    start = Progress(center.copy(), np.zeros_like(center))
    _, context, _ = run(source, degree, settings, start)
    drawn = np.zeros(n)
    for i, v in itertools.product(range(parts.parts), range(n)):
        j = parts.part_of[parts.number[v]]
        rate = settings.learning_rate * (1 - (j - i) % parts.parts / parts.parts)
        drawn[v] -= np.round(context[v, i] / (rate * SIGMOID[len(SIGMOID) // 2]))
    for u, v in source.lists[0]:
        drawn[v] += 1
        assert u != v
    return drawn / settings.shared_negatives


@pytest.mark.quick
@pytest.mark.parametrize("shared", [1, 4])
def test_negatives_follow_the_global_noise_wherever_the_positives_fall(shared):
    random = np.random.default_rng(0)
    degree = np.append(random.integers(1, 60, 47), [0, 0, 0])
    settings = Settings(dim=16, negatives=5, learning_rate=1e-6, seed=2, shared_negatives=shared)
    parts = parts_of(degree, settings)
    assert parts.parts == 8
    # All positives of all centres lie in part 0.
    inside = parts.node[: parts.bounds[1]].tolist()
    pairs = [(u, inside[(u + k) % len(inside)]) for u in range(50) for k in range(20)]
    source = Listed([[(u, v) for u, v in pairs if u != v]])
    drawn = count_negatives(source, degree, settings)
    pairs = len(source.lists[0]) / shared
    expected = 5 * pairs * noise_mass(degree) / noise_mass(degree).sum()
    assert drawn[degree == 0].sum() == 0
    assert drawn.sum() == pytest.approx(expected.sum(), rel=0.02)
    assert oracles.chi_square_p(drawn, expected) > 1e-4


def two_cliques(size=12):
    return [(u, v) for u, v in itertools.permutations(range(2 * size), 2) if u // size == v // size]


@pytest.mark.quick
def test_parts_that_are_communities_keep_their_signal(monkeypatch):
    def communities(noise, parts, seed):
        whole = partition(noise[:12], 1, seed)
        other = partition(noise[12:], 1, seed)
        return Partition(
            np.arange(24), np.arange(24), np.array([0, 12, 24]),
            np.repeat([0, 1], 12).astype(np.int32), np.array([0.5, 0.5]),
            np.append(whole.threshold, other.threshold), np.append(whole.alias, other.alias + 12),
        )  # fmt: skip

    # The tables are by new number; with equal masses the order inside a part does not matter.
    monkeypatch.setattr(module, "partition", communities)
    settings = Settings(dim=8, epochs=60, learning_rate=0.05)
    center, context, _ = run(Listed([two_cliques()]), np.full(24, 11), settings)
    score = center @ context.T
    same = np.arange(24)[:, None] // 12 == np.arange(24) // 12
    apart = ~np.eye(24, dtype=bool)
    assert score[same & apart].min() > score[~same].max() + 1


@pytest.mark.quick
def test_rate_falls_to_nearly_nothing():
    source, degree = Listed(random_chunks(20, [100] * 10)), np.ones(20)
    moved = []

    def watch(progress, turns):
        moved.append(progress.center.copy())
        assert turns == 10

    start = random_start(20, settings := Settings(dim=8, learning_rate=0.1))
    before = start.center.copy()
    run(source, degree, settings, start, after_turn=watch)
    steps = [np.abs(b - a).sum() for a, b in itertools.pairwise([before, *moved])]
    assert steps[-1] < steps[0] / 5


@pytest.mark.quick
def test_loss_goes_down():
    losses = []
    settings = Settings(dim=8, epochs=30, learning_rate=0.1)
    run(
        Listed([two_cliques()]), np.full(24, 11), settings,
        after_turn=lambda progress, _: losses.append(progress.loss),
    )  # fmt: skip
    assert losses[0] == pytest.approx(6 * np.log(2), rel=0.01)  # one positive, five negatives
    assert losses[-1] < 0.6 * losses[0]


@pytest.mark.quick
def test_a_rate_that_would_overshoot_leaves_numbers():
    # Few nodes, many equal pairs, a huge rate: without a limit on a step this grows without end.
    graph = pg.TextGraph.from_edges(["a", "b", "c"], ["b", "c", "d"])
    model = pg.PS(dim=8, learning_rate=5.0, epochs=300, l2=0.0).fit(graph)
    assert np.abs(model.vectors_.center).max() < 100
