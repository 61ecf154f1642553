"""Maps: coordinates, groups, and the files they are written to."""

import base64
import gzip
import json
import re
import struct
import zlib

import numpy as np
import pytest

from cli_files import fail, run, run_json
from pairgram.errors import FileFormatError, InputError, MissingExtraError, ParameterError
from pairgram.map import Map, by_umap, make_map
from pairgram.map.build import MOST_GROUPS, Group
from pairgram.map.colors import GREY, PALETTE
from pairgram.map.files import read_table, write_table
from pairgram.map.html import html_page
from pairgram.map.png import paint, png_bytes
from pairgram.map.project import project
from serving import save_world
from worlds import world


def test_pca_is_that_of_a_singular_value_decomposition():
    random = np.random.default_rng(0)
    vectors = (random.standard_normal((200, 6)) * [5, 3, 1, 1, 1, 0.5] + 7).astype(np.float32)
    points, method = project(vectors, "pca")
    left, size, _ = np.linalg.svd(vectors - vectors.mean(axis=0), full_matrices=False)
    wanted = left[:, :2] * size[:2]
    for axis in range(2):
        assert abs(np.corrcoef(points[:, axis], wanted[:, axis])[0, 1]) > 0.9999
    assert method == "pca"
    assert points.dtype == np.float32
    assert np.abs(points).max() == 1


@pytest.mark.parametrize("n", [0, 1, 2])
def test_a_map_of_few_nodes(n):
    points, method = project(np.ones((n, 1), np.float32), "umap")
    assert points.shape == (n, 2)
    assert np.isfinite(points).all()
    assert method == "pca"


def test_without_umap_pca_draws_and_says_so(monkeypatch, caplog):
    monkeypatch.setattr("pairgram.map.project.find_spec", lambda name: None)
    assert project(np.eye(20), "auto")[1] == "pca"
    assert "umap-learn is not installed" in caplog.text
    with pytest.raises(MissingExtraError, match="map"):
        project(np.eye(20), "umap")


def test_neighbours_are_exact_and_the_time_is_said(monkeypatch):
    random = np.random.default_rng(0)
    unit = random.standard_normal((60, 5)).astype(np.float32)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    for name, value in (("SMALL", 50), ("BLOCK", 32)):
        monkeypatch.setattr(by_umap, name, value)
    said = []
    near = by_umap._neighbours(unit, said.append)
    distance = by_umap._distances(unit, near)
    every = 1 - unit @ unit.T
    np.fill_diagonal(every, -1)
    wanted = np.argsort(every, axis=1)[:, : by_umap.NEIGHBOURS]
    np.testing.assert_array_equal(near, wanted)
    np.fill_diagonal(every, 0)
    np.testing.assert_allclose(distance, np.take_along_axis(every, wanted, 1), atol=1e-6)
    assert len(said) == 1
    assert said[0].startswith("nearest neighbours of 60 nodes, exactly: about ")


@pytest.mark.slow
def test_umap_keeps_the_two_cliques_apart_and_repeats_itself():
    random = np.random.default_rng(0)
    side = np.repeat([0, 1], 40)
    vectors = (random.standard_normal((80, 8)) + 9 * np.eye(8)[side]).astype(np.float32)
    said = []
    points, method = project(vectors, "umap", seed=1, say=said.append)
    assert method == "umap"
    assert "500 rounds on one thread" in said[-1]
    np.testing.assert_array_equal(points, project(vectors, "umap", seed=1)[0])
    assert not np.array_equal(points, project(vectors, "umap", seed=2)[0])
    with_zero = np.concatenate([np.zeros((2, 8), np.float32), vectors])
    blind = project(with_zero, "umap", seed=1)[0]
    np.testing.assert_allclose(blind[:2], [np.median(blind[2:], axis=0)] * 2, atol=1e-6)
    middle = [points[side == s].mean(axis=0) for s in (0, 1)]
    spread = max(points[side == s].std() for s in (0, 1))
    assert np.linalg.norm(middle[0] - middle[1]) > 2 * spread


def drawn_world(labels=None):
    graph = world(extra=["alone"])
    vectors = np.random.default_rng(0).standard_normal((graph.n_nodes, 4)).astype(np.float32)
    return graph, make_map(vectors, graph, labels, "pca")


def test_groups_are_communities_named_by_their_best_connected_node():
    graph, drawn = drawn_world()
    assert [(g.name, g.size) for g in drawn.groups] == [
        ("red apple 7", 8), ("blue boat 0", 8), ("alone", 1),
    ]  # fmt: skip
    assert drawn.coloring == "community"
    with pytest.raises(InputError, match="a vector of each"):
        make_map(np.ones((3, 2)), graph)
    with pytest.raises(ParameterError, match="method"):
        make_map(drawn.points, graph, method="tsne")


