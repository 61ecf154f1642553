from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pairgram.errors import InputError, LeakError, ParameterError
from pairgram.evaluation import Card, Report, audit, evaluate
from pairgram.evaluation.duplicates import find_repeats
from pairgram.evaluation.protocols import NO_LINK, NO_SUCH_LINK, draw_trials
from pairgram.evaluation.text_floors import TEXT_FLOORS, TextFloors, fit_weight
from pairgram.graph import TextGraph
from pairgram.models.placed import Placed
from pairgram.models.scoring import Tables
from pairgram.split import split_edges, split_nodes

ENDS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=6, max_size=40)
SIZE = 24


def two_cliques(texts=None):
    """Two cliques whose nodes name their side, and a word of their own."""
    links = np.array(np.triu_indices(SIZE, 1)).T
    links = np.concatenate([links, links + SIZE])
    texts = texts or [f"{'red' if i < SIZE else 'blue'} word{i}" for i in range(2 * SIZE)]
    return TextGraph.from_edges(links[:, 0], links[:, 1], texts=texts)


class Fake:
    """A model that reads the colour off a text: +1 for red, -1 for any other."""

    rules_, rule_ = ("dot",), "dot"

    def __init__(self, contexts=False, sign=1.0):
        self.contexts, self.sign, self.is_fitted, self.asked = contexts, sign, False, []
        self.stats_ = {"pairs": 7, "updates": 14, "seconds": {}}

    def fit(self, graph):
        self.fingerprint_, self.is_fitted = graph.fingerprint, True
        self.texts = graph.texts
        self.vectors_ = SimpleNamespace(center=self.embed(graph.texts))
        return self

    def embed(self, texts):
        side = [self.sign if "red" in text else -self.sign for text in texts]
        return np.array([[value, abs(value)] for value in side], dtype=np.float32)

    def place(self, texts):
        self.asked += list(texts)
        center, known = self.embed(texts), self.vectors_.center
        tables = Tables(known, known, np.zeros(len(known), np.float32))
        return Placed(tables, self.rule_, center, center if self.contexts else None)

    def score_positions(self, source, target, rule=None):
        return (self.vectors_.center[source] * self.vectors_.center[target]).sum(axis=1)

    def get_params(self):
        return {"sign": self.sign}


@pytest.fixture
def split():
    return split_nodes(two_cliques(), 0.25, seed=0)


def sides(split, protocol):
    new, every = set(split.new.tolist()), set(range(split.full.n_nodes))
    return {
        "zero-shot": every - new,
        "zero-shot/new_new": new,
        "zero-shot/together": every,
    }[protocol]


@pytest.mark.quick
@pytest.mark.parametrize("protocol", ["zero-shot", "zero-shot/new_new", "zero-shot/together"])
@settings(max_examples=40)
@given(ends=ENDS, seed=st.integers(0, 9), directed=st.booleans())
def test_every_trial_is_a_legal_one(protocol, ends, seed, directed):
    source, target = zip(*ends, strict=True)
    names = [str(node) for node in range(12)]  # two of them always isolated
    graph = TextGraph.from_edges(list(source), list(target), names=names, directed=directed)
    try:
        split = split_nodes(graph, 0.4, seed)
    except InputError:
        return
    trials, allowed = draw_trials(split, protocol, seed), sides(split, protocol)
    full = {node: set(graph.adjacency().neighbours(node).tolist()) for node in range(12)}
    linked = [node for node in split.new.tolist() if full[node] & allowed]
    scored = [node for node in linked if allowed - full[node] - {node}]
    assert trials.center.tolist() == scored
    assert trials.candidates == len(allowed)
    for center, positive, negative in zip(
        trials.center, trials.positive, trials.negative, strict=True
    ):
        assert positive in full[center] & allowed
        assert negative in allowed - full[center] - {center}
    alone = sum(not full[node] for node in split.new.tolist())
    assert trials.left_out.get(NO_LINK, 0) == alone
    assert trials.left_out.get(NO_SUCH_LINK, 0) == len(split.new) - alone - len(linked)
    assert sum(trials.left_out.values()) + len(trials) == len(split.new)


@pytest.mark.quick
def test_a_model_that_reads_the_side_is_perfect(split):
    model = Fake(contexts=True)
    report = evaluate(model, split)
    for prefix in ("", "new_new/", "together/"):
        for suffix in ("", "_nodup"):
            assert report[f"{prefix}auc_pair{suffix}"] == 1.0
            assert report[f"{prefix}auc_lr{suffix}"] == 1.0
    links = report.card.counts["ranked_links"]
    # Every link of a query leads; no other candidate ties with it.
    assert report["mrr"] == report["hits@1"] == report["mrr/context"] == 1.0
    assert links == sum(node in split.new for node in split.held_out.ravel()) - 2 * sum(
        np.isin(split.held_out, split.new).all(axis=1)
    )
    assert report["ndcg@10"] == pytest.approx(1.0)
    assert report["recall@10"] < 1  # a node has more links than the list is long
    assert report.card.protocol == "zero-shot"
    assert model.asked == [split.full.texts[node] for node in split.new]
    assert not set(model.asked) & set(model.texts)


