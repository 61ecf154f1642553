"""Files on this machine and in an object store."""

import io
import json
import pickle

import numpy as np
import pytest
from pyarrow import parquet

import pairgram as pg
from cli_files import run, write_cliques
from pairgram.engine import LocalEngine
from pairgram.errors import FileFormatError, InputError, PairgramError
from pairgram.io.pair_files import PairTables
from pairgram.io.places import Place
from pairgram.sampling.pairs import PairSampler
from pairgram.sampling.shards import write_shards
from s3_server import serving
from text_graphs import worded

# A shard of each of two workers after ten turns, and what names them.
SHARDS = ["000000010-0000", "000000010-0001", "latest"]


@pytest.fixture
def store(monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    with serving() as (address, objects):
        yield f"s3://bucket/{{}}?endpoint_override={address}&scheme=http&region=x", objects


@pytest.fixture(params=["path", "file", "s3"])
def place(request, tmp_path):
    if request.param == "s3":
        return Place(request.getfixturevalue("store")[0].format("some/name"))
    return Place(f"file://{tmp_path}/name" if request.param == "file" else tmp_path / "name")


@pytest.mark.quick
def test_a_file_is_written_read_and_removed(place):
    assert place.name == "name"
    assert place.read() is None
    assert place.read_arrays() is None
    place.write(b"one")
    place.write(b"another")
    assert place.read() == b"another"
    place.remove()
    place.remove()
    assert place.read() is None


@pytest.mark.quick
def test_arrays_come_back_also_beside(place):
    arrays = {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "none": np.zeros((0, 4))}
    beside = pickle.loads(pickle.dumps(place.beside("rows").beside("1")))
    assert beside.name == "name.rows.1"
    beside.write_arrays(arrays)
    assert place.read() is None
    got = beside.read_arrays()
    assert sorted(got) == sorted(arrays)
    for name, array in arrays.items():
        np.testing.assert_array_equal(got[name], array)


@pytest.mark.quick
def test_large_files_come_back(store):
    place = Place(store[0].format("large"))
    data = np.random.default_rng(0).bytes(13_000_000)
    place.write(data)
    assert place.read() == data


@pytest.mark.quick
def test_places_that_are_none_are_said():
    with pytest.raises(InputError, match="is no place that can be written to"):
        Place("nowhere://a/b").write(b"")


@pytest.mark.quick
def test_a_damaged_file_is_said(store):
    place = Place(store[0].format("x"))
    place.write(b"no tensors at all")
    with pytest.raises(FileFormatError, match="is no safetensors file"):
        place.read_arrays()


def test_a_store_that_does_not_answer_is_said(store):
    uri = "s3://bucket/x?endpoint_override=127.0.0.1:9&scheme=http&region=x"
    with pytest.raises(PairgramError, match="cannot be written"):
        Place(uri).write(b"data")


@pytest.mark.quick
def test_pairs_go_to_an_object_store(store, tmp_path):
    uri, objects = store
    edges, _ = write_cliques(tmp_path)
    graph = pg.TextGraph.from_files(edges)
    given = (PairSampler(graph, 3, 2, seed=0), PairTables(graph.names), graph.n_nodes)
    with LocalEngine(1) as engine:
        write_shards(uri.format("pairs"), *given, engine, shard_pairs=100)
    assert len(objects) > 3
    run("sample", edges, "-o", uri.format("pairs"), "--shards")
    names = sorted(name.removeprefix("/bucket/pairs/") for name, data in objects.items() if data)
    assert names == ["_complete.json", "part-000000.parquet"]  # the others were older
    run("sample", edges, "-o", tmp_path / "pairs", "--shards")
    got = parquet.read_table(io.BytesIO(objects["/bucket/pairs/part-000000.parquet"]))
    assert got.equals(parquet.read_table(tmp_path / "pairs"))
    assert json.loads(objects["/bucket/pairs/_complete.json"]) == {"files": 1, "pairs": len(got)}


@pytest.mark.quick
def test_structure_training_resumes_from_an_object_store(store, small_graph):
    uri, objects = store
    place = uri.format("runs/state")
    expected = pg.PS(dim=8, epochs=4).fit(small_graph).vectors_

    def stop(progress, turns):
        if progress.turn == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pg.PS(dim=8, epochs=4).fit(small_graph, place, stop)
    assert list(objects) == ["/bucket/runs/state"]
    got = pg.PS(dim=8, epochs=4).fit(small_graph, place).vectors_
    np.testing.assert_array_equal(got.center, expected.center)


def test_workers_that_train_together_resume_from_an_object_store(store, tmp_path):
    pytest.importorskip("torch")
    from team_processes import ProcessEngine

    uri, objects = store
    graph, place = worded(), uri.format("runs/text")

    def model():
        return pg.TGE(dim=8, preset="best", epochs=2, patience=0, threads=1, ranker=False)

    expected = model().fit(graph, engine=ProcessEngine(2, tmp_path)).vectors_
    with pytest.raises(KeyboardInterrupt):
        model().fit(graph, place, engine=ProcessEngine(2, tmp_path, last=9))
    assert sorted(objects) == [f"/bucket/runs/text.{end}" for end in SHARDS]
    got = model().fit(graph, place, engine=ProcessEngine(2, tmp_path)).vectors_
    np.testing.assert_array_equal(got.center, expected.center)
    np.testing.assert_array_equal(got.context, expected.context)
