"""`pairgram suggest` for new texts: one, many, and those that are hard to read."""

import json

import pytest

import pairgram as pg
from cli_files import FAST, fail, run, run_json, write_cliques
from worlds import SIZE, build, world

NEW = {"n1": "a red thing", "n2": "boats, a blue boat", "n3": "", "n4": "zebra"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("text") / "model"
    pytest.importorskip("torch")
    build("tge", encoder="bag").fit(world()).save(place)
    return place


@pytest.fixture
def new(tmp_path):
    file = tmp_path / "new.tsv"
    file.write_text("".join(f"{name}\t{text}\n" for name, text in NEW.items()))
    return file


@pytest.mark.quick
def test_a_text_gets_the_suggestions_of_python(folder):
    found = run_json("suggest", folder, NEW["n1"], "-k", 3)
    expected = pg.load(folder).suggest(NEW["n1"], k=3)
    assert [(one["rank"], one["node"]) for one in found] == [
        (i, s.node) for i, s in enumerate(expected, start=1)
    ]
    table = run("suggest", folder, NEW["n2"], "-k", 3).stdout
    assert "blue boat" in table
    assert "2 shared words: boat, blue" in table


@pytest.mark.quick
def test_a_file_gives_a_line_of_json_for_each_text(folder, new, monkeypatch):
    monkeypatch.setattr("pairgram.cli.suggest.TEXTS_AT_A_TIME", 3)
    said = run("suggest", folder, "--file", new, "-k", 4, "--json")
    lines = [json.loads(line) for line in said.stdout.splitlines()]
    assert {line["id"]: line["text"] for line in lines} == NEW
    model = pg.load(folder)
    for line in lines:
        alone = model.suggest(line["text"], k=4)
        assert [one["node"] for one in line["suggestions"]] == [s.node for s in alone]
    assert "1 of 3 texts without a word to read" in said.stderr
    assert "1 of 1 texts with unknown words alone: only their letters count" in said.stderr


@pytest.mark.quick
def test_a_file_gives_a_table_for_each_text(folder, new):
    shown = run("suggest", folder, "--file", new, "-k", 2).stdout
    places = [shown.index(f"{name} {text}".strip()) for name, text in NEW.items()]
    assert places == sorted(places)
    assert shown.count("rank") == len(NEW)


@pytest.mark.quick
def test_a_text_of_ten_megabytes_is_cut_with_a_notice(folder, tmp_path):
    file = tmp_path / "long.tsv"
    file.write_text("x\t" + "red apple " * 1_000_000 + "\n")
    said = run("suggest", folder, "--file", file, "-k", 3, "--json")
    found = json.loads(said.stdout)["suggestions"]
    assert [one["node"][0] for one in found] == ["a"] * 3
    assert "1 of 1 texts longer than 512 words" in said.stderr


@pytest.mark.quick
def test_more_than_there_is_comes_with_a_notice(folder):
    said = run("suggest", folder, "red", "-k", 1000, "--json")
    assert len(json.loads(said.stdout)) == 2 * SIZE
    assert f"1000 suggestions asked for; the graph has {2 * SIZE} to offer" in said.stderr
    said = run("suggest", folder, "--node", "a0", "-k", 1000, "--json")
    assert len(json.loads(said.stdout)) == SIZE


@pytest.mark.quick
def test_bad_usage_is_one_line(folder, new, tmp_path):
    assert "needs one of" in fail("suggest", folder, code=2)
    assert "needs one of" in fail("suggest", folder, "red", "--file", new, code=2)
    assert "none.tsv" in fail("suggest", folder, "--file", tmp_path / "none.tsv", code=1)
    assert "'rule'" in fail("suggest", folder, "--node", "a0", "--rule", "best", code=2)
    assert "can be scored by" in fail("suggest", folder, "red", "--rule", "best", code=2)
    edges, texts = write_cliques(tmp_path)
    run("fit", edges, "--texts", texts, "-o", tmp_path / "ps", *FAST)
    assert "learns from structure alone" in fail("suggest", tmp_path / "ps", "--file", new, code=2)
