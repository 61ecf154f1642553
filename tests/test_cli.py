"""Every verb as a person runs it."""

import gzip
import json
import subprocess
import sys
from dataclasses import fields

import numpy as np
import pytest
from pyarrow import parquet

import pairgram as pg
from cli_files import FAST, fail, run, run_json, write_cliques
from pairgram import datasets
from pairgram.cli import demo
from pairgram.cli.methods import MethodFlags
from pairgram.graph import TextGraph
from pairgram.models import METHODS
from pairgram.vectors import Vectors
from worlds import TRAINED, encoder_folder


@pytest.fixture
def cliques(tmp_path):
    return write_cliques(tmp_path)


@pytest.fixture
def model(cliques, tmp_path):
    edges, texts = cliques
    run("fit", edges, "--texts", texts, "-o", tmp_path / "model", *FAST)
    return tmp_path / "model"


@pytest.mark.quick
def test_inspect_shows_what_reading_found(tmp_path):
    edges = tmp_path / "edges.csv"
    edges.write_text("source,target\na,b\nb,a\na,b\nc,c\nb,d\n")
    found = run_json("inspect", edges)
    assert (found["nodes"], found["edges"], found["lines"]) == (4, 2, 5)
    assert (found["duplicates"], found["reciprocal"], found["self_loops"]) == (1, 1, 1)
    assert found["text"] is None
    shown = run("inspect", edges).stdout
    assert "self-loops, left out" in shown
    assert "nodes in the largest" in shown


@pytest.mark.quick
def test_inspect_reads_the_columns_it_is_told(tmp_path):
    edges, texts = tmp_path / "edges.txt", tmp_path / "nodes.txt"
    edges.write_text("a|x|3\nb|y|4\n")
    texts.write_text("one|a|two\n|c|\n")
    found = run_json(
        *("inspect", edges, "--texts", texts, "--source", 1, "--target", 0, "--weight", 2),
        *("--id-column", 1, "--text-columns", "0,2", "--delimiter", "|", "--no-header"),
        "--directed",
    )
    assert (found["directed"], found["weighted"], found["nodes"]) == (True, True, 5)
    assert (found["texts"], found["empty_texts"]) == (1, 4)
    assert found["text"]["words_max"] == 2


@pytest.mark.quick
def test_fit_saves_what_python_fits(cliques, tmp_path):
    edges, texts = cliques
    folder = tmp_path / "model"
    said = run_json("fit", edges, "--texts", texts, "-o", folder, *FAST, "--seed", 3)
    graph = TextGraph.from_files(edges, texts)
    expected = pg.PS(dim=8, epochs=2, seed=3).fit(graph)
    stored = pg.load(folder)
    assert np.array_equal(stored.vectors_.center, expected.vectors_.center)
    assert stored.get_params() == expected.get_params()
    assert said["fingerprint"] == graph.fingerprint
    assert said["config"]["order"] == expected.order
    assert not list(tmp_path.glob("*.checkpoint*"))


@pytest.mark.parametrize("method", METHODS)
def test_fit_every_method(method, cliques, tmp_path):
    files = (cliques[0], "--texts", cliques[1])
    (tmp_path / "words.txt").write_text("text 1 0\na0 0 1\n")
    flags = FAST if method in TRAINED else ("--word-vectors", tmp_path / "words.txt")
    if method == "sentence_encoder":
        flags = ("--pretrained", encoder_folder(), "--epochs", "2")
    said = run("fit", *files, "-o", tmp_path / "model", "--model", method, *flags)
    assert said.stdout.startswith(METHODS[method].__name__)
    assert pg.load(tmp_path / "model").method == method


@pytest.mark.quick
def test_every_parameter_of_every_method_has_a_flag():
    shared = {"directed", "seed", "threads"}
    known = {name for method in METHODS.values() for name in method().get_params()}
    assert {field.name for field in fields(MethodFlags)} == known - shared


