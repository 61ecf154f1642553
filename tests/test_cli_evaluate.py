"""`pairgram evaluate` beyond fitting models: vectors made elsewhere, cards again, other tasks."""

import json

import numpy as np
import pytest

import pairgram as pg
from cli_files import fail, run, run_json, write_cliques
from pairgram.split import Split
from pairgram.vectors import Vectors

PS = ("--parameters", "{ps: {dim: 8, epochs: 3}}", "--keep", 0.7, "--protocol", "all")


@pytest.fixture
def cliques(tmp_path):
    return write_cliques(tmp_path)


@pytest.fixture
def given(cliques):
    """Vectors that tell the two cliques apart, and the names of their nodes."""
    graph = pg.TextGraph.from_files(*cliques)
    side = np.array([1.0 if name.startswith("a") else -1.0 for name in graph.names])
    return graph.names.tolist(), np.stack([side, 0.1 * side], axis=1).astype(np.float32)


@pytest.mark.quick
@pytest.mark.parametrize("suffix", [".parquet", ".npz", ".txt", ".bin"])
def test_vectors_made_elsewhere_are_scored_under_the_same_split(cliques, given, tmp_path, suffix):
    path = tmp_path / f"vectors{suffix}"
    Vectors(given[1], None, given[0]).save(path)
    (card,) = run_json(
        "evaluate", cliques[0], "--texts", cliques[1], "--vectors", path, "--keep", 0.7,
        "--protocol", "all",
    )["cards"]  # fmt: skip
    graph = pg.TextGraph.from_files(*cliques)
    assert card["split"]["hash"] == pg.split_edges(graph, 0.7, 0).hash
    assert card["metrics"]["auc_pair/cosine"] > 0.8
    assert {"degree", "bm25", "tfidf"} <= set(card["floors"])
    assert "made elsewhere" in card["notes"]["audit of the training"]


@pytest.mark.quick
def test_vectors_of_held_out_nodes_are_ranked(cliques, given, tmp_path):
    path = tmp_path / "vectors.npz"
    Vectors(given[1], None, given[0]).save(path)
    task = ("--texts", cliques[1], "--task", "zero-shot", "--hold-out", 0.3)
    (card,) = run_json("evaluate", cliques[0], *task, "--vectors", path)["cards"]
    assert card["metrics"]["auc_pair"] == 1.0
    assert card["metrics"]["mrr"] > card["floors"]["degree"]["mrr"]


@pytest.mark.quick
def test_bad_vectors_are_one_line_each(cliques, given, tmp_path):
    names, matrix = given
    command = ("evaluate", cliques[0], "--texts", cliques[1], "--vectors")
    broken = matrix.copy()
    broken[3, 1] = np.nan
    cases = {
        "short.npz": ((names[1:], matrix[1:]), "1 of the graph's 13 nodes have no vector, e.g. "),
        "nan.npz": ((names, broken), f"1 vectors hold NaN or infinity, e.g. that of '{names[3]}'"),
        "twice.npz": (([*names, names[0]], np.vstack([matrix, matrix[:1]])), "more than one"),
    }
    for file, ((ids, table), words) in cases.items():
        Vectors(table, None, ids).save(tmp_path / file)
        message = fail(*command, tmp_path / file, code=1)
        assert words in message
        assert file in message
    np.savez(tmp_path / "flat.npz", names=np.array(names), vectors=matrix[:, 0], matrix="center")
    message = fail("evaluate", cliques[0], "--vectors", tmp_path / "flat.npz", code=1)
    assert "vectors of shape (13,)" in message
    ragged = tmp_path / "ragged.txt"
    ragged.write_text("2 3\na0 1 2 3\na1 1 2\n")
    assert "ragged.txt" in fail("evaluate", cliques[0], "--vectors", ragged, code=1)
    Vectors(np.vstack([matrix, matrix[:1]]), None, [*names, "stranger"]).save(tmp_path / "more.npz")
    ran = run(*command, tmp_path / "more.npz", "--protocol", "all")
    notice = "1 vectors are of nodes that the graph does not have, e.g. 'stranger'; they are left"
    assert notice in ran.stderr


