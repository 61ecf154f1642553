"""TGE with its ranker: fitted, kept, asked; nodes that come, change and go."""

import numpy as np
import pytest

import pairgram as pg
from pairgram.errors import FileFormatError, InputError, ParameterError
from pairgram.evaluation.fusing import fit_fusion
from pairgram.evaluation.tuning import tune
from pairgram.models.ranking import TABLES, RankingNotes
from pairgram.models.rehearsing import mrr_of, rehearse
from pairgram.text.cleaning import cleaner

TOPICS = ("apple", "boat", "cloud", "drum")


@pytest.fixture(scope="module")
def graph():
    """Topics of shared words; links inside a topic, most of them to its first nodes."""
    random = np.random.default_rng(0)
    texts, source, target = [], [], []
    for node in range(160):
        topic = node % 4
        texts.append(f"{TOPICS[topic]} word{random.integers(0, 9)} n{node}")
        source += [node, node]
        target += [topic, int(random.choice(range(topic, 160, 4)))]
    return pg.TextGraph.from_edges(np.array(source), np.array(target), texts=texts)


@pytest.fixture(scope="module")
def split(graph):
    return pg.split_nodes(graph, hold_out=0.1, seed=1)


def build(**given):
    return pg.TGE(dim=8, preset="best", epochs=2, seed=0, threads=1, **given)


@pytest.fixture(scope="module")
def model(split):
    return build().fit(split.train)


def test_new_texts_are_ranked_and_the_others_rules_stay(model, split):
    assert isinstance(model.ranking_.notes, RankingNotes)
    assert set(model.ranking_.notes.mrr) == {"bm25", "tower", "closeness", "whole"}
    assert model.ranking_.notes.queries == 28
    report = pg.evaluate(model, split)
    assert report["mrr"] == report["mrr/ranked"]
    assert report["mrr/ranked"] > report["mrr/dot"]
    assert report["auc_pair"] > 0.8
    found = model.suggest("apple word3", k=5)
    assert all("apple" in s.text for s in found[:3])
    assert found == model.suggest("apple word3", k=5, rule="ranked")
    many = model.suggest_many(["apple word3", "drum"], 5)[0]
    assert [s.node for s in many] == [s.node for s in found]
    np.testing.assert_allclose([s.score for s in many], [s.score for s in found], atol=1e-4)
    assert {s.score for s in model.suggest("apple word3", k=5, rule="dot")} != {
        s.score for s in found
    }
    assert model.suggest("apple", k=1, explain=True)[0].explanation.rule == "calibrated"
    with pytest.raises(ParameterError, match="ranked"):
        model.suggest(node=split.train.names[0], rule="ranked")


def test_scores_that_are_weighed_or_chosen_are_those_of_vectors(model, split):
    assert fit_fusion(model, split).rule in model.rules_
    # A space with one setting; on validation nodes the ranker's rule is the best.
    best = tune(lambda given: build(), split, {}, metric="mrr", share=0.2)
    assert "rule" not in best.chosen


def test_scores_of_pairs_and_blocks_agree(model, split):
    placed = model.place(["boat word1", "cloud"])
    assert placed.rule == "ranked"
    whole = placed.block(slice(0, 2))
    assert whole.shape == (2, split.train.n_nodes)
    pairs = placed.pairs(np.array([1, 0, 1]), np.array([4, 9, 0]))
    np.testing.assert_array_equal(pairs, whole[[1, 0, 1], [4, 9, 0]].astype(float))
    assert "ranked" not in placed.rules_between


def test_a_second_fit_and_a_saved_model_say_the_same(model, split, tmp_path):
    again = build().fit(split.train)
    wanted = model.suggest("drum word2", k=8)
    assert again.suggest("drum word2", k=8) == wanted
    model.save(tmp_path / "m")
    back = pg.load(tmp_path / "m")
    for mine, theirs in zip(wanted, back.suggest("drum word2", k=8), strict=True):
        assert mine.node == theirs.node
        assert mine.score == pytest.approx(theirs.score, abs=1e-4)
    assert back.ranking_.notes == model.ranking_.notes
    assert (tmp_path / "m" / "ranking.json").exists()
    (tmp_path / "m" / "ranking.json").write_text("{}")
    with pytest.raises(FileFormatError, match="ranker is damaged"):
        pg.load(tmp_path / "m")


def test_nodes_that_come_change_and_go(split):
    model = build().fit(split.train)
    best = model.suggest("cloud word4", k=3)
    model.add({"new": "cloud word4"})
    everything = {s.node: s.score for s in model.suggest("cloud word4", k=300)}
    assert everything["new"] > np.median(list(everything.values()))
    node, own = best[0].node, best[0].text
    model.update({node: "boat boat"})
    changed = {s.node: s.score for s in model.suggest("cloud word4", k=300)}
    assert changed[node] != pytest.approx(everything[node], abs=1e-3)
    model.update({node: own})
    restored = {s.node: s.score for s in model.suggest("cloud word4", k=300)}
    assert restored[node] == pytest.approx(everything[node], abs=1e-3)
    model.remove([best[1].node])
    assert best[1].node not in {s.node for s in model.suggest("cloud word4", k=300)}
    before = {s.node for s in model.suggest("cloud word4", k=300)}
    model.compact()
    assert {s.node for s in model.suggest("cloud word4", k=300)} == before
    assert set(model._board().tables) == set(TABLES)


def test_where_there_is_no_ranker(graph, split):
    few = pg.TextGraph.from_edges(["a", "b"], ["b", "c"], texts={n: n * 3 for n in "abc"})
    assert rehearse(few, cleaner("words"), 0) is None
    assert build().fit(few).ranking_ is None
    assert build(ranker=False).fit(split.train).ranking_ is None
    arcs = pg.TextGraph.from_edges(graph.source, graph.target, texts=graph.texts, directed=True)
    assert build(directed=True).fit(arcs).ranking_ is None
    assert pg.TGE(dim=8, epochs=1, threads=1).fit(split.train).ranking_ is None


def test_what_is_away_is_not_seen(graph):
    rehearsal = rehearse(graph, cleaner("words"), 3)
    assert len(rehearsal.queries) == 32
    home = graph.n_nodes - 8  # a twentieth is away at a time
    assert max(int(query.look.places.max()) for query in rehearsal.queries) < home
    degree = graph.degree
    links = sorted(len(query.wanted) for query in rehearsal.queries)
    assert links[-1] <= degree.max()
    assert all(query.is_link.sum() <= len(query.wanted) for query in rehearsal.queries)


@pytest.mark.quick
def test_mrr_counts_links_that_were_not_looked_at():
    scores = [np.array([3.0, 1.0, 2.0, 2.0])]
    is_link = [np.array([False, False, True, False])]
    # One above, one tied: rank 2.5; of two links one was found.
    assert mrr_of(scores, is_link, 2) == pytest.approx((1 / 2.5) / 2)


def test_links_that_nobody_else_has_leave_nobody_to_vote():
    nodes = np.arange(200)
    texts = [f"word{node % 7} pair{node // 2}" for node in nodes]
    pairs = pg.TextGraph.from_edges(nodes[::2], nodes[1::2], texts=texts)
    model = build().fit(pairs)
    assert model.ranking_.notes.queries > 0
    assert np.isfinite([s.score for s in model.suggest("word3 pair31", k=200)]).all()


@pytest.mark.quick
def test_no_texts_is_one_clear_line(graph):
    bare = pg.TextGraph.from_edges(graph.source, graph.target)
    with pytest.raises(InputError, match="needs texts"):
        build().fit(bare)
