"""Bounds for ladders that fell short, and runs of several machines side by side."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pairgram.bench.speed.bound import seconds_over
from pairgram.bench.speed.execute import RunError, StoppedError, Task, execute
from pairgram.bench.speed.graphs import EdgeFile
from pairgram.bench.speed.records import key_of
from pairgram.bench.speed.report import _quality_cells, write_page
from pairgram.bench.speed.run import Choice
from pairgram.bench.speed.spec import Peer, read_peers
from pairgram.bench.speed.summary import QualityRow, middle, quality_rows, rate_rows
from pairgram.evaluation import card as cards
from speed_peers import PEER, add_peer, bench_of, needs_checkout, write_peers


@pytest.fixture
def peers(tmp_path):
    return write_peers(tmp_path / "peers")


@pytest.fixture
def bench(peers, tmp_path):
    return bench_of(peers, tmp_path)


def rung_run(rung, whole, dot=0.5, seed=0, **more):
    scores = {"scores": {"dot": dot}, "whole": whole}
    return {"rung": rung, "seed": seed, "threads": 2, "host": "A"} | scores | more


@pytest.mark.quick
def test_a_ladder_that_fell_short_bounds_what_it_needs():
    def over(runs, rungs=4, elsewhere=()):
        return seconds_over(runs, rungs, [0, 1], "dot", (0.9, 0.9), 60, elsewhere)

    cheap, dear = rung_run(0, 5.0), rung_run(1, 20.0)
    assert over([]) is None
    assert over([dear]) is None  # what comes before it was not tried
    assert over([cheap, dear]) == 20.0
    # A rung that came near on the first seed may still reach the goal; the one before may not.
    assert over([cheap, rung_run(1, 20.0, dot=0.8995)]) == 5.0
    both = [rung_run(1, 20.0, dot=0.8995), rung_run(1, 24.0, dot=0.8995, seed=1)]
    assert over([cheap, *both]) == 22.0
    assert over([cheap, rung_run(1, 20.0, dot=0.95)]) == 5.0
    # No scores under this rule, no word about it.
    assert over([rung_run(0, 5.0) | {"scores": {"context": 0.5}}]) is None
    # Seconds beside other work are too many; a failure says nothing of seconds.
    assert over([cheap, rung_run(1, 20.0, busy=True)]) == 5.0
    failure = {"rung": 1, "seed": 0, "threads": 2, "error": "no such thing"}
    assert over([cheap, failure]) == 5.0


@pytest.mark.quick
def test_a_stopped_rung_counts_until_its_limit_without_compiling():
    cheap = rung_run(0, 5.0, seconds={"compile": 4.0})
    stopped = {"rung": 1, "seed": 0, "threads": 2, "error": "over 60 s", "stopped": True}
    goals = (0.9, 0.9)
    assert seconds_over([cheap, stopped], 3, [0], "dot", goals, 60) == 26.0  # 60 / 2 - 4
    stopped["wall"] = 45.0
    assert seconds_over([cheap, stopped], 3, [0], "dot", goals, 60) == 41.0


@pytest.mark.quick
def test_no_bound_where_seconds_contradict_the_order():
    def over(runs, rungs, elsewhere=()):
        return seconds_over(runs, rungs, [0], "dot", (0.9, 0.9), 60, elsewhere)

    runs = [rung_run(0, 30.0), rung_run(1, 10.0)]
    assert over(runs, 3) is None
    assert over(runs, 2) == 30.0  # the whole ladder fell short
    runs = [rung_run(0, 5.0), rung_run(1, 20.0)]
    cheaper = [rung_run(1, 9.0), rung_run(2, 6.0)]
    assert over(runs, 3, [cheaper]) is None
    assert over(runs, 3, [[rung_run(1, 9.0), rung_run(2, 8.0)]]) == 20.0  # no more than noise
    assert over(runs, 3, [[rung_run(1, 9.0), rung_run(2, 6.0, host="B")]]) == 20.0
    assert over(runs, 2, [cheaper]) == 20.0


@pytest.mark.quick
def test_what_is_not_reached_is_shown_as_a_bound():
    def row(name, seconds, reached, over=None, host="A"):
        peer = Peer(Path(name), name.title(), "", ("current",), (), {}, {}, ())
        return QualityRow(
            peer, "dot", "rung", reached, 0.9, None, middle([seconds]), None, {}, over, False,
            None, False, False, host,
        )  # fmt: skip

    rows = [
        row("pairgram", 3.0, True), row("reached", 9.0, True), row("short", 5.0, False, 20.0),
        row("there", 5.0, False, 20.0, "B"), row("unknown", 5.0, False),
    ]  # fmt: skip
    assert [_quality_cells(one, rows)[6] for one in rows] == ["–", "3.0", "> 6.6", "–", "–"]
    # Without a time of ours there is nothing to compare with.
    rows[0] = row("pairgram", 3.0, False)
    assert {_quality_cells(one, rows)[6] for one in rows} == {"–"}


@needs_checkout
def test_a_ladder_cut_short_has_a_bound_on_the_page(bench, peers):
    for name, ladder in (
        ("pairgram", "[{noise: 0.05}]"),
        ("other", "[{noise: 9.0}, {noise: 8.0}]"),
    ):
        own = re.sub("ladder: .*", f"ladder: {ladder}", PEER).replace("A fake", name)
        add_peer(peers, name, own)
    bench.peers = read_peers(peers)
    bench.choice = Choice(["reference", "quality"])
    bench.run()
    ours, theirs = (
        [run["whole"] for run in bench.store.runs("quality", "split", name)]
        for name in ("pairgram", "other")
    )
    rows = {row.peer.name: row for row in quality_rows(bench, "split") if row.rule == "dot"}
    assert rows["pairgram"].reached
    assert rows["other"].finished
    # Noise is worth two rungs, the dearer of which bounds; the better one has two seeds.
    by_rung = bench.ladder_runs("split", bench.peers["other"], bench.rungs(bench.peers["other"]))
    middles = [np.median([r["whole"] for r in by_rung if r["rung"] == rung]) for rung in (0, 1)]
    assert len(theirs) == 3
    assert rows["other"].over == max(middles)
    text = write_page(bench)[0].read_text()
    times = int(10 * max(middles) / np.median(ours)) / 10
    assert re.search(rf"\| other \| noise \d \| not reached \|.*\| > {times:.1f} \|", text)
    assert "`>` stands where a peer has not reached it" in text


@needs_checkout
def test_runs_of_another_machine_stay_and_count_only_without_here(bench, monkeypatch):
    bench.choice = Choice(["reference", "quality", "walks"])
    bench.run()
    made, cpu = len(bench.done), cards.machine()["cpu"]
    references = len(bench.store.runs("reference", "split", "fake"))
    monkeypatch.setattr(cards, "machine", lambda: {"cpu": "other", "cores": 2, "system": "Linux"})
    assert replace(bench, done=[], _made=set()).run() == []
    there = replace(bench, here=True, done=[], _made=set())
    # All but the reference, whose scores no machine changes.
    assert len(there.run()) == made - references
    assert replace(there, done=[]).run() == []
    runs = bench.store.runs("quality", "split", "fake")
    assert {run["host"] for run in runs} == {cpu, "other"}
    assert len(runs) == 2 * len({key_of(run) for run in runs})
    # The page shows the machine where pairgram ran last. It never did: the latest.
    assert {row.host for row in quality_rows(bench, "split")} == {"other"}
    assert rate_rows(bench, bench.spec.rates["walks"], "small")[0].rate.runs == 2
    # --force starts anew here, and leaves what the other machine did.
    replace(there, force=True, done=[], _made=set()).run()
    assert len(bench.store.runs("quality", "split", "fake")) == len(runs)


@needs_checkout
def test_what_only_another_machine_knows_is_shown_as_its_own(bench, peers, monkeypatch):
    add_peer(peers, "pairgram", PEER.replace("A fake", "Ours"))
    bench.peers = read_peers(peers)
    bench.choice = Choice(["reference", "quality"])
    bench.run()
    elsewhere = cards.machine()["cpu"]
    monkeypatch.setattr(cards, "machine", lambda: {"cpu": "new", "cores": 2, "system": "Linux"})
    ours = Choice(["quality"], peers=["pairgram"])
    replace(bench, here=True, choice=ours, done=[], _made=set()).run()
    rows = {row.peer.name: row for row in quality_rows(bench, "split") if row.rule == "dot"}
    assert {name: row.host for name, row in rows.items()} == {"pairgram": "new", "fake": elsewhere}
    assert rows["fake"].reached
    cells = _quality_cells(rows["fake"], list(rows.values()))
    assert cells[5].endswith(f"(on {elsewhere})")
    assert cells[6] == "–"


@needs_checkout
def test_a_run_that_dies_was_not_stopped(bench, tmp_path):
    peer = bench.peers["fake"]
    (peer.folder / "runner.py").write_text("import os\nos.kill(os.getpid(), 9)\n")
    graph = EdgeFile(tmp_path / "edges.tsv", 2, 1, None)
    with pytest.raises(RunError, match="ended by signal 9") as raised:
        execute(peer, bench.environments, Task("whole", graph, {}, 1, 0, limit=30))
    assert not isinstance(raised.value, StoppedError)
