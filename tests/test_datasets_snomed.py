"""The RF2 reader on a small made-up release, and the parts of openmed."""

import gzip
from dataclasses import replace

import numpy as np
import pytest

from pairgram import datasets
from pairgram.datasets import snomed, terminologies
from pairgram.datasets.base import DataFile
from pairgram.errors import FileFormatError, InputError
from pairgram.graph import TextGraph

FULL, SYNONYM = snomed.FULL_NAME, "900000000000013009"
INFERRED, STATED = snomed.INFERRED, "900000000000010007"
SITE = "363698007"
CONCEPTS = """id\teffectiveTime\tactive\tmoduleId\tdefinitionStatusId
1001\t20240101\t1\tm\td
1002\t20240101\t1\tm\td
1003\t20240101\t1\tm\td
1004\t20240101\t0\tm\td
116680003\t20240101\t1\tm\td
363698007\t20240101\t1\tm\td
"""
DESCRIPTIONS = f"""id\teffectiveTime\tactive\tmoduleId\tconceptId\tlanguageCode\ttypeId\tterm\tcase
d1\t20240101\t1\tm\t1001\ten\t{SYNONYM}\tfever\tc
d2\t20240101\t1\tm\t1001\ten\t{FULL}\tFever (finding)\tc
d3\t20240101\t0\tm\t1002\ten\t{FULL}\tOld name (finding)\tc
d4\t20240101\t1\tm\t1002\ten\t{FULL}\t"Raised" temperature (finding)\tc
d5\t20240101\t1\tm\t1003\ten\t{FULL}\tBody (structure)\tc
d6\t20240101\t1\tm\t116680003\ten\t{FULL}\tIs a (attribute)\tc
d7\t20240101\t1\tm\t363698007\ten\t{FULL}\tFinding site (attribute)\tc
"""
RELATIONSHIPS = (
    "id\teffectiveTime\tactive\tmoduleId\tsourceId\tdestinationId\trelationshipGroup\ttypeId\t"
    "characteristicTypeId\tmodifierId\n"
    f"r1\t20240101\t1\tm\t1001\t1002\t0\t{snomed.IS_A}\t{INFERRED}\tx\n"
    f"r2\t20240101\t1\tm\t1001\t1003\t1\t{SITE}\t{INFERRED}\tx\n"
    f"r3\t20240101\t0\tm\t1002\t1003\t1\t{SITE}\t{INFERRED}\tx\n"
    f"r4\t20240101\t1\tm\t1002\t1003\t1\t{SITE}\t{STATED}\tx\n"
    f"r5\t20240101\t1\tm\t1002\t1004\t0\t{snomed.IS_A}\t{INFERRED}\tx\n"
)


@pytest.fixture
def release(tmp_path, monkeypatch):
    monkeypatch.setenv("PAIRGRAM_DATA", str(tmp_path))
    folder = tmp_path / "snomed" / "SnomedCT_Made_Up" / "Snapshot" / "Terminology"
    folder.mkdir(parents=True)
    for kind, content in [
        ("Concept_Snapshot", CONCEPTS),
        ("Description_Snapshot-en", DESCRIPTIONS),
        ("Relationship_Snapshot", RELATIONSHIPS),
    ]:
        (folder / f"sct2_{kind}_INT_20240101.txt").write_text(content, encoding="utf-8")
    return folder


@pytest.mark.quick
def test_a_release_is_read(release):
    assert datasets.info("snomed").is_here()
    graph = datasets.load("snomed", directed=True)
    texts = dict(zip(graph.names, graph.texts, strict=True))
    assert set(texts) == {"1001", "1002", "1003", "116680003", "363698007"}
    assert texts["1001"] == "Fever (finding)"
    assert texts["1002"] == '"Raised" temperature (finding)'
    links = {
        (graph.names[s], graph.names[t])
        for s, t in zip(graph.source.tolist(), graph.target.tolist(), strict=True)
    }
    assert links == {("1001", "1002"), ("1001", "1003")}
    kinds = [graph.relation.names[code] for code in graph.relation.code]
    assert sorted(kinds) == ["Finding site (attribute)", "Is a (attribute)"]
    with pytest.raises(InputError, match="there is no sha256"):
        datasets.load("snomed", verify=True)


