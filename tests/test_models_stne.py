"""STNE beside a slow version on ten nodes: reading, naming, the sampled softmax; its worlds."""

import itertools

import numpy as np
import pytest

import pairgram as pg
from pairgram.bench.graphs import planted_graph
from pairgram.errors import FileFormatError, InputError, ParameterError
from pairgram.sampling.walks import iter_walks
from pairgram.text.tfidf import tfidf
from worlds import build, shuffled, world

torch = pytest.importorskip("torch")

from pairgram.training.stne import StneSettings, WalkFeed  # noqa: E402
from pairgram.training.stne_net import Candidates, Noise, StneNet, keep_some  # noqa: E402

TEN = {
    "a": "red red boat", "b": "blue boat", "c": "zebra", "d": "", "e": "blue zebra sea",
    "f": "boat", "g": "blue boats", "h": "red blue", "i": "red", "j": "boat red",
}  # fmt: skip
SETTINGS = StneSettings(4, 3, 1, 0.01, 0.0, 4, 0, 5)


def ten():
    names = list(TEN)[:-1]
    return pg.TextGraph.from_edges(names[:-1], names[1:], names=[*TEN], texts=TEN)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def slow_lstm(weights, name, inputs, hidden, cell, suffix="_l0"):
    """Outputs of an LSTM over a list of vectors, and its last state."""
    W, U, b, c = (
        weights[f"{name}.{kind}{suffix}"].astype(np.float64)
        for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    )
    outputs = []
    for x in inputs:
        i, f, g, o = np.split(W @ x + b + U @ hidden + c, 4)
        cell = sigmoid(f) * cell + sigmoid(i) * np.tanh(g)
        hidden = sigmoid(o) * np.tanh(cell)
        outputs.append(hidden)
    return outputs, hidden, cell


def slow_encode(weights, contents, half):
    """Outputs for the contents of one walk, shape (L, 2·half), and the last states."""
    zero = np.zeros(half)
    ahead, h, c = slow_lstm(weights, "encoder", contents, zero, zero)
    back, k, d = slow_lstm(weights, "encoder", contents[::-1], zero, zero, "_l0_reverse")
    read = [np.concatenate(pair) for pair in zip(ahead, back[::-1], strict=True)]
    return np.array(read), np.concatenate((h, k)), np.concatenate((c, d))


@pytest.mark.quick
def test_ten_nodes_beside_a_slow_version():
    graph = ten()
    model = pg.STNE(dim=8, features=4, length=4, times=3, epochs=2, seed=5, threads=1).fit(graph)
    content = tfidf(graph.texts, model.vocabulary_) @ model._axes_
    outputs = {v: [] for v in range(10)}
    for block in iter_walks(graph, length=4, times=3, seed=5):
        for walk in block.tolist():
            nodes = [v for v in walk if v >= 0]
            read, _, _ = slow_encode(model._weights_, [content[v] for v in nodes], 4)
            for v, vector in zip(nodes, read, strict=True):
                outputs[v].append(vector)
    expected = [np.mean(outputs[v], axis=0) for v in range(10)]
    np.testing.assert_allclose(model.vectors_.center, expected, rtol=1e-4, atol=1e-6)
    # A node without links was read in a walk of its own, and so is a new text.
    np.testing.assert_allclose(model.embed(["boat red"])[0], model.vectors_.center[9], atol=1e-6)


@pytest.mark.quick
def test_loss_is_that_of_naming_the_nodes_in_turn():
    torch.manual_seed(1)
    net, content = StneNet(10, 3, 6, False), np.random.default_rng(0).standard_normal((10, 3))
    net.bias.weight.data.normal_()
    weights = {name: value.detach().numpy() for name, value in net.state_dict().items()}
    walks, total = np.array([[0, 1, 2, 1], [5, 4, 9, 8]]), 0.0
    for walk in walks:
        _, hidden, cell = slow_encode(weights, content[walk], 3)
        first = [
            weights[f"{name}.weight"] @ state + weights[f"{name}.bias"]
            for name, state in (("first_hidden", hidden), ("first_cell", cell))
        ]
        states, _, _ = slow_lstm(weights, "decoder", [np.zeros(1)] * 4, *first)
        for v, state in zip(walk, states, strict=True):
            scores = weights["nodes.weight"] @ state + weights["bias.weight"][:, 0]
            total += np.log(np.exp(scores).sum()) - scores[v]
    read = torch.from_numpy(content[walks]).float()
    decoded = net.decode(net.encode(read)[1], 4).flatten(0, 1)
    found = net.loss(decoded, torch.from_numpy(walks).flatten())
    np.testing.assert_allclose(float(found.detach()), total / walks.size, rtol=1e-5)


@pytest.mark.quick
def test_sampled_softmax_estimates_the_sum_over_all_nodes():
    torch.manual_seed(2)
    net, degree = StneNet(10, 3, 6, True), np.array([3, 1, 4, 1, 5, 9, 2, 6, 0, 2])
    net.nodes.weight.data.normal_(std=0.7)
    net.bias.weight.data.normal_()
    decoded, target = torch.randn(2, 6), np.array([4, 1])
    scores = (decoded @ net.nodes.weight.T + net.bias.weight[:, 0]).detach().double()
    # The eighth node has no link, so no walk comes by and no noise stands for it.
    whole = torch.exp(scores[:, degree > 0]).sum(1)
    noise, random, draws = Noise(degree, 20), np.random.default_rng(3), 1000
    sums = []
    for _ in range(draws):
        among = noise.draw(target, random, "cpu")
        assert 8 not in among.rows[among.drawn]
        losses = [
            float(net.sampled_loss(decoded[i : i + 1], one(among, i)).detach()) for i in range(2)
        ]
        sums.append([np.exp(losses[i] + float(scores[i, target[i]])) for i in range(2)])
    error = 4 * np.std(sums, axis=0) / np.sqrt(draws)
    assert (np.abs(np.mean(sums, axis=0) - whole.numpy()) < error).all()


