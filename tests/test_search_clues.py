"""What the ranker reads, against slow versions."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from pairgram.search.clues import AROUND, FEATURES, Clues, node_vectors
from pairgram.search.exact import largest
from pairgram.search.levels import HOLD, levels
from pairgram.search.lexical import LexicalIndex
from pairgram.search.surroundings import Surroundings
from pairgram.search.votes import Ballots
from pairgram.text.latent import LatentSpace
from pairgram.text.letters import letter_rows
from pairgram.text.read import Read
from pairgram.training.towers import TowerSettings, train_towers

pytestmark = pytest.mark.quick

COLOURS = ("red", "blue", "green")


def small_world(seed=0, n=40):
    random = np.random.default_rng(seed)
    texts = [[COLOURS[v % 3], f"n{random.integers(0, 9)}", f"m{v}"] for v in range(n)]
    dense = np.triu(random.random((n, n)) < 0.1, 1)
    links = csr_array((dense | dense.T).astype(np.float32))
    turned = dense & (random.random((n, n)) < 0.5)
    arcs = csr_array(((dense & ~turned) | turned.T).astype(np.float32))
    space = LatentSpace.fit(texts, 8, seed=0)
    points = space.vectors(texts)
    towers = train_towers(points, links, TowerSettings(dim=4, hidden=8, steps=5), seed=0)
    return texts, links, arcs, space, points, towers


@pytest.fixture(scope="module")
def world():
    texts, links, arcs, space, _, towers = small_world()
    return texts, (links, arcs), space, Clues(read(texts, space), links, arcs, towers)


def read(texts, space):
    return Read.of([" ".join(text) for text in texts], str.split, space)


@given(st.lists(st.sampled_from([-1.0, 0.0, 0.5, 1.0, 2.0]), max_size=300), st.integers(1, 9))
def test_largest_is_a_full_sort_without_the_least(values, k):
    scores = np.array(values)
    least = min([*values, 0.0])
    order = sorted((place for place, s in enumerate(values) if s > least), key=lambda p: -values[p])
    assert sorted(largest(scores, k).tolist()) == sorted(order[:k])


@settings(max_examples=40)
@given(st.integers(0, 1000), st.integers(1, 12))
def test_votes_are_sums_over_the_voters(seed, count):
    random = np.random.default_rng(seed)
    # Small enough for a row of all nodes, or too large for it.
    n = int(random.choice([40, 900]))
    dense = np.triu(random.random((n, n)) < 0.02, 1)
    dense = (dense | dense.T).astype(np.float32)
    ballots = Ballots(csr_array(dense))
    voters, strength = random.choice(n, count, replace=False), random.random(count) + 0.1
    slow = strength @ dense[voters]
    votes = ballots.vote(voters, strength)
    asked = np.append(np.arange(n), -1)
    np.testing.assert_allclose(votes.of(asked), np.append(slow, 0), rtol=1e-6)
    assert votes.nodes.tolist() == np.flatnonzero(slow).tolist()
    assert set(votes.best(5).tolist()) == set(np.argsort(-slow, kind="stable")[:5]) & set(
        np.flatnonzero(slow)
    )


def test_features_of_a_look(world):
    texts, links, space, clues = world
    query = ["red", "n3", "unheard"]
    (look,) = clues.look(read([query], space))
    assert look.features.shape == (len(look.places), len(FEATURES))
    column = {name: look.features[:, FEATURES.index(name)] for name in FEATURES}
    bm25 = LexicalIndex.bm25(texts, list)
    lexical = bm25.scores(bm25.queries([query]))[0]
    np.testing.assert_allclose(column["bm25"], lexical[look.places], rtol=1e-5)
    np.testing.assert_allclose(
        column["bm25_share"], lexical[look.places] / lexical.max(), rtol=1e-5
    )
    degree = np.diff(links[0].indptr)
    np.testing.assert_allclose(column["degree"], np.log1p(degree[look.places]), rtol=1e-5)
    for name, side in (("given", 1), ("taken", 0)):
        count = links[1].toarray().sum(axis=side)
        np.testing.assert_allclose(column[name], np.log1p(count[look.places]), rtol=1e-5)
    n = len(texts)
    idf = {}
    for word in {w for text in texts for w in text} | {"unheard"}:
        frequency = sum(word in text for text in texts)
        idf[word] = np.log1p((n - frequency + 0.5) / (frequency + 0.5))
    for row, place in enumerate(look.places.tolist()):
        common = sum(idf[w] for w in set(query) & set(texts[place]))
        assert column["of_query"][row] == pytest.approx(
            common / sum(idf[w] for w in query), rel=1e-4
        )
        assert column["of_node"][row] == pytest.approx(
            common / sum(idf[w] for w in set(texts[place])), rel=1e-4
        )
    pairs = [[f"{a} {b}" for a, b in pairwise(text)] for text in texts]
    index = LexicalIndex.bm25(pairs, list)
    by_phrases = index.scores(index.queries([["red n3", "n3 unheard"]]))[0]
    assert by_phrases.any()
    np.testing.assert_allclose(column["phrase"], by_phrases[look.places], rtol=1e-5)
    likeness = np.maximum(column["query_query"], 0)
    rows = letter_rows([" ".join(text) for text in texts])
    surroundings = Surroundings(rows, links[1], links[1].T.tocsr())
    spelled = surroundings.spell(letter_rows([" ".join(query)]))
    letters = spelled.scores
    np.testing.assert_allclose(column["letters"], letters[look.places], rtol=1e-5)
    np.testing.assert_allclose(
        column["letters_share"], letters[look.places] / letters.max(), rtol=1e-5
    )
    around = surroundings.around(spelled, look.places)
    for name, wanted in zip(AROUND, around.T, strict=True):
        assert wanted.std() > 0
        np.testing.assert_allclose(column[name], wanted, rtol=1e-5)
    near = lexical / lexical.max() + by_phrases / by_phrases.max() + letters / letters.max()
    close = (near[look.places] + likeness / likeness.max()) / 4
    np.testing.assert_allclose(column["close"], close, rtol=1e-4, atol=1e-6)
    level = levels(links[1])[look.places]
    weight = (close / close.max()) ** 6
    middle = (weight * level).sum() / weight.sum()
    np.testing.assert_allclose(column["level"], level, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(column["level_gap"], level - middle, rtol=1e-4, atol=1e-5)


def test_links_among_the_nodes_of_a_look(world):
    texts, links, space, clues = world
    added = clues.add(read([texts[7], ["new"]], space), np.array([7, -1]))
    (look,) = clues.look(read([["blue", "n1"]], space), added)
    count, dense, arcs = len(look.places), *(part.toarray() for part in links)
    at = [*look.places.tolist(), 7, None]
    slow = {
        (voter, voted)
        for voter in range(count)
        for voted, node in enumerate(at)
        if node is not None and dense[at[voter], node]
    }
    assert set(zip(look.voter.tolist(), look.voted.tolist(), strict=True)) == slow
    assert len(look.voter) == len(slow)
    given = {(voter, voted) for voter, voted in slow if arcs[at[voter], at[voted]]}
    assert set(zip(look.giver.tolist(), look.taker.tolist(), strict=True)) == given
    assert 0 < len(look.giver) == len(given) < len(slow)
    degree = [max(dense[node].sum(), 1) if node is not None else 1 for node in at]
    np.testing.assert_array_equal(look.degree, degree)


def test_an_added_node_with_the_text_and_links_of_a_known_one_looks_like_it(world):
    texts, _, space, clues = world
    added = clues.add(read([texts[7], ["new"]], space), np.array([7, -1]))
    (look,) = clues.look(read([["green", "n3"]], space), added)
    assert len(look.features) == len(look.places) + 2
    # No links, no level: it stands where the texts like the query's do.
    middle = (
        look.features[0, FEATURES.index("level")] - look.features[0, FEATURES.index("level_gap")]
    )
    assert look.features[-1, FEATURES.index("level_gap")] == 0
    assert look.features[-1, FEATURES.index("level")] == pytest.approx(middle, abs=1e-5)
    known = look.places.tolist().index(7)
    np.testing.assert_allclose(look.features[-2], look.features[known], rtol=1e-4, atol=1e-5)
    assert set(look.voter[look.voted == known]) == set(look.voter[look.voted == len(look.places)])
    assert not (look.voted == len(look.places) + 1).any()


def test_neighbours_of_a_node_describe_it():
    texts, links, _, _, points, towers = small_world()
    near, as_query, as_node = node_vectors(towers, points, links)
    some = links.toarray()[3] @ points
    np.testing.assert_allclose(near[3], some / max(np.linalg.norm(some), 1e-9), atol=1e-5)
    assert as_query.shape == as_node.shape == (len(texts), 4)


@settings(max_examples=30)
@given(st.integers(0, 1000))
def test_levels_are_those_of_the_whole_system(seed):
    random = np.random.default_rng(seed)
    n = int(random.integers(1, 12))
    arcs = (random.random((n, n)) < 0.3).astype(np.float64)
    np.fill_diagonal(arcs, 0)
    # One row an arc, h_u - h_v = 1, and one a node that holds it at 0.
    rows = [np.eye(n)[u] - np.eye(n)[v] for u, v in zip(*np.nonzero(arcs), strict=True)]
    system = np.array([*rows, *np.sqrt(HOLD) * np.eye(n)])
    wanted = np.array([1.0] * len(rows) + [0.0] * n)
    slow = np.linalg.lstsq(system, wanted, rcond=None)[0]
    np.testing.assert_allclose(levels(csr_array(arcs)), slow, atol=5e-3)
