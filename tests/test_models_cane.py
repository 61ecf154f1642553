"""CANE beside a slow version on ten nodes; its pairs, its ranking, its way of testing."""

import numpy as np
import pytest

import pairgram as pg
from pairgram.errors import FileFormatError, InputError, ParameterError
from pairgram.evaluation.protocols import draw_trials
from pairgram.models.cane_fit import anchors, settings_of
from pairgram.models.cane_rank import rerank
from pairgram.text.tokens import known_words
from worlds import build, world

torch = pytest.importorskip("torch")

TEN = {
    "a": "red red boat", "b": "blue boat", "c": "zebra", "d": "", "e": "blue zebra sea",
    "f": "boat", "g": "blue boats", "h": "red blue", "i": "red", "j": "boat red",
}  # fmt: skip
PAIRS = [(a, b) for a in TEN for b in TEN]


def ten(**more):
    names = list(TEN)[:-1]
    graph = pg.TextGraph.from_edges(names[:-1], names[1:], names=[*TEN], texts=TEN)
    return pg.CANE(dim=8, epochs=3, threads=1, **more).fit(graph)


def slow_windows(model, text):
    """Filters over each word and the next one, in plain loops."""
    weights = model._weights_
    ids = known_words([text], model.vocabulary_, 300).values
    rows = []
    for at, word in enumerate(ids):
        x = weights["here.weight"] @ weights["words.weight"][word] + weights["here.bias"]
        if at + 1 < len(ids):
            x = x + weights["following.weight"] @ weights["words.weight"][ids[at + 1]]
        rows.append(np.tanh(x))
    return np.array(rows).reshape(len(rows), 4)


def slow_pair(model, a, b):
    """Vectors of two texts, each in view of the other."""
    P, Q = slow_windows(model, TEN[a]), slow_windows(model, TEN[b])
    if not model.with_attention:
        return tuple(X.max(axis=0) if len(X) else np.zeros(4) for X in (P, Q))
    A = model._weights_["attention"]
    F = np.array([[np.tanh(p @ A @ q) for q in Q] for p in P]).reshape(len(P), len(Q))
    seen = F.sum(axis=1) / max(len(Q), 1), F.sum(axis=0) / max(len(P), 1)
    soft = [np.exp(score) / max(np.exp(score).sum(), 1e-300) for score in seen]
    return soft[0] @ P, soft[1] @ Q


@pytest.mark.quick
@pytest.mark.parametrize("with_attention", [True, False])
def test_ten_nodes_beside_a_slow_version(with_attention):
    model = ten(with_attention=with_attention)
    structure = dict(zip(TEN, model.vectors_.center[:, :4], strict=True))
    assert not structure["j"].any()  # no link, so nothing was learnt for it
    texts = {pair: slow_pair(model, *pair) for pair in PAIRS}
    if with_attention:
        scores = [structure[a] @ structure[b] + np.dot(*texts[a, b]) for a, b in PAIRS]
        np.testing.assert_allclose(model.score(PAIRS), scores, rtol=1e-4, atol=1e-5)
    known = anchors(model.graph_, model.seed)
    assert 9 not in known
    for i, a in enumerate(TEN):
        near = model.graph_.adjacency().neighbours(i) if a != "j" else known
        mean = np.mean([texts[a, [*TEN][v]][0] for v in near], axis=0)
        np.testing.assert_allclose(model.vectors_.center[i, 4:], mean, rtol=1e-4, atol=1e-6)
    # A known text read as a new one is seen in view of the same known ones as a node alone.
    new = model.embed([TEN["j"]])[0]
    np.testing.assert_allclose(new, model.vectors_.center[9], atol=1e-6)


@pytest.mark.quick
def test_loss_is_that_of_the_four_parts():
    from pairgram.training.cane_net import CaneBatch, CaneNet, Weights, WordRows, loss_of_pairs

    model = ten()
    words = known_words(TEN.values(), model.vocabulary_, 300)
    torch.manual_seed(1)
    net = CaneNet(10, len(model.vocabulary_), 4, True)
    left, right, sign = np.array([0, 4, 2]), np.array([1, 2, 3]), [1.0, 1.0, -1.0]
    texts = WordRows(words, len(model.vocabulary_), "cpu")
    pairs = texts.pairs(CaneBatch(np.arange(10), left, right, 2))
    found = loss_of_pairs(net, texts, pairs, Weights(0.5, 2.0, 0.25).matrix("cpu"))
    model._weights_ = {k: v.detach().numpy() for k, v in net.state_dict().items()}
    s, names, total = net.structure.weight.detach().numpy(), list(TEN), 0.0
    for u, v, y in zip(left, right, sign, strict=True):
        t_u, t_v = slow_pair(model, names[u], names[v])
        parts = ((0.5, s[u] @ s[v]), (2.0, t_u @ t_v), (0.25, t_u @ s[v]), (0.25, s[u] @ t_v))
        total += sum(weight * np.logaddexp(0, -y * x) for weight, x in parts)
    np.testing.assert_allclose(float(found.detach()), total, rtol=1e-5)