@pytest.mark.quick
def test_directed_fit_gives_suggestions_by_direction(cliques, tmp_path):
    run("fit", cliques[0], "-o", tmp_path / "model", "--directed", *FAST)
    out, into = (
        run_json("suggest", tmp_path / "model", "--node", "a3", "--direction", direction)
        for direction in ("out", "in")
    )
    assert [one["node"] for one in out] != [one["node"] for one in into]


@pytest.mark.quick
def test_config_holds_the_flags_and_flags_win(cliques, tmp_path):
    config = tmp_path / "fit.yaml"
    config.write_text(
        f"edges: {cliques[0]}\noutput: {tmp_path / 'model'}\nmodel: line\n"
        "dim: 8\nper-edge: 3\nlearning_rate: 0.5\ndirected: true\n"
    )
    said = run_json("fit", "--config", config, "--per-edge", 4)
    stored = pg.load(tmp_path / "model").get_params()
    assert (stored["dim"], stored["per_edge"], stored["learning_rate"]) == (8, 4, 0.5)
    assert stored["directed"] is True
    again = tmp_path / "resolved.yaml"
    again.write_text(json.dumps(said["config"]))
    assert run_json("fit", "--config", again)["config"] == said["config"]


@pytest.mark.quick
def test_suggest_leaves_known_links_out(model):
    found = run_json("suggest", model, "--node", "a1", "-k", 3)
    assert [one["rank"] for one in found] == [1, 2, 3]
    assert not {one["node"] for one in found} & {f"a{i}" for i in range(6)}
    table = run("suggest", model, "--node", "a1", "-k", 3, "--rule", "dot").stdout
    assert all(word in table for word in ("rank", "score", "text", "why", "the text of"))


@pytest.mark.quick
def test_ids_are_shown_as_they_are(tmp_path):
    edges = tmp_path / "edges.tsv"
    edges.write_text("[/b]\t:smile:\n:smile:\t[red]ü\n")
    run("fit", edges, "-o", tmp_path / "model", *FAST)
    shown = run("suggest", tmp_path / "model", "--node", "[/b]").stdout
    assert "[red]ü" in shown
    assert "shared neighbour: :smile:" in shown


@pytest.mark.quick
@pytest.mark.parametrize("name", ["v.parquet", "v.npz", "v.txt", "v.bin"])
def test_embed_writes_the_vectors(name, model, tmp_path):
    said = run_json("embed", model, "-o", tmp_path / name)
    assert (said["which"], said["nodes"], said["dim"]) == ("center", 13, 8)
    read, stored = Vectors.load(tmp_path / name), pg.load(model).vectors_
    assert np.allclose(read.center, stored.center, atol=1e-6)
    assert read.names.tolist() == stored.names.tolist()


@pytest.mark.quick
def test_embed_writes_contexts_and_says_so(model, tmp_path):
    run("embed", model, "-o", tmp_path / "v.npz", "--which", "context")
    with np.load(tmp_path / "v.npz") as stored:
        assert str(stored["matrix"]) == "context"
        assert np.array_equal(stored["vectors"], pg.load(model).vectors_.context)


def expected_pairs(edges, **options):
    graph = TextGraph.from_files(edges)
    pairs = pg.sample_pairs(graph, **options)
    names = graph.names
    return [
        (names[u], names[v], int(o), int(r))
        for u, v, o, r in zip(pairs.center, pairs.context, pairs.order, pairs.round, strict=True)
    ]


@pytest.mark.quick
def test_sample_writes_the_pairs_as_parquet(cliques, tmp_path):
    to = tmp_path / "pairs.parquet"
    said = run_json("sample", cliques[0], "-o", to, "--order", 2, "--times", 3, "--seed", 5)
    table = parquet.read_table(to)
    rows = [
        tuple(row[c] for c in ("center", "context", "order", "round")) for row in table.to_pylist()
    ]
    assert rows == expected_pairs(cliques[0], order=2, times=3, seed=5)
    assert said["pairs"] == len(rows)