@pytest.mark.quick
def test_a_model_that_sees_no_difference_is_at_the_mean_rank(split):
    report = evaluate(Fake(sign=0.0), split)
    assert report["auc_pair"] == 0.5
    trained = report.card.candidates
    mean = [1 / (1 + (trained - count) / 2) for count in links_per_query(split)]
    weights = links_per_query(split)
    assert report["mrr"] == pytest.approx(np.average(mean, weights=weights))


def links_per_query(split):
    adjacency = split.full.adjacency()
    return [int(np.isin(adjacency.neighbours(node), split.kept).sum()) for node in split.new]


@pytest.mark.quick
def test_rules_that_need_contexts_of_new_nodes_are_left_out_and_counted(split):
    report = evaluate(Fake(contexts=False), split)
    assert report["auc_pair/context"] == 1.0
    assert "new_new/auc_pair/context" not in report
    assert report["new_new/auc_pair/dot"] == report["new_new/auc_pair"] == 1.0
    note = report.card.notes["new_new/auc_pair/context"]
    assert note.startswith("the model cannot score two new nodes by it, ")
    assert f"{report.card.counts['new_new/centers']} centres left out" in note
    assert "together/auc_pair/context" not in report


@pytest.mark.quick
def test_floors_are_scored_beside_the_model(split):
    report = evaluate(Fake(), split)
    assert tuple(report.card.floors) == TEXT_FLOORS
    assert report.floors["bm25"] == report.floors["vote"] == report.floors["tfidf"] == 1.0
    assert report.floors["degree"] < 1
    # Bm25 knows the colour; the degree does not.
    assert report.card.floors["vote"]["mrr"] > 3 * report.card.floors["degree"]["mrr"]
    assert set(report.card.floors["degree"]) >= {"mrr", "hits@10", "mrr_nodup", "auc_pair_nodup"}
    assert 0 < report.card.floors["vote+bm25"]["weight"] < 1


@pytest.mark.quick
def test_the_table_says_what_was_ranked_and_repeated(split, tmp_path):
    report = evaluate(Fake(), split)
    text = str(report)
    for word in ("MRR", "nDCG@10", "floor vote+bm25", "links between new nodes", "By MRR, Fake"):
        assert word in text
    assert "Of 12 held-out nodes 0 have the text of a training node, 0 nearly." in text
    report.card.write(tmp_path / "card.json")
    assert str(Report(Card.read(tmp_path / "card.json"))) == text


@pytest.mark.quick
def test_repeated_texts_are_counted_and_left_out_of_a_second_score():
    texts = [f"{'red' if i < SIZE else 'blue'} word{i}" for i in range(2 * SIZE)]
    plain = split_nodes(two_cliques(texts), 0.25, seed=0)
    # Half of the new nodes take the text of a training node of the other side: they mislead.
    old_red, old_blue = (
        next(node for node in plain.kept.tolist() if (node < SIZE) is red) for red in (True, False)
    )
    for node in plain.new.tolist()[::2]:
        texts[node] = texts[old_blue if node < SIZE else old_red].upper() + "!"
    misled = split_nodes(two_cliques(texts), 0.25, seed=0)
    assert find_repeats(misled).exact.tolist() == [i % 2 == 0 for i in range(12)]
    lower = Fake()
    lower.embed = lambda given: Fake.embed(lower, [text.lower() for text in given])
    report = evaluate(lower, misled)
    assert report.card.counts["repeated_texts"] == 6
    assert report["auc_pair"] == 0.5
    assert report["auc_pair_nodup"] == report["mrr_nodup"] == 1.0
    assert report["mrr"] < 0.6
    floors = report.card.floors["bm25"]
    assert floors["mrr_nodup"] > floors["mrr"]
    with pytest.raises(LeakError, match="of 12 held-out nodes 6 have the text of a training"):
        evaluate(Fake(), misled, strict_texts=True)


@pytest.mark.quick
def test_empty_texts_repeat_nothing():
    split = split_nodes(two_cliques([""] * (2 * SIZE)), 0.25)
    assert not find_repeats(split).any.any()


def slow_near(new, known):
    def pairs(text):
        words = text.split()
        return set(pairwise(words)) if len(words) > 1 else set(words)

    def alike(one, two):
        common, union = len(pairs(one) & pairs(two)), len(pairs(one) | pairs(two))
        return bool(common) and common >= 0.95 * union

    return [any(alike(text, other) for other in known) for text in new]


