"""Every kind of leak is planted, and the audit names it; a clean split passes."""

from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np
import pytest

import pairgram as pg
from pairgram.errors import LeakError
from pairgram.evaluation import audit, evaluate
from pairgram.evaluation.duplicates import find_repeats, near_pairs, shingles
from pairgram.split import split_edges, split_hash, split_nodes
from pairgram.text.vocabulary import Vocabulary

SIZE = 14


def colour_graph():
    links = list(combinations(range(SIZE), 2))
    links += [(a + SIZE, b + SIZE) for a, b in links]
    texts = [f"{'red' if i < SIZE else 'blue'} word{i}" for i in range(2 * SIZE)]
    return pg.TextGraph.from_edges(*map(list, zip(*links, strict=True)), texts=texts)


def fitted(split):
    return pg.TGE(dim=4, preset="best", epochs=2, order=1, times=1, patience=0).fit(split.train)


@pytest.fixture(scope="module", params=["edges", "nodes"])
def sound(request):
    graph = colour_graph()
    split = split_edges(graph, 0.6) if request.param == "edges" else split_nodes(graph, 0.25)
    return split, fitted(split)


def test_a_sound_split_and_model_pass(sound):
    split, model = sound
    audit(split)
    assert 0 <= evaluate(model, split)["auc_pair"] <= 1


@pytest.mark.parametrize("turned", [False, True])
def test_a_shared_link_is_named_in_either_direction(sound, turned):
    split, model = sound
    stolen = split.kept[[split.train.source[0], split.train.target[0]]]
    pairs = np.vstack([split.held_out, stolen[::-1] if turned else stolen])
    leaky = replace(split, held_out=pairs, hash=split_hash(pairs, split.full, split.new))
    with pytest.raises(LeakError, match=r"1 of \d+ held-out links are also training links, e\.g\."):
        evaluate(model, leaky)


def test_a_shared_node_is_named(sound):
    split, model = sound
    if not split.of_nodes:
        pytest.skip("a split of links shares all nodes")
    with pytest.raises(LeakError, match=r"7 of 7 held-out nodes are also training nodes, e\.g\."):
        evaluate(model, replace(split, train=split.full))


def test_a_model_of_the_whole_graph_is_named(sound):
    split, _ = sound
    whole = pg.TGE(dim=4, preset="best", epochs=1, order=1, times=1, patience=0).fit(split.full)
    with pytest.raises(LeakError, match="TGE was fitted on another graph than the split's train"):
        evaluate(whole, split)


@pytest.mark.parametrize("name", ["vocabulary", "document frequencies", "degrees"])
def test_statistics_of_held_out_data_are_named(sound, name):
    split, _ = sound
    leaky = fitted(split)
    counted = leaky.vocabulary_
    if name == "vocabulary":
        more = counted.counts.copy()
        more[-1] += 1
        leaky.vocabulary_ = replace(counted, counts=more)
    elif name == "document frequencies":
        leaky.vocabulary_ = replace(counted, documents=counted.documents + 1)
    else:
        leaky.graph_ = split.train.with_edges(np.arange(split.train.n_edges) > 0)
    with pytest.raises(LeakError, match=f"not those of the training side: {name}; fit it on"):
        evaluate(leaky, split)


def test_a_vocabulary_of_all_texts_is_named():
    split = split_nodes(colour_graph(), 0.25)
    leaky = fitted(split)
    leaky.vocabulary_ = Vocabulary.fit(split.full.texts, leaky.vocabulary_.cleaning)
    with pytest.raises(LeakError, match="training side: vocabulary, document frequencies; fit"):
        evaluate(leaky, split)


def test_repeated_texts_are_counted_and_fail_only_when_asked():
    graph = colour_graph()
    new = split_nodes(graph, 0.25).new
    texts = list(graph.texts)
    texts[new[0]] = texts[next(i for i in range(2 * SIZE) if i not in new)].upper()
    split = split_nodes(pg.TextGraph.from_edges(graph.source, graph.target, texts=texts), 0.25)
    model = fitted(split)
    report = evaluate(model, split)
    assert report.card.counts["repeated_texts"] == 1
    assert "mrr_nodup" in report
    with pytest.raises(LeakError, match="of 7 held-out nodes 1 have the text of a training node"):
        evaluate(model, split, strict_texts=True)


@pytest.mark.quick
def test_near_pairs_are_those_of_all_comparisons():
    rng = np.random.default_rng(0)
    base = [f"w{i}" for i in range(60)]
    texts = []
    for _ in range(80):
        words = base[: int(rng.integers(1, 60))]
        if rng.random() < 0.5:
            words = [*words, f"x{rng.integers(3)}"]
        texts.append(words)
    sets = shingles(texts)
    found = {tuple(pair) for pair in near_pairs(sets, 30).tolist()}
    everywhere = {tuple(pair) for pair in near_pairs(sets).tolist()}
    expected = set()
    for a in range(80):
        for b in range(a + 1, 80):
            one, two = ({*pairwise(t)} if len(t) > 1 else {*t} for t in (texts[a], texts[b]))
            if len(one & two) >= 0.95 * len(one | two):
                expected.add((a, b))
    assert everywhere == expected
    assert found == {(a, b) for a, b in expected if a < 30 <= b}
    assert found


def test_two_hundred_thousand_texts_are_compared_in_seconds():
    import time

    rng = np.random.default_rng(0)
    words = np.array([f"w{i}" for i in range(3000)])
    texts = [" ".join(words[row]) for row in rng.zipf(1.3, (200_000, 6)) % 3000]
    graph = pg.TextGraph.from_edges(np.arange(199_999), np.arange(1, 200_000), texts=texts)
    split = split_nodes(graph, 0.005)
    began = time.process_time()
    found = find_repeats(split)
    assert time.process_time() - began < 20
    assert found.exact.sum() > 10
