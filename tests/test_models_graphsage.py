"""GraphSAGE beside a slow version on ten nodes; what it samples, what it hides, new texts."""

import numpy as np
import pytest

import pairgram as pg
from pairgram.errors import FileFormatError, InputError
from pairgram.text.tfidf import tfidf
from worlds import build, world

torch = pytest.importorskip("torch")

from pairgram.training.graphsage import (  # noqa: E402
    SageFeed,
    SageSettings,
    loss_of,
    sampled_vectors,
)
from pairgram.training.graphsage_net import SageNet  # noqa: E402

TEN = {
    "a": "red red boat", "b": "blue boat", "c": "zebra", "d": "", "e": "blue zebra sea",
    "f": "boat", "g": "blue boats", "h": "red blue", "i": "red", "j": "boat red",
}  # fmt: skip


def ten(**more):
    names = list(TEN)[:-1]
    graph = pg.TextGraph.from_edges(
        [*names[:-1], "a", "a"], [*names[1:], "c", "e"], names=[*TEN], texts=TEN
    )
    model = pg.GraphSAGE(dim=6, features=4, epochs=3, batch_size=4, threads=1, **more)
    return model.fit(graph)


def features_of(model, texts):
    rows = tfidf(list(texts), model.vocabulary_) @ model._text_map_
    return np.asarray(rows) * np.sqrt(model._text_map_.shape[1])


def slow_mean(table, rows, otherwise):
    return np.mean([table[v] for v in rows], axis=0) if len(rows) else otherwise


def slow_hidden(w, x, near):
    """First layer of nodes with features x and lists of neighbours, in plain loops."""
    found = []
    for v, rows in enumerate(near):
        both = np.concatenate((x[v], slow_mean(x, rows, w["no_features"])))
        h = np.maximum(w["first.weight"] @ both + w["first.bias"], 0)
        found.append(h / max(np.linalg.norm(h), 1e-12))
    return np.array(found)


def slow_second(w, own, hidden, rows):
    both = np.concatenate((own, slow_mean(hidden, rows, w["no_hidden"])))
    return w["second.weight"] @ both + w["second.bias"]


@pytest.mark.quick
def test_ten_nodes_beside_a_slow_version():
    model = ten()
    w, x = model._weights_, features_of(model, TEN.values())
    near = [model.graph_.adjacency().neighbours(v).tolist() for v in range(10)]
    assert near[9] == []
    hidden = slow_hidden(w, x, near)
    expected = [slow_second(w, hidden[v], hidden, near[v]) for v in range(10)]
    np.testing.assert_allclose(model.vectors_.center, expected, rtol=1e-4, atol=1e-5)
    # A node without links is read as a new text is; one with links is not.
    new = model.embed(list(TEN.values()))
    np.testing.assert_allclose(new[9], model.vectors_.center[9], rtol=1e-4, atol=1e-5)
    assert (np.abs(new[0] - model.vectors_.center[0]) > 1e-3).any()


def settings(**more):
    given = {
        "neighbours": 2, "far_neighbours": 2, "alone": 0.3, "negatives": 3, "epochs": 2,
        "learning_rate": 0.01, "batch_size": 5, "seed": 4,
    }  # fmt: skip
    return SageSettings(**(given | more))


@pytest.mark.quick
def test_vectors_and_loss_of_a_batch_beside_a_slow_version():
    model = ten()
    graph, x = model.graph_, features_of(model, TEN.values()).astype(np.float32)
    torch.manual_seed(0)
    net = SageNet(x.shape[1], 6)
    with torch.no_grad():
        for weight in net.parameters():
            weight.add_(0.1 * torch.randn(weight.shape))
    w = {name: value.detach().numpy() for name, value in net.state_dict().items()}
    feed = SageFeed(graph, settings())
    batch = feed.batch(1)
    assert (batch.near < 0).all(axis=1).any()

    def listed(drawn):
        return [[v for v in row if v >= 0] for row in drawn.tolist()]

    inner_near = dict(zip(batch.inner.tolist(), listed(batch.inner_far), strict=True))
    hidden = slow_hidden(w, x, [inner_near.get(v, []) for v in range(10)])
    z = []
    for v, near, far in zip(batch.roots, listed(batch.near), listed(batch.root_far), strict=True):
        own = slow_hidden(w, np.concatenate((x[v][None], x)), [[u + 1 for u in far]])[0]
        z.append(slow_second(w, own, hidden, near))
    found = sampled_vectors(net, torch.from_numpy(x), batch)
    np.testing.assert_allclose(found.detach().numpy(), z, rtol=1e-4, atol=1e-5)
    b, total = batch.links, 0.0
    for i in range(b):
        u, v = z[i], z[b + i]
        total += 2 * np.logaddexp(0, -(u @ v + w["constant"]))
        for end in (i, b + i):
            near = graph.adjacency().neighbours(batch.roots[end]).tolist()
            for k in range(2 * b, 3 * b):
                if batch.roots[k] not in (*near, batch.roots[end]):
                    total += 3 / b * np.logaddexp(0, z[end] @ z[k] + w["constant"])
    loss = loss_of(net, torch.from_numpy(x), batch, 3)
    np.testing.assert_allclose(float(loss.detach()), total, rtol=1e-5)


