"""What PS has beyond the other methods: epochs that end by themselves, shared noise."""

import numpy as np
import pytest

import pairgram as pg
from pairgram.bench.speed.generate import power_law
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


def area(scores, same):
    """Chance that a pair of one group scores higher than a pair of two."""
    inside, outside = scores[same], scores[~same]
    return np.mean(inside[:, None] > outside[None, :])


@pytest.mark.quick
def test_one_table_makes_dot_what_is_trained():
    graph = planted()
    same = np.arange(240)[:, None] // 20 == np.arange(240) // 20
    upper = np.triu_indices(240, 1)
    found = {}
    for tables in (1, 2):
        model = pg.PS(16, order=1, times=1, epochs=4, learning_rate=0.3, seed=3, tables=tables)
        model.fit(graph)
        center, context = model.vectors_.center, model.vectors_.context
        assert np.array_equal(center, context) == (tables == 1)
        found[tables] = area((center @ center.T)[upper][::7], same[upper][::7])
    assert found[1] > 0.97
    assert found[1] > found[2] + 0.05


@pytest.mark.quick
def test_one_table_has_the_same_bits_on_any_engine_and_goes_on(monkeypatch):
    monkeypatch.setattr("pairgram.engine.local.available_threads", lambda: 8)
    graph = planted()
    settings = {"dim": 16, "epochs": 2, "tables": 1, "noise_power": 0.0, "seed": 3}
    expected = pg.PS(**settings, threads=1).fit(graph)
    other = pg.PS(**settings, threads=8).fit(graph)
    np.testing.assert_array_equal(other.vectors_.center, expected.vectors_.center)
    before = expected.vectors_.center.copy()
    expected.partial_fit([("0", "1"), ("5", "9")], epochs=1)
    assert np.array_equal(expected.vectors_.center, expected.vectors_.context)
    assert not np.array_equal(expected.vectors_.center, before)


@pytest.mark.quick
def test_even_noise_leaves_the_weight_of_degree_in_the_product():
    # A few nodes are linked to all groups alike: only their degree sets them apart.
    random = np.random.default_rng(0)
    base = planted()
    hubs, ends = random.integers(0, 6, 900), random.integers(6, 240, 900)
    u, v = np.append(base.source, hubs), np.append(base.target, ends)
    graph = pg.TextGraph.from_edges(u, v, names=[str(k) for k in range(240)])
    gap = {}
    for power in (0.0, 0.75):
        model = pg.PS(16, order=1, epochs=50, l2=0.01, seed=3, noise_power=power).fit(graph)
        scores = model.vectors_.center @ model.vectors_.context.T
        gap[power] = scores[120:, :6].mean() - scores[120:, 6:100].mean()
        spread = np.ptp(model._prior())
        assert spread == pytest.approx(power * np.ptp(np.log(graph.degree)), abs=1e-5)
    # The product estimates log P(v|u) less the log of the noise, which is what differs.
    ratio = graph.degree[:6].mean() / graph.degree[6:].mean()
    assert gap[0.0] - gap[0.75] == pytest.approx(0.75 * np.log(ratio), abs=0.5)


@pytest.mark.quick
@pytest.mark.parametrize(
    ("given", "message"),
    [({"directed": True}, "must be 2 with directed=True"), ({"self_pairs": 0.1}, "with tables=1")],
)
def test_one_table_takes_no_direction_and_no_self_pairs(given, message):
    with pytest.raises(pg.PairgramError, match=message) as caught:
        pg.PS(tables=1, **given).fit(planted())
    assert "\n" not in str(caught.value)


@pytest.mark.quick
def test_patience_judges_by_the_rule_of_the_noise():
    graph = pg.TextGraph.from_edges(*power_law(300, 1500, 2.5, None, seed=0))
    trials = {p: pg.PS(noise_power=p, patience=2)._hold_back(graph)[1] for p in (0.0, 0.75)}
    assert np.ptp(trials[0.0].log_noise) == 0
    assert np.ptp(trials[0.75].log_noise) > 1
