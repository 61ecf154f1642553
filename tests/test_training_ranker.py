"""Towers and judges: the trained modules say what NumPy says, and learn what is there to learn."""

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

from pairgram.errors import InputError
from pairgram.search.clues import FEATURES, Look
from pairgram.search.graph_judge import GraphJudge
from pairgram.search.ranker import Judge
from pairgram.search.towers import Towers
from pairgram.training.graph_judge import (
    Batch,
    GraphJudgeNet,
    GraphJudgeSettings,
    _Parts,
    train_graph_judge,
)
from pairgram.training.ranker import (
    JudgeNet,
    JudgeSettings,
    _loss,
    halves,
    train_judge,
)
from pairgram.training.towers import TowerNet, TowerSettings, _Batches, train_towers


@pytest.mark.quick
def test_towers_in_numpy_are_those_that_were_trained():
    torch.manual_seed(0)
    net = TowerNet(6, TowerSettings(dim=4, hidden=5)).eval()
    for weight in net.parameters():
        torch.nn.init.normal_(weight, std=0.5)
    towers = Towers({name: a.detach().numpy() for name, a in net.state_dict().items()})
    random = np.random.default_rng(0)
    query, own, near = (random.normal(size=(n, 6)).astype(np.float32) for n in (3, 5, 5))
    degree = np.array([0, 1, 2, 30, 0])
    expected = net(
        *map(torch.from_numpy, (query, own, near)), torch.log1p(torch.from_numpy(degree).float())
    )
    found = towers.scale * towers.query(query) @ towers.node(own, near).T + towers.prior(degree)
    np.testing.assert_allclose(found, expected.detach().numpy(), rtol=1e-4, atol=1e-4)
    with pytest.raises(InputError, match="lack weights"):
        Towers({})


def planted(n=60, groups=3):
    """Nodes whose points say nothing of their text but to which group they link: the next one."""
    random = np.random.default_rng(0)
    group = np.arange(n) % groups
    points = np.eye(groups, 6, dtype=np.float32)[group] + random.normal(0, 0.05, (n, 6))
    points = (points / np.linalg.norm(points, axis=1, keepdims=True)).astype(np.float32)
    dense = (group[:, None] + 1) % groups == group[None]
    dense = (dense | dense.T) & (random.random((n, n)) < 0.5)
    dense = np.triu(dense, 1)
    return points, csr_array((dense | dense.T).astype(np.float32)), group


def test_towers_learn_that_links_go_elsewhere_than_likeness():
    points, links, group = planted(groups=4)
    settings = TowerSettings(dim=8, hidden=16, steps=200, learning_rate=0.01)
    first, second = (train_towers(points, links, settings, seed=3) for _ in range(2))
    for name, array in first.weights.items():
        np.testing.assert_array_equal(array, second.weights[name])
    near = links @ points
    near /= np.maximum(np.linalg.norm(near, axis=1, keepdims=True), 1e-9)
    scores = first.query(points) @ first.node(points, near.astype(np.float32)).T
    same = scores[group[:, None] == group[None]].mean()
    linked = scores[links.toarray() > 0].mean()
    assert linked > same + 0.3


@pytest.mark.quick
def test_known_links_of_a_batch_are_found():
    points, links, _ = planted()
    batches = _Batches(points, links, TowerSettings(), np.random.default_rng(0), "cpu")
    nodes = np.array([4, 9, 17, 30, 55])
    source = np.array([0, 4, 11])
    place = np.array([1, 0, 4])
    found = set(zip(*map(np.ndarray.tolist, batches._known(source, nodes, place)), strict=True))
    dense = links.toarray()
    slow = {
        (row, column)
        for row, u in enumerate(source)
        for column, v in enumerate(nodes)
        if dense[u, v] and column != place[row]
    }
    assert found == slow


@pytest.mark.quick
def test_a_graph_without_links_between_parts_leaves_the_towers_as_they_start():
    points = np.eye(4, dtype=np.float32)
    towers = train_towers(points, csr_array((4, 4), dtype=np.float32), TowerSettings(dim=4), 0)
    np.testing.assert_allclose(towers.query(points), points, atol=1e-6)


def lists(count=60, size=12, features=5):
    """Queries whose links have the largest third feature, or the smallest where the first is 1."""
    random = np.random.default_rng(1)
    rows = [random.normal(size=(size, features)).astype(np.float32) for _ in range(count)]
    masks = []
    for number, row in enumerate(rows):
        row[:, 0] = number % 2
        wanted = row[:, 2] if number % 2 == 0 else -row[:, 2]
        masks.append(wanted >= np.sort(wanted)[-2])
    return rows, masks


