"""Text training by several workers: the result of one machine but for the order of sums."""

import json

import numpy as np
import pytest

import pairgram as pg
from pairgram.engine import LocalEngine
from pairgram.errors import PairgramError

pytest.importorskip("torch")

from pairgram.training import checkpoint as checkpoints
from pairgram.training import text_share
from team_processes import ProcessEngine
from text_graphs import worded

KINDS = {
    "paper": {"preset": "paper"},
    "bag with a table": {"preset": "best", "contexts": "table", "id_vectors": False},
    "bag": {"preset": "best"},
    "texts alone": {"preset": "best", "contexts": "text", "id_vectors": False, "patience": 0},
    "noise of a pair": {"preset": "best", "shared_negatives": 0},
}


class Alone(LocalEngine):
    """An engine that trains as a team of one."""

    shares_memory = False


@pytest.fixture(scope="module")
def graph():
    return worded()


def model(kind, **more):
    few = {"dim": 8, "epochs": 2, "patience": 2, "threads": 1, "ranker": False}
    return pg.TGE(**{**few, **KINDS[kind], **more})


def check_near(got, expected):
    for name in ("center", "context"):
        np.testing.assert_allclose(getattr(got, name), getattr(expected, name), atol=2e-5)


@pytest.mark.quick
@pytest.mark.parametrize("kind", KINDS)
def test_a_team_of_one_is_the_local_engine(graph, kind):
    here = model(kind).fit(graph)
    there = model(kind).fit(graph, engine=Alone(1))
    check_near(there.vectors_, here.vectors_)
    np.testing.assert_allclose(there.stats_["scores"], here.stats_["scores"], atol=0.02)
    for name in ("pairs", "updates", "passes", "epochs"):
        assert there.stats_[name] == here.stats_[name]
    check_near_texts(there, here)


def test_rankers_fitted_after_a_team_rank_as_those_of_the_local_engine(graph):
    here = model("bag", ranker=True).fit(graph)
    there = model("bag", ranker=True).fit(graph, engine=Alone(1))
    assert here.rule_ == there.rule_
    assert here.ranking_.notes.queries == there.ranking_.notes.queries
    for a, b in zip(here.suggest("w1 w2 w3", k=5), there.suggest("w1 w2 w3", k=5), strict=True):
        assert a.node == b.node
        assert a.score == pytest.approx(b.score, abs=1e-3)


@pytest.mark.quick
@pytest.mark.parametrize("kind", ["paper", "bag"])
def test_a_callback_that_raises_leaves_a_state_to_go_on_from(graph, kind, tmp_path, monkeypatch):
    monkeypatch.setattr(text_share, "TELL_SECONDS", 0.0)
    file, seen = tmp_path / "state", []
    expected = model(kind).fit(graph, engine=Alone(1)).vectors_

    def stop(progress, turns):
        seen.append((progress.turn, turns))
        if progress.turn == 7:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model(kind).fit(graph, file, stop, Alone(1))
    assert [turn for turn, _ in seen] == list(range(8))
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "state.000000008-0000",
        "state.latest",
    ]
    got = model(kind).fit(graph, file, engine=Alone(1)).vectors_
    np.testing.assert_array_equal(got.center, expected.center)
    np.testing.assert_array_equal(got.context, expected.context)


@pytest.mark.quick
def test_a_missing_shard_is_said(graph, tmp_path):
    file = tmp_path / "state"
    model("bag").fit(graph, file, engine=Alone(1))
    next(tmp_path.glob("state.0*")).unlink()
    with pytest.raises(PairgramError, match=r"state\.0\d+-0000: is missing; remove the other"):
        model("bag").fit(graph, file, engine=Alone(1))


def check_near_texts(there, here):
    texts = ["w1 w2 w3", "something new", ""]
    np.testing.assert_allclose(there.embed(texts), here.embed(texts), atol=2e-5)


# Of 16 centres not all have as many; of two one has none.
@pytest.mark.parametrize(("kind", "batch"), [("paper", 16), ("bag", 2), ("noise of a pair", 16)])
def test_a_team_of_three_is_the_local_engine(graph, kind, batch, tmp_path):
    more = {"batch_size": batch, "patience": 0, "epochs": 1}
    here = model(kind, **more).fit(graph)
    there = model(kind, **more).fit(graph, engine=ProcessEngine(3, tmp_path))
    check_near(there.vectors_, here.vectors_)
    check_near_texts(there, here)


def test_a_team_stops_when_the_local_engine_does(graph, tmp_path):
    here = model("bag", epochs=6, patience=1).fit(graph)
    there = model("bag", epochs=6, patience=1).fit(graph, engine=ProcessEngine(2, tmp_path))
    np.testing.assert_allclose(there.stats_["scores"], here.stats_["scores"], atol=0.02)
    assert there.stats_["epochs"] == here.stats_["epochs"] < 6
    check_near(there.vectors_, here.vectors_)


def test_a_team_goes_on_from_its_shards_to_the_same_bits(graph, tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoints, "EVERY_SECONDS", 0.0)
    file = tmp_path / "state"
    expected = model("bag").fit(graph, engine=ProcessEngine(2, tmp_path)).vectors_
    with pytest.raises(KeyboardInterrupt):
        model("bag").fit(graph, file, engine=ProcessEngine(2, tmp_path, last=9))
    assert json.loads((tmp_path / "state.latest").read_text())["turn"] == 10
    got = model("bag").fit(graph, file, engine=ProcessEngine(2, tmp_path)).vectors_
    np.testing.assert_array_equal(got.center, expected.center)
    np.testing.assert_array_equal(got.context, expected.context)
    with pytest.raises(PairgramError, match="other parameters, data or number of workers"):
        model("bag").fit(graph, file, engine=ProcessEngine(3, tmp_path))
