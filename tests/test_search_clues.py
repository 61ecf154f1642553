"""What the ranker reads, against slow versions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from pairgram.search.clues import FIRST, KIN, KIN_VOTERS, Clues, node_vectors, with_kin
from pairgram.search.exact import largest
from pairgram.search.lexical import LexicalIndex
from pairgram.search.votes import Ballots
from pairgram.text.latent import LatentSpace
from pairgram.training.towers import TowerSettings, train_towers

pytestmark = pytest.mark.quick

COLOURS = ("red", "blue", "green")


def small_world(seed=0, n=40):
    random = np.random.default_rng(seed)
    texts = [[COLOURS[v % 3], f"n{random.integers(0, 9)}", f"m{v}"] for v in range(n)]
    dense = np.triu(random.random((n, n)) < 0.1, 1)
    links = csr_array((dense | dense.T).astype(np.float32))
    space = LatentSpace.fit(texts, 8, seed=0)
    points = space.vectors(texts)
    towers = train_towers(points, links, TowerSettings(dim=4, hidden=8, steps=5), seed=0)
    return texts, links, space, points, towers


@pytest.fixture(scope="module")
def world():
    texts, links, space, points, towers = small_world()
    return texts, links, space, Clues(texts, links, points, towers)


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
    assert votes.most == pytest.approx(slow.max())
    assert votes.nodes.tolist() == np.flatnonzero(slow).tolist()
    assert set(votes.best(5).tolist()) == set(np.argsort(-slow, kind="stable")[:5]) & set(
        np.flatnonzero(slow)
    )
    degree = np.maximum(dense.sum(axis=1), 1)
    np.testing.assert_allclose(votes.over(degree).of(asked[:-1]), slow / degree, rtol=1e-6)


def test_features_of_a_look(world):
    texts, links, space, clues = world
    query = ["red", "n3", "unheard"]
    (look,) = clues.look([query], space.vectors([query]))
    assert look.features.shape == (len(look.places), len(FIRST))
    column = {name: look.features[:, FIRST.index(name)] for name in FIRST}
    bm25 = LexicalIndex.bm25(texts, list)
    lexical = bm25.scores(bm25.queries([query]))[0]
    np.testing.assert_allclose(column["bm25"], lexical[look.places], rtol=1e-5)
    np.testing.assert_allclose(
        column["bm25_share"], lexical[look.places] / lexical.max(), rtol=1e-5
    )
    degree = np.diff(links.indptr)
    np.testing.assert_allclose(column["degree"], np.log1p(degree[look.places]), rtol=1e-5)
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
    near = lexical / lexical.max()
    voters = sorted(np.flatnonzero(near > 0).tolist(), key=lambda v: -near[v])[:20]
    votes = sum(near[v] ** 3 * links.toarray()[v] for v in voters)
    np.testing.assert_allclose(
        column["words_20_share"], votes[look.places] / votes.max(), rtol=1e-4, atol=1e-6
    )


def test_an_added_node_with_the_text_and_links_of_a_known_one_looks_like_it(world):
    texts, _, space, clues = world
    added = clues.add([texts[7], ["new"]], space.vectors([texts[7], ["new"]]), np.array([7, -1]))
    (look,) = clues.look([["green", "n3"]], space.vectors([["green", "n3"]]), added)
    assert len(look.features) == len(look.places) + 2
    known = look.places.tolist().index(7)
    np.testing.assert_allclose(look.features[-2], look.features[known], rtol=1e-4, atol=1e-5)
    votes = [place for place, name in enumerate(FIRST) if name.startswith(("words_20", "both"))]
    assert not look.features[-1, votes].any()


def test_learned_votes_are_a_mixture_of_the_voters_links(world):
    texts, links, space, clues = world
    added = clues.add([texts[7], ["new"]], space.vectors([texts[7], ["new"]]), np.array([7, -1]))
    (look,) = clues.look([["blue", "n1"]], space.vectors([["blue", "n1"]]), added)
    count = len(look.places)
    assert count <= KIN_VOTERS
    scores = np.random.default_rng(0).normal(size=count + 2)
    found = with_kin(clues.ballots, look, look.features, scores)
    np.testing.assert_array_equal(found[:, : len(FIRST)], look.features)
    column = {name: found[:, len(FIRST) + KIN.index(name)] for name in KIN}
    dense = links.toarray()
    weight = np.exp(scores) / np.exp(scores[:count]).sum()
    chance = np.zeros(len(texts))
    for place, share in zip(look.places, weight, strict=False):
        chance += share * dense[place] / max(dense[place].sum(), 1)
    mine = np.append(chance[look.places], [chance[7], 0])
    np.testing.assert_allclose(column["kin_weight"], weight, rtol=1e-5)
    np.testing.assert_allclose(column["kin_share"], mine / chance.max(), rtol=1e-4, atol=1e-7)
    np.testing.assert_allclose(column["kin_log"], np.log(mine + 1e-6), rtol=1e-4)


def test_neighbours_of_a_node_describe_it():
    texts, links, _, points, towers = small_world()
    near, as_query, as_node = node_vectors(towers, points, links)
    some = links.toarray()[3] @ points
    np.testing.assert_allclose(near[3], some / max(np.linalg.norm(some), 1e-9), atol=1e-5)
    assert as_query.shape == as_node.shape == (len(texts), 4)