@pytest.mark.quick
def test_every_link_comes_both_ways_once_an_epoch():
    from pairgram.training.cane import CaneFeed

    graph, model = world(), build("cane", batch_size=7, negatives=3)
    feed = CaneFeed(graph, settings_of(model.get_params()))
    for epoch in range(2):
        found = []
        for turn in range(epoch * feed.batches, (epoch + 1) * feed.batches):
            batch = feed.batch(turn)
            links = slice(0, batch.links)
            found += zip(
                batch.nodes[batch.left[links]], batch.nodes[batch.right[links]], strict=True
            )
            assert len(batch.left) == 4 * batch.links
            noise_left = batch.left[batch.links :].reshape(3, -1)
            assert (noise_left == batch.left[links]).all()
        near = graph.adjacency()
        assert sorted(found) == [(u, v) for u in range(16) for v in near.neighbours(u)]


@pytest.mark.quick
def test_noise_follows_the_degrees():
    from pairgram.training.cane import CaneFeed

    star = pg.TextGraph.from_edges(["hub"] * 16, [f"n{i}" for i in range(16)], texts={"hub": "x"})
    feed = CaneFeed(star, settings_of(build("cane", batch_size=32, negatives=100).get_params()))
    batch = feed.batch(0)
    share = np.mean(batch.nodes[batch.right[batch.links :]] == star.position("hub"))
    assert abs(share - 16**0.75 / (16**0.75 + 16)) < 0.04


@pytest.mark.quick
def test_pair_ranks_the_best_anew_and_leaves_the_rest_behind(monkeypatch):
    model = ten()
    every = np.arange(10)
    dot, pair = (model.score_block(every, rule) for rule in ("dot", "pair"))
    exact = model.score([(a, b) for a in TEN for b in TEN], "pair").reshape(10, 10)
    np.testing.assert_allclose(pair, exact, rtol=1e-5, atol=1e-6)
    monkeypatch.setattr("pairgram.models.cane.rerank", lambda *a: rerank(*a, count=3))
    for node, row in enumerate(model.score_block(every, "pair")):
        best = np.argsort(-dot[node], kind="stable")[:3]
        np.testing.assert_allclose(row[best], exact[node, best], rtol=1e-5, atol=1e-6)
        rest = np.setdiff1d(every, best)
        assert row[rest].max() < row[best].min()
        np.testing.assert_array_equal(np.argsort(row[rest]), np.argsort(dot[node, rest]))
    monkeypatch.undo()
    found = model.suggest(node="a", k=9)
    assert [s.score for s in found] == sorted((s.score for s in found), reverse=True)
    np.testing.assert_allclose(found[0].score, exact[0, [*TEN].index(found[0].node)], rtol=1e-5)
    with pytest.raises(ParameterError, match="no product of tables"):
        model.terms("pair")
    assert model.terms("dot")[1] is None


@pytest.mark.quick
def test_auc_lr_reads_the_products_of_pair_vectors():
    split = pg.split_edges(world(), keep=0.7, seed=1)
    model = build("cane").fit(split.train)
    report = pg.evaluate(model, split)
    assert report.card.notes["features of auc_lr"] == "the model's own for every pair"
    u, v = np.array([0, 3]), np.array([1, 9])
    left, right = model.pair_vectors(u, v)
    np.testing.assert_allclose(model.pair_features(u, v), left * right)
    np.testing.assert_allclose((left * right).sum(1), model.score_positions(u, v), rtol=1e-5)
    flat = build("cane", with_attention=False).fit(split.train)
    assert (flat.rules_, flat.rule_) == (("dot",), "dot")
    center = flat.vectors_.center
    np.testing.assert_array_equal(flat.pair_features(u, v), center[u] * center[v])


@pytest.mark.quick
def test_zero_shot_scores_by_text_alone():
    split = pg.split_nodes(world(), 0.3, seed=1)
    model = build("cane").fit(split.train)
    assert pg.evaluate(model, split)["auc_pair"] == 1.0
    placed = model.place(["red apple 9"])
    assert (placed.rule, placed.rules) == ("dot", ("dot",))
    assert not placed.center[:, :8].any()