@pytest.mark.quick
@pytest.mark.parametrize("suffix", [".tsv", ".tsv.gz"])
def test_sample_writes_the_pairs_as_tsv(suffix, cliques, tmp_path):
    to = tmp_path / f"pairs{suffix}"
    run("sample", cliques[0], "-o", to, "--unique")
    read = gzip.decompress(to.read_bytes()) if suffix == ".tsv.gz" else to.read_bytes()
    header, *lines = read.decode().splitlines()
    assert header == "center\tcontext\torder\tround"
    expected = expected_pairs(cliques[0], unique=True)
    assert lines == ["\t".join(map(str, row)) for row in expected]


@pytest.mark.quick
def test_sample_writes_positions(cliques, tmp_path):
    run("sample", cliques[0], "-o", tmp_path / "pairs.parquet", "--positions", "--directed")
    table = parquet.read_table(tmp_path / "pairs.parquet")
    graph = TextGraph.from_files(cliques[0], directed=True)
    expected = pg.sample_pairs(graph, directed=True)
    assert np.array_equal(table.column("context").to_numpy(), expected.context)


@pytest.mark.quick
def test_evaluate_puts_models_and_floors_in_one_table(cliques):
    arguments = ("evaluate", cliques[0], "--models", "ps,line", "--keep", 0.8, "--protocol", "all")
    given = "{ps: {dim: 8, epochs: 2}, line: {dim: 8, per_edge: 3}}"
    shown = run(*arguments, "--parameters", given, "--seeds", 2).stdout
    assert all(word in shown for word in ("PS", "LINE", "floor degree", "seeds 0, 1", "±"))
    assert shown.count("floor degree") == 1
    assert shown.count(" beat") >= 2


def test_evaluate_ranks_links_on_request(cliques):
    given = ("--models", "ps", "--parameters", "{ps: {dim: 8, epochs: 2}}", "--rank", 5)
    texts = ("--texts", cliques[1])
    shown = run("evaluate", cliques[0], *texts, "--protocol", "all", *given).stdout
    assert all(word in shown for word in ("MRR", "nDCG@10", "floor vote+bm25", "By MRR, PS"))


def test_evaluate_holds_nodes_out(cliques, tmp_path):
    given = ("--models", "tge", "--parameters", "{tge: {dim: 8, epochs: 2, encoder: bag}}")
    task = ("--texts", cliques[1], "--task", "zero-shot", "--hold-out", 0.3)
    shown = run("evaluate", cliques[0], *task, *given).stdout
    assert "30.00% of the nodes held out, protocol 'zero-shot', seed 0" in shown
    assert all(word in shown for word in ("TGE", "MRR", "floor bm25", "Of 4 held-out nodes"))
    folder = tmp_path / "cards"
    (card,) = run_json("evaluate", cliques[0], *task, *given, "--cards", folder)["cards"]
    assert (card["protocol"], card["split"]["kind"]) == ("zero-shot", "nodes")
    assert {"auc_pair", "mrr", "mrr_nodup", "new_new/auc_pair"} <= set(card["metrics"])
    assert (folder / "tge-seed0.json").is_file()


def test_evaluate_prints_and_writes_cards(cliques, tmp_path):
    config = tmp_path / "evaluate.yaml"
    config.write_text("parameters:\n  ps:\n    dim: 8\n    epochs: 3\nkeep: 0.75\nseed: 4\n")
    folder = tmp_path / "cards"
    said = run_json("evaluate", cliques[0], "--config", config, "--cards", folder)
    (card,) = said["cards"]
    assert (card["split"]["share"], card["split"]["seed"], card["seed"]) == (0.75, 4, 4)
    assert (card["parameters"]["epochs"], card["parameters"]["seed"]) == (3, 4)
    assert json.loads((folder / "ps-seed4.json").read_text())["metrics"] == card["metrics"]
    assert "PS" in said["verdicts"]["ps"]