@pytest.mark.quick
def test_graphs_too_small_to_split_are_one_line(tmp_path):
    edges = tmp_path / "edges.tsv"
    edges.write_text("a\tb\n")
    message = fail("evaluate", edges, code=1)
    assert "both sides must get a link. Got 0 to train on and 1 to test, of 1" in message
    edges.write_text("a\tb\nb\tc\nc\td\n")
    message = fail("evaluate", edges, "--keep", 0.99, code=1)
    assert "both sides must get a link. Got 3 to train on and 0 to test, of 3" in message


@pytest.mark.quick
def test_a_card_repeats_its_run_and_says_whether_the_figures_agree(cliques, tmp_path):
    folder = tmp_path / "cards"
    hard = ("--negatives", "uniform,degree,text", "--rank", 5)
    run("evaluate", cliques[0], "--texts", cliques[1], *PS, *hard, "--cards", folder)
    path = folder / "ps-seed0.json"
    card = json.loads(path.read_text())
    assert {"degree/auc_pair", "text/auc_pair"} <= set(card["metrics"])
    assert "text/auc_pair" in card["floors"]["bm25"]
    assert (
        sum(bucket["centers"] for bucket in card["buckets"].values()) == card["counts"]["centers"]
    )
    assert "figures agree" in run("evaluate", "--card", path).stdout
    card["metrics"]["auc_pair"] += 0.01
    path.write_text(json.dumps(card))
    ran = run("evaluate", "--card", path, code=1)
    assert "1 of " in ran.stderr
    assert "the versions are the same" in ran.stderr
    said = json.loads(run("evaluate", "--card", path, "--json", code=1).stdout)
    assert list(said["differ"]) == ["auc_pair"]
    cliques[0].write_text(cliques[0].read_text() + "a1\tb1\n")
    assert "the graph's files have changed" in fail("evaluate", "--card", path, code=1)


@pytest.mark.quick
def test_a_card_of_vectors_is_repeated_too(cliques, given, tmp_path):
    Vectors(given[1], None, given[0]).save(tmp_path / "v.npz")
    run("evaluate", cliques[0], "--vectors", tmp_path / "v.npz", "--cards", tmp_path / "cards")
    shown = run("evaluate", "--card", tmp_path / "cards" / "vectors-seed0.json").stdout
    assert "figures agree" in shown


@pytest.mark.quick
def test_splits_are_written_for_other_tools(cliques, tmp_path):
    folder = tmp_path / "splits"
    run("evaluate", cliques[0], "--texts", cliques[1], *PS, "--save-splits", folder)
    graph = pg.TextGraph.from_files(*cliques)
    split = Split.load(folder / "split-seed0.npz", graph)
    train = pg.TextGraph.from_files(folder / "train-seed0.tsv", folder / "train-texts-seed0.tsv")
    assert split.hash == pg.split_edges(graph, 0.7, 0).hash
    assert (train.n_nodes, train.n_edges) == (split.train.n_nodes, split.train.n_edges)


@pytest.mark.quick
def test_nodes_are_classified_beside_the_floors(cliques, given, tmp_path):
    Vectors(given[1], None, given[0]).save(tmp_path / "v.npz")
    labels = tmp_path / "labels.tsv"
    labels.write_text("".join(f"{name}\t{name[0]}\n" for name in given[0]))
    task = ("--task", "classify", "--labels", labels, "--seeds", 2)
    found = run_json(
        "evaluate", cliques[0], "--texts", cliques[1], *task, "--vectors", tmp_path / "v.npz"
    )
    assert [one["micro_f1"] for one in found["vectors"]] == [1.0, 1.0]
    assert found["floor most common class"][0]["micro_f1"] < 1
    assert "floor tfidf" in found
    labels.write_text("".join(f"{name}\t{name[0]}\n" for name in given[0] if name != "alone"))
    shown = run("evaluate", cliques[0], *task, "--vectors", tmp_path / "v.npz").stdout
    assert "macro F1" in shown
    assert "--labels" in fail("evaluate", cliques[0], "--task", "classify", code=2)
    labels.write_text("stranger\tx\n")
    message = fail("evaluate", cliques[0], *task, "--vectors", tmp_path / "v.npz", code=1)
    assert "1 of 1 labels are of nodes that the graph does not have, e.g. 'stranger'" in message


