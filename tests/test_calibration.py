"""Probabilities from scores: the fit, its error, the threshold, and a model that says no."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import pairgram as pg
from cli_files import run, run_json
from pairgram.calibration import (
    Calibration,
    best_threshold,
    calibration_error,
    fit_calibration,
    platt,
    reliability,
)
from pairgram.errors import FileFormatError, InputError
from pairgram.evaluation.calibrate import calibrate, calibrate_for_use, see, suggestions
from pairgram.evaluation.reliability import reliability_svg
from pairgram.split import split_edges, split_nodes


@pytest.mark.quick
@pytest.mark.parametrize("shift", [0.0, 1e4])
def test_the_curve_is_that_of_a_logistic_regression(shift):
    rng = np.random.default_rng(0)
    scores = 3 * rng.normal(size=4000)
    labels = rng.random(4000) < 1 / (1 + np.exp(-(0.7 * scores - 1.2)))
    slope, intercept = platt(scores + shift, labels)
    expected = LogisticRegression(C=1e9).fit(scores[:, None], labels)
    assert slope == pytest.approx(expected.coef_[0, 0], rel=0.02)
    assert intercept + slope * shift == pytest.approx(expected.intercept_[0], rel=0.02)


@pytest.mark.quick
def test_scores_that_say_nothing_or_lie_give_the_base_rate():
    labels = np.arange(100) < 25
    fitted = fit_calibration("dot", -labels[:, None].astype(float), labels[:, None])
    assert fitted.slope == 0.0
    assert fitted.probability([5.0, -5.0]) == pytest.approx([0.25, 0.25])
    apart = platt(np.r_[np.zeros(50), np.ones(50)], np.arange(100) >= 50)
    assert np.isfinite(apart).all()
    with pytest.raises(InputError, match="needs suggestions that are links and some that are not"):
        platt([1.0, 2.0], [1, 1])


@pytest.mark.quick
def test_the_error_is_that_of_the_bins():
    probability = np.repeat([0.1, 0.5, 0.9], 100)
    labels = np.r_[np.arange(100) < 10, np.arange(100) < 70, np.arange(100) < 90]
    found = reliability(probability, labels, bins=3)
    assert [said for said, *_ in found] == pytest.approx([0.1, 0.5, 0.9])
    assert [seen for _, seen, _ in found] == pytest.approx([0.1, 0.7, 0.9])
    assert calibration_error(probability, labels, bins=3) == pytest.approx(0.2 / 3)


@pytest.mark.quick
def test_the_threshold_tells_lists_with_a_link_apart():
    probability = np.array([0.1, 0.2, 0.3, 0.7, 0.8])
    assert best_threshold(probability, probability > 0.5) == 0.7
    assert best_threshold(probability, np.ones(5, bool)) == 0.0
    assert best_threshold(probability, np.zeros(5, bool)) == 1.0


def clubs():
    rng = np.random.default_rng(1)
    size, clubs = 20, 6
    same = np.arange(size * clubs) // size
    source, target = np.triu_indices(size * clubs, 1)
    linked = rng.random(len(source)) < np.where(same[source] == same[target], 0.5, 0.005)
    texts = [f"club{c} member{i}" for i, c in enumerate(same.tolist())]
    return pg.TextGraph.from_edges(source[linked], target[linked], texts=texts)


@pytest.mark.parametrize("kind", ["edges", "nodes"])
def test_a_model_is_calibrated_on_validation_and_seen_on_the_test(kind):
    graph = clubs()
    split = split_edges(graph, 0.7) if kind == "edges" else split_nodes(graph, 0.2)

    def build():
        if kind == "nodes":
            return pg.TGE(dim=8, preset="best", order=1, epochs=5, patience=0, ranker=False)
        return pg.PS(dim=8, order=2, epochs=20)

    fitted = calibrate(build, split)
    lists = suggestions(build().fit(split.train), split)
    assert (np.diff(lists.scores, axis=1) <= 0).all()
    seen = see(fitted, lists)
    # The base rate alone is far worse.
    plain = Calibration(fitted.rule, 0.0, 0.0, 0.5, 1, 1)
    assert seen.ece < calibration_error(
        plain.probability(lists.scores).ravel(), lists.is_link.ravel()
    )
    assert seen.ece < 0.25
    assert 0 <= seen.called <= 1
    assert reliability_svg(seen, "a <b>").count("<circle") == len(seen.bins)


def test_a_calibrated_model_says_no_good_match(tmp_path, caplog):
    graph = clubs()
    model = pg.PS(dim=8, order=2, epochs=20).fit(graph)
    model.calibrations_ = calibrate_for_use(lambda: pg.PS(dim=8, order=2, epochs=20), graph)
    assert set(model.calibrations_) == {"node"}
    model.save(tmp_path / "model")
    loaded = pg.load(tmp_path / "model")
    assert loaded.calibrations_ == model.calibrations_
    found = loaded.suggest(node="0", k=3)
    expected = loaded.calibrations_["node"].probability([s.score for s in found])
    assert [s.probability for s in found] == pytest.approx(expected.tolist())
    assert "no good match" not in caplog.text
    other = next(rule for rule in loaded.rules_ if rule != loaded.rule_)
    assert loaded.suggest(node="0", rule=other)[0].probability is None
    strict = loaded.calibrations_["node"].to_json() | {"threshold": 1.1}
    loaded.calibrations_ = {"node": Calibration.from_json(strict)}
    loaded.suggest(node="0")
    assert "no good match" in caplog.text
    assert loaded.fit(graph).calibrations_ == {}
    path = tmp_path / "model" / "calibration.json"
    path.write_text('{"node": {"rule": "dot"}}')
    with pytest.raises(FileFormatError, match="calibration is damaged"):
        pg.load(tmp_path / "model")


def test_calibration_by_command(tmp_path):
    graph = clubs()
    edges = tmp_path / "edges.tsv"
    pairs = zip(graph.names[graph.source], graph.names[graph.target], strict=True)
    edges.write_text("".join(f"{one}\t{two}\n" for one, two in pairs))
    fast = ("--dim", 8, "--epochs", 10)
    run("fit", edges, "-o", tmp_path / "model", *fast, "--calibrate")
    (first, *_) = run_json("suggest", tmp_path / "model", "--node", "0")
    assert 0 < first["probability"] < 1
    cards = tmp_path / "cards"
    given = ("--parameters", "{ps: {dim: 8, epochs: 10}}", "--keep", 0.7, "--calibrate")
    shown = run("evaluate", edges, *given, "--cards", cards).stdout
    assert "the probabilities of suggestions are off by" in shown
    assert (cards / "ps-seed0-reliability.svg").read_text().startswith("<svg")
    assert "figures agree" in run("evaluate", "--card", cards / "ps-seed0.json").stdout
