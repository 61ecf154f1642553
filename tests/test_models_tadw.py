"""TADW beside dense matrices, and what it says of graphs it cannot read."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pairgram as pg
from pairgram.errors import FileFormatError, InputError, ParameterError
from pairgram.text.tfidf import directions, tfidf
from pairgram.text.vocabulary import Vocabulary
from pairgram.training import tadw
from worlds import build, world

TEXTS = {
    "a": "Red, red boat", "b": "a blue boat", "c": "zebra", "d": "", "e": "the BLUE zebra",
    "f": "boat", "g": "blue boats", "h": "red-blue", "i": "red", "j": "boat of the red",
}  # fmt: skip


def random_graph(n, links, seed, weighted=False):
    random = np.random.default_rng(seed)
    source, target = random.integers(0, n, (2, links))
    weight = random.random(links) + 0.5 if weighted else None
    names = [str(i) for i in range(n)]
    return pg.TextGraph.from_edges(source, target, names=names, weight=weight)


def dense_proximity(graph):
    """M = (A + A²)/2 in full, from the links one by one."""
    near = graph.adjacency()
    A = np.zeros((graph.n_nodes, graph.n_nodes))
    for u in range(graph.n_nodes):
        for at in range(near.indptr[u], near.indptr[u + 1]):
            A[u, near.indices[at]] = 1.0 if near.weight is None else near.weight[at]
        A[u] /= max(A[u].sum(), 1e-300)
    return (A + A @ A) / 2


def dense_sweeps(M, T, H, l2, sweeps):
    """The same steps with M and all unknowns of H in full; losses, W and H."""
    losses, (k, f), n = [], H.shape, len(M)
    for _ in range(sweeps):
        X = T @ H.T
        W = np.stack([np.linalg.solve(X.T @ X + l2 / 2 * np.eye(k), X.T @ M[u]) for u in range(n)])
        # Entry (u, v) of W·H·Tᵀ is Σ W[u, i]·T[v, j]·H[i, j].
        system = np.kron(W.T @ W, T.T @ T) + l2 / 2 * np.eye(k * f)
        H = np.linalg.solve(system, (W.T @ M @ T).ravel()).reshape(k, f)
        losses.append(np.sum((M - W @ H @ T.T) ** 2) + l2 / 2 * (np.sum(W**2) + np.sum(H**2)))
    return losses, W, H


@pytest.mark.quick
@pytest.mark.parametrize(("n", "links", "weighted"), [(10, 14, True), (200, 600, False)])
def test_loss_and_product_are_those_of_dense_matrices(n, links, weighted):
    graph, T = random_graph(n, links, 1, weighted), np.random.default_rng(2).random((n, 12))
    M = dense_proximity(graph)
    A = tadw.transitions(graph.adjacency())
    found = tadw.factorise(A, T, rank=5, l2=0.2, sweeps=4, seed=3)
    losses, W, H = dense_sweeps(M, T, tadw.start(5, 12, 3), 0.2, 4)
    np.testing.assert_allclose(found.losses, losses, rtol=1e-5)
    expected = W @ (T @ H.T).T
    assert np.linalg.norm(found.structure @ found.text.T - expected) < 1e-5 * np.linalg.norm(
        expected
    )
    assert (np.diff(found.losses) <= 1e-9).all()


@pytest.mark.quick
@settings(max_examples=30, deadline=None)
@given(st.integers(2, 12), st.integers(0, 30), st.integers(0, 99), st.integers(1, 40))
def test_norm_of_the_matrix_that_is_not_formed(n, links, seed, block):
    graph = random_graph(n, links + 1, seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tadw, "BLOCK_PATHS", block)
        found = tadw.squared_norm(tadw.transitions(graph.adjacency()))
    np.testing.assert_allclose(found, np.sum(dense_proximity(graph) ** 2), rtol=1e-12)


@pytest.mark.quick
def test_a_star_costs_no_walk_over_its_paths():
    leaves = 200_000
    graph = pg.TextGraph.from_edges(np.zeros(leaves, int), np.arange(1, leaves + 1))
    A = tadw.transitions(graph.adjacency())
    assert tadw.squared_norm(A) == 0.0
    product = tadw.times_proximity(A, np.ones((leaves + 1, 1)))
    np.testing.assert_allclose(product, 1.0)


@pytest.mark.quick
@pytest.mark.parametrize("cleaning", ["words", "paper"])
def test_ten_nodes_beside_a_slow_version(cleaning):
    names = list(TEXTS)
    graph = pg.TextGraph.from_edges(names[:-1], names[1:], texts=TEXTS)
    model = pg.TADW(dim=4, features=3, epochs=3, l2=0.5, cleaning=cleaning).fit(graph)
    vocabulary = Vocabulary.fit(graph.texts, cleaning)
    rows = np.zeros((10, len(vocabulary)))
    for i, text in enumerate(graph.texts):
        for word in vocabulary.cut(text):
            if word in vocabulary.ids:
                rows[i, vocabulary.ids[word]] += vocabulary.idf[vocabulary.ids[word]]
        rows[i] /= max(np.linalg.norm(rows[i]), 1e-300)
    np.testing.assert_allclose(tfidf(graph.texts, vocabulary).toarray(), rows, atol=1e-7)
    T = rows @ directions(tfidf(graph.texts, vocabulary), 3, 0)
    best = np.linalg.svd(rows)[1][:3]
    np.testing.assert_allclose(np.linalg.svd(T)[1], best, rtol=1e-6)
    losses, W, H = dense_sweeps(dense_proximity(graph), T, tadw.start(2, 3, 0), 0.5, 3)
    np.testing.assert_allclose(model.stats_["loss"], losses, rtol=1e-6)
    np.testing.assert_allclose(model.vectors_.center, np.hstack((W, T @ H.T)), atol=1e-5)
    product = W @ (T @ H.T).T
    pairs = [(a, b) for a in names for b in names]
    for rule, expected in (("context", product), ("symmetric", product + product.T)):
        np.testing.assert_allclose(model.score(pairs, rule), expected.ravel(), atol=1e-5)
    # What is likely to lead to a new text is read off its half of the factors.
    new = model.place(["blue boat"]).block(slice(0, 1), "symmetric")[0]
    np.testing.assert_allclose(new, W @ model.embed(["blue boat"])[0, 2:], atol=1e-5)
    # A known text read as a new one has the same text half, and no structure.
    np.testing.assert_allclose(model.embed(graph.texts)[:, 2:], T @ H.T, atol=1e-5)
    assert not model.embed(graph.texts)[:, :2].any()


@pytest.mark.quick
def test_zero_shot_evaluation_runs():
    report = pg.evaluate(build("tadw"), pg.split_nodes(world(), 0.3, seed=1))
    assert report["auc_pair"] == 1.0


@pytest.mark.quick
def test_bad_input_is_one_line(tmp_path):
    no_words = pg.TextGraph.from_edges(["a"], ["b"], texts={"a": "of the"})
    for graph, params, kind, said in (
        (pg.TextGraph.from_edges(["a"], ["b"]), {}, InputError, "TADW needs texts and none"),
        (no_words, {}, InputError, "TADW finds no word"),
        (world(), {"dim": 7}, ParameterError, "must be even"),
        (world(), {"l2": 0.0}, ParameterError, r"a float in \(0.0, inf\)"),
    ):
        with pytest.raises(kind, match=said) as caught:
            pg.TADW(**params).fit(graph)
        assert "\n" not in str(caught.value)
    build("tadw").fit(world()).save(tmp_path / "model")
    (tmp_path / "model" / "vocabulary.json").unlink()
    with pytest.raises(FileFormatError, match=r"vocabulary.json is missing"):
        pg.load(tmp_path / "model")