@pytest.mark.quick
@settings(max_examples=30)
@given(st.lists(st.lists(st.sampled_from("ab"), max_size=4), min_size=12, max_size=12), st.data())
def test_near_identical_texts_are_those_of_nearly_equal_word_pairs(texts, data):
    long = [f"w{i}" for i in range(40)]
    for node in range(0, 12, 3):  # long texts that differ by the words at one place
        texts[node] = [*long, *data.draw(st.lists(st.sampled_from("xyz"), max_size=3))]
    joined = [" ".join(words) for words in texts]
    graph = TextGraph.from_edges(*np.triu_indices(12, 1), texts=joined)
    split = split_nodes(graph, 0.5)
    new, known = [joined[node] for node in split.new], list(split.train.texts)
    exact = [bool(text) and text in known for text in new]
    found = find_repeats(split)
    assert found.exact.tolist() == exact
    expected = [near and not same for near, same in zip(slow_near(new, known), exact, strict=True)]
    assert found.near.tolist() == expected


@pytest.mark.quick
def test_shared_nodes_and_links_are_leaks_with_their_names(split):
    audit(split)
    name = split.full.names[split.new[0]]
    with pytest.raises(LeakError, match=rf"12 of 12 held-out nodes are also .* e\.g\. '{name}'"):
        audit(replace(split, train=split.full))
    kept_link = split.kept[[split.train.source[0], split.train.target[0]]]
    leaky = replace(split, held_out=np.vstack([split.held_out, kept_link]))
    first, second = (split.full.names[node] for node in sorted(kept_link))
    with pytest.raises(LeakError, match=rf"1 of \d+ held-out links are .*\('{first}', '{second}'"):
        audit(leaky)
    turned = split.train.induced(np.arange(split.train.n_nodes) > 0)
    with pytest.raises(InputError, match="must have the other 36 nodes"):
        audit(replace(split, train=turned))
    with pytest.raises(InputError, match=r"new positions must be in \[0, 48\)"):
        audit(replace(split, new=np.array([48])))
    with pytest.raises(LeakError, match="Fake was fitted on another graph"):
        evaluate(Fake().fit(split.full), split)


@pytest.mark.quick
def test_statistics_of_held_out_data_are_a_leak_with_their_names(split):
    model = Fake().fit(split.train)
    model.statistics_ = {"vocabulary": "1", "degrees": "2"}
    model.count_statistics = lambda graph: {"vocabulary": str(graph.n_nodes), "degrees": "2"}
    with pytest.raises(LeakError, match="not those of the training side: vocabulary; fit it"):
        evaluate(model, split)
    model.statistics_["vocabulary"] = str(split.train.n_nodes)
    assert evaluate(model, split)["auc_pair"] == 1.0


@pytest.mark.quick
def test_floors_know_nothing_of_held_out_texts(split):
    texts = [split.full.texts[node] for node in split.new]
    floors = TextFloors(split.train, texts, str.split)
    assert not {f"word{node}" for node in split.new} & set(floors._bm25._vocabulary)


@pytest.mark.quick
def test_the_weight_is_fitted_on_validation(split):
    assert 0 < fit_weight(split, str.split) < 1
    tiny = split_nodes(TextGraph.from_edges([0, 1, 2], [1, 2, 0], texts=list("abc")), 0.34)
    assert fit_weight(tiny, str.split) == 0.5  # no validation node can be spared


@pytest.mark.quick
def test_bad_models_and_requests_are_named(split):
    class Structure:
        is_fitted = False

    with pytest.raises(InputError, match="Structure cannot place the text of a new node"):
        evaluate(Structure(), split)
    with pytest.raises(InputError, match="Protocol 'seen' needs a split of links"):
        evaluate(Fake(), split, "seen")
    with pytest.raises(InputError, match="Protocol 'zero-shot' needs a split of nodes"):
        evaluate(Fake(), split_edges(split.full), "zero-shot")
    with pytest.raises(ParameterError, match="'protocol' parameter of evaluate"):
        evaluate(Fake(), split, "zero-shot/new_new")
    short = Fake()
    short.embed = lambda texts: np.ones((1, 2)) if len(texts) == 12 else Fake.embed(short, texts)
    with pytest.raises(InputError, match=r"Fake\.place must give one vector a text, 12 of them"):
        evaluate(short, split)
    graph = TextGraph.from_edges(*np.triu_indices(12, 1))
    with pytest.raises(InputError, match="The graph has no texts"):
        evaluate(Fake(), split_nodes(graph, 0.25))


@pytest.mark.quick
@pytest.mark.parametrize("texts", [False, True])
def test_links_between_known_nodes_are_ranked_on_request(texts):
    graph = two_cliques()
    split = split_edges(graph if texts else replace(graph, texts=None), 0.6)
    model = Fake()
    model.fit(replace(split.train, texts=graph.texts))
    model.fingerprint_ = split.train.fingerprint
    report = evaluate(model, split, rank=20)
    assert report.card.counts["queries"] == 20
    assert report["mrr"] == report["mrr/dot"] == 1.0
    floors = report.card.floors
    assert floors["common_neighbours"]["mrr"] == floors["resource_allocation"]["hits@1"] == 1.0
    assert ("vote" in floors) == texts
    if texts:
        assert floors["vote"]["mrr"] == 1.0
        assert "auc_pair" not in floors["vote"]
    assert "floor degree" in str(report)
    assert "mrr" not in evaluate(model, split)
