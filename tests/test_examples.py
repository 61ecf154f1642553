"""The examples run, and show what they say."""

import importlib.util
import runpy
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"


@pytest.fixture
def run(monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(EXAMPLES))

    def main(name, needs):
        pytest.importorskip(needs)
        spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        result = module.main()
        assert capsys.readouterr().out
        return result

    yield main
    sys.modules.pop("shop", None)


def test_networkx(run):
    graph = run("with_networkx", "networkx")
    new = [(u, v) for u, v, suggested in graph.edges(data="suggested") if suggested]
    assert new
    assert sum(u[0] == v[0] for u, v in new) >= len(new) * 2 / 3


def test_pyg(run):
    data = run("with_pyg", "torch_geometric")
    assert tuple(data.x.shape) == (18, 16)
    assert data.num_nodes == 18


def test_pandas(run):
    table = run("with_pandas", "pandas")
    assert list(table.columns) == ["new", "node", "score", "text", "why"]
    assert table[table.new == "N1"].node.iloc[0][0] == "K"
    assert table[table.new == "N2"].node.iloc[0][0] == "G"


def test_sklearn(run):
    pipeline = run("with_sklearn", "sklearn")
    assert pipeline.predict(["soup pan lid", "ink pen", "garden spade"]).tolist() == [
        "kitchen", "office", "garden"
    ]  # fmt: skip


def test_duckdb(run):
    found = run("with_duckdb", "duckdb")
    assert [name[0] for name, _ in found] == ["K"] * 3
    assert found[0][1] >= found[1][1] >= found[2][1]


def test_qdrant(run):
    assert [name[0] for name in run("with_qdrant", "qdrant_client")] == ["K"] * 3


def test_lancedb(run):
    assert [name[0] for name in run("with_lancedb", "lancedb")] == ["K"] * 3


def test_walkthrough(monkeypatch, tmp_path, capsys):
    pytest.importorskip("torch")
    monkeypatch.syspath_prepend(str(EXAMPLES))
    monkeypatch.setattr(sys, "argv", ["walkthrough.py", str(tmp_path)])
    runpy.run_path(str(EXAMPLES / "walkthrough.py"))
    said = capsys.readouterr().out
    assert "your words: " in said
    assert "lid for soup pan" in said
    for picture in ("map.svg", "scores.svg"):
        assert ElementTree.parse(tmp_path / picture).getroot().tag.endswith("svg")
    sys.modules.pop("shop", None)


def test_every_example_is_listed_and_tested():
    files = {path.name for path in EXAMPLES.glob("*.py")} - {"shop.py"}
    page, tests = (EXAMPLES / "README.md").read_text(), Path(__file__).read_text()
    for file in files:
        assert f"`{file}`" in page
        assert file.removesuffix(".py") in tests