@pytest.mark.quick
def test_nodes_that_came_or_changed_since():
    model = build("cane").fit(world())
    pairs = [("a0", "a1"), ("a1", "b2"), ("a2", "a3")]
    before, texts = model.score(pairs), dict(zip(model.graph_.names, world().texts, strict=True))
    model.add({"new": "red apple"})
    np.testing.assert_allclose(model.score(pairs), before, rtol=1e-5)
    ends = [("a0", "new"), ("new", "b1")]  # a new node has its averaged vector alone
    np.testing.assert_allclose(model.score(ends), model.score(ends, "dot"), rtol=1e-6)
    model.update({"a1": texts["a1"]})  # the text it has
    np.testing.assert_allclose(model.score(pairs), before, rtol=1e-4, atol=1e-5)
    model.update({"a1": "blue boat 2"})
    after = model.score(pairs)
    assert after[0] < before[0]
    assert after[1] > before[1]
    assert after[2] == pytest.approx(before[2], rel=1e-5)
    found = {s.node: s.score for s in model.suggest(node="b3", k=99)}
    expected = model.score([("b3", node) for node in found])
    np.testing.assert_allclose(list(found.values()), expected, rtol=1e-4, atol=1e-5)
    assert {"new", "a1"} <= set(found)


def test_a_stopped_training_goes_on_to_the_same_bits(tmp_path):
    whole = build("cane").fit(world())

    def stop(progress, turns):
        if progress.turn == 30:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build("cane").fit(world(), checkpoint=tmp_path / "state", callback=stop)
    resumed = build("cane").fit(world(), checkpoint=tmp_path / "state")
    np.testing.assert_array_equal(resumed.vectors_.center, whole.vectors_.center)
    assert resumed.stats_["updates"] == whole.stats_["updates"]


@pytest.mark.quick
def test_cleaning_decides_what_is_read():
    graph = pg.TextGraph.from_edges(["a"], ["b"], texts={"a": "red-boat", "b": "red boat"})
    sizes = [
        len(build("cane", cleaning=cleaning).fit(graph).vocabulary_)
        for cleaning in ("words", "paper")
    ]
    assert sizes == [3, 4]


@pytest.mark.quick
def test_bad_input_is_one_line(tmp_path):
    no_words = pg.TextGraph.from_edges(["a"], ["b"], texts={"a": "of the"})
    for graph, more, kind, said in (
        (pg.TextGraph.from_edges(["a"], ["b"]), {}, InputError, "CANE needs texts and none"),
        (no_words, {}, InputError, "CANE finds no word"),
        (world(), {"dim": 7}, ParameterError, "must be even"),
    ):
        with pytest.raises(kind, match=said) as caught:
            build("cane", **more).fit(graph)
        assert "\n" not in str(caught.value)
    build("cane").fit(world()).save(tmp_path / "model")
    (tmp_path / "model" / "vocabulary.json").unlink()
    with pytest.raises(FileFormatError, match=r"vocabulary.json is missing"):
        pg.load(tmp_path / "model")


@pytest.mark.quick
def test_the_protocol_of_cane():
    random = np.random.default_rng(0)
    graph = pg.TextGraph.from_edges(*random.integers(0, 40, (2, 90)))
    split = pg.split_edges(graph, keep=0.5, seed=0)
    trials = draw_trials(split, "cane", seed=3)
    seen = split.train.degree > 0
    kept = split.held_out[seen[split.held_out].all(axis=1)]
    np.testing.assert_array_equal(np.stack([trials.center, trials.positive], 1), kept)
    assert sum(trials.left_out.values()) == len(split.held_out) - len(kept)
    ends = {v for v in split.held_out.ravel().tolist() if seen[v]}
    assert trials.candidates == len(ends)
    assert set(trials.negative.tolist()) <= ends
    assert (trials.negative != trials.positive).all()
    # Every other end is drawn alike, the centre and its neighbours among them.
    drawn = np.concatenate([draw_trials(split, "cane", seed=s).negative[:1] for s in range(2000)])
    counts = np.array([np.count_nonzero(drawn == v) for v in sorted(ends - {kept[0, 1]})])
    assert counts.sum() == 2000
    assert abs(counts - counts.mean()).max() < 5 * np.sqrt(counts.mean())
    assert int(kept[0, 0]) in drawn
    with pytest.raises(InputError, match="negatives of its own"):
        draw_trials(split, "cane", negatives="degree")


def test_an_index_is_by_dot_and_changes_no_answer():
    pytest.importorskip("faiss")
    model = build("cane").fit(world())
    node = str(model.graph_.names[0])
    before = model.suggest(node=node, k=4)
    assert model.build_index().index_.rule == "dot"
    assert model.suggest(node=node, k=4) == before
    with pytest.raises(pg.PairgramError, match="Use 'dot'"):
        model.build_index("pair")
