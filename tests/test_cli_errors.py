"""Bad input and bad usage: one clear line, exit code 1 or 2, nothing half-written."""

import os
import subprocess
import sys

import numpy as np
import pytest

import pairgram as pg
from cli_files import FAST, fail, run, write_cliques
from pairgram.cli import main

BAD_FILES = {
    "empty": ("", (), "is empty"),
    "one column": ("a\nb\n", (), "one column"),
    "ragged": ("a\tb\nb\tc\td\n", (), "line 2"),
    "no number": ("a\tb\t1\nb\tc\tnan\n", ("--weight", 2), "line 2"),
    "negative": ("a\tb\t1\nb\tc\t-2\n", ("--weight", 2), "line 2"),
    "no such column": ("a\tb\n", ("--weight", 7), "7"),
    "loops alone": ("a\ta\n", (), "at least one edge"),
}


@pytest.fixture
def edges(tmp_path):
    return write_cliques(tmp_path)[0]


def left_behind(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.quick
@pytest.mark.parametrize("case", BAD_FILES)
def test_bad_files(case, tmp_path):
    content, flags, words = BAD_FILES[case]
    path = tmp_path / "edges.tsv"
    path.write_text(content)
    message = fail("fit", path, "-o", tmp_path / "model", *flags, code=1)
    assert words in message
    assert "edges.tsv" in message or case == "loops alone"
    assert left_behind(tmp_path) == ["edges.tsv"]


@pytest.mark.quick
@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--order", 0), "must be an int in [1, 8]. Got 0"),
        (("--order", "x"), "--order"),
        (("--model", "line", "--order", 2), "per_edge"),
        (("--model", "walk"), "Known are ps"),
        (("--seed", -1), "seed"),
        (("--threads", 0), "threads"),
        (("--rule", "cosine"), "symmetric"),
        (("--nonsense",), "--help"),
    ],
)
def test_bad_usage_of_fit(flags, words, edges, tmp_path):
    assert words in fail("fit", edges, "-o", tmp_path / "model", *flags, code=2)
    assert not (tmp_path / "model").exists()


