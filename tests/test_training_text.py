"""The text trainer and its parts against slow versions."""

from itertools import pairwise

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import pairgram as pg  # noqa: E402
from pairgram.engine import LocalEngine  # noqa: E402
from pairgram.kernels.ready import adam_rows, add_rows  # noqa: E402
from pairgram.sampling.pairs import PairSampler  # noqa: E402
from pairgram.text.encoders import EncoderSpec, make_encoder  # noqa: E402
from pairgram.text.tokens import tokenize  # noqa: E402
from pairgram.text.vocabulary import Vocabulary  # noqa: E402
from pairgram.training import text as trainer  # noqa: E402
from pairgram.training import text_descent, text_feed  # noqa: E402
from pairgram.training.text_batches import CentrePlan, KnownLinks, Noise, PairGroups  # noqa: E402
from pairgram.training.text_contrast import (  # noqa: E402
    Others,
    Terms,
    contrast_gradient,
    takes,
)
from pairgram.training.text_feed import TextSettings, TextTask  # noqa: E402
from pairgram.training.text_net import Contrast, TextNet, contrast_loss  # noqa: E402
from pairgram.training.text_optimizer import TextOptimizer  # noqa: E402
from pairgram.training.text_validation import hold_back  # noqa: E402
from worlds import world  # noqa: E402


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    yield
    torch.set_num_threads(before)


def groups_of(graph, most=1 << 20, **more):
    sampler = PairSampler(graph, **more)
    with LocalEngine(1) as engine:
        return PairGroups(sampler, graph.n_nodes, engine, most)


def contrast(shape, known=False):
    random = np.random.default_rng(0)
    row = np.array([0, 0, 0, 1, 3, 3])
    noise = random.integers(0, 8, shape)
    mask = random.random((4, *shape) if len(shape) == 1 else shape) < 0.3
    return Contrast(
        torch.from_numpy(row), torch.from_numpy(random.integers(0, 8, 6)),
        torch.tensor([1.0, 2, 1, 3, 1, 1]), torch.from_numpy(noise),
        torch.from_numpy(mask) if known else None,
    )  # fmt: skip


PAIRS = torch.tensor([4.0, 3, 0, 2])


def slow_loss(x, y, batch, negatives, offset, l2):
    def log_sigmoid(score):
        return torch.log(torch.sigmoid(score))

    total = torch.tensor(0.0)
    for i, (u, v) in enumerate(zip(batch.row, batch.context, strict=True)):
        length = x[u] @ x[u] + y[v] @ y[v]
        score = log_sigmoid(x[u] @ y[v] + offset)
        total = total + batch.count[i] * (l2 / 2 * length - score)
        if batch.noise.ndim == 2:
            for j, k in enumerate(batch.noise[i]):
                if batch.known is not None and batch.known[i, j]:
                    continue
                length = x[u] @ x[u] + y[k] @ y[k]
                score = log_sigmoid(-(x[u] @ y[k] + offset))
                total = total + batch.count[i] * (l2 / 2 * length - score)
    if batch.noise.ndim == 1:
        for u in range(4):
            for j, k in enumerate(batch.noise):
                if batch.known is not None and batch.known[u, j]:
                    continue
                length = x[u] @ x[u] + y[k] @ y[k]
                score = log_sigmoid(-(x[u] @ y[k] + offset))
                weight = PAIRS[u] * negatives / len(batch.noise)
                total = total + weight * (l2 / 2 * length - score)
    return total


@pytest.mark.quick
@pytest.mark.parametrize("shape", [(5,), (6, 3)])
@pytest.mark.parametrize("known", [False, True])
def test_the_loss_is_that_of_the_equation(shape, known):
    x, y = torch.randn(4, 3), torch.randn(8, 3)
    batch = contrast(shape, known)
    rest = (3, -0.7, 0.1)
    fast = contrast_loss(x, lambda nodes: y[nodes], batch, PAIRS, *rest)
    torch.testing.assert_close(fast, slow_loss(x, y, batch, *rest))
    pieces = [batch.pairs(begin, begin + 2) for begin in (0, 2, 4)]
    sliced = sum(contrast_loss(x, lambda nodes: y[nodes], p, PAIRS, *rest) for p in pieces)
    torch.testing.assert_close(sliced, fast)


