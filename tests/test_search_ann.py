"""The index for approximate search beside a full one."""

import numpy as np
import pytest

from pairgram.errors import FileFormatError
from pairgram.search import ann
from pairgram.search.ann import AnnIndex

pytest.importorskip("faiss")
pytestmark = pytest.mark.quick


@pytest.fixture(scope="module")
def tables():
    """Two tables of clustered rows and a term; a row that cannot be scored."""
    random = np.random.default_rng(0)
    centres = random.normal(size=(40, 16)).astype(np.float32)
    rows = centres[random.integers(0, 40, 4000)] + 0.3 * random.normal(size=(4000, 16))
    first, second = rows[:, :8].astype(np.float32), rows[:, 8:].astype(np.float32)
    first[7] = np.nan
    return first, second, random.normal(-12, 1, 4000).astype(np.float32)


def best(tables, query, allowed, k):
    first, second, bias = tables
    scores = first @ query[:8] + second @ query[8:] + bias
    scores[~allowed | np.isnan(scores)] = -np.inf
    return np.argsort(-scores)[:k]


@pytest.mark.parametrize("share", [1.0, 0.6])
def test_most_of_the_best_are_found(tables, share, monkeypatch, tmp_path):
    monkeypatch.setattr(ann, "PROBES", 32)  # of 126 lists
    index = AnnIndex.build("symmetric", tables[:2], tables[2])
    index.save(tmp_path / "index.faiss")
    mapped = AnnIndex("symmetric", 4000, tmp_path / "index.faiss")
    random, hits = np.random.default_rng(1), 0
    allowed = random.random(4000) < share
    for _ in range(50):
        query = random.normal(size=16).astype(np.float32)
        found = index.search(query, 10, allowed)
        assert allowed[found].all()
        np.testing.assert_array_equal(mapped.search(query, 10, allowed), found)
        hits += len(set(found.tolist()) & set(best(tables, query, allowed, 10).tolist()))
    assert hits / 500 > 0.95


def test_all_lists_find_all(tables):
    index = AnnIndex.build("context", tables[:1], None)
    query = np.random.default_rng(2).normal(size=8).astype(np.float32)
    scores = np.nan_to_num(tables[0] @ query, nan=-np.inf)
    allowed = np.ones(4000, bool)
    allowed[7] = False
    found = index.search(query, 10, allowed)  # 126 lists, 128 are looked into
    np.testing.assert_array_equal(found, np.argsort(-scores)[:10])


def test_files_that_are_no_index(tables, tmp_path):
    (tmp_path / "index.faiss").write_bytes(b"no index")
    with pytest.raises(FileFormatError, match="is no index, or a damaged one"):
        AnnIndex("dot", 4000, tmp_path / "index.faiss").search(np.ones(3), 1, np.ones(4000, bool))
    AnnIndex.build("dot", tables[:1], None).save(tmp_path / "other.faiss")
    with pytest.raises(FileFormatError, match="is no index of the 9 nodes"):
        AnnIndex("dot", 9, tmp_path / "other.faiss").search(np.ones(8), 1, np.ones(9, bool))