@pytest.mark.quick
def test_review_lists_weak_links_and_twins(tmp_path):
    edges, texts = tmp_path / "e.tsv", tmp_path / "t.tsv"
    cliques = [[f"{side}{i}" for i in range(6)] for side in "ab"]
    lines = [f"{u}\t{v}" for clique in cliques for u in clique for v in clique if u < v]
    edges.write_text("\n".join([*lines, "a0\tb0"]) + "\n")
    texts.write_text(
        "".join(f"{n}\ttext of {n}\n" for c in cliques for n in c) + "a6\ttext of A1\n"
    )
    run("fit", edges, "--texts", texts, "-o", tmp_path / "m", "--dim", 8, "--epochs", 2)
    found = run_json("review", tmp_path / "m", "-k", 1)
    (weak,) = found["weakest_links"]
    model = pg.load(tmp_path / "m")
    scores = model.score_positions(model.graph_.source, model.graph_.target)
    assert weak["score"] == pytest.approx(float(scores.min()))
    assert weak["below"] == 0.0
    assert found["twins"] == [{"first": "a1", "second": "a6", "why": "the same text"}]
    shown = run(
        "evaluate", edges, "--texts", texts, "--task", "review", "-k", 3,
        "--parameters", "{ps: {dim: 8, epochs: 2}}",
    ).stdout  # fmt: skip
    assert "Nodes that may be one" in shown


@pytest.mark.quick
def test_tune_searches_on_validation_alone(cliques, tmp_path):
    edges = cliques[0]
    space = tmp_path / "space.yaml"
    space.write_text("learning_rate: [0.01, 0.1]\norder: [1, 2]\n")
    config = tmp_path / "tuned.yaml"
    fixed = ("--dim", 8, "--epochs", 9, "--keep", 0.9)
    found = run_json(
        "tune", edges, *fixed, "--space", space, "--trials", 4, "-o", config, "--seed", 3
    )
    rounds = sorted(len(trial["scores"]) for trial in found["trials"])
    assert rounds == [1, 1, 1, 3]
    assert found["trials"][0]["parameters"] == {}
    graph = pg.TextGraph.from_files(edges)
    from pairgram.split import validation_split

    assert found["split_hash"] == validation_split(pg.split_edges(graph, 0.9, 3), 0.05, 3).hash
    run("fit", edges, "--config", config, "-o", tmp_path / "model")
    assert json.loads((tmp_path / "model" / "config.json").read_text())["params"]["dim"] == 8
    assert "stopped by the budget" in run("tune", edges, *fixed, "--budget", 0).stdout
    space.write_text("colour: [red]\n")
    assert "no parameter 'colour'" in fail("tune", edges, "--space", space, code=2)
    space.write_text("order: 2\n")
    assert "a list of values for every parameter" in fail("tune", edges, "--space", space, code=1)


@pytest.mark.quick
def test_flags_that_contradict_each_other_are_named(cliques):
    edges = cliques[0]
    for flags, words in [
        ((), None),
        (("--task", "classify", "--keep", 0.5), "--keep does not go with --task classify"),
        (("--before", "2000", "--keep", 0.5), "--before says what is held out"),
        (("--task", "zero-shot", "--before", "2000", "--models", "tge"), "needs a dataset whose"),
        (("--negatives", "hard",), "'negatives' parameter of evaluate must be one of"),
    ]:  # fmt: skip
        if words is not None:
            assert words in fail("evaluate", edges, *flags, code=2)
    assert "evaluate needs EDGES, or --card" in fail("evaluate", code=2)
