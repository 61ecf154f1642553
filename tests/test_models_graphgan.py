"""GraphGAN's trees, graph softmax and gradients beside slow versions; its bits, its worlds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles
import pairgram as pg
from pairgram.bench.graphs import planted_graph
from pairgram.errors import InputError
from pairgram.kernels import graphgan as kernel
from pairgram.training.graphgan import Forest, advantages
from worlds import shuffled

TEN = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 4), (3, 4), (4, 5), (5, 6), (6, 7), (5, 8), (8, 9)]


def graph_of(edges, n=10):
    source, target = zip(*edges, strict=True)
    return pg.TextGraph.from_edges(source, target, names=[str(i) for i in range(n)])


def vectors_of(n, seed, scale=1.0):
    table = np.zeros((n, 32), np.float32)
    table[:, :4] = scale * np.random.default_rng(seed).standard_normal((n, 4))
    return table


def tree_of(edges, n, root, draws, vectors, seed=3, epoch=1):
    forest = Forest(graph_of(edges, n).adjacency(), seed)
    return forest.walk(np.array([root]), draws, epoch, vectors)[0]


@pytest.mark.quick
@pytest.mark.parametrize("root", range(10))
def test_graph_softmax_sums_to_one_and_is_what_walks_draw(root):
    vectors, draws = vectors_of(10, 1, 0.7), 20_000
    softmax = oracles.graph_softmax(oracles.neighbours(TEN, 10), root, vectors)
    assert set(softmax) == set(range(10)) - {root}
    assert sum(softmax.values()) == pytest.approx(1.0, abs=1e-9)
    tree = tree_of(TEN, 10, root, draws, vectors)
    seen = np.bincount(tree.sample, minlength=10)
    expected = draws * np.array([softmax.get(v, 0.0) for v in range(10)])
    often = expected >= 5
    assert seen[expected == 0].sum() == 0
    chi = np.sum((seen[often] - expected[often]) ** 2 / expected[often])
    assert chi < often.sum() + 6 * np.sqrt(2 * often.sum())


edge_lists = st.lists(
    st.tuples(st.integers(0, 11), st.integers(0, 11)).filter(lambda e: e[0] != e[1]),
    min_size=1, max_size=30,
)  # fmt: skip


@pytest.mark.quick
@settings(max_examples=60, deadline=None)
@given(edge_lists, st.integers(0, 50))
def test_walks_equal_those_in_whole_trees(edges, seed):
    root, vectors, adjacent = edges[0][0], vectors_of(12, seed), oracles.neighbours(edges, 12)
    tree = tree_of(edges, 12, root, 7, vectors, seed, epoch=2)
    expected = oracles.graphgan_walks(adjacent, root, vectors, 7, seed, 2)
    assert tree.sample.tolist() == [walk[-2] for walk in expected]
    for d, walk in enumerate(expected):
        chosen = tree.steps[tree.ends[d] : tree.ends[d + 1]]
        assert tree.member[chosen].tolist() == walk
    # What was asked for once is kept, with the probabilities of the closed form.
    up = oracles.bfs_parents(adjacent, root)
    assert len(set(tree.owner.tolist())) == len(tree.owner)
    for s, v in enumerate(tree.owner.tolist()):
        places = slice(tree.at[s], tree.at[s + 1])
        chances = oracles.tree_chances(up, v, vectors)
        assert tree.member[places].tolist() == list(chances)
        np.testing.assert_allclose(tree.chance[places], list(chances.values()), rtol=1e-4)


@pytest.mark.quick
def test_a_tree_is_no_larger_than_its_walks():
    n = 5000
    line = graph_of([(i, i + 1) for i in range(n - 1)], n).adjacency()
    forest, still = Forest(line, 0), np.zeros((n, 32), np.float32)
    tree = forest.walk(np.array([n // 2]), 50, 0, still)[0]
    assert forest._space().state[kernel.TAIL] < 100
    assert len(tree.member) < 100


@pytest.mark.quick
def test_a_walk_longer_than_was_made_room_for():
    n = 200
    line = graph_of([(i, i + 1) for i in range(n - 1)], n).adjacency()
    onwards = np.zeros((n, 32), np.float32)
    onwards[:, 0] = np.arange(n)  # the farther a node, the likelier
    tree = Forest(line, 0).walk(np.array([0]), 2, 0, onwards)[0]
    assert tree.sample.tolist() == [n - 1, n - 1]
    assert tree.ends.tolist() == [0, n, 2 * n]


@pytest.mark.quick
def test_gradient_of_the_generator_is_that_of_the_log_of_the_graph_softmax():
    vectors, adjacent = vectors_of(10, 5, 0.5), oracles.neighbours(TEN, 10)
    tree, advantage = tree_of(TEN, 10, 0, 6, vectors), np.array([1.0, -0.5, 0.3, 0.0, 2.0, -1.0])
    gradient, touched = np.zeros_like(vectors), np.zeros(10, np.bool_)
    kernel.add_policy_gradient(
        tree.owner, tree.at, tree.member, tree.chance, tree.ends, tree.steps, advantage, vectors,
        np.empty(20), gradient, touched,
    )  # fmt: skip

    def value(table):
        softmax = oracles.graph_softmax(adjacent, 0, table)
        return advantage @ np.log([softmax[v] for v in tree.sample.tolist()])

    exact, step = vectors.astype(np.float64), 1e-5
    for v in range(10):
        for k in range(4):
            up, down = exact.copy(), exact.copy()
            up[v, k] += step
            down[v, k] -= step
            slope = (value(up) - value(down)) / (2 * step)
            assert gradient[v, k] == pytest.approx(slope, abs=2e-4)
    assert touched[np.flatnonzero(gradient.any(1))].all()


@pytest.mark.quick
def test_gradient_of_the_discriminator():
    vectors, bias = vectors_of(10, 6), np.linspace(-1, 1, 10).astype(np.float32)
    others, is_link = np.array([1, 4, 4, 9]), np.array([1.0, 1.0, 0.0, 0.0])
    gradient, slopes = np.zeros_like(vectors), np.zeros(10, np.float32)
    loss = kernel.add_judging_gradient(
        2, others, is_link, vectors, bias, gradient, slopes, np.zeros(10, np.bool_),
        np.empty(4, np.float32),
    )  # fmt: skip

    def value(table, terms):
        x = table[others] @ table[2] + terms[others]
        return -np.sum(np.logaddexp(0, np.where(is_link == 1, -x, x)))

    exact, terms, step = vectors.astype(np.float64), bias.astype(np.float64), 1e-6
    assert loss == pytest.approx(-value(exact, terms), rel=1e-5)
    for v in range(10):
        for k in range(4):
            up, down = exact.copy(), exact.copy()
            up[v, k] += step
            down[v, k] -= step
            slope = (value(up, terms) - value(down, terms)) / (2 * step)
            assert gradient[v, k] == pytest.approx(slope, abs=1e-4)
        more, less = terms.copy(), terms.copy()
        more[v] += step
        less[v] -= step
        slope = (value(exact, more) - value(exact, less)) / (2 * step)
        assert slopes[v] == pytest.approx(slope, abs=1e-4)


@pytest.mark.quick
def test_a_reward_counts_less_the_mean_of_the_others():
    score = np.array([0.5, -1.0, 3.0, 0.0], np.float32)
    reward = -np.log(1 - 1 / (1 + np.exp(-score.astype(float))))
    expected = [r - np.delete(reward, i).mean() for i, r in enumerate(reward)]
    np.testing.assert_allclose(advantages(score), expected, rtol=1e-6)


@pytest.mark.quick
@pytest.mark.parametrize("part", ["generator", "discriminator"])
def test_held_out_links_are_found_and_not_where_nodes_are_exchanged(part):
    split = pg.split_edges(planted_graph(communities=4, size=25), keep=0.7, seed=1)
    model = pg.GraphGAN(dim=16, epochs=5, part=part)
    assert pg.evaluate(model.fit(split.train), split)["auc_pair"] > 0.75
    blind = pg.evaluate(shuffled(model.fit(split.train)), split)["auc_pair"]
    assert 0.35 < blind < 0.65


@pytest.mark.quick
def test_the_game_moves_both_players_from_their_start():
    graph = planted_graph(communities=3, size=10)
    still = pg.GraphGAN(dim=8, epochs=1, learning_rate=1e-30).fit(graph).vectors_.center
    for part in ("generator", "discriminator"):
        moved = pg.GraphGAN(dim=8, epochs=1, part=part).fit(graph).vectors_.center
        assert np.abs(moved - still).max() > 1e-4


@pytest.mark.quick
def test_bad_input_is_one_line():
    two = pg.TextGraph.from_edges(["a"], ["b"])
    with pytest.raises(InputError, match="GraphGAN needs a graph of at least 3 nodes") as caught:
        pg.GraphGAN().fit(two)
    assert "\n" not in str(caught.value)
