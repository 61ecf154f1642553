"""Flags of the engine, and shards of pairs, on the threads of this machine."""

import pytest
from pyarrow import parquet

from cli_files import fail, run, run_json, write_cliques
from pairgram.sampling import shards


@pytest.fixture
def edges(tmp_path):
    return write_cliques(tmp_path)[0]


@pytest.mark.quick
@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--engine", "spark"), "--engine must be one of local, ray. Got 'spark'."),
        (("--address", "head:6379"), "--address is for --engine ray."),
        (("--engine", "ray", "--model", "tadw"), "TADW runs on one machine. --engine ray is for"),
    ],
)
def test_bad_flags_are_said(edges, tmp_path, flags, said):
    assert said in fail("fit", edges, "-o", tmp_path / "model", *flags, code=2)


@pytest.mark.quick
def test_shards_hold_the_pairs_in_order(edges, tmp_path, monkeypatch):
    monkeypatch.setattr(shards.write_shards, "__defaults__", (40, None))
    to = tmp_path / "pairs"
    said = run_json("sample", edges, "-o", to, "--shards", "--threads", 2)
    run("sample", edges, "-o", tmp_path / "pairs.parquet")
    files = sorted(file.name for file in to.iterdir())
    assert len(files) > 5
    assert files == [f"part-{k:06d}.parquet" for k in range(len(files))]
    whole = parquet.read_table(tmp_path / "pairs.parquet")
    assert parquet.read_table(to).equals(whole)
    assert said["pairs"] == len(whole)
    run("sample", edges, "-o", to, "--shards", "--positions")  # replaces them
    assert parquet.read_table(to)["center"][0].as_py() == 0


@pytest.mark.quick
def test_a_folder_of_other_things_is_not_replaced(edges, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").touch()
    line = fail("sample", edges, "-o", tmp_path / "mine", "--shards", code=1)
    assert "the folder holds something else" in line
    line = fail("sample", edges, "-o", tmp_path / "pairs.parquet", "--shards", code=2)
    assert "--shards writes a folder" in line
