"""Paper2Vec's parts beside slow versions: words as pairs, nearest texts, added links, the start."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pairgram as pg
from pairgram.engine import LocalEngine
from pairgram.errors import FileFormatError, InputError
from pairgram.io.tensors import map_tensors, write_tensors
from pairgram.search import neighbours
from pairgram.text.ragged import Ragged
from pairgram.training.paragraph import DocumentWords
from pairgram.training.partition import partition
from pairgram.training.settings import Settings, noise_mass
from pairgram.training.sgns import train
from worlds import build, build_brief, world

TEN = {
    "a": "red red boat", "b": "blue boat", "c": "zebra", "d": "", "e": "blue zebra",
    "f": "boat", "g": "blue boats", "h": "red blue", "i": "red", "j": "boat red",
}  # fmt: skip


@pytest.mark.quick
@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 4), max_size=6), min_size=1, max_size=12),
    st.integers(1, 9),
    st.integers(0, 50),
)
def test_every_word_of_every_document_is_a_pair_once(documents, size, seed):
    flat = np.array([word for words in documents for word in words], np.int32)
    source = DocumentWords(Ragged.from_lengths(flat, map(len, documents)), 5, size)
    assert not source.frequency[: len(documents)].any()
    assert source.frequency[len(documents) :].tolist() == np.bincount(flat, minlength=5).tolist()
    parts = partition(noise_mass(source.frequency), 2, seed)
    found = []
    with LocalEngine(1) as engine:
        for k in range(source.chunks):
            center, context = source.chunk(k, parts, engine)
            assert (np.diff(center) >= 0).all()
            found += zip(parts.node[center].tolist(), parts.node[context].tolist(), strict=True)
    n = len(documents)
    assert sorted(found) == sorted((i, n + w) for i, words in enumerate(documents) for w in words)


@pytest.mark.quick
@settings(max_examples=40, deadline=None)
@given(st.integers(1, 20), st.integers(0, 5), st.integers(1, 60), st.integers(0, 99))
def test_nearest_rows_are_those_of_a_full_sort(n, k, block, seed):
    rows = np.random.default_rng(seed).integers(-2, 3, (n, 3)).astype(np.float32)  # many ties
    with pytest.MonkeyPatch.context() as patch, LocalEngine(2) as engine:
        patch.setattr(neighbours, "BLOCK_SCORES", block)
        found = neighbours.nearest_rows(rows, k, engine)
    scores = rows @ rows.T
    for i in range(n):
        others = sorted((j for j in range(n) if j != i), key=lambda j: (-scores[i, j], j))[:k]
        assert found[i].tolist() == others + [-1] * (k - len(others))


@pytest.mark.quick
def test_paragraph_vectors_tell_documents_apart():
    random = np.random.default_rng(0)
    topic = np.repeat([0, 1], 20)
    words = [random.integers(10 * t, 10 * t + 10, 30) for t in topic]
    flat = np.concatenate(words).astype(np.int32)
    source = DocumentWords(Ragged.from_lengths(flat, [30] * 40), 20)
    with LocalEngine(1) as engine:
        center, _, _ = train(source, source.frequency, Settings(dim=8, epochs=40), engine)
        near = neighbours.nearest_rows(center[:40], 3, engine)
    assert (topic[near] == topic[:, None]).all()


@pytest.mark.quick
def test_walks_start_from_the_given_vectors():
    graph, random = world(), np.random.default_rng(0)
    start = random.random((graph.n_nodes, 8), dtype=np.float32)
    model = pg.DeepWalk(dim=8, length=5, times=1, window=1)
    kind = Settings(dim=8, learning_rate=1e-30)
    with LocalEngine(1) as engine:
        center, _, _ = train(model._source(graph), graph.degree, kind, engine, start=start)
    np.testing.assert_allclose(center, start)


@pytest.mark.quick
@pytest.mark.parametrize("weight", [None, np.arange(1.0, 10.0)])
def test_links_are_added_to_the_nearest_texts(weight):
    names = list(TEN)
    graph = pg.TextGraph.from_edges(names[:-1], names[1:], texts=TEN, weight=weight)
    model = pg.Paper2Vec(dim=8, length=5, times=2, neighbours=2, seed=3).fit(graph)
    vectors = np.random.default_rng(1).standard_normal((10, 8)).astype(np.float32)
    has_words = np.array([bool(text) for text in graph.texts])
    with LocalEngine(1) as engine:
        wider = model._with_text_links(graph, vectors, has_words, engine)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    expected = {frozenset(edge) for edge in zip(range(9), range(1, 10), strict=True)}
    for i in np.flatnonzero(has_words).tolist():
        others = [j for j in np.flatnonzero(has_words).tolist() if j != i]
        expected |= {
            frozenset((i, j)) for j in sorted(others, key=lambda j: -unit[i] @ unit[j])[:2]
        }
    found = {frozenset(e) for e in zip(wider.source.tolist(), wider.target.tolist(), strict=True)}
    assert found == expected
    assert (wider.weight is None) == (weight is None)
    assert model.stats_["text_links"] > 0
    assert model.graph_ is graph
    # The noise is that of the wider graph, so the calibrated rule reads its degrees.
    assert model._noise_degree(graph).sum() > graph.degree.sum()


@pytest.mark.quick
def test_cleaning_decides_which_texts_are_near():
    texts = {"a": "red-boat", "b": "red boat", "c": "blue sky", "d": "blue-sky"}
    graph = pg.TextGraph.from_edges(["a", "b", "c"], ["b", "c", "d"], texts=texts)
    one, other = (
        build("paper2vec", cleaning=cleaning).fit(graph).vectors_.center
        for cleaning in ("words", "paper")
    )
    assert (one != other).any()


@pytest.mark.quick
def test_an_isolated_node_with_a_text_is_placed_by_it():
    graph = world(extra=["alone"])
    texts = dict(zip(graph.names.tolist(), graph.texts, strict=True)) | {"alone": "red apple"}
    graph = pg.TextGraph.from_edges(graph.source, graph.target, names=graph.names, texts=texts)
    model = build("paper2vec", text_epochs=50).fit(graph)
    assert {s.node[0] for s in model.suggest(node="alone", k=5, rule="dot")} == {"a"}


@pytest.mark.quick
def test_bad_input_is_one_line(tmp_path):
    no_words = pg.TextGraph.from_edges(["a"], ["b"], texts={"a": "of the"})
    for graph, said in (
        (pg.TextGraph.from_edges(["a"], ["b"]), "Paper2Vec needs texts and none"),
        (no_words, "Paper2Vec finds no word"),
    ):
        with pytest.raises(InputError, match=said) as caught:
            build("paper2vec").fit(graph)
        assert "\n" not in str(caught.value)
    build("paper2vec").fit(world()).save(tmp_path / "model")
    file = tmp_path / "model" / "vectors.safetensors"
    kept = {k: v.copy() for k, v in map_tensors(file).items() if k in ("center", "context")}
    write_tensors(file, kept)
    with pytest.raises(FileFormatError, match="lacks the links between texts"):
        pg.load(tmp_path / "model")


@pytest.mark.quick
def test_noise_of_links_between_texts_follows_the_nodes(tmp_path):
    model = build_brief("paper2vec").fit(world())
    own = dict(zip(model.graph_.names, model._noise_degree(model.graph_), strict=True))
    between = {v: own[v] - model.graph_.degree[model.graph_.position(v)] for v in own}
    assert sum(between.values()) == 2 * model.stats_["text_links"] > 0
    model.save(tmp_path / "model")
    for one in (model, pg.load(tmp_path / "model")):
        one.partial_fit([("new", "a1")], texts={"new": "red apple 9"})
        graph = one.graph_
        degree = dict(zip(graph.names, one._noise_degree(graph) - graph.degree, strict=True))
        assert degree == between | {"new": 0}
    model.save(tmp_path / "model")
    again = pg.load(tmp_path / "model")
    np.testing.assert_array_equal(again._noise_degree(again.graph_), model._noise_degree(graph))