@pytest.mark.quick
def test_broken_releases_are_named(release):
    concepts = next(release.glob("sct2_Concept*"))
    concepts.write_text(CONCEPTS + "1005\tshort\n")
    with pytest.raises(FileFormatError, match=r"line 8: has 2 columns where 5 are expected"):
        datasets.load("snomed")
    concepts.write_text("a\tb\n")
    with pytest.raises(FileFormatError, match="is no RF2 file: it has no column id"):
        datasets.load("snomed")
    concepts.unlink()
    assert not datasets.info("snomed").is_here()
    with pytest.raises(InputError, match=r"needs a licence: get an RF2 release from https://"):
        datasets.load("snomed")
    with pytest.raises(InputError, match=r"there is no sct2_Concept_Snapshot\*\.txt below it"):
        snomed.read_release(release)


@pytest.mark.quick
def test_a_part_is_its_prefix(tmp_path, monkeypatch):
    folder = tmp_path / "openmed"
    folder.mkdir()
    monkeypatch.setenv("PAIRGRAM_DATA", str(tmp_path))
    (folder / "edges.tsv").write_text("GO:1\tGO:2\nGO:2\tDOID:1\nDOID:1\tDOID:2\n")
    (folder / "nodes.tsv.gz").write_bytes(gzip.compress(b"GO:1\tone\nDOID:2\ttwo\nGO:3\tthree\n"))
    small = replace(
        terminologies.OPENMED, nodes=5, edges=3,
        edge_file=DataFile("edges.tsv", ""), text_file=DataFile("nodes.tsv.gz", ""),
    )  # fmt: skip
    monkeypatch.setattr(terminologies, "OPENMED", small)
    graph = datasets.load("openmed-go")
    assert graph.names.tolist() == ["GO:1", "GO:2", "GO:3"]
    assert (graph.n_edges, graph.texts) == (1, ("one", "", "three"))
    assert datasets.info("openmed-go").is_here()


@pytest.mark.quick
def test_the_parts_make_the_whole():
    parts = [datasets.info(name) for name in datasets.names() if name.startswith("openmed-")]
    assert len(parts) == 6
    assert sum(part.nodes for part in parts) == datasets.info("openmed").nodes
    # The other edges are references from one terminology to another.
    assert datasets.info("openmed").edges - sum(part.edges for part in parts) == 30_396


@pytest.mark.quick
def test_dates_and_word_vectors_by_name(tmp_path, monkeypatch):
    monkeypatch.setenv("PAIRGRAM_DATA", str(tmp_path))
    monkeypatch.setenv("PAIRGRAM_CACHE", str(tmp_path / "cache"))
    graph = TextGraph.from_edges(["9201001", "1002"], ["1001", "304123"])
    dates = datasets.node_dates("hepth", graph)
    assert dates.astype(str).tolist() == ["1992-01", "2000-01", "2000-01", "2003-04"]
    assert dates.dtype == np.dtype("datetime64[M]")
    with pytest.raises(InputError, match="'cora' does not say when its nodes appeared"):
        datasets.node_dates("cora", graph)
    with pytest.raises(InputError, match=r"get them from https://nlp\.stanford\.edu.* put them at"):
        datasets.word_vectors("glove6b_100d")
    with pytest.raises(InputError, match="no word vectors 'odd'; known are glove6b_100d"):
        datasets.word_vectors("odd")
    (tmp_path / "glove6b_100d").mkdir()
    file = tmp_path / "glove6b_100d" / "glove6b_100d_f16.npz"
    file.touch()
    assert datasets.word_vectors("glove6b_100d") == file
    with pytest.raises(InputError, match="'hepth' has no classes"):
        datasets.label_file("hepth")
