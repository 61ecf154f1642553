"""Our skip-gram beside gensim's, on the same walks."""

import importlib.util

import numpy as np
import pytest

import pairgram as pg
from pairgram.sampling.walks import iter_walks

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("gensim") is None, reason="needs the extra 'reference'"
)

N, COMMUNITY = 300, 30
SAME = {"window": 5, "negative": 5, "alpha": 0.025, "epochs": 1}


def planted(seed):
    """Training graph with planted communities, held-out links, and as many pairs without one."""
    random = np.random.default_rng(seed)
    source, target = np.triu_indices(N, 1)
    same = source // COMMUNITY == target // COMMUNITY
    linked = random.random(len(source)) < np.where(same, 0.25, 0.004)
    edges = np.stack([source[linked], target[linked]], axis=1)
    held_out = random.random(len(edges)) < 0.2
    graph = pg.TextGraph.from_edges(*edges[~held_out].T, names=[str(i) for i in range(N)])
    without = np.flatnonzero(~linked)
    others = random.choice(without, held_out.sum(), replace=False)
    return graph, edges[held_out], np.stack([source[others], target[others]], axis=1)


def auc(center, other, positive, negative):
    """Link AUC of the products e_u·other_v, in both orders of the ends."""
    scores = [
        (center[u] * other[v]).sum(1) + (center[v] * other[u]).sum(1)
        for u, v in (positive.T, negative.T)
    ]
    return (scores[0][:, None] > scores[1]).mean()


def by_gensim(graph, seed):
    """Centre and context vectors of gensim's skip-gram with negative sampling."""
    from gensim.models import Word2Vec

    sentences = [
        [str(v) for v in walk if v >= 0]
        for block in iter_walks(graph, length=40, times=10, seed=seed)
        for walk in block.tolist()
    ]
    model = Word2Vec(
        sentences, vector_size=32, sg=1, hs=0, min_count=0, sample=0, ns_exponent=0.75,
        shrink_windows=False, min_alpha=0.025e-3, workers=1, seed=seed, **SAME,
    )  # fmt: skip
    rows = [model.wv.key_to_index[str(v)] for v in range(N)]
    return model.wv.vectors[rows], model.syn1neg[rows]


def by_us(graph, seed):
    model = pg.DeepWalk(
        dim=32, length=40, times=10, window=5, negatives=5, learning_rate=0.025, epochs=1,
        l2=0.0, offset=False, seed=seed,
    )  # fmt: skip
    vectors = model.fit(graph).vectors_
    return vectors.center, vectors.context


def test_link_auc_is_that_of_gensim():
    found = {by: [] for by in (by_gensim, by_us)}
    for seed in range(3):
        graph, positive, negative = planted(seed)
        for by, values in found.items():
            center, context = by(graph, seed)
            values.append([auc(center, other, positive, negative) for other in (center, context)])
    theirs, ours = (np.mean(found[by], axis=0) for by in (by_gensim, by_us))
    assert theirs.min() > 0.8  # there is something to find
    np.testing.assert_allclose(ours, theirs, atol=0.02)
