"""What the ranker reads, against slow versions."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from pairgram.search.clues import AGAIN, FIRST, SECOND, Clues, node_vectors
from pairgram.search.exact import largest
from pairgram.search.lexical import LexicalIndex
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


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 1000))
def test_votes_are_sums_over_the_voters(world, seed):
    random = np.random.default_rng(seed)
    _, links, _, clues = world
    voters = random.choice(40, 5, replace=False)
    strength = random.random(5)
    slow = np.zeros(40)
    for voter, weight in zip(voters, strength, strict=True):
        slow += weight * links.toarray()[voter]
    np.testing.assert_allclose(clues.vote(voters, strength), slow)


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


def test_the_second_look_lets_the_best_vote(world):
    _, links, space, clues = world
    (look,) = clues.look([["blue", "n1"]], space.vectors([["blue", "n1"]]))
    first = np.random.default_rng(0).normal(size=len(look.places))
    again = clues.look_again(look, first)
    assert again.shape == (len(look.places), len(FIRST) + len(SECOND))
    np.testing.assert_array_equal(again[:, : len(FIRST)], look.features)
    share = np.exp(first) / np.exp(first).sum()
    best = np.argsort(-first)[:AGAIN]
    votes = sum(share[b] / share.max() * links.toarray()[look.places[b]] for b in best)
    at = len(FIRST) + SECOND.index("again_share")
    np.testing.assert_allclose(again[:, at], votes[look.places] / votes.max(), rtol=1e-4, atol=1e-6)


def test_neighbours_of_a_node_describe_it():
    texts, links, _, points, towers = small_world()
    near, as_query, as_node = node_vectors(towers, points, links)
    some = links.toarray()[3] @ points
    np.testing.assert_allclose(near[3], some / max(np.linalg.norm(some), 1e-9), atol=1e-5)
    assert as_query.shape == as_node.shape == (len(texts), 4)