@pytest.mark.quick
def test_data_lists_and_finds(tmp_path, monkeypatch):
    monkeypatch.delenv("PAIRGRAM_DATA", raising=False)
    monkeypatch.setenv("PAIRGRAM_CACHE", str(tmp_path))
    assert [one["name"] for one in run_json("data", "list")] == list(datasets.names())
    result = run("data", "path", "cora")
    assert result.stdout.strip() == str(tmp_path / "cora")
    assert "`pairgram data get cora` downloads them" in result.stderr
    assert "get them from" in run("data", "path", "mesh").stderr
    assert "get it from https://nlmpubs" in fail("data", "get", "mesh", code=1)
    assert "needs a licence" in fail("data", "get", "snomed", code=1)
    assert "known are" in fail("data", "path", "coral", code=1)


@pytest.mark.quick
def test_a_dataset_reads_by_name(tmp_path, monkeypatch, small_graph):
    monkeypatch.setattr(datasets, "load", lambda name, directed: {"tiny": small_graph}[name])
    assert run_json("inspect", "dataset:tiny")["nodes"] == small_graph.n_nodes
    assert "--weight" in fail("inspect", "dataset:tiny", "--weight", "2", code=2)


def test_demo_tests_saves_and_suggests(tmp_path, monkeypatch):
    pytest.importorskip("torch")
    names = [f"L{i}" for i in range(60)]
    pairs = [(u, v) for u in names for v in names if u < v and (int(u[1:]) - int(v[1:])) % 3 == 0]
    texts = {name: f"kind {int(name[1:]) % 3} wrist {name}" for name in names}
    graph = TextGraph.from_edges(*map(list, zip(*pairs, strict=True)), texts=texts)
    monkeypatch.setattr(datasets, "load", lambda name: {"icd10cm": graph}[name])
    monkeypatch.setattr(demo, "HOLD_OUT", 0.2)
    said = run("demo", "-o", tmp_path / "demo").stdout
    for words in ("floor degree", "floor bm25", "1 shared word: wrist", "By AUC_pair", "By MRR"):
        assert words in said
    assert all(f'"{text}"' in said for text in demo.TEXTS)
    assert len(pg.load(tmp_path / "demo" / "icd10cm").suggest("a wrist", k=2)) == 2
    found = run_json("demo", "-o", tmp_path / "demo")
    assert set(found["suggestions"]) == set(demo.TEXTS)
    assert set(found["cards"]) == {"links", "new nodes"}


@pytest.mark.quick
def test_help_comes_without_heavy_imports():
    script = (
        "import sys; from pairgram.cli.main import app; "
        "heavy = {'numpy', 'numba', 'pyarrow', 'scipy', 'yaml'} & set(sys.modules); "
        "sys.exit(f'imported {heavy}' if heavy else 0)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
    shown = run("--help").stdout
    verbs = ("demo", "inspect", "fit", "suggest", "embed", "evaluate", "sample", "data")
    assert all(verb in shown for verb in verbs)
    assert run().stdout == shown
    assert run("--version").stdout == f"pairgram {pg.__version__}\n"


@pytest.mark.quick
def test_words_are_counted_beside_the_papers(cliques, tmp_path):
    from pairgram.cli.fit import words_line

    shown = run("inspect", cliques[0], "--texts", cliques[1]).stdout
    assert "distinct words, cleaning 'paper'" in shown
    assert "the paper counts" not in shown
    found = run_json("inspect", cliques[0], "--texts", cliques[1])["text"]
    # 'text' and the names of 13 nodes; 'the' and 'of' are stop words.
    assert found["cleaning"]["words"]["words"] == 14
    assert found["paper_counts"] is None
    counted = {"words": 59_029, "characters": 59, "empty_texts": 1, "cut_texts": 2}
    line = words_line(counted, "dataset:hepth")
    assert line.startswith("59,029 distinct words and 59 characters (the paper: 72,083 and 59);")
    assert line.endswith("1 texts without a word, 2 cut for length")
    assert "the paper" not in words_line(counted, "edges.tsv")
