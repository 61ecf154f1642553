"""What PS has beyond the other methods: epochs that end by themselves, shared noise."""

import numpy as np
import pytest

import pairgram as pg
from pairgram.training.text_validation import hold_back


def planted(groups=12, size=20, seed=0):
    """Groups with many links inside and few outside."""
    random = np.random.default_rng(seed)
    n = groups * size
    u, v = random.integers(0, n, (2, 40 * n))
    inside = u // size == v // size
    keep = (u != v) & (inside | (random.random(len(u)) < 0.01))
    return pg.TextGraph.from_edges(u[keep], v[keep], names=[str(k) for k in range(n)])


@pytest.mark.quick
def test_patience_ends_training_with_a_descent():
    graph = planted()
    model = pg.PS(dim=16, epochs=60, patience=2, seed=3).fit(graph)
    scores = model.stats_["validation"]
    best = int(np.argmax(scores[: len(scores) * 2 // 3]))
    assert len(scores) < 60
    assert len(scores) == best + 3 + (best + 3) // 2
    assert scores[-1] > 0.8
    assert model.stats_["updates"] == len(scores) * model.stats_["pairs"]
    assert model.graph_ is graph


@pytest.mark.quick
def test_patience_holds_links_back_and_none_does_not():
    graph = planted()
    smaller, _ = hold_back(graph, 0.05, 3)
    watched = pg.PS(dim=16, epochs=3, order=1, times=1, patience=2, seed=3).fit(graph)
    plain = pg.PS(dim=16, epochs=3, order=1, times=1, seed=3).fit(graph)
    assert watched.stats_["pairs"] == 2 * smaller.n_edges
    assert plain.stats_["pairs"] == 2 * graph.n_edges
    assert "validation" not in plain.stats_


@pytest.mark.quick
def test_watched_training_resumes_to_the_same_bits(tmp_path):
    graph = planted()
    settings = {"dim": 16, "epochs": 30, "patience": 2, "seed": 3}
    whole = pg.PS(**settings).fit(graph)

    class BreakError(Exception):
        pass

    for call in range(1, len(whole.stats_["validation"]) + 1):

        def stop(progress, turns, call=call):
            if progress.turn == call:
                raise BreakError

        with pytest.raises(BreakError):
            pg.PS(**settings).fit(graph, checkpoint=tmp_path / "state", callback=stop)
    resumed = pg.PS(**settings).fit(graph, checkpoint=tmp_path / "state")
    np.testing.assert_array_equal(resumed.vectors_.center, whole.vectors_.center)
    assert resumed.stats_["validation"] == whole.stats_["validation"]


@pytest.mark.quick
def test_default_epochs_and_l2_follow_the_graph():
    graph = planted()
    mean = 2 * graph.n_edges / graph.n_nodes
    chosen = pg.PS(dim=16).fit(graph)
    epochs = int(min(max(1000 / (3 * 2 * mean), 5), 200))
    given = pg.PS(dim=16, epochs=epochs, l2=0.15 / mean).fit(graph)
    np.testing.assert_array_equal(chosen.vectors_.center, given.vectors_.center)


@pytest.mark.quick
@pytest.mark.parametrize("shared", [1, 2, 8])
@pytest.mark.parametrize(
    "model",
    [pg.PS(dim=16), pg.DeepWalk(dim=16, length=20), pg.Node2Vec(dim=16, length=20, q=0.5)],
    ids=lambda model: model.method,
)
def test_shared_noise_finds_the_groups_too(model, shared):
    graph = planted()
    model.set_params(shared_negatives=shared, offset=True, learning_rate=0.1).fit(graph)
    score = model.vectors_.center @ model.vectors_.context.T
    same = np.arange(240)[:, None] // 20 == np.arange(240) // 20
    assert np.mean(score[same & ~np.eye(240, dtype=bool)]) > np.mean(score[~same]) + 2
