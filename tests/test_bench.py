"""The bench: specs, counts, cells, tuning and pages made from cards alone."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from pairgram import params
from pairgram.bench import tune
from pairgram.bench.build import build
from pairgram.bench.claims import claims_page
from pairgram.bench.counting import count_pairs, count_window_pairs, pairs_of_walks
from pairgram.bench.figures import lines_of, missing_cells, spread
from pairgram.bench.goals import verdicts
from pairgram.bench.graphs import absent, planted_graph
from pairgram.bench.jobs import Job, JobError, execute
from pairgram.bench.measure import cut, peak_memory
from pairgram.bench.plots import write_figure
from pairgram.bench.report import write_pages
from pairgram.bench.report_ratios import ratio_by_formula
from pairgram.bench.run import Cell, SavedModels, Selection, cells, is_finished, job_of, run_cells
from pairgram.bench.spec import COUNTS, FLOORS, Method, load_table, read_table, table_names
from pairgram.bench.store import Store, read_record, write_record
from pairgram.cli.main import app
from pairgram.errors import FileFormatError, InputError
from pairgram.evaluation import evaluate
from pairgram.graph import TextGraph
from pairgram.models import METHODS
from pairgram.sampling import iter_walks, sample_pairs, window_pairs
from pairgram.split import split_nodes

TABLES = [load_table(name, quick) for name in table_names() for quick in (False, True)]
JOB = Job(
    "ratios", "ratios", "planted@50", "planted", 0.5, "ps", 0, {"order": 2, "times": 1}, "spec", ""
)


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "results")


def card(table, row, method, seed, **figures):
    """A card of a links table with chosen figures, the same under every protocol."""
    chosen = {"auc_lr": 0.9, "dot": 0.9, "symmetric": 0.95, "degree": 0.7, "pairs": 100} | figures
    block = {
        "rule": "symmetric",
        "metrics": {
            "auc_lr": chosen["auc_lr"],
            "auc_pair/symmetric": chosen["symmetric"],
            "auc_pair/dot": chosen["dot"],
        },
        "floors": {"degree": {"auc_pair": chosen["degree"]}},
    }
    parameters = build(method, dict(table.rows[row].parameters[method]), seed).get_params()
    return {
        "parameters": parameters | figures.get("parameters", {}),
        "origin": "spec",
        "pairs": chosen["pairs"],
        "updates": 10 * chosen["pairs"],
        "seconds": {"fit": 1.0, "sample": 0.25, "train": 0.75},
        "peak_memory": {"fit": 200_000_000},
        "protocols": dict.fromkeys(table.protocols, block),
        "threads": 2,
        "versions": {"python": "3"},
        "machine": {"cpu": "some cpu", "cores": 2, "system": "Linux"},
    }


def fill(table, store, row, **by_method):
    for method, figures in by_method.items():
        for seed in table.rows[row].seeds:
            path = store.card(table.name, row, method, seed)
            write_record(path, card(table, row, method, seed, **figures))


@pytest.mark.quick
def test_every_method_has_a_bench_entry():
    listed = {method.model for table in TABLES for method in table.methods.values()}
    assert set(METHODS) <= listed


@pytest.mark.quick
@pytest.mark.parametrize("table", TABLES, ids=lambda table: f"{table.name}-{len(table.rows)}")
def test_the_methods_of_a_spec_take_its_parameters(table):
    for row in table.rows.values():
        for method, entry in table.methods.items():
            if entry.absent or entry.model in (FLOORS, COUNTS) or entry.table:
                continue
            trials = (row.tuning and row.tuning.trials[method]) or [{}]
            for trial in trials:
                model = build(entry.model, {**row.parameters[method], **trial}, seed=0)
                params.check(method, model.constraints, model.get_params())
                assert row.missing or row.before or 0 < (row.keep or row.hold_out) <= 1


@pytest.mark.quick
def test_settings_of_the_ratios_give_the_published_ones():
    rows = load_table("ratios").rows
    for row in rows.values():
        r = ratio_by_formula(row, row.published["mean_degree"])
        assert abs(r - row.published["r"]) < 0.00501, row.name
    product = {
        n: r.parameters["ps"]["order"] * r.parameters["ps"]["times"] for n, r in rows.items()
    }
    assert product == {
        "cora@50": 18, "cora@100": 24, "facebook@50": 2, "zhihu@50": 1, "astroph@50": 8,
        "hepth@50": 6, "snomed@20": 9, "openmed@69": 9,
    }  # fmt: skip


@pytest.mark.quick
def test_the_stand_in_shows_the_figures_of_the_licensed_row():
    for name in ("ratios", "rw_vs_ps"):
        rows = load_table(name).rows
        assert rows["openmed@69"].published == rows["snomed@20"].published
        assert "licensed" in rows["snomed@20"].missing


@pytest.mark.quick
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("kind: odd", "kind must be one of links, zero_shot, ratios, counts. Got 'odd'"),
        ("colour: red", "the table has unknown entries: colour"),
        ("rows: {a: {}}", "row a lacks keep"),
        ("rows: {a: {keep: 0.5, stands_in_for: b}}", "row a stands in for 'b', which is no row"),
        ("parameters: {odd: {}}", "row a has parameters of 'odd', which is no method here"),
        ("seeds: [7]", r"row a is tuned on seeds of the table: \[7\]"),
        (
            "tuning: {seeds: [7], share: 0.1, seconds: 9, trials: {ps: [{}], line: [{}, {}]}}",
            "must give every method as many trials. Got ps 1, line 2",
        ),
        ("rows: [", "line [0-9]+: not YAML"),
    ],
)
def test_broken_specs_are_named(tmp_path, change, message):
    lines = {
        "kind": "kind: links",
        "title": "title: T",
        "seeds": "seeds: [0]",
        "methods": "methods: {ps: PS, line: LINE}",
        "rows": "rows: {a: {keep: 0.5}}",
        "tuning": "tuning: {seeds: [7], share: 0.1, seconds: 9, trials: {ps: [{}], line: [{}]}}",
    }
    path = tmp_path / "t.yaml"
    path.write_text("\n".join(lines.values()) + "\n")
    assert list(read_table(path).rows) == ["a"]
    lines.pop(change.partition(":")[0], None)
    path.write_text("\n".join([*lines.values(), change]) + "\n")
    with pytest.raises(FileFormatError, match=message):
        read_table(path)


@pytest.mark.quick
def test_pairs_of_walks_are_those_of_the_window():
    for window in (1, 2, 5, 9):
        for length in range(1, 9):
            walk = np.full((1, 8), -1, np.int32)
            walk[0, :length] = np.arange(length)
            counted = pairs_of_walks(np.array([length]), window)[0]
            assert counted == len(window_pairs(walk, window, 8)[0])


@pytest.mark.quick
def test_samples_are_counted_as_they_are_drawn():
    graph = planted_graph(communities=2, size=10)
    alone = [*graph.names.tolist(), "alone"]
    graph = TextGraph.from_edges(graph.source, graph.target, names=alone)
    pairs = replace(JOB, seed=3, parameters={"order": 3, "times": 2})
    assert count_pairs(graph, pairs) == len(sample_pairs(graph, order=3, times=2, seed=3))
    walks = replace(JOB, seed=3, parameters={"length": 12, "times": 2, "window": 4})
    drawn = np.concatenate(list(iter_walks(graph, 12, 2, seed=3)))
    assert count_window_pairs(graph, walks) == len(window_pairs(drawn, 4, graph.n_nodes)[0])
    assert count_window_pairs(graph, walks) == (2 * 12 - 4 - 1) * 4 * 2 * 20


@pytest.mark.quick
def test_spread():
    assert spread([None]) is None
    assert str(spread([0.25])) == "0.2500"
    assert str(spread([0.1, 0.2, 0.3])) == "0.2000 ± 0.1000"


@pytest.mark.quick
def test_goals_are_judged_by_the_cards(store):
    table = load_table("rw_vs_ps")
    near = {"auc_lr": 0.925, "dot": 0.93, "symmetric": 0.951, "pairs": 100}
    fill(table, store, "cora@50", node2vec=near | {"dot": 0.934, "pairs": 2000}, ps=near)
    fill(table, store, "zhihu@50", node2vec=near | {"pairs": 1999}, ps=near | {"dot": 0.92})
    fill(table, store, "zhihu@50", deepwalk={"degree": 0.96})
    lines = lines_of(table, store)
    cora = {v.goal: v for v in verdicts(table, lines, table.rows["cora@50"])}
    zhihu = {v.goal: v for v in verdicts(table, lines, table.rows["zhihu@50"])}
    quality, pairs = (
        "PS within 0.005 of RW (node2vec), `seen`",
        "PS with at most 1/20 of the pairs of RW (node2vec)",
    )
    floor = "not under the degree floor with its own rule, `all`"
    published = "PS at or above the published row, `seen`"
    assert (cora[quality].met, zhihu[quality].met) == (True, False)
    assert zhihu[quality].words.startswith("fails in AUC_pair: AUC_LR 0.9250 against 0.9250")
    assert (cora[pairs].met, zhihu[pairs].met) == (True, False)
    assert (cora[floor].met, zhihu[floor].met) == (True, False)
    assert (cora[published].met, zhihu[published].met) == (False, True)
    assert "0.9510 ('symmetric') with its own rule" in cora[published].words
    assert list(verdicts(table, lines, table.rows["hepth@50"])) == []


@pytest.mark.quick
@pytest.mark.parametrize(("dot", "met"), [(0.92, False), (0.94, True)])
def test_a_published_row_may_have_one_figure(store, dot, met):
    table = load_table("cane_protocol")
    figures = {"auc_lr": 0.5, "dot": dot, "pairs": 1}
    fill(table, store, "cora@55", cane=figures)
    row = table.rows["cora@55"]
    (found,) = (v for v in verdicts(table, lines_of(table, store), row) if "published" in v.goal)
    assert found.met is met
    assert found.words.startswith(f"AUC_pair {dot:.4f} against 0.9340")


@pytest.mark.quick
def test_pages_come_from_cards_and_name_what_is_missing(store):
    table = load_table("rw_vs_ps")
    fill(table, store, "cora@50", node2vec={"pairs": 2500}, ps={})
    changed = card(table, "cora@50", "ps", 4, auc_lr=0.8, parameters={"order": 2})
    write_record(store.card(table.name, "cora@50", "ps", 4), changed)
    write_record(store.failure(table.name, "cora@50", "deepwalk", 1), {"reason": "no memory"})
    page = write_pages([table], store)[0].read_text()
    row = "| cora@50 | PS | 0.9272 | 0.9394 | 0.8800 ± 0.0447 | 0.9000 ± 0.0000 | – | 0.9500"
    assert row in page
    assert (
        "| cora@50 | RW (node2vec) | 2,500 | 25.0 | 25,000 | – | 0.25 | 0.75 | 1.00 | 200 |" in page
    )
    assert "- cora@50 (deepwalk seeds 1): failed: no memory" in page
    assert "- cora@50 (deepwalk seeds 0, 2, 3, 4): not run yet" in page
    assert "- cora@50, PS: the seeds have 2 different settings" in page
    assert "SNOMED CT is licensed" in page
    assert "0.9402 (snomed@20)" in page
    absent_cells = missing_cells(table, store)
    assert absent_cells["facebook@50", "not run yet"]["ps"] == [0, 1, 2, 3, 4]
    index = store.page("README").read_text()
    assert "| 10 of 90 | `pairgram bench paper --tables rw_vs_ps` |" in index


@pytest.mark.quick
def test_a_card_of_other_parameters_is_not_finished(store):
    table = load_table("rw_vs_ps")
    cell = Cell(table, table.rows["cora@50"], "ps", 0)
    assert not is_finished(cell, job_of(cell, store), store)
    fill(table, store, "cora@50", ps={})
    assert is_finished(cell, job_of(cell, store), store)
    write_record(store.tuning("cora@50", "ps"), {"chosen": {"epochs": 3}})
    job = job_of(cell, store)
    assert (job.origin, job.parameters["epochs"], job.parameters["order"]) == ("tuning", 3, 3)
    assert not is_finished(cell, job, store)


@pytest.mark.quick
def test_a_parameter_younger_than_a_card_counts_with_its_default(store):
    table = load_table("rw_vs_ps")
    fill(table, store, "cora@50", ps={})
    path = store.card(table.name, "cora@50", "ps", 0)
    cell = Cell(table, table.rows["cora@50"], "ps", 0)
    record = read_record(path)
    del record["parameters"]["shared_negatives"], record["format"]
    write_record(path, record)
    assert is_finished(cell, job_of(cell, store), store)
    assert lines_of(table, store)["cora@50", "ps"].variants == 1
    record["parameters"]["shared_negatives"] = 4
    write_record(path, record)
    assert not is_finished(cell, job_of(cell, store), store)
    assert lines_of(table, store)["cora@50", "ps"].variants == 2


@pytest.mark.quick
def test_a_method_may_have_fewer_seeds_than_its_row(tmp_path, store):
    path = tmp_path / "small.yaml"
    path.write_text(
        "kind: links\ntitle: T\nprotocols: [seen]\nseeds: [0, 1, 2]\n"
        "methods: {ps: PS, line: LINE}\nfewer_seeds: {line: [0, 1]}\n"
        "reasons: {line: too slow}\nrows:\n  cora@50: {keep: 0.5}\n"
        "  hepth@50: {keep: 0.5, fewer_seeds: {line: [2]}}\n"
    )
    table = read_table(path)
    found = {(cell.row.name, cell.method, cell.seed) for cell in cells([table], Selection())}
    assert {seed for row, method, seed in found if (row, method) == ("cora@50", "line")} == {0, 1}
    assert {seed for row, method, seed in found if (row, method) == ("hepth@50", "line")} == {2}
    assert {seed for row, method, seed in found if method == "ps"} == {0, 1, 2}
    missing = missing_cells(table, store)
    assert missing["cora@50", "not run yet"] == {"ps": [0, 1, 2]}
    assert missing["cora@50", "too slow"] == {"line": [0, 1]}
    for text, words in (
        ("{odd: [0]}", "row cora@50 has fewer_seeds of 'odd', which is no method here"),
        ("{line: [7]}", r"row cora@50 has none of the seeds \[7\] of line"),
    ):
        path.write_text(path.read_text().replace("{line: [0, 1]}", text))
        with pytest.raises(FileFormatError, match=words):
            read_table(path)
        path.write_text(path.read_text().replace(text, "{line: [0, 1]}"))


@pytest.mark.quick
def test_unknown_names_are_refused():
    with pytest.raises(InputError, match="no table 'odd'; known are cane_protocol, datasets"):
        load_table("odd")
    for selection, name in [(Selection({"odd"}), "dataset"), (Selection(None, {"odd"}), "method")]:
        with pytest.raises(InputError, match=f"No table has the {name} 'odd'"):
            selection.check(TABLES)
    assert Selection({"cora"}).takes_row(load_table("ratios").rows["cora@100"])
    assert not Selection({"cora@50"}).takes_row(load_table("ratios").rows["cora@100"])


@pytest.mark.quick
def test_a_dataset_that_is_not_here_fails_its_cells_with_the_reason(store, monkeypatch, tmp_path):
    monkeypatch.delenv("PAIRGRAM_DATA", raising=False)
    monkeypatch.setenv("PAIRGRAM_CACHE", str(tmp_path / "empty"))
    assert absent("planted") is None
    table = load_table("ratios")
    outcome = run_cells([table], store, Selection({"zhihu", "snomed"}, {"ps"}, {0}))
    assert list(outcome.not_run) == ["ratios snomed@20 ps seed 0"]
    reason = outcome.failed["ratios zhihu@50 ps seed 0"]
    assert "files are not here: get them from https://" in reason
    assert missing_cells(table, store)["zhihu@50", f"failed: {reason}"] == {"ps": [0]}


@pytest.mark.quick
def test_trials_see_no_test_link():
    graph = planted_graph()
    test = cut(graph, replace(JOB, seed=100))
    trial = cut(graph, replace(JOB, seed=100, validation=0.1))
    assert trial.full.fingerprint == test.train.fingerprint
    tested, validated = ({*map(tuple, split.held_out.tolist())} for split in (test, trial))
    assert len(validated) == round(0.1 * test.train.n_edges)
    assert tested.isdisjoint(validated)


class FakeTrials:
    """Stands for the processes of trials: the score is the learning rate."""

    def __init__(self):
        self.jobs = []

    def __call__(self, job, seconds):
        self.jobs.append(job)
        rate = job.parameters["learning_rate"]
        if rate > 0.04:
            raise JobError("stopped at the limit")
        figures = {"auc_lr": rate / 2, "auc_pair/dot": rate, "auc_pair/symmetric": 1.5 * rate}
        record = {
            "protocols": {"seen": {"metrics": figures}},
            "pairs": 5, "updates": 9, "seconds": {"fit": 0.1},
        }  # fmt: skip
        write_record(Path(job.record), record)


@pytest.mark.quick
def test_tuning_keeps_every_trial_and_resumes(store, monkeypatch):
    fake = FakeTrials()
    monkeypatch.setattr(tune, "execute", fake)
    table = load_table("rw_vs_ps", quick=True)
    row = table.rows["planted@50"]
    listed = [{"learning_rate": rate} for rate in (0.01, 0.03, 0.05)]
    budget = replace(row.tuning, seeds=(100, 101), trials=dict.fromkeys(table.methods, listed))
    table = replace(table, rows={row.name: replace(row, tuning=budget)})
    tune.tune_tables([table], store, Selection(methods={"ps"}))
    record = read_record(store.tuning(row.name, "ps"))
    assert record["chosen"] == {"learning_rate": 0.03, "rule": "symmetric"}
    assert record["best"] == pytest.approx(0.03)
    scores = [trial["score"] for trial in record["trials"]]
    assert scores == [pytest.approx(0.01), pytest.approx(0.03), None]
    assert record["trials"][2]["reason"] == "stopped at the limit"
    assert {(job.seed, job.validation, *job.protocols) for job in fake.jobs} == {
        (100, 0.1, "seen"), (101, 0.1, "seen")
    }  # fmt: skip
    began = len(fake.jobs)
    tune.tune_tables([table], store, Selection(methods={"ps"}))
    assert [job.parameters["learning_rate"] for job in fake.jobs[began:]] == [0.05]


@pytest.mark.quick
def test_tuning_keeps_its_limit(store, monkeypatch):
    fake = FakeTrials()
    monkeypatch.setattr(tune, "execute", fake)
    table = load_table("rw_vs_ps", quick=True)
    row = table.rows["planted@50"]
    none_left = replace(row, tuning=replace(row.tuning, seconds=0.0))
    tune.tune_tables([replace(table, rows={row.name: none_left})], store)
    record = read_record(store.tuning(row.name, "ps"))
    assert fake.jobs == []
    assert record["chosen"] is None
    assert {trial["reason"] for trial in record["trials"]} == {tune.NOT_STARTED}


@pytest.mark.quick
def test_a_process_that_fails_says_why(tmp_path):
    job = replace(JOB, record=str(tmp_path / "card.json"), method="line")
    with pytest.raises(JobError, match="Samples are counted for ps, node2vec, deepwalk"):
        execute(job)
    with pytest.raises(JobError, match="stopped at the limit of 0 seconds"):
        execute(job, seconds=0.01)


@pytest.mark.quick
def test_broken_records_are_named(tmp_path):
    path = tmp_path / "card.json"
    assert read_record(path) is None
    for text, word in [("{\n oops", "line 2: not JSON"), ("{}", "not a record of format 1")]:
        path.write_text(text)
        with pytest.raises(FileFormatError, match=word):
            read_record(path)
    assert peak_memory() > 10**7


def test_cells_run_once_and_fill_the_pages(store):
    tables = [load_table("ratios", quick=True), load_table("rw_vs_ps", quick=True)]
    tables[1] = replace(tables[1], methods={"ps": Method("PS", "ps")}, goals=None)
    chosen = Selection(seeds={0})
    outcome = run_cells(tables, store, chosen)
    assert (len(outcome.done), outcome.failed) == (3, {})
    again = run_cells(tables, store, chosen)
    assert (again.done, again.kept) == ([], outcome.done)

    found = read_record(store.card("rw_vs_ps", "planted@50", "ps", 0))
    assert (found["origin"], found["parameters"]["order"], found["split"]["seed"]) == ("spec", 2, 0)
    assert set(found["protocols"]) == {"seen", "all"}
    seen = found["protocols"]["seen"]
    assert seen["metrics"]["auc_pair/dot"] > 0.8 > seen["floors"]["degree"]["auc_pair"]
    assert found["updates"] == found["pairs"] * found["parameters"]["epochs"]
    assert {"load", "split", "compile", "fit", "sample", "train"} <= set(found["seconds"])
    assert found["peak_memory"]["fit"] >= found["peak_memory"]["before_fit"] > 10**7

    counts = {
        method: read_record(store.card("ratios", "planted@50", method, 0))
        for method in ("ps", "node2vec")
    }
    assert counts["ps"]["split"] == counts["node2vec"]["split"]
    ratio = counts["node2vec"]["pairs"] / counts["ps"]["pairs"]
    pages = {path.stem: path.read_text() for path in write_pages(tables, store, quick=True)}
    assert f"| {ratio:.2f} |" in pages["ratios"]
    assert f"{seen['metrics']['auc_lr']:.4f}" in pages["rw_vs_ps"]
    assert "planted@50 (ps seeds 1): not run yet" in pages["rw_vs_ps"]


def test_command_line(tmp_path):
    call = ["bench", "paper", "--quick", "-o", str(tmp_path), "--tables", "ratios", "--json"]
    ran = CliRunner().invoke(app, [*call, "--methods", "ps"])
    assert ran.exit_code == 0, ran.output
    said = json.loads(ran.stdout)
    assert said["done"] == ["ratios planted@50 ps seed 0"]
    assert all(Path(page).is_file() for page in said["pages"])
    ran = CliRunner().invoke(app, [*call, "--report-only"])
    assert (ran.exit_code, json.loads(ran.stdout)["done"]) == (0, [])
    for flags, message, code in [
        (["--seeds", "x"], "--seeds must be whole numbers", 2),
        (["--datasets", "odd"], "No table has the dataset 'odd'", 1),
        (["--tables", "odd"], "There is no table 'odd'", 1),
    ]:
        ran = CliRunner().invoke(app, [*call, *flags])
        assert ran.exit_code == code
        assert message in ran.stderr


def test_tuning_by_command(tmp_path):
    call = ["bench", "tune", "--quick", "-o", str(tmp_path), "--methods", "ps", "--json"]
    ran = CliRunner().invoke(app, call)
    assert ran.exit_code == 0, ran.output
    ((path, record),) = json.loads(ran.stdout).items()
    assert path.endswith("planted@50-ps.json")
    assert len(record["trials"]) == record["planned"] == 2
    assert record["best"] == max(trial["score"] for trial in record["trials"]) > 0.7
    assert record["seconds"] < record["limit_seconds"]


def test_a_model_fitted_elsewhere_is_scored_and_its_parameters_are_checked(store, tmp_path):
    table = load_table("zero_shot", quick=True)
    row = table.rows["planted@10"]
    split = split_nodes(planted_graph(), row.hold_out, seed=0)
    model = build("tge", dict(row.parameters["tge_best"]), seed=0).fit(split.train)
    model.stats_["device"] = "some card"
    models = SavedModels(tmp_path / "models", only=True)
    folder = models.root / "zero_shot" / "planted@10" / "tge_best-seed0"
    model.save(folder)
    outcome = run_cells([table], store, models=models)
    assert outcome.done == ["zero_shot planted@10 tge_best seed 0"]
    assert "no saved model" in outcome.not_run["zero_shot planted@10 floors seed 0"]
    found = read_record(store.card("zero_shot", "planted@10", "tge_best", 0))
    assert found["fit"]["device"] == "some card"
    assert (found["fit"]["here"], found["fit"]["passes"]) == (False, model.stats_["passes"])
    assert found["pairs"] == model.stats_["pairs"]
    block = found["protocols"]["zero-shot"]
    here = evaluate(model, split, seed=0)
    assert block["metrics"] == here.card.metrics
    assert block["floors"] == here.card.floors
    page = write_pages([table], store, quick=True)[0].read_text()
    assert f"| {here['mrr']:.4f} |" in page
    assert "some card" in page

    model.set_params(epochs=4).save(folder)
    again = run_cells([table], store, models=models, force=True)
    (reason,) = again.failed.values()
    assert "fitted with other parameters than the spec's: epochs 4 (spec 3)" in reason
    model.set_params(epochs=3, seed=1).fit(split_nodes(planted_graph(), 0.1, seed=1).train)
    model.set_params(seed=0).save(folder)
    again = run_cells([table], store, models=models, force=True)
    (reason,) = again.failed.values()
    assert "TGE was fitted on another graph than the split's training side" in reason


def test_floors_are_a_method_of_their_own(store):
    tables = [load_table(name, quick=True) for name in ("zero_shot", "link_prediction")]
    outcome = run_cells(tables, store, Selection(methods={"floors"}))
    assert (len(outcome.done), outcome.failed) == (2, {})
    found = read_record(store.card("zero_shot", "planted@10", "floors", 0))
    floors = found["protocols"]["zero-shot"]["floors"]
    assert {"degree", "tfidf", "bm25", "vote", "vote+bm25"} <= set(floors)
    pages = {path.stem: path.read_text() for path in write_pages(tables, store, quick=True)}
    assert f"| {floors['bm25']['mrr']:.4f} |" in pages["zero_shot"]
    links = read_record(store.card("link_prediction", "planted@50", "floors", 0))
    seen = links["protocols"]["seen"]["floors"]
    assert f"| {seen['bm25']['mrr']:.4f} |" in pages["link_prediction"]


@pytest.mark.quick
def test_claims_are_judged_by_the_cards(store):
    tables = [load_table(name) for name in table_names()]
    page = claims_page(tables, store)
    assert page.count("**Not measured yet.**") == 7
    small = claims_page([load_table(name, quick=True) for name in table_names()], store)
    assert small.count("**Not measured yet.**") == 7
    table = next(table for table in tables if table.name == "rw_vs_ps")
    fill(table, store, "cora@50", node2vec={"auc_lr": 0.90}, ps={"auc_lr": 0.897})
    fill(table, store, "zhihu@50", node2vec={"auc_lr": 0.90}, ps={"auc_lr": 0.89})
    links = next(table for table in tables if table.name == "link_prediction")
    text = card(table, "cora@50", "ps", 0, auc_lr=0.95, symmetric=0.96)
    write_record(store.card(links.name, "cora@50", "tge", 0), text)
    page = claims_page(tables, store)
    assert "**Holds in part: in 1 of 2 comparisons.**" in page
    assert "- zhihu@50: no; AUC_LR 0.8900 (PS) against 0.9000 (random walks), -0.0100" in page
    assert "- cora@50: yes; AUC_LR 0.9500 (TGE-PS) against 0.8970 (PS), +0.0530" in page


@pytest.mark.quick
def test_figures_show_published_and_measured_values(store):
    from xml.etree import ElementTree

    table = load_table("rw_vs_ps")
    assert write_figure(table, store) is None
    fill(table, store, "cora@50", ps={"auc_lr": 0.86})
    assert write_figure(table, store) == "figures/rw_vs_ps.svg"
    drawn = ElementTree.parse(store.figure("rw_vs_ps")).getroot()
    tags = [element.tag.rpartition("}")[2] for element in drawn.iter()]
    rows = [(row, m) for row in table.rows.values() for m in table.methods]
    published = sum(m in row.published and not row.stands_in_for for row, m in rows)
    assert tags.count("polygon") == published + 1  # and the legend's
    assert tags.count("circle") == 2
    page = write_pages([table], store)[0].read_text()
    assert "(figures/rw_vs_ps.svg)" in page


def test_datasets_are_counted(store):
    table = load_table("datasets", quick=True)
    assert run_cells([table], store).failed == {}
    graph = planted_graph()
    page = write_pages([table], store, quick=True)[0].read_text()
    assert f"| planted | – | {graph.n_nodes} | – | {graph.counts.lines:,} |" in page
    published = load_table("datasets").rows["hepth"].published
    assert (published["nodes"], published["edges"]) == (27_400, 352_542)