def test_a_judge_learns_what_no_weighted_sum_says():
    rows, masks = lists()
    settings = JudgeSettings(hidden=16, epochs=60, learning_rate=0.01, members=2)
    judge, again = (train_judge(rows, masks, settings, seed=0) for _ in range(2))
    best = [np.argmax(judge.scores(row)) for row in rows]
    right = sum(bool(mask[place]) for mask, place in zip(masks, best, strict=True))
    assert right > 0.9 * len(rows)
    np.testing.assert_array_equal(judge.scores(rows[0]), again.scores(rows[0]))


@pytest.mark.quick
def test_a_judge_in_numpy_is_the_module():
    torch.manual_seed(0)
    net = JudgeNet(5, 8)
    rows = np.random.default_rng(0).normal(size=(7, 5)).astype(np.float32)
    judge = Judge(
        np.zeros(5, np.float32), np.ones(5, np.float32),
        ({name: a.detach().numpy() for name, a in net.state_dict().items()},),
    )  # fmt: skip
    expected = net(torch.from_numpy(rows)).detach().numpy()
    np.testing.assert_allclose(judge.scores(rows), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.quick
def test_loss_of_a_judge_is_that_of_every_link_among_the_others():
    torch.manual_seed(0)
    net = JudgeNet(3, 4)
    random = np.random.default_rng(0)
    rows = [random.normal(size=(size, 3)).astype(np.float32) for size in (5, 3, 2)]
    masks = [np.array([1, 0, 0, 1, 0], bool), np.array([0, 1, 0], bool), np.ones(2, bool)]
    expected = []
    for some, mask in zip(rows, masks, strict=True):
        scores = net(torch.from_numpy(some)).detach().numpy().astype(float)
        others = np.exp(scores[~mask]).sum()
        expected += [np.log1p(others * np.exp(-one)) for one in scores[mask]]
    query = np.repeat(np.arange(3), [5, 3, 2])
    parts = (np.concatenate(rows), np.concatenate(masks), query)
    loss = _loss(net, *map(torch.from_numpy, parts), 3)
    assert float(loss.detach()) == pytest.approx(np.mean(expected), rel=1e-4)


@pytest.mark.quick
def test_queries_without_a_link_and_without_others_do_no_harm():
    rows, masks = lists(8)
    masks[0][:] = False
    masks[1][:] = True
    judge = train_judge(rows, masks, JudgeSettings(hidden=4, epochs=2, members=1, most=3), 0)
    assert np.isfinite(judge.scores(rows[0])).all()


WIDTH = len(FEATURES)


def a_look(random, size=9, links=0.3, features=WIDTH):
    """Nodes with random features and links among them, each with a link or two elsewhere."""
    dense = np.triu(random.random((size, size)) < links, 1)
    voter, voted = np.nonzero(dense | dense.T)
    giver, taker = np.nonzero(dense)
    degree = (dense | dense.T).sum(axis=1) + random.integers(1, 3, size)
    return Look(
        np.arange(size), random.normal(size=(size, features)).astype(np.float32),
        *(ends.astype(np.int32) for ends in (voter, voted, giver, taker)),
        degree.astype(np.float32), np.empty(0),
    )  # fmt: skip


def slow_scores(net, look, rows):
    """What the judge says of one look, node by node."""
    w = {name: a.detach().numpy().astype(float) for name, a in net.state_dict().items()}

    def layer(name, x):
        return w[f"{name}.weight"] @ x + w[f"{name}.bias"]

    def relu(x):
        return np.maximum(x, 0)

    ways = [
        list(zip(*ends, strict=True))
        for ends in ((look.voter, look.voted), (look.giver, look.taker))
    ]
    state = [relu(layer("deepen", relu(layer("enter", row)))) for row in rows.astype(float)]
    for r in range(len(net.ask)):
        asked = np.array([np.exp(layer(f"ask.{r}", h)) for h in state])
        heads = asked / asked.sum(axis=0)
        given = np.array([layer(f"give.{r}", h) for h in state])
        found = [sum(a * g for a, g in zip(head, given, strict=True)) for head in heads.T]
        whole = layer(f"whole.{r}", np.concatenate(found))
        after = []
        for x, h in enumerate(state):
            read = [h]
            for way, links in enumerate(ways):
                voters = [v for v, voted in links if voted == x]
                mine = np.split(heads, 2, axis=1)[way]
                chance = sum((mine[v] / look.degree[v] for v in voters), np.zeros(mine.shape[1]))
                told = np.zeros(len(w[f"tell.{r}.bias"]) // 2)
                for v in voters:
                    said = np.split(layer(f"tell.{r}", state[v]), 2)[way]
                    told = told + said / np.sqrt(look.degree[v] * look.degree[x])
                votes = np.log(chance + 1e-6) + 7
                even = votes - np.log(look.degree[x]) / 2
                read += [0.3 * votes, 0.3 * even, told]
            merged = relu(layer(f"merge.{r}", np.concatenate(read)) + whole)
            after.append(h + layer(f"back.{r}", merged))
        state = after
    rest = rows @ w["linear.weight"][0]
    return np.array([layer("out", relu(layer("settle", h)))[0] for h in state]) + rest


@pytest.mark.quick
def test_the_graph_judge_in_torch_and_in_numpy_is_the_slow_one():
    torch.manual_seed(0)
    random = np.random.default_rng(0)
    net = GraphJudgeNet(
        len(FEATURES), GraphJudgeSettings(hidden=6, heads=2, told=3, given=2)
    ).eval()
    looks = [a_look(random, size) for size in (9, 5, 1)]
    rows = [look.features for look in looks]
    together = net(Batch(looks, rows, "cpu")).detach().numpy()
    slow = np.concatenate([slow_scores(net, *one) for one in zip(looks, rows, strict=True)])
    np.testing.assert_allclose(together, slow, rtol=1e-4, atol=1e-4)
    ones = np.ones(len(FEATURES), np.float32)
    weights = {name: a.detach().numpy() for name, a in net.state_dict().items()}
    judge = GraphJudge.from_arrays({"mean": 0 * ones, "spread": ones, **weights})
    found = np.concatenate([judge.scores(look) for look in looks])
    np.testing.assert_allclose(found, slow, rtol=1e-4, atol=1e-4)


def test_the_graph_judge_learns_to_ask_the_right_node():
    """The links are those of the node with the largest second feature; nothing else says so."""
    random = np.random.default_rng(2)
    looks = [a_look(random, 12, features=3) for _ in range(120)]
    masks = []
    for look in looks:
        mask = np.zeros(12, bool)
        mask[look.voted[look.voter == look.features[:, 1].argmax()]] = True
        masks.append(mask)
    settings = GraphJudgeSettings(hidden=16, epochs=30, learning_rate=0.01, dropout=0)
    judge, again = (train_graph_judge(looks, masks, settings, seed=0) for _ in range(2))
    asked = [(look, mask) for look, mask in zip(looks, masks, strict=True) if mask.any()]
    right = sum(bool(mask[judge.scores(look).argmax()]) for look, mask in asked)
    assert right > 0.9 * len(asked)
    np.testing.assert_array_equal(judge.scores(looks[3]), again.scores(looks[3]))


def test_the_graph_judge_is_the_same_on_one_thread_and_on_two():
    """So many nodes that sums would be shared between threads."""
    random, before = np.random.default_rng(3), torch.get_num_threads()
    looks = [a_look(random, 600, links=0.02, features=4) for _ in range(15)]
    masks = [look.features[:, 0] > 2 for look in looks]
    settings = GraphJudgeSettings(epochs=3, most_epochs=3, batch_size=7)
    judges = []
    try:
        for threads in (1, 2, 2):
            torch.set_num_threads(threads)
            judges.append(train_graph_judge(looks, masks, settings, seed=0))
            assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)
    first, *others = judges
    for other in others:
        for name, array in first.weights.items():
            np.testing.assert_array_equal(other.weights[name], array, err_msg=name)


@pytest.mark.quick
def test_gradients_of_a_batch_are_the_sums_of_its_parts():
    torch.manual_seed(0)
    random = np.random.default_rng(1)
    net = GraphJudgeNet(4, GraphJudgeSettings(hidden=6, heads=2, told=3, given=2, dropout=0))
    looks = [a_look(random, size, features=4) for size in (9, 5, 7)]
    masks = [look.features[:, 0] > 0 for look in looks]
    batch = Batch(looks, [look.features for look in looks], "cpu")
    loss = batch.loss(net(batch), torch.from_numpy(np.concatenate(masks)))
    whole = torch.autograd.grad(loss / sum(map(np.sum, masks)), list(net.parameters()))
    with _Parts(net, 0, "cpu") as parts:
        parts.descend(looks, masks, lambda look: look.features)
    for weight, expected in zip(net.parameters(), whole, strict=True):
        np.testing.assert_allclose(weight.grad, expected, rtol=1e-4, atol=1e-6)


@pytest.mark.quick
def test_halves_are_each_judged_by_the_other():
    (train, test), (other_train, other_test) = halves(7, seed=0)
    assert sorted([*train, *test]) == list(range(7))
    assert train.tolist() == other_test.tolist()
    assert test.tolist() == other_train.tolist()


@pytest.mark.quick
def test_damage_of_a_ranker_is_said():
    ones = np.ones(len(FEATURES), np.float32)
    for arrays in ({}, {"mean": ones[1:], "spread": ones}, {"mean": ones, "spread": ones}):
        with pytest.raises(InputError, match="does not fit its features"):
            GraphJudge.from_arrays(arrays)
