"""What the ranker of links reads, against a slow version."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from pairgram.search.lexical import LexicalIndex
from pairgram.search.link_clues import FAINTEST, FEATURES, TABLES, LinkClues, Rows

pytestmark = pytest.mark.quick

WORDS = ("red", "blue", "green", "old", "new")


def world(seed, n=24, share=0.15):
    random = np.random.default_rng(seed)
    texts = [list(random.choice(WORDS, random.integers(0, 6))) for _ in range(n)]
    dense = np.triu(random.random((n, n)) < share, 1)
    dense = (dense | dense.T).astype(np.float32)
    tables = {name: random.normal(size=(n, 3)).astype(np.float32) for name in TABLES}
    return texts, dense, tables


def slow_both(name, one, other):
    return {name: one + other, f"{name}_lopsided": abs(one - other)}


def slow_vectors(start, e, c, u, v):
    length = np.linalg.norm(e[u]) * np.linalg.norm(e[v])
    found = {
        **slow_both("ends", e[u] @ c[v], c[u] @ e[v]),
        "dot": e[u] @ e[v],
        "cosine": e[u] @ e[v] / max(length, 1e-9),
        "contexts": c[u] @ c[v],
    }
    found["symmetric"], found["lopsided"] = found.pop("ends"), found.pop("ends_lopsided")
    return {f"{start}{name}": value for name, value in found.items()}


def slow_paths(dense, u, v):
    degree = dense.sum(axis=1)
    count = dict.fromkeys(("common", "adamic_adar", "allocation", "far", "far_even"), 0.0)
    for a in np.flatnonzero(dense[u]):
        if dense[a, v]:
            count["common"] += 1
            count["adamic_adar"] += 1 / np.log1p(degree[a])
            count["allocation"] += 1 / degree[a]
        for b in np.flatnonzero(dense[a]):
            if dense[b, v]:
                count["far"] += 1 / np.sqrt(degree[a] * degree[b])
                count["far_even"] += 1 / (degree[a] * degree[b])
    even = np.sqrt(max(degree[u] * degree[v], 1))
    found = {}
    for name, value in count.items():
        found[f"{name}_count"] = value
        found[f"{name}_log"] = np.log(value + FAINTEST)
        found[f"{name}_log_even"] = np.log(value / even + FAINTEST)
    return found


def slow_words(texts, u, v):
    bm25, tfidf, shared = LexicalIndex.family(texts)

    def score(index, query, text):
        return float(index.scores(index.queries([texts[query]]))[0, text])

    found = slow_both("bm25", score(bm25, u, v), score(bm25, v, u))
    share = [score(bm25, a, b) / max(score(bm25, a, a), 1e-9) for a, b in ((u, v), (v, u))]
    found |= slow_both("bm25_share", *share)
    found["tfidf"] = score(tfidf, u, v)
    mine = [score(shared, u, v) / max(score(shared, end, end), 1e-9) for end in (u, v)]
    found |= slow_both("common_words", *mine)
    return found | slow_both("words", *(np.log1p(len(texts[end])) for end in (u, v)))


def slow(texts, dense, tables, u, v):
    t = tables
    found = slow_vectors("", t["center"], t["context"], u, v)
    found |= slow_vectors("structure_", t["structure_center"], t["structure_context"], u, v)
    found |= slow_both("degrees", *(np.log1p(dense[end].sum()) for end in (u, v)))
    found |= slow_paths(dense, u, v) | slow_words(texts, u, v)
    points, near = t["points"], t["near"]
    found["latent"], found["near_near"] = points[u] @ points[v], near[u] @ near[v]
    found |= slow_both("latent_near", points[u] @ near[v], near[u] @ points[v])
    return [found[name] for name in FEATURES]


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 1000))
def test_pairs_look_as_the_slow_version_says_from_either_end(seed):
    texts, dense, tables = world(seed)
    clues = LinkClues(texts, csr_array(dense), tables)
    random = np.random.default_rng(seed)
    u, v = random.integers(0, len(texts), (2, 30))
    wanted = np.array([slow(texts, dense, tables, a, b) for a, b in zip(u, v, strict=True)])
    found = clues.pairs(u, v)
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(clues.pairs(v, u), found, rtol=1e-5, atol=1e-5)


def test_a_pair_looks_the_same_whoever_else_is_asked_for(monkeypatch):
    texts, dense, tables = world(3, n=60)
    clues = LinkClues(texts, csr_array(dense), tables)
    u, v = np.random.default_rng(0).integers(0, 60, (2, 200))
    whole = clues.pairs(u, v)
    monkeypatch.setattr("pairgram.search.link_clues.BLOCK", 7)
    monkeypatch.setattr("pairgram.search.link_clues.STEPS", 40)
    np.testing.assert_array_equal(clues.pairs(u, v), whole)
    assert clues.pairs(u[:0], v[:0]).shape == (0, len(FEATURES))


def test_a_row_with_a_home_looks_as_its_home_and_one_without_has_no_links():
    texts, dense, tables = world(5)
    clues = LinkClues(texts, csr_array(dense), tables)
    same = {name: table[[4, 4]] for name, table in tables.items()}
    more = clues.with_rows(Rows([texts[4], texts[4]], same, np.array([4, -1])))
    n = len(texts)
    others = np.setdiff1d(np.arange(n), [4])
    at = [np.full(len(others), row) for row in (4, n, n + 1)]
    known, moved, new = (more.pairs(rows, others) for rows in at)
    np.testing.assert_allclose(moved, known, rtol=1e-5)
    np.testing.assert_array_equal(known, clues.pairs(at[0], others))
    assert (new[:, FEATURES.index("far_count")] == 0).all()
    assert (new[:, FEATURES.index("common_count")] == 0).all()
    np.testing.assert_allclose(new[:, FEATURES.index("bm25")], known[:, FEATURES.index("bm25")])
    places, by_vectors = next(more.worth(np.array([n + 1])))
    assert {n, n + 1} <= set(places.tolist())
    assert by_vectors.shape == (n,)


def test_what_is_worth_a_look_is_what_any_signal_ranks_high(monkeypatch):
    for name, size in {"NEAR": 2, "VOTED": 2, "FAR_VOTERS": 3, "WORD_VOTERS": 2}.items():
        monkeypatch.setattr(f"pairgram.search.link_clues.{name}", size)
    texts, dense, tables = world(7, n=200, share=0.02)
    clues = LinkClues(texts, csr_array(dense), tables)
    node = int(dense.sum(axis=1).argmax())
    places, by_vectors = next(clues.worth(np.array([node])))
    wanted = tables["context"] @ tables["center"][node]
    np.testing.assert_allclose(by_vectors, wanted, rtol=1e-5)
    assert set(np.argsort(-wanted)[:2].tolist()) <= set(places.tolist())
    degree = np.maximum(dense.sum(axis=1), 1)
    allocated = dense[node] / degree @ dense
    assert np.argmax(allocated) in places
    assert len(places) <= 2 * 2 + 4 * 2
    assert (np.diff(places) > 0).all()


def test_paths_leave_out_most_links_of_hubs(monkeypatch):
    monkeypatch.setattr("pairgram.search.link_clues.MOST_LINKS", 4)
    texts, dense, tables = world(9, n=30, share=0.3)
    clues = LinkClues(texts, csr_array(dense), tables)
    walked = clues._walked.toarray()
    assert (walked == walked.T).all()
    assert (walked <= dense).all()
    assert 0 < walked.sum(axis=1).max() <= 4
    u, v = np.random.default_rng(1).integers(0, 30, (2, 40))
    scaled = walked / np.sqrt(np.maximum(dense.sum(axis=1), 1))
    far = scaled @ walked @ scaled.T
    found = clues.pairs(u, v)[:, FEATURES.index("far_count")]
    np.testing.assert_allclose(found, far[u, v], rtol=1e-4, atol=1e-5)
    star = np.zeros((3001, 3001), np.float32)
    star[0, 1:] = star[1:, 0] = 1
    one = {name: np.zeros((3001, 1), np.float32) for name in TABLES}
    stars = LinkClues([["leaf"]] * 3001, csr_array(star), one)
    leaves = np.arange(1, 3001)
    found = stars.pairs(leaves, leaves[::-1].copy())
    assert (found[:, FEATURES.index("common_count")] == 1).all()


def test_nodes_without_links_and_words():
    tables = {name: np.zeros((3, 2), np.float32) for name in TABLES}
    clues = LinkClues([[], [], []], csr_array((3, 3), dtype=np.float32), tables)
    every = np.arange(3)
    assert np.isfinite(clues.pairs(every, every[::-1].copy())).all()
    assert next(clues.worth(np.array([1])))[0].tolist() == []
