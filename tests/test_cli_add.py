"""`pairgram add`, and the filters of `pairgram suggest`."""

import pytest

import pairgram as pg
from cli_files import fail, run, run_json
from pairgram.io.lock import FolderLock
from worlds import SIZE, build, world

pytestmark = pytest.mark.quick


@pytest.fixture
def model(tmp_path):
    labels = {name: name[0].upper() for name in world().names}
    build("text_matching").fit(world().with_labels(labels)).save(tmp_path / "model")
    return tmp_path / "model"


def write(path, *lines):
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def test_nodes_come_change_and_go(model, tmp_path):
    new = write(tmp_path / "new.tsv", "id\ttext\tkind", "x\tred apple\tC", "y\tblue boat\tC")
    done = run_json("add", model, new, "--label-column", "kind")
    assert done == {
        "model": str(model), "added": 2, "updated": 0, "removed": 0, "nodes": 2 * SIZE + 2
    }  # fmt: skip
    found = run_json("suggest", model, "red", "--label", "C")
    assert [one["node"] for one in found] == ["x", "y"]
    found = run_json("suggest", model, "red", "--prefix", "a", "--prefix", "x", "-k", "20")
    assert {one["node"] for one in found} == {f"a{i}" for i in range(SIZE)} | {"x"}
    again = write(tmp_path / "again.tsv", "x\tblue boat", "z\tred")
    assert "has a node 'x' already" in fail("add", model, again, code=1)
    said = run("add", model, again, "--update").stdout
    assert said == f"1 added, 1 updated; {model} has {2 * SIZE + 3} nodes\n"
    assert pg.load(model).node_text("x") == "blue boat"
    run("add", model, write(tmp_path / "old.tsv", "x\t-", "a0\t-"), "--remove")
    assert pg.load(model).size_ == 2 * SIZE + 1


def test_other_verbs_see_what_was_added(model, tmp_path):
    new = write(tmp_path / "new.tsv", "x\tred apple 0", "y\tblue boat")
    run("add", model, new)
    run("add", model, write(tmp_path / "old.tsv", "b0\t-"), "--remove")
    run("embed", model, "-o", tmp_path / "vectors.parquet")
    names = pg.Vectors.load(tmp_path / "vectors.parquet").names.tolist()
    assert {"x", "y"} <= set(names)
    assert "b0" not in names
    found = run_json("review", model)
    assert ["a0", "x", "the same text"] in [list(one.values()) for one in found["twins"]]
    assert not any("b0" in link.values() for link in found["weakest_links"])


def test_what_cannot_be_added_is_one_line(model, tmp_path):
    new = write(tmp_path / "new.tsv", "x\tred", "y\t")
    assert "the text of 'y' is empty" in fail("add", model, new, code=1)
    assert pg.load(model).size_ == 2 * SIZE
    assert "do not go together" in fail("add", model, new, "--update", "--remove", code=2)
    lock = FolderLock(model)
    good = write(tmp_path / "good.tsv", "x\tred")
    assert "is being written by another process" in fail("add", model, good, code=1)
    lock.release()
    run("add", model, good)


def test_explanations_are_shown(model):
    said = run("suggest", model, "a red boat", "-k", "1", "--explain").stdout
    assert "1. b0: your words: boat (+" in said or "1. a0: your words: red (+" in said
    found = run_json("suggest", model, "red", "-k", "1", "--explain")
    assert found[0]["explanation"]["words"][0]["word"] == "red"
