import json
import os

import numpy as np
import pytest

from pairgram.errors import FileFormatError, PairgramError
from pairgram.io import folder as module
from pairgram.io.atomic import replacing_file
from pairgram.io.folder import Nodes, read_folder, write_folder

VECTORS = {
    "center": np.arange(6, dtype=np.float32).reshape(3, 2),
    "context": np.ones((3, 2), dtype=np.float32),
}


def put(path, **changes):
    arguments = {
        "config": {"method": "PS", "seed": 3},
        "tensors": {},
        "vectors": VECTORS,
        "names": ["a", "b c", "007"],
        "texts": ["x", "", "y"],
        "extra_json": {"card": {"metrics": {"auc": 0.9}}},
        "edges": (np.array([0, 1]), np.array([1, 2])),
    }
    parts = {**arguments, **changes}
    nodes = Nodes(**{name: parts.pop(name) for name in ("vectors", "names", "texts", "edges")})
    write_folder(path, nodes=nodes, **parts)
    return path


@pytest.mark.quick
def test_round_trip(tmp_path):
    path = put(tmp_path / "model", tensors={"layer.weight": np.eye(2, dtype=np.float64)})
    assert sorted(file.name for file in path.iterdir()) == [
        "card.json",
        "config.json",
        "edges.parquet",
        "nodes.parquet",
        "vectors.safetensors",
        "weights.safetensors",
    ]
    back = read_folder(path)
    assert back.config == {"method": "PS", "seed": 3, "format_version": 1}
    assert back.names == ["a", "b c", "007"]
    assert back.texts == ["x", "", "y"]
    assert back.extra == {"card": {"metrics": {"auc": 0.9}}}
    assert [side.tolist() for side in back.edges] == [[0, 1], [1, 2]]
    for name, matrix in VECTORS.items():
        np.testing.assert_array_equal(back.vectors[name], matrix)
        assert isinstance(back.vectors[name], np.memmap)
    np.testing.assert_array_equal(back.tensors["layer.weight"], np.eye(2))


def test_parts_that_are_left_out(tmp_path):
    back = read_folder(put(tmp_path / "m", texts=None, extra_json=None, edges=None))
    assert back.texts is None
    assert back.edges is None
    assert back.extra == {}
    assert back.tensors == {}


def test_model_is_replaced_whole(tmp_path):
    path = put(tmp_path / "m")
    put(path, config={"method": "LINE"}, edges=None)
    assert read_folder(path).config["method"] == "LINE"
    assert not (path / "edges.parquet").exists()
    assert [file.name for file in tmp_path.iterdir()] == ["m"]


def test_loaded_model_survives_its_replacement(tmp_path):
    path = put(tmp_path / "m")
    old = read_folder(path)
    put(path, vectors={"center": np.zeros((3, 2), np.float32)})
    np.testing.assert_array_equal(old.vectors["center"], VECTORS["center"])


def test_other_folders_and_files_are_not_replaced(tmp_path):
    (tmp_path / "holiday").mkdir()
    (tmp_path / "holiday" / "photo.png").write_bytes(b"x")
    with pytest.raises(PairgramError, match="holds something else"):
        put(tmp_path / "holiday")
    (tmp_path / "file").write_text("x")
    with pytest.raises(PairgramError, match="it is a file"):
        put(tmp_path / "file")
    with pytest.raises(PairgramError, match="cannot be written"):
        put(tmp_path / "file" / "m")
    (tmp_path / "empty").mkdir()
    assert read_folder(put(tmp_path / "empty")).names[0] == "a"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["empty", "file", "holiday"]


def test_crash_leaves_the_old_model_and_nothing_else(tmp_path, monkeypatch):
    path = put(tmp_path / "m")

    def crash(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "_write_nodes", crash)
    with pytest.raises(PairgramError, match="cannot be written: No space left"):
        put(path, config={"method": "other"})
    assert read_folder(path).config["method"] == "PS"
    assert [file.name for file in tmp_path.iterdir()] == ["m"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_unwritable_place(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(PairgramError, match="cannot be written: Permission denied"):
        put(tmp_path / "m")


def damage_config(path, **changes):
    config = json.loads((path / "config.json").read_text())
    (path / "config.json").write_text(json.dumps({**config, **changes}))


@pytest.mark.quick
def test_newer_format_is_refused(tmp_path):
    path = put(tmp_path / "m")
    damage_config(path, format_version=2)
    with pytest.raises(FileFormatError, match=r"newer pairgram \(format 2, .* upgrade pairgram"):
        read_folder(path)


def cut(path, name, keep):
    data = (path / name).read_bytes()
    (path / name).write_bytes(data[: int(len(data) * keep)])


def huge(path):
    """A header that announces far more than the file holds."""
    entry = {"dtype": "F32", "shape": [2**40, 2**20], "data_offsets": [0, 24]}
    header = json.dumps({"center": entry}).encode()
    (path / "vectors.safetensors").write_bytes(
        len(header).to_bytes(8, "little") + header + bytes(24)
    )


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda path: (path / "config.json").unlink(), "is no pairgram model"),
        (lambda path: (path / "config.json").write_text("{"), "is no JSON"),
        (lambda path: (path / "config.json").write_text("[]"), "must hold a JSON object"),
        (lambda path: damage_config(path, format_version="1"), "has no format_version"),
        (lambda path: (path / "vectors.safetensors").unlink(), "vectors.safetensors is missing"),
        (lambda path: cut(path, "vectors.safetensors", 0.9), "is truncated"),
        (lambda path: cut(path, "vectors.safetensors", 0.01), "is truncated"),
        (lambda path: cut(path, "nodes.parquet", 0.5), "cannot be read as parquet"),
        (lambda path: (path / "nodes.parquet").unlink(), "nodes.parquet is missing"),
        (lambda path: module._write_nodes(path / "nodes.parquet", ["a"], None), "must have 1 rows"),
        (
            lambda path: module._write_edges(path / "edges.parquet", ([0], [9]), {}),
            "positions outside of the 3 nodes",
        ),
        (
            lambda path: (path / "vectors.safetensors").write_bytes(
                (2**60).to_bytes(8, "little") + b"{}"
            ),
            "is truncated or no safetensors",
        ),
        (huge, "does not fit its place"),
    ],
)
def test_damaged_folders_give_one_line(tmp_path, damage, message):
    path = put(tmp_path / "m")
    damage(path)
    with pytest.raises(FileFormatError, match=message) as caught:
        read_folder(path)
    assert "\n" not in str(caught.value)


def test_not_a_folder(tmp_path):
    with pytest.raises(FileFormatError, match="is no pairgram model"):
        read_folder(tmp_path / "none")


@pytest.mark.quick
def test_a_file_below_a_file_is_one_clear_line(tmp_path):
    (tmp_path / "taken").write_text("x")
    with (
        pytest.raises(PairgramError, match="cannot be written: Not a directory"),
        replacing_file(tmp_path / "taken" / "below") as temporary,
    ):
        temporary.write_text("y")