@pytest.mark.quick
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("fit",), "EDGES"),
        (("guess",), "guess"),
        (("sample", "edges.tsv", "-o", "pairs.csv"), ".parquet"),
        (("sample", "edges.tsv", "-o", "pairs.tsv", "--order", 9), "[1, 8]"),
        (("evaluate", "edges.tsv", "--models", ","), "--models"),
        (("evaluate", "edges.tsv", "--parameters", "order"), "{ps: {order: 2}}"),
        (("evaluate", "edges.tsv", "--parameters", "{line: {dim: 2}}"), "'line'"),
        (("evaluate", "edges.tsv", "--task", "zero"), "link"),
        (("evaluate", "edges.tsv", "--task", "zero-shot"), "ps learns from structure alone"),
        (("evaluate", "edges.tsv", "--task", "zero-shot", "--keep", 0.5), "--keep does not go"),
        (("evaluate", "edges.tsv", "--hold-out", 0.1), "--hold-out does not go with --task link"),
        (("evaluate", "edges.tsv", "--strict-texts"), "--strict-texts does not go"),
        (("suggest", "model"), "--node"),
        (("embed", "model", "-o", "vectors.xyz"), ".npz"),
    ],
)
def test_bad_usage(arguments, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert words in fail(*arguments, code=2)
    assert left_behind(tmp_path) == []


@pytest.mark.quick
@pytest.mark.parametrize(
    ("content", "code", "words"),
    [
        ("dim: 8\nbogus: 1\n", 2, "'bogus' is no flag of fit"),
        ("dim: many\n", 2, "--dim"),
        ("dim: [\n", 1, "is no YAML"),
        ("- dim\n", 1, "must hold names and values"),
    ],
)
def test_bad_configs(content, code, words, edges, tmp_path):
    config = tmp_path / "config.yaml"
    config.write_text(content)
    assert words in fail("fit", edges, "-o", tmp_path / "m", "--config", config, code=code)
    assert "no such file" in fail("fit", edges, "--config", tmp_path / "none", code=1)


@pytest.mark.quick
def test_unknown_ids_and_models(edges, tmp_path):
    model = tmp_path / "model"
    run("fit", edges, "-o", model, *FAST)
    assert "did you mean 'a1'" in fail("suggest", model, "--node", "A1", code=1)
    assert "cannot place a new text" in fail("suggest", model, "some text", code=2)
    assert "directed" in fail("suggest", model, "--node", "a1", "--direction", "out", code=2)
    assert "no pairgram model" in fail("suggest", tmp_path, "--node", "a1", code=1)


@pytest.mark.quick
@pytest.mark.parametrize(
    ("place", "words"),
    [("file", "is a file"), ("file/model", "is a file"), ("full", "holds something else")],
)
def test_the_output_is_checked_before_training(place, words, edges, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("precious")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter").write_text("precious")
    before = left_behind(tmp_path)
    monkeypatch.setattr(pg.PS, "fit", lambda *_, **__: pytest.fail("training began"))
    assert words in fail("fit", edges, "-o", tmp_path / place, code=1)
    assert left_behind(tmp_path) == before
    assert left_behind(tmp_path / "full") == ["letter"]
    assert (tmp_path / "file").read_text() == "precious"


@pytest.mark.quick
def test_files_that_cannot_be_written(edges, tmp_path):
    model = tmp_path / "model"
    run("fit", edges, "-o", model, *FAST)
    for verb in (("embed", model), ("sample", edges)):
        assert "is a file" in fail(*verb, "-o", edges / "v.parquet", code=1)
        assert "No such file" in fail(*verb, "-o", tmp_path / "no" / "v.parquet", code=1)
    assert left_behind(tmp_path) == ["edges.tsv", "model", "nodes.tsv"]


@pytest.mark.quick
def test_ids_that_tsv_cannot_hold(tmp_path):
    edges = tmp_path / "edges.csv"
    edges.write_text('source,target\n"a\tb",c\n')
    assert "write .parquet" in fail("sample", edges, "-o", tmp_path / "pairs.tsv", code=1)
    assert left_behind(tmp_path) == ["edges.csv"]
    run("sample", edges, "-o", tmp_path / "pairs.parquet")


@pytest.mark.quick
def test_more_threads_than_cores(edges, tmp_path):
    one, many = tmp_path / "one", tmp_path / "many"
    run("fit", edges, "-o", one, *FAST, "--threads", 1)
    result = run("fit", edges, "-o", many, *FAST, "--threads", 5000)
    assert result.stderr.count("5000 threads asked for") == 1
    assert len(result.stderr.splitlines()) == 1
    vectors = [pg.load(folder).vectors_.center for folder in (one, many)]
    assert np.array_equal(*vectors)
    assert run("fit", edges, "-o", many, *FAST, "--threads", 5000, "--quiet").stderr == ""


@pytest.mark.quick
def test_vectors_that_are_no_numbers_are_not_saved(edges, tmp_path):
    flags = ("--learning-rate", 1e30, "--dim", 8, "--epochs", 20)
    assert "did not converge" in fail("fit", edges, "-o", tmp_path / "model", *flags, code=1)
    assert left_behind(tmp_path) == ["edges.tsv", "nodes.tsv"]


@pytest.mark.quick
def test_evaluate_says_a_notice_once(edges):
    given = "{ps: {dim: 8, epochs: 1}, line: {dim: 8, per_edge: 2}}"
    result = run(
        *("evaluate", edges, "--models", "ps,line", "--keep", 0.8, "--protocol", "all"),
        *("--parameters", given, "--threads", 5000),
    )
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.quick
def test_a_traceback_only_where_it_is_asked_for(tmp_path, monkeypatch):
    arguments = ("inspect", tmp_path / "none.tsv")
    assert fail(*arguments, code=1).endswith("none.tsv: no such file.")
    result = main_output(*arguments, "--verbose")
    assert "Traceback" in result
    monkeypatch.setenv("PAIRGRAM_DEBUG", "1")
    assert "Traceback" in main_output(*arguments)


@pytest.mark.quick
@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(28, "No space left on device", "out"), "error: out: No space left on device."),
        (MemoryError(), "error: out of memory"),
        (ZeroDivisionError("odd\nlines"), "error: ZeroDivisionError: odd lines (a defect"),
        (KeyboardInterrupt(), "error: interrupted."),
    ],
)
def test_what_nobody_foresaw_is_one_line(error, words, edges, monkeypatch):
    def break_down(*_):
        raise error

    monkeypatch.setattr("pairgram.cli.inspect.read_graph", break_down)
    assert fail("inspect", edges, code=1).startswith(words)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_disk_and_a_closed_pipe(edges, unbuffered):
    command = [sys.executable, "-c", "from pairgram.cli.main import run; run()", "inspect", edges]

    def end(stdout):
        variables = os.environ | {"PYTHONUNBUFFERED": unbuffered}
        ended = subprocess.run(
            command, stdout=stdout, stderr=subprocess.PIPE, text=True, check=False, env=variables
        )
        return ended.returncode, ended.stderr

    with open("/dev/full", "w") as full:
        assert end(full) == (1, "error: No space left on device.\n")
    reader, writer = os.pipe()
    os.close(reader)
    assert end(writer) == (1, "")
    os.close(writer)


def main_output(*arguments):
    from typer.testing import CliRunner

    result = CliRunner().invoke(main.app, [str(argument) for argument in arguments])
    assert result.exit_code == 1
    return result.stderr