@pytest.mark.quick
@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("dim", [1, 3, 40])
@pytest.mark.parametrize("kind", ["table", "dense", "seen", "both"])
def test_gradients_by_hand_are_torchs(kind, dim, known):
    x, seen = torch.randn(4, dim), torch.randn(8, dim) if kind in ("seen", "both") else None
    given = torch.randn(8, dim)
    batch, terms = contrast((5,), known), Terms(3, -0.7, 0.1, 2.5)
    found = []
    for by_hand in (False, True):
        table = None
        if kind != "seen":
            table = torch.nn.Embedding(8, dim, sparse=kind != "dense", _weight=given.clone())
            (table(torch.tensor([2, 6])) ** 2).sum().backward()  # what others have left there
        own, others = x.clone().requires_grad_(), Others(table, seen)
        total = torch.zeros(())
        for piece in (batch.pairs(0, 4), batch.pairs(4, 6)):  # the second without noise
            assert takes(piece, own)
            if by_hand:
                gradient, loss = contrast_gradient(own, others, piece, PAIRS, terms)
                own.backward(gradient)
            else:
                rest = terms.negatives, terms.offset, terms.l2
                loss = contrast_loss(own, others.rows, piece, PAIRS, *rest)
                (loss / terms.scale).backward()
            total += loss.detach()
        theirs = torch.zeros(()) if table is None else table.weight.grad
        found.append((total, own.grad, theirs.to_dense() if theirs.is_sparse else theirs))
    for slow, fast in zip(*found, strict=True):
        torch.testing.assert_close(fast, slow)


@pytest.mark.quick
def test_pairs_far_from_the_middle_have_finite_losses():
    x, y = torch.tensor([[200.0], [-200.0], [0.0], [1.0]]), torch.full((8, 1), 3.0)
    others, terms = Others(None, y), Terms(3, 0.0, 0.0, 1.0)
    fast = contrast_gradient(x, others, contrast((5,)), PAIRS, terms)
    own = x.clone().requires_grad_()
    slow = contrast_loss(own, others.rows, contrast((5,)), PAIRS, 3, 0.0, 0.0)
    slow.backward()
    torch.testing.assert_close(fast[1], slow.detach())
    torch.testing.assert_close(fast[0], own.grad)


@pytest.mark.quick
def test_rows_are_added_up_and_moved_like_a_dense_table():
    random = np.random.default_rng(0)
    indices = random.integers(0, 9, 40)
    values = random.normal(size=(40, 5)).astype(np.float32)
    place, rows, sums = np.full(9, -1), np.empty(40, np.int64), np.empty((40, 5), np.float32)
    count = add_rows(indices, values, place, rows, sums)
    assert rows[:count].tolist() == list(dict.fromkeys(indices.tolist()))
    assert (place == -1).all()
    for row, total in zip(rows[:count], sums[:count], strict=True):
        np.testing.assert_allclose(total, values[indices == row].sum(0), rtol=1e-5, atol=1e-6)

    tables = [random.random((9, 5)).astype(np.float32) for _ in range(3)]
    w, m, s = (table.astype(np.float64) for table in tables)
    adam_rows(*tables, rows[:count], sums, 0.5, 0.1, 0.9, 0.999, 3)
    for row, total in zip(rows[:count], sums[:count].astype(np.float64) / 2, strict=True):
        m[row] = 0.9 * m[row] + 0.1 * total
        s[row] = 0.999 * s[row] + 0.001 * total**2
        w[row] -= 0.1 * (m[row] / (1 - 0.9**3)) / (np.sqrt(s[row] / (1 - 0.999**3)) + 1e-8)
    for fast, slow in zip(tables, (w, m, s), strict=True):
        np.testing.assert_allclose(fast, slow, rtol=1e-5, atol=1e-6)