@pytest.mark.quick
def test_every_link_comes_once_an_epoch_and_is_hidden_from_its_ends():
    graph = world()
    feed = SageFeed(graph, settings(neighbours=20, far_neighbours=20, alone=0.0, batch_size=7))
    for epoch in range(2):
        found = []
        for turn in range(epoch * feed.batches, (epoch + 1) * feed.batches):
            batch = feed.batch(turn)
            b = batch.links
            assert len(batch.roots) == 3 * b
            for row in range(2 * b):
                v, other = batch.roots[row], batch.roots[(row + b) % (2 * b)]
                for drawn in (batch.near, batch.root_far):
                    near = set(drawn[row][drawn[row] >= 0].tolist())
                    assert near == set(graph.adjacency().neighbours(v).tolist()) - {other}
            for row in range(2 * b, 3 * b):  # a noise node lacks one neighbour too
                near = batch.near[row][batch.near[row] >= 0]
                assert len(near) == graph.degree[batch.roots[row]] - 1
            found += zip(batch.roots[:b].tolist(), batch.roots[b : 2 * b].tolist(), strict=True)
        ends = zip(graph.source.tolist(), graph.target.tolist(), strict=True)
        assert sorted(found) == sorted(ends)


@pytest.mark.quick
def test_batches_are_functions_of_seed_and_turn():
    one, other = (SageFeed(world(), settings()) for _ in range(2))
    later = one.batch(5)
    for turn in range(6):
        again = other.batch(turn)
    for name in ("roots", "near", "inner", "root_far", "inner_far", "known"):
        np.testing.assert_array_equal(getattr(later, name), getattr(again, name))
    assert (SageFeed(world(), settings(seed=5)).batch(5).roots != later.roots).any()


@pytest.mark.quick
@pytest.mark.parametrize("alone", [0.0, 1.0])
def test_the_share_of_nodes_alone(alone):
    batch = SageFeed(world(), settings(alone=alone, batch_size=30)).batch(0)
    assert ((batch.near < 0).all(axis=1) == bool(alone)).all()
    assert ((batch.root_far < 0).all(axis=1) == bool(alone)).all()
    assert build("graphsage", alone=alone).fit(world()).stats_["updates"] > 0


@pytest.mark.quick
def test_zero_shot_scores_by_text_alone():
    split = pg.split_nodes(world(), 0.3, seed=1)
    model = build("graphsage").fit(split.train)
    assert pg.evaluate(model, split)["auc_pair"] == 1.0


@pytest.mark.quick
def test_cleaning_decides_what_is_read():
    texts = {"a": "red-boat", "b": "red boat", "c": "sea"}
    graph = pg.TextGraph.from_edges(["a", "b"], ["b", "c"], texts=texts)
    sizes = [
        len(build("graphsage", cleaning=cleaning).fit(graph).vocabulary_)
        for cleaning in ("words", "paper")
    ]
    assert sizes == [4, 5]


@pytest.mark.quick
def test_bad_input_is_one_line(tmp_path):
    two = pg.TextGraph.from_edges(["a"], ["b"], texts={"a": "red", "b": "blue"})
    no_words = pg.TextGraph.from_edges(["a", "b"], ["b", "c"], texts={"a": "of the"})
    for graph, said in (
        (pg.TextGraph.from_edges(["a"], ["b"]), "GraphSAGE needs texts and none"),
        (two, "this graph of 2 nodes has none: every two nodes are linked"),
        (no_words, "GraphSAGE finds no word"),
    ):
        with pytest.raises(InputError, match=said) as caught:
            build("graphsage").fit(graph)
        assert "\n" not in str(caught.value)
    build("graphsage").fit(world()).save(tmp_path / "model")
    (tmp_path / "model" / "vocabulary.json").unlink()
    with pytest.raises(FileFormatError, match=r"vocabulary.json is missing"):
        pg.load(tmp_path / "model")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA card")
def test_a_card_learns_the_same_world():
    model = build("graphsage", device="cuda").fit(world())
    near = model.score([("a0", "a1"), ("b2", "b3")])
    far = model.score([("a0", "b1"), ("b2", "a3")])
    assert near.min() > far.max()
    assert model.stats_["device"].startswith("cuda")
