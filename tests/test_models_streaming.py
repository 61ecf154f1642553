"""Vectors and suggestions of texts in parquet files, a few texts at a time."""

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

pytest.importorskip("torch")

import pairgram as pg
from cli_files import fail, run_json
from pairgram.engine import LocalEngine
from pairgram.models.streaming import stream_texts

TEXTS = ["a red boat", "a green ship", "", "pears and plums", "a ferry", "plums", "red plums"]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    names = ["boat", "ship", "pear", "plum"]
    texts = dict(zip(names, ["red boat", "green ship", "a pear", "red plum"], strict=True))
    graph = pg.TextGraph.from_edges(["boat", "pear"], ["ship", "plum"], texts=texts)
    folder = tmp_path_factory.mktemp("model") / "model"
    pg.TGE(dim=8, preset="best", epochs=2, patience=0, threads=1).fit(graph).save(folder)
    return folder


@pytest.fixture
def source(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    for name, part in (("b", slice(4, None)), ("a", slice(0, 4))):
        texts = [text or None for text in TEXTS[part]]
        table = pa.table({"text": texts, "id": np.arange(len(TEXTS))[part]})
        parquet.write_table(table, folder / f"{name}.parquet", row_group_size=3)
    return folder


@pytest.mark.quick
@pytest.mark.parametrize("rows", [1, 2, 100])
def test_vectors_are_those_of_the_model(model, source, tmp_path, rows):
    to = tmp_path / "out"
    with LocalEngine(1) as engine:
        assert stream_texts(model, source, to, engine, rows=rows) == len(TEXTS)
    assert sorted(file.name for file in to.iterdir()) == [f"part-{k:06d}.parquet" for k in range(3)]
    got = parquet.read_table(to)
    assert got["id"].to_pylist() == [str(i) for i in range(len(TEXTS))]
    expected = pg.load(model).embed(TEXTS)
    np.testing.assert_allclose(np.array(got["vector"].to_pylist()), expected, atol=1e-6)


@pytest.mark.quick
def test_suggestions_are_those_of_the_model(model, source, tmp_path):
    said = run_json("suggest", model, "--file", source, "-o", tmp_path / "out", "-k", 2)
    assert said["texts"] == len(TEXTS)
    got = parquet.read_table(tmp_path / "out").to_pylist()
    expected = pg.load(model).suggest_many(TEXTS, k=2)
    assert [row["nodes"] for row in got] == [[one.node for one in some] for some in expected]
    for row, some in zip(got, expected, strict=True):
        np.testing.assert_allclose(row["scores"], [one.score for one in some], rtol=1e-4)


@pytest.mark.quick
def test_no_more_texts_are_read_at_a_time_than_asked(model, source, tmp_path, monkeypatch):
    seen = []
    embed = pg.TGE.embed
    monkeypatch.setattr(
        pg.TGE, "embed", lambda self, texts: seen.append(len(texts)) or embed(self, texts)
    )
    with LocalEngine(1) as engine:
        stream_texts(model, source, tmp_path / "out", engine, rows=2)
    assert max(seen) == 2
    assert sum(seen) == len(TEXTS)


@pytest.mark.quick
def test_bad_input_is_said(model, source, tmp_path):
    to = ("-o", tmp_path / "out")
    line = fail("embed", model, "--texts", tmp_path / "none", *to, code=1)
    assert "there is no such file or folder" in line
    (tmp_path / "empty").mkdir()
    line = fail("embed", model, "--texts", tmp_path / "empty", *to, code=1)
    assert "there is no parquet file in this folder" in line
    parquet.write_table(pa.table({"id": ["a"], "title": ["b"]}), tmp_path / "other.parquet")
    line = fail("embed", model, "--texts", tmp_path / "other.parquet", *to, code=1)
    assert "has no column 'text', it has id, title" in line
    (tmp_path / "text.parquet").write_text("no parquet")
    line = fail("embed", model, "--texts", tmp_path / "text.parquet", *to, code=1)
    assert "cannot be read as parquet" in line
    pg.PS(dim=8).fit(pg.TextGraph.from_edges(["a"], ["b"])).save(tmp_path / "ps")
    line = fail("embed", tmp_path / "ps", "--texts", source, *to, code=2)
    assert "PS learns from structure alone and cannot read new texts" in line
    line = fail("embed", model, "--engine", "ray", "-o", tmp_path / "v.parquet", code=2)
    assert "--engine ray goes with --texts" in line
    line = fail("suggest", model, "a text", *to, code=2)
    assert "--output goes with --file" in line