def one(among, i):
    return Candidates(among.rows, among.target[i : i + 1], among.drawn, among.log_expected)


@pytest.mark.quick
def test_with_every_node_drawn_as_expected_the_sampled_loss_is_the_whole_one():
    torch.manual_seed(3)
    net, every = StneNet(6, 3, 4, True), torch.arange(6)
    decoded, target = torch.randn(5, 4), torch.tensor([0, 3, 3, 5, 1])
    among = Candidates(every, target, every, torch.zeros(6))
    np.testing.assert_allclose(
        float(net.sampled_loss(decoded, among).detach()), float(net.loss(decoded, target).detach()),
        rtol=1e-5,
    )  # fmt: skip


@pytest.mark.quick
def test_walks_are_streamed_and_the_same_in_every_epoch():
    graph, linked = ten(), set(range(9))
    feed = WalkFeed(graph, SETTINGS)
    assert feed.batches == 3 * 3
    epochs = [
        [walk for turn in range(e * 9, e * 9 + 9) for walk in feed.batch(turn).tolist()]
        for e in range(2)
    ]
    every = [walk for block in feed.blocks() for walk in block.tolist()]
    assert epochs[0] != epochs[1]  # in another order
    assert sorted(epochs[0]) == sorted(epochs[1]) == sorted(every)
    assert sorted(walk[0] for walk in every) == sorted(3 * list(linked))
    near = graph.adjacency()
    for walk in every:
        assert all(b in near.neighbours(a) for a, b in itertools.pairwise(walk))


@pytest.mark.quick
def test_dropout_keeps_the_mean():
    random = torch.Generator().manual_seed(4)
    ones = torch.ones(200, 200)
    found = keep_some(ones, 0.25, random)
    assert found.unique().tolist() == pytest.approx([0.0, 4 / 3])
    assert float(found.mean()) == pytest.approx(1.0, abs=0.02)
    assert keep_some(ones, 0.0, random) is ones


@pytest.mark.quick
@pytest.mark.parametrize("samples", [0, 40])
def test_held_out_links_are_found_and_not_where_nodes_are_exchanged(samples):
    split = pg.split_edges(planted_graph(communities=4, size=25), keep=0.7, seed=1)
    model = pg.STNE(
        dim=16, features=8, length=6, times=5, epochs=4, learning_rate=0.02, batch_size=50,
        samples=samples, threads=1,
    )  # fmt: skip
    assert pg.evaluate(model.fit(split.train), split)["auc_pair"] > 0.8
    assert model.stats_["samples"] == samples
    blind = pg.evaluate(shuffled(model), split)["auc_pair"]
    assert 0.35 < blind < 0.65


@pytest.mark.quick
def test_a_new_text_is_placed_as_a_walk_of_length_one():
    split = pg.split_nodes(world(), 0.3, seed=1)
    model = build("stne").fit(split.train)
    assert pg.evaluate(model, split)["auc_pair"] > 0.9
    placed = model.place(["red apple 9"])
    assert placed.rules == ("dot", "cosine")


@pytest.mark.quick
def test_large_graphs_are_sampled_unless_asked_otherwise(monkeypatch):
    monkeypatch.setattr("pairgram.models.stne.WHOLE_SOFTMAX", 15)
    monkeypatch.setattr("pairgram.models.stne.SAMPLES", 6)
    assert build("stne", epochs=1).fit(world()).stats_["samples"] == 6
    assert build("stne", epochs=1, samples=0).fit(world()).stats_["samples"] == 0
    sampled = [build("stne", epochs=2).fit(world()).vectors_.center for _ in range(2)]
    np.testing.assert_array_equal(*sampled)
    monkeypatch.setattr("pairgram.models.stne.MOST_LOGITS", 100)
    with pytest.raises(ParameterError, match="smaller 'batch_size'"):
        build("stne").fit(world())


@pytest.mark.quick
def test_cleaning_decides_what_is_read():
    texts = {"a": "red-boat", "b": "red boat", "c": "sea"}
    graph = pg.TextGraph.from_edges(["a", "b"], ["b", "c"], texts=texts)
    sizes = [
        len(build("stne", cleaning=cleaning).fit(graph).vocabulary_)
        for cleaning in ("words", "paper")
    ]
    assert sizes == [4, 5]


@pytest.mark.quick
def test_bad_input_is_one_line(tmp_path):
    edges = ["a", "b"], ["b", "c"]
    for graph, more, kind, said in (
        (pg.TextGraph.from_edges(*edges), {}, InputError, "STNE needs texts and none"),
        (
            pg.TextGraph.from_edges(*edges, texts={"a": "of the"}),
            {},
            InputError,
            "STNE finds no word",
        ),
        (
            pg.TextGraph.from_edges(["a"], ["b"], texts={"a": "red"}),
            {},
            InputError,
            "STNE needs a graph of at least 3 nodes",
        ),
        (world(), {"dim": 7}, ParameterError, "must be even"),
    ):
        with pytest.raises(kind, match=said) as caught:
            build("stne", **more).fit(graph)
        assert "\n" not in str(caught.value)
    build("stne").fit(world()).save(tmp_path / "model")
    (tmp_path / "model" / "vocabulary.json").unlink()
    with pytest.raises(FileFormatError, match=r"vocabulary.json is missing"):
        pg.load(tmp_path / "model")