@pytest.mark.quick
@pytest.mark.parametrize("directed", [False, True])
def test_pairs_by_centre_are_the_sampled_ones(directed):
    graph = world(directed)
    pairs = pg.sample_pairs(graph, directed=directed)
    expected = {}
    for u, v in zip(pairs.center.tolist(), pairs.context.tolist(), strict=True):
        expected[u, v] = expected.get((u, v), 0) + 1
    for most in (1 << 20, 0):  # kept, and drawn anew
        groups = groups_of(graph, most, directed=directed)
        assert groups.pairs.sum() == len(pairs)
        centres = np.random.default_rng(0).permutation(graph.n_nodes)
        group = groups.of(centres)
        found = zip(centres[group.row], group.context, strict=True)
        got = dict(zip(((int(u), int(v)) for u, v in found), group.count.tolist(), strict=True))
        assert got == expected
        assert (np.diff(group.row) >= 0).all()


@pytest.mark.quick
def test_every_centre_comes_once_an_epoch_with_others_of_its_length():
    lengths = np.random.default_rng(0).integers(1, 500, 1000)
    centres = np.arange(5, 1005)
    plan = CentrePlan(centres, lengths, 64, seed=3)
    first, second = plan.epoch(0), plan.epoch(1)
    assert len(first) == len(second) == plan.batches == 16
    for batches in (first, second):
        assert sorted(np.concatenate(batches)) == centres.tolist()
        spread = [np.ptp(lengths[batch - 5]) for batch in batches]
        assert np.mean(spread) < 60
    assert any((a != b).any() for a, b in zip(first, second, strict=True) if len(a) == len(b))
    for a, b in zip(first, CentrePlan(centres, lengths, 64, seed=3).epoch(0), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.quick
def test_noise_follows_its_mass():
    mass = np.array([0.0, 1, 2, 0, 5, 0])
    drawn = Noise(mass).draw(np.random.default_rng(0), (80_000,))
    share = np.bincount(drawn, minlength=6) / len(drawn)
    np.testing.assert_allclose(share, mass / mass.sum(), atol=0.01)
    assert share[[0, 3, 5]].sum() == 0
    assert set(Noise(np.zeros(3)).draw(np.random.default_rng(0), (100,))) == {0, 1, 2}


@pytest.mark.quick
def test_known_links():
    graph = world()
    n = graph.n_nodes
    u, v = np.meshgrid(np.arange(n), np.arange(n), indexing="ij")
    linked = np.eye(n, dtype=bool)
    linked[graph.source, graph.target] = linked[graph.target, graph.source] = True
    np.testing.assert_array_equal(KnownLinks(graph.adjacency()).among(u, v), linked)


@pytest.mark.quick
@pytest.mark.parametrize("name", ["adagrad", "adam"])
def test_the_optimiser_steps_like_torchs(name):
    dense, table = torch.nn.Linear(3, 2), torch.nn.Embedding(5, 3, sparse=True)
    module = torch.nn.ModuleDict({"dense": dense, "table": table})
    copy = torch.nn.ModuleDict({"dense": torch.nn.Linear(3, 2), "table": torch.nn.Embedding(5, 3)})
    copy.load_state_dict(module.state_dict())
    kind = torch.optim.Adagrad if name == "adagrad" else torch.optim.Adam
    eps = 1e-10 if name == "adagrad" else 1e-8
    theirs, ours = kind(copy.parameters(), lr=0.1, eps=eps), TextOptimizer(module, name, 0.1, 1e9)
    rows = torch.tensor([0, 1, 2, 3, 4, 4])  # all rows: torch moves untouched ones by momentum
    for target in (1.0, -2.0, 0.5):
        for one in (module, copy):
            ((one["dense"](one["table"](rows)) - target) ** 2).sum().backward()
        ours.step()
        theirs.step()
        theirs.zero_grad()
    for (key, one), other in zip(module.named_parameters(), copy.parameters(), strict=True):
        torch.testing.assert_close(one, other, msg=key)


@pytest.mark.quick
@pytest.mark.parametrize("name", ["adagrad", "adam"])
def test_untouched_rows_stay_and_long_gradients_are_cut(name):
    table = torch.nn.Embedding(4, 2, sparse=True)
    before = table.weight.detach().clone()
    optimizer = TextOptimizer(torch.nn.ModuleList([table]), name, 0.1, clip=1.0)
    (1e6 * table(torch.tensor([1, 1, 3]))).sum().backward()
    optimizer.step()
    moved = (table.weight.detach() != before).any(1)
    assert moved.tolist() == [False, True, False, True]
    squares = optimizer.arrays()["0.weight|squares"]
    factor = 1.0 if name == "adagrad" else 1e-3
    np.testing.assert_allclose(squares.sum(), factor, rtol=1e-4)  # a gradient of length 1


@pytest.mark.quick
@pytest.mark.parametrize("clip", [1.0, float("inf")])
def test_rows_that_a_table_was_read_by_move_as_any_others(clip):
    moved = []
    for same in (True, False):
        torch.manual_seed(0)
        table = torch.nn.Embedding(6, 2, sparse=True)
        optimizer = TextOptimizer(torch.nn.ModuleList([table]), "adam", 0.1, clip)
        for rows in (torch.tensor([4, 1, 3]), torch.tensor([0, 4])):
            (table(rows) ** 3).sum().backward()
            optimizer.step(touched={"0.weight": rows if same else rows.sort().values})
        moved.append(table.weight.detach())
    torch.testing.assert_close(*moved, rtol=0, atol=0)


@pytest.mark.quick
def test_links_held_back_are_out_of_the_graph():
    random = np.random.default_rng(0)
    ends = random.integers(0, 200, (2000, 2))
    graph = pg.TextGraph.from_edges(ends[:, 0], ends[:, 1])
    smaller, trials = hold_back(graph, 0.05, seed=0)
    assert graph.n_edges - smaller.n_edges == len(trials.center) == int(0.05 * graph.n_edges)
    full, rest = KnownLinks(graph.adjacency()), KnownLinks(smaller.adjacency())
    assert full.among(trials.center, trials.positive).all()
    assert not rest.among(trials.center, trials.positive).any()
    assert not full.among(trials.center, trials.negative).any()
    nodes = trials.nodes
    vectors = random.normal(size=(200, 3))
    fast = trials.score(vectors[nodes], vectors[nodes])
    prior = 0.75 * np.log(np.maximum(smaller.degree, 1))
    wins = [
        vectors[c] @ vectors[p] + prior[p] > vectors[c] @ vectors[n] + prior[n]
        for c, p, n in zip(trials.center, trials.positive, trials.negative, strict=True)
    ]
    assert fast == pytest.approx(np.mean(wins))
    assert hold_back(graph, 0.0, seed=0) == (graph, None)
    assert hold_back(world(), 0.05, seed=0)[1] is None


@pytest.mark.quick
def test_links_given_both_ways_are_held_back_both_ways():
    ends = np.random.default_rng(0).integers(0, 200, (1500, 2))
    both = np.vstack([ends, ends[:900, ::-1]])
    graph = pg.TextGraph.from_edges(both[:, 0], both[:, 1], directed=True)
    smaller, trials = hold_back(graph, 0.1, seed=0)
    ends = zip(graph.source.tolist(), graph.target.tolist(), strict=True)
    assert len(trials.center) == int(0.1 * len({frozenset(one) for one in ends}))
    left = set(zip(smaller.source.tolist(), smaller.target.tolist(), strict=True))
    for u, v in zip(trials.center.tolist(), trials.positive.tolist(), strict=True):
        assert not {(u, v), (v, u)} & left


def task_of(graph, encoder, vocabulary, tokens, **more):
    groups = groups_of(graph, **more)
    spelling = encoder.spell((*vocabulary.words, *tokens.unknown))
    noise = Noise(graph.degree.astype(float))
    return TextTask(tokens.ids, spelling, groups, groups, noise)


def net_and_task(graph, contexts="table", id_vectors=False, **more):
    vocabulary = Vocabulary.fit(graph.texts)
    tokens = tokenize(graph.texts, vocabulary)
    torch.manual_seed(0)
    encoder = make_encoder(EncoderSpec("bag", 8, 8), vocabulary)
    net = TextNet(encoder, graph.n_nodes, contexts, id_vectors)
    return net, task_of(graph, encoder, vocabulary, tokens, **more)


@pytest.mark.quick
def test_encoder_passes_do_not_grow_with_times(monkeypatch):
    encoded, pairs = [], []
    for times in (1, 8):
        net, task = net_and_task(world(), times=times)
        count = []
        forward = net.encoder.forward
        monkeypatch.setattr(
            net.encoder,
            "forward",
            lambda b, f=forward, c=count: c.append(len(b.arrays["word_offsets"]) - 1) or f(b),
        )
        done = trainer.train(net, task, TextSettings(epochs=3, batch_size=5))
        assert done.passes == sum(count) == 3 * 16
        encoded.append(done.passes)
        pairs.append(done.pairs)
    assert encoded[0] == encoded[1]
    assert pairs[1] == 8 * pairs[0]


@pytest.mark.quick
@pytest.mark.parametrize("contexts", ["table", "text", "both"])
@pytest.mark.parametrize("shared", [0, 64])
def test_pairs_of_a_hub_in_slices_train_alike(contexts, shared, monkeypatch):
    settings = TextSettings(epochs=2, batch_size=6, shared_negatives=shared)
    results = []
    for size in (1 << 18, 7):
        monkeypatch.setattr(text_descent, "PAIR_SLICE", size)
        net, task = net_and_task(world(), contexts)
        trainer.train(net, task, settings)
        results.append(trainer.weights_of(net))
    for name, array in results[0].items():
        np.testing.assert_allclose(array, results[1][name], rtol=1e-3, atol=1e-4, err_msg=name)


@pytest.mark.quick
def test_the_loss_falls_and_rates_are_told():
    losses, seen = [], []

    def after_turn(progress, turns):
        losses.append(progress.loss)
        seen.append((progress.turn, turns, progress.updates, progress.texts))

    net, task = net_and_task(world())
    settings = TextSettings(epochs=30, batch_size=16, learning_rate=0.05)
    trainer.train(net, task, settings, after_turn=after_turn)
    assert losses[-1] < 0.8 * losses[0]
    assert [turn for turn, *_ in seen] == list(range(1, 31))
    assert all(b[2] > a[2] and b[3] > a[3] for a, b in pairwise(seen))


@pytest.mark.parametrize("seed", range(20))
def test_links_between_two_sets_are_those_found_one_by_one(seed):
    random = np.random.default_rng(seed)
    n = int(random.integers(2, 9))
    ends = random.integers(0, n, (2, 10))
    graph = pg.TextGraph.from_edges(*ends, names=[str(i) for i in range(n)])
    known = KnownLinks(graph.adjacency())
    u, v = random.integers(0, n, 5), random.integers(0, n, 12)
    assert np.array_equal(known.between(u, v), known.among(u[:, None], v))


@pytest.mark.quick
@pytest.mark.parametrize("contexts", ["table", "text", "both"])
@pytest.mark.parametrize("shared", [0, 64])
@pytest.mark.parametrize("name", ["adagrad", "adam"])
def test_foretold_rows_train_alike(contexts, shared, name, monkeypatch):
    settings = TextSettings(epochs=2, batch_size=6, shared_negatives=shared, optimizer=name)
    results, made = [], []
    optimizer, start = trainer.TextOptimizer, text_feed.Feed.__init__
    monkeypatch.setattr(
        trainer, "TextOptimizer", lambda *given: made.append(optimizer(*given)) or made[-1]
    )
    for foretell in (True, False):

        def begin(feed, *given, on=foretell):
            start(feed, *given)
            feed._foretell = on

        monkeypatch.setattr(text_feed.Feed, "__init__", begin)
        net, task = net_and_task(world(), contexts, id_vectors=True)
        trainer.train(net, task, settings)
        results.append(trainer.weights_of(net))
    tables = {"encoder.table.weight", "id.weight", "table.weight"} & results[0].keys()
    assert made[0]._places.keys() == tables
    assert not made[1]._places
    for key, array in results[0].items():
        np.testing.assert_allclose(array, results[1][key], rtol=1e-4, atol=1e-5, err_msg=key)