def test_groups_are_labels_and_small_ones_are_one():
    _, drawn = drawn_world(["x"] * 10 + ["y"] * 6 + [""])
    assert drawn.groups == (Group("x", 10), Group("y", 6), Group("", 1))
    assert drawn.group.tolist() == [0] * 10 + [1] * 6 + [2]
    own = make_map(drawn.points, world(extra=["alone"]).with_labels({"a0": "x"}), method="pca")
    assert own.groups == (Group("", 16), Group("x", 1))
    many = world(extra=[f"n{i}" for i in range(600)])
    labels = [f"l{i}" for i in range(many.n_nodes)]
    drawn = make_map(np.ones((many.n_nodes, 2), np.float32), many, labels, "pca")
    assert len(drawn.groups) == MOST_GROUPS
    assert drawn.groups[-1] == Group("others", many.n_nodes - MOST_GROUPS + 1)
    assert sum(g.size for g in drawn.groups) == many.n_nodes


def test_a_table_comes_back_and_fits_its_own_nodes_alone(tmp_path):
    graph, drawn = drawn_world()
    file = tmp_path / "map.parquet"
    write_table(file, drawn, graph.names)
    back = read_table(file, graph.names)
    np.testing.assert_array_equal(back.points, drawn.points)
    np.testing.assert_array_equal(back.group, drawn.group)
    assert (back.groups, back.method, back.coloring) == (drawn.groups, "pca", "community")
    with pytest.raises(InputError, match="a map of other nodes"):
        read_table(file, graph.names[:-1])
    file.write_bytes(b"PAR1")
    with pytest.raises(FileFormatError, match="is no map"):
        read_table(file, graph.names)


def decode_png(data):
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, chunks = 8, {}
    while at < len(data):
        (size,) = struct.unpack(">I", data[at : at + 4])
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + size]
        assert struct.unpack(">I", data[at + 8 + size : at + 12 + size])[0] == zlib.crc32(
            kind + body
        )
        chunks[kind] = body
        at += 12 + size
    width, height, depth, color = struct.unpack(">IIBB", chunks[b"IHDR"][:10])
    assert (depth, color) == (8, 2)
    rows = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(height, -1)
    assert not rows[:, 0].any()
    return rows[:, 1:].reshape(height, width, 3)


def test_a_picture_has_dots_where_the_nodes_lie():
    points = np.array([[-1, 1], [1, -1], [1, -1]], np.float32)
    groups = (Group("a", 2), Group("others", 1))
    drawn = Map(points[:2], np.array([0, 1], np.uint16), groups, "pca", "label")
    pixels = paint(drawn, 100)
    np.testing.assert_array_equal(decode_png(png_bytes(pixels)), pixels)
    inked = np.argwhere((pixels < 250).any(axis=2))
    corners = {(row < 50, column < 50) for row, column in inked}
    assert corners == {(True, True), (False, False)}

    def tint(color):
        paper = np.full(3, 255.0)
        ink = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)])
        return np.rint(paper + (ink - paper) * 0.72)

    np.testing.assert_allclose(pixels[3, 3], tint(PALETTE[0]), atol=1)
    np.testing.assert_allclose(pixels[96, 96], tint(GREY), atol=1)
    # Dots on each other are darker.
    twice = Map(points, np.array([0, 1, 1], np.uint16), groups, "pca", "label")
    assert paint(twice, 100)[96, 96].sum() < pixels[96, 96].sum()


def test_the_page_holds_everything_and_no_address(tmp_path):
    graph, drawn = drawn_world()
    page = html_page(drawn, graph, "a <b> & c")
    assert "<title>a &lt;b&gt; &amp; c" in page
    assert not re.search(r"https?://(?!www\.w3\.org)", page)
    assert "{{" not in page

    def part(name):
        packed = re.search(rf'id="{name}">([^<]*)<', page)[1]
        return gzip.decompress(base64.b64decode(packed))

    assert part("points") == drawn.to_bytes()
    about = json.loads(part("data"))
    assert about["names"] == graph.names.tolist()
    assert about["texts"] == list(graph.texts)
    colors = re.search(r"const PALETTE = \[([^\]]*)\]", page)[1]
    assert tuple(re.findall(r"#\w+", colors)) == PALETTE
    assert f'GREY = "{GREY}"' in page


def test_the_command_writes_all_three(tmp_path):
    folder = save_world(tmp_path / "model", "ps")
    outputs = [tmp_path / f"map.{suffix}" for suffix in ("html", "png", "parquet")]
    flags = [flag for path in outputs for flag in ("-o", path)]
    said = run_json("map", folder, *flags, "--method", "pca", "--size", "200")
    assert said["nodes"] == 16
    assert said["groups"] == 2
    assert said["output"] == list(map(str, outputs))
    assert all(path.stat().st_size > 500 for path in outputs)
    assert decode_png(outputs[1].read_bytes()).shape == (200, 200, 3)
    labels = tmp_path / "labels.tsv"
    labels.write_text("a0\tfirst\na1\tfirst\n")
    assert (
        run_json("map", folder, "-o", outputs[2], "--labels", labels, "--method", "pca")["coloring"]
        == "label"
    )
    assert (
        "2 groups by label"
        in run("map", folder, "-o", outputs[2], "--labels", labels, "--method", "pca").stdout
    )
    labels.write_text("nobody\tfirst\n")
    assert "no node 'nobody'" in fail("map", folder, "-o", outputs[0], "--labels", labels, code=1)
    assert "suffix must be one of" in fail("map", folder, "-o", tmp_path / "map.gif", code=2)
