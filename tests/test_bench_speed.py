"""The speed bench with a fake peer: specs, runs, climbs, and the page made from records alone."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from pairgram.bench.speed import climb, plot
from pairgram.bench.speed.execute import RunError, StoppedError, Task, execute
from pairgram.bench.speed.generate import power_law
from pairgram.bench.speed.graphs import EdgeFile, edge_file, score
from pairgram.bench.speed.report import _quality_cells, write_page
from pairgram.bench.speed.run import Choice
from pairgram.bench.speed.spec import Peer, label_of, read_peers, read_spec
from pairgram.bench.speed.summary import QualityRow, middle, quality_rows, rate_rows
from pairgram.bench.store import write_record
from pairgram.cli.main import app
from pairgram.errors import FileFormatError
from speed_peers import PEER, PEERS, add_peer, bench_of, needs_checkout, write_peers


@pytest.fixture
def peers(tmp_path):
    return write_peers(tmp_path / "peers")


@pytest.fixture
def bench(peers, tmp_path):
    return bench_of(peers, tmp_path)


@needs_checkout
@pytest.mark.quick
def test_every_peer_of_the_checkout_is_understood():
    spec, peers = read_spec(PEERS), read_peers(PEERS)
    assert spec.quality.reference_peer in peers
    for peer in peers.values():
        assert (peer.folder / "runner.py").exists()
        assert (peer.folder / "requirements.txt").exists()
        assert set(peer.rates) <= set(spec.rates)
        assert len({label_of(rung) for rung in peer.ladder}) == len(peer.ladder)
    for graph in spec.quality.graphs:
        assert {"dataset", "keep", "validation"} <= set(spec.graphs[graph])


@needs_checkout
def test_all_runs_climb_and_page(bench):
    runs = bench.run()
    assert not [run for run in runs if "error" in run]
    # Walks: two runs; 3000 and 6000 steps in half a second.
    (row,) = rate_rows(bench, bench.spec.rates["walks"], "small")
    assert (row.rate.low, row.rate.middle, row.rate.high) == (6000, 9000, 12000)
    # The first rung is noise, the second as good as the reference: the third is never tried.
    rows = quality_rows(bench, "split")
    assert {(r.rule, r.label, r.reached) for r in rows} == {
        ("dot", "noise 0.05", True),
        ("context", "noise 0.05", True),
    }
    tried = [run["label"] for run in bench.store.runs("quality", "split", "fake")]
    assert tried == ["noise 9", "noise 0.05", "noise 0.05"]
    for row in rows:
        assert "compile" not in row.phases
        assert row.phases["start"] > 0
        assert sum(row.phases.values()) == pytest.approx(row.seconds.middle, abs=0.1)
    page, *charts = write_page(bench)
    text = page.read_text()
    assert "### Where the seconds go" in text
    assert "| A fake | noise 0.05 | reached |" in text
    assert "| first order | 1 | A fake |" in text
    assert [chart.suffix for chart in charts] == [".svg", ".svg"]
    for run in bench.store.runs("quality", "split", "fake"):
        assert run["whole"] <= run["wall"]
        assert run["limits"]["triad_gb_s"] > 0


@needs_checkout
def test_finished_runs_are_skipped_and_force_runs_them_again(bench):
    bench.choice = Choice(figures=["walks"])
    assert len(bench.run()) == 2
    bench.done.clear()
    assert bench.run() == []
    bench.force, bench._made = True, set()
    assert len(bench.run()) == 2
    assert len(bench.store.runs("walks", "small", "fake")) == 2


@needs_checkout
def test_a_run_stops_after_as_many_as_asked(bench):
    bench.most = 1
    assert [run["seed"] for run in bench.run()] == [0]


@needs_checkout
def test_a_ladder_cut_short_is_not_called_a_miss(bench):
    bench.choice = Choice(figures=["reference"])
    bench.run()
    bench.choice, bench.most = Choice(figures=["quality"]), len(bench.done) + 1
    bench.run()
    assert {(r.reached, r.finished) for r in quality_rows(bench, "split")} == {(False, False)}
    assert "| A fake | noise 9 | ladder not finished |" in write_page(bench)[0].read_text()


@needs_checkout
def test_a_failing_run_is_written_down_with_its_reason(bench, peers):
    (peers / "fake" / "peer.yaml").write_text(PEER.replace("{noise: 9.0}", "{fail: true}"))
    bench.peers = read_peers(peers)
    bench.choice = Choice(figures=["reference", "quality"])
    bench.run()
    first = bench.store.runs("quality", "split", "fake")[0]
    assert first["error"] == "no such thing"
    assert quality_rows(bench, "split")[0].label == "noise 0.05"


@needs_checkout
def test_vectors_without_contexts_have_no_context_rule(bench, peers):
    own = PEER.replace("base: {}", "base: {contexts: false}")
    add_peer(peers, "other", own)
    bench.peers = read_peers(peers)
    bench.choice = Choice(figures=["reference", "quality"])
    bench.run()
    rules = [row.rule for row in quality_rows(bench, "split") if row.peer.name == "other"]
    assert rules == ["dot"]


def test_a_peer_without_environment_says_why(bench, tmp_path):
    peer = bench.peers["fake"]
    absent = type(peer)(**{**vars(peer), "python": ("3.1",)})
    with pytest.raises(RunError, match="not installed"):
        bench.environments.python(absent)
    (tmp_path / "environments").mkdir()
    (tmp_path / "environments" / "fake.failed").write_text("no wheel\n")
    with pytest.raises(RunError, match="no environment: no wheel"):
        bench.environments.python(absent)


@needs_checkout
def test_again_repeats_the_rungs_that_reached_the_goal(bench):
    bench.run()
    assert not any(row.busy for row in quality_rows(bench, "split"))
    once_more = replace(bench, again=True, busy=True, done=[], _made=set())
    assert [(run["label"], run["seed"]) for run in once_more.run()] == [
        ("noise 0.05", seed) for seed in bench.spec.quality.seeds
    ]
    assert all(row.busy for row in quality_rows(bench, "split"))


@needs_checkout
def test_a_run_over_its_limit_is_stopped(bench, tmp_path):
    peer = bench.peers["fake"]
    (peer.folder / "runner.py").write_text("while True: pass\n")
    graph = EdgeFile(tmp_path / "edges.tsv", 2, 1, None)
    task = Task("whole", graph, {}, 1, 0, limit=1)
    with pytest.raises(StoppedError, match=r"over 1 processor seconds|over 8 s") as raised:
        execute(peer, bench.environments, task)
    assert 0.5 < raised.value.seconds < 60


@pytest.mark.quick
def test_climbing_by_hand():
    def run(rung, seed, **scores):
        return {"rung": rung, "seed": seed, "scores": scores, "whole": 9.0 - rung}

    goals = {"dot": 0.90, "context": 0.95}
    step = climb.next_step
    runs = [run(0, 0, dot=0.899, context=0.90)]  # near under dot: the other seed
    assert step(runs, 3, [0, 1], goals) == climb.Step(0, 1)
    runs.append(run(0, 1, dot=0.90, context=0.90))  # mean 0.8995: not reached
    assert climb.reached(runs, 3, [0, 1], "dot", 0.90) is None
    assert step(runs, 3, [0, 1], goals) == climb.Step(1, 0)
    runs += [run(1, 0, dot=0.91, context=0.92), run(1, 1, dot=0.91, context=0.92)]
    assert climb.reached(runs, 3, [0, 1], "dot", 0.90) == 1
    assert step(runs, 3, [0, 1], goals) == climb.Step(2, 0)  # for context
    runs.append({"rung": 2, "seed": 0, "error": "too long"})
    assert step(runs, 3, [0, 1], goals) is None  # best rung for context has all seeds
    assert climb.best(runs, 3, 0, "context") == 1
    assert step(runs, 4, [0, 1], goals) == climb.Step(3, 0)
    runs[-1]["stopped"] = True  # a dearer one would be stopped too
    assert step(runs, 4, [0, 1], goals) is None
    runs[:2] = [run(0, 0, dot=0.95, context=0.90), run(0, 1, dot=0.95, context=0.90)]
    assert climb.reached(runs, 3, [0, 1], "dot", 0.90) == 1  # the faster of two
    for one in runs:
        one["host"] = "old" if one["rung"] == 1 else "new"
    assert climb.reached(runs, 3, [0, 1], "dot", 0.90) == 0  # of those on the latest machine


@pytest.mark.quick
def test_the_best_rung_gets_all_seeds_when_none_reaches():
    runs = [{"rung": r, "seed": 0, "scores": {"dot": d}} for r, d in enumerate([0.5, 0.7, 0.6])]
    assert climb.next_step(runs, 3, [0, 1], {"dot": 0.9}) == climb.Step(1, 1)
    # A peer without contexts does not climb on for them.
    assert climb.next_step(runs[:2], 3, [0, 1], {"context": 0.9}) is None


@pytest.mark.quick
def test_edge_files_hold_the_training_side_alone(tmp_path):
    given = {"dataset": "planted", "keep": 0.8, "validation": 0.1}
    file = edge_file("split", given, 0, tmp_path)
    edges = {tuple(map(int, line.split())) for line in file.path.read_text().splitlines()}
    assert len(edges) == file.edges
    edges = {(min(ends), max(ends)) for ends in edges}
    assert len(edges) == file.edges
    with np.load(file.trials) as trials:
        pairs = zip(trials["center"].tolist(), trials["positive"].tolist(), strict=True)
        assert not {(min(p), max(p)) for p in pairs} & edges
    assert edge_file("split", given, 0, tmp_path) == file  # from the file this time


@pytest.mark.quick
def test_edge_files_say_nothing_by_the_order_of_nodes_and_lines(tmp_path):
    given = {"dataset": "planted", "keep": 0.8, "validation": 0.1}
    file = edge_file("split", given, 0, tmp_path)
    edges = np.loadtxt(file.path, dtype=np.int64)
    apart = np.abs(edges[:, 0] - edges[:, 1]).mean() / file.nodes
    assert apart == pytest.approx(1 / 3, abs=0.03)
    assert not np.array_equal(edges[np.lexsort(edges.T[::-1])], edges)
    with np.load(file.trials) as trials:
        near = [np.abs(trials["center"] - trials[side]) for side in ("positive", "negative")]
    assert np.mean(near[0] < near[1]) == pytest.approx(0.5, abs=0.1)


@pytest.mark.quick
def test_scores_by_hand(tmp_path):
    vectors, trials = tmp_path / "vectors.npz", tmp_path / "trials.npz"
    center = np.array([[1, 0], [3, 0], [0, 9], [2, 2]], np.float32)
    np.savez(vectors, center=center, context=-center)
    np.savez(trials, center=[0, 1], positive=[1, 3], negative=[2, 0])
    found = score(vectors, trials, 0)
    assert found == {"dot": 1.0, "cosine": 0.5, "context": 0.0}


@pytest.mark.quick
def test_power_law_is_heavy_and_capped_when_asked():
    degree = {
        most: np.bincount(np.concatenate(power_law(2000, 20_000, 2.5, most, seed=1)))
        for most in (None, 60)
    }
    assert degree[None].sum() == degree[60].sum() == 40_000
    assert degree[None].max() > 1000
    assert 30 < degree[60].max() < 100
    again = power_law(2000, 20_000, 2.5, None, seed=1)
    assert np.array_equal(np.bincount(np.concatenate(again)), degree[None])


@pytest.mark.quick
def test_charts_are_svg_with_every_row():
    import xml.etree.ElementTree as ET

    drawn = plot.bars("t <1>", [("pairgram", 1.0, "1 s"), ("b & c", 5.0, "5 s")], "pairgram")
    assert "b & c" in "".join(ET.fromstring(drawn).itertext())
    series = {"a": [(1e5, 2.0), (1e6, 30.0)], "b": [(1e5, 1.0)]}
    root = ET.fromstring(plot.lines("t", series, "x", "y"))
    assert len(root.findall("{*}circle")) == 3


@pytest.mark.quick
def test_a_spec_that_cannot_be_read_names_its_file(tmp_path):
    with pytest.raises(FileFormatError, match=r"speed\.yaml"):
        read_spec(tmp_path)
    (tmp_path / "speed.yaml").write_text("common: {}\n")
    with pytest.raises(FileFormatError, match="runs"):
        read_spec(tmp_path)


@pytest.mark.quick
def test_seconds_of_two_machines_are_not_compared():
    def row(name, seconds, host):
        peer = Peer(Path(name), name.title(), "", ("current",), (), {}, {}, ())
        return QualityRow(
            peer, "dot", "rung", True, 0.9, None, middle([seconds]), None, {}, None, True, None,
            False, False, host,
        )  # fmt: skip

    rows = [row("pairgram", 2.0, "A"), row("here", 8.0, "A"), row("there", 8.0, "B")]
    cells = [_quality_cells(one, rows) for one in rows]
    assert [one[5:7] for one in cells] == [
        ["2.00 [2.00, 2.00]", "–"], ["8.00 [8.00, 8.00]", "4.0"],
        ["8.00 [8.00, 8.00] (on B)", "–"],
    ]  # fmt: skip


@needs_checkout
def test_the_verb_writes_the_page_from_stored_records(peers, tmp_path):
    run = {
        "label": "first order", "settings": {}, "threads": 1, "seed": 0,
        "seconds": {"walk": 0.5}, "counts": {"steps": 5_000_000}, "versions": {"python": "3"},
    }  # fmt: skip
    record = {
        "figure": "walks", "graph": "small", "peer": "fake", "title": "A fake",
        "machine": {"cpu": "some cpu", "cores": 2, "system": "Linux"}, "runs": [run],
    }  # fmt: skip
    write_record(tmp_path / "out" / "speed" / "walks" / "small" / "fake.json", record)
    flags = ["--peers", str(peers), "-o", str(tmp_path / "out"), "--report-only", "--json"]
    done = CliRunner().invoke(app, ["bench", "speed", *flags])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["runs"] == 0
    page = (tmp_path / "out" / "speed.md").read_text()
    assert "| first order | 1 | A fake | 10.0 [10.0, 10.0] | – | – |" in page
    assert "some cpu" in page
    assert sys.executable not in page
