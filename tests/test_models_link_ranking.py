"""TGE with its ranker of links: fitted, kept, asked; nodes that come, change and go."""

import json

import numpy as np
import pytest

import pairgram as pg
from pairgram.errors import FileFormatError, ParameterError
from pairgram.evaluation.review import weakest_links
from pairgram.models import rehearsing
from pairgram.models.link_ranking import STRUCTURE
from pairgram.models.link_rehearsing import fit_links, look_at
from pairgram.models.tge_fit import held_back
from pairgram.search.link_clues import FEATURES, TABLES, LinkClues
from pairgram.search.vote import link_matrix

TOPICS = ("apple", "boat", "cloud", "drum", "eagle", "flute")


def make_graph(n=360, per_node=4):
    """Topics of shared words; a node links inside its topic, mostly to nodes near it."""
    random = np.random.default_rng(0)
    texts, source, target = [], [], []
    for node in range(n):
        topic = node % len(TOPICS)
        texts.append(f"{TOPICS[topic]} word{random.integers(0, 9)} n{node}")
        step = len(TOPICS) * random.integers(1, 9, per_node)
        source += [node] * per_node
        target += [int((node + far) % n) for far in step]
    return pg.TextGraph.from_edges(np.array(source), np.array(target), texts=texts)


@pytest.fixture(scope="module", autouse=True)
def few_queries():
    """The ranker of new texts is not what is tested here: a few nodes play new ones."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rehearsing, "SHARES", ((0.2, 30),))
        yield


@pytest.fixture(scope="module")
def graph():
    return make_graph()


@pytest.fixture(scope="module")
def split(graph):
    return pg.split_edges(graph, keep=0.9, seed=0)


def build(**given):
    return pg.TGE(dim=8, preset="best", epochs=3, seed=0, threads=1, **given)


@pytest.fixture(scope="module")
def model(split):
    return build().fit(split.train)


def test_links_of_known_nodes_are_ranked(model, split):
    notes = model.links_.notes
    assert set(notes.mrr) == set(notes.auc) == {"vectors", "structure", "paths", "whole"}
    assert notes.mrr["whole"] > notes.mrr["vectors"]
    assert notes.links >= 50
    assert model.rule_ == "ranked"
    assert model.vector_rule_ == "calibrated"
    assert model.rules_ == ("dot", "context", "symmetric", "calibrated", "ranked")
    report = pg.evaluate(model, split, rank=100)
    assert report["auc_pair"] == report["auc_pair/ranked"] > report["auc_pair/dot"]
    assert report["mrr"] == report["mrr/ranked"] > report["mrr/dot"]
    assert report["auc_lr"] > 0.8


def test_suggestions_are_ranked_and_known_links_left_out(model, split):
    train = split.train
    node = str(train.names[7])
    known = {str(train.names[w]) for w in train.adjacency().neighbours(7)}
    found = model.suggest(node=node, k=8)
    assert found == model.suggest(node=node, k=8, rule="ranked")
    assert not known & {s.node for s in found}
    assert node not in {s.node for s in found}
    assert [s.score for s in found] == sorted((s.score for s in found), reverse=True)
    np.testing.assert_allclose(
        model.score([(node, s.node) for s in found]), [s.score for s in found], atol=1e-4
    )
    by_vectors = model.suggest(node=node, k=8, rule="calibrated")
    assert {s.score for s in by_vectors} != {s.score for s in found}
    only = model.suggest(node=node, k=3, prefix="1")
    assert all(s.node.startswith("1") for s in only)
    told = model.suggest(node=node, k=1, explain=True)[0]
    assert told.node == found[0].node
    assert told.explanation.rule == "calibrated"
    assert "neighbour" in told.why


def test_blocks_pairs_and_both_directions_agree(model):
    nodes = np.array([3, 50])
    block = model.score_block(nodes)
    assert block.shape == (2, model.graph_.n_nodes)
    best = np.argsort(-block, axis=1)[:, :20]
    for row, node, places in zip(block, nodes, best, strict=True):
        u = np.full(len(places), node)
        np.testing.assert_allclose(row[places], model.score_positions(u, places), atol=1e-4)
        turned = model.score_positions(places, u)
        np.testing.assert_allclose(turned, row[places], atol=1e-4)
    features = model.pair_features(np.array([3, 3]), np.array([9, 50]))
    assert features.shape == (2, len(FEATURES) + 1)
    scores = model.score_positions(np.array([3, 3]), np.array([9, 50]))
    np.testing.assert_allclose(features[:, -1], scores, atol=1e-4)
    assert model.score_block(nodes[:0]).shape == (0, model.graph_.n_nodes)


def test_rules_of_the_vectors_stay_what_they_were(model, split):
    plain = build(rule="symmetric").fit(split.train)
    assert plain.rule_ == plain.vector_rule_ == "symmetric"
    assert "ranked" in plain.rules_
    assert plain.pair_features is None
    np.testing.assert_array_equal(plain.vectors_.center, model.vectors_.center)
    with pytest.raises(ParameterError, match="no product of tables"):
        model.terms()
    with pytest.raises(ParameterError, match="no product of tables"):
        model.build_index("ranked")
    assert len(model.terms("calibrated")[0]) == 1
    worst = weakest_links(model, 3)
    assert worst == weakest_links(model, 3, rule="calibrated")
    assert model.place(["apple"]).rules_between == plain.place(["apple"]).rules_between


def test_a_second_fit_and_a_saved_model_say_the_same(model, split, tmp_path):
    node = str(split.train.names[11])
    wanted = model.suggest(node=node, k=8)
    assert build().fit(split.train).suggest(node=node, k=8) == wanted
    model.save(tmp_path / "m")
    back = pg.load(tmp_path / "m")
    assert back.suggest(node=node, k=8) == wanted
    assert back.links_.notes == model.links_.notes
    notes = tmp_path / "m" / "link_ranking.json"
    kept = json.loads(notes.read_text())
    notes.write_text("{}")
    with pytest.raises(FileFormatError, match="ranker of links is damaged"):
        pg.load(tmp_path / "m")
    assert kept["queries"] == model.links_.notes.queries
    notes.unlink()  # as a folder of before
    before = pg.load(tmp_path / "m")
    assert before.links_ is None
    assert before.rule_ == "calibrated"
    assert before.suggest("apple", k=3) == back.suggest("apple", k=3)


def test_nodes_that_come_change_and_go(split):
    model = build().fit(split.train)
    node = str(split.train.names[12])
    before = {s.node: s.score for s in model.suggest(node=node, k=400)}
    model.add({"new": "apple word3"})
    found = {s.node: s.score for s in model.suggest(node=node, k=400)}
    assert found["new"] > np.median(list(found.values()))
    assert {n: s for n, s in found.items() if n != "new"} == pytest.approx(before, abs=1e-3)
    assert model.score([(node, "new")])[0] == pytest.approx(found["new"], abs=1e-4)
    asked = model.suggest(node="new", k=5)
    assert [s.node for s in asked] == [s.node for s in model.suggest("apple word3", k=6)][1:] or (
        all("apple" in s.text for s in asked)
    )
    other = next(iter(before))
    text = model.node_text(other)
    model.update({other: "boat boat boat"})
    changed = {s.node: s.score for s in model.suggest(node=node, k=400)}
    assert changed[other] < found[other]
    assert len(model.suggest(node=other, k=5)) == 5
    model.update({other: text})
    again = {s.node: s.score for s in model.suggest(node=node, k=400)}
    assert again[other] == pytest.approx(found[other], abs=1e-3)
    model.remove([other])
    model.compact()
    left = {s.node: s.score for s in model.suggest(node=node, k=400)}
    assert other not in left
    assert "new" in left
    assert len(model._link_board().structure[0]) == model.graph_.n_nodes
    assert set(STRUCTURE) < set(model._more_tables())


def test_a_node_without_links_is_asked_for_as_a_text_before_and_after_a_fold(split):
    model = build(contexts="table").fit(split.train)
    model.add({"new": "apple word3"})
    asked = [(s.node, s.score) for s in model.suggest("apple word3", k=9) if s.node != "new"]

    def found():
        return [(s.node, s.score) for s in model.suggest(node="new", k=8)]

    before = found()
    assert [name for name, _ in before] == [name for name, _ in asked[:8]]
    assert model.kind_asked("new", "ranked") == "text"
    assert model.kind_asked(str(split.train.names[3]), "ranked") == "node"
    model.compact()
    after = found()
    assert model.kind_asked("new", "ranked") == "text"
    # The new text is counted now, which moves the weights of words a little.
    assert len({name for name, _ in before} & {name for name, _ in after}) >= 5
    # A table has no context for it: everyone else is still scored.
    everyone = model.suggest(node=str(split.train.names[5]), k=1000)
    assert all(np.isfinite(s.score) for s in everyone)
    near = model.graph_.adjacency().neighbours(5)
    assert len(everyone) >= split.train.n_nodes - len(near) - 1


def test_a_name_that_comes_back_has_nothing_of_the_node_before(split):
    model, name = build().fit(split.train), str(split.train.names[9])
    model.remove([name])
    model.add({name: "boat word1"})
    model.compact()
    at = model.graph_.find(name)
    assert not any(table[at].any() for table in model._link_board().structure)


def test_an_index_is_by_the_vectors(model, split):
    with pytest.raises(ParameterError, match="no product of tables"):
        model.suggest(node=str(split.train.names[3]), rule="ranked", search="ann")


def test_where_there_is_no_ranker_of_links(graph):
    few = make_graph(60)
    assert build().fit(few).links_ is None
    assert build(patience=0).fit(graph).links_ is None
    assert build(refit=True).fit(graph).links_ is None
    plain = build(ranker=False).fit(graph)
    assert plain.links_ is None
    assert plain.rule_ == "calibrated"
    assert plain.pair_features is None
    with pytest.raises(ParameterError, match="ranked"):
        plain.suggest(node=graph.names[0], rule="ranked")


@pytest.mark.quick
def test_links_that_were_held_back_are_not_counted(graph):
    smaller = held_back({"patience": 3, "refit": False, "seed": 0}, graph)
    assert smaller.n_edges < graph.n_edges
    kept = link_matrix(smaller)
    away = (link_matrix(graph) - kept).tocsr()
    away.eliminate_zeros()
    random = np.random.default_rng(0)
    tables = {name: random.normal(size=(graph.n_nodes, 2)) for name in TABLES}
    words = [text.split() for text in graph.texts]
    held = look_at(LinkClues(words, kept, tables), kept, away, seed=0)
    nodes = np.flatnonzero(np.diff(away.indptr))
    assert len(held.features) == len(nodes)
    assert sum(mask.sum() for mask in held.is_link) == away.nnz
    dense = kept.toarray()
    common = dense @ dense
    for node, rows, is_link in zip(nodes, held.features, held.is_link, strict=True):
        links = away.indices[away.indptr[node] : away.indptr[node + 1]]
        column = rows[is_link, FEATURES.index("common_count")]
        np.testing.assert_allclose(np.sort(column), np.sort(common[node, links]), atol=1e-5)
    assert held_back({"patience": 0, "refit": False, "seed": 0}, graph) is None
    assert held_back({"patience": 3, "refit": True, "seed": 0}, graph) is None


def test_a_judge_that_does_not_help_is_not_kept(graph, caplog):
    smaller = held_back({"patience": 3, "refit": False, "seed": 0}, graph)
    # Vectors that know the links that were held back cannot be beaten.
    links = link_matrix(graph).toarray()
    known = pg.Vectors(np.eye(len(links), dtype=np.float32), links, graph.names)
    points = np.zeros((len(links), 2), np.float16)
    with caplog.at_level("INFO"):
        assert fit_links(graph, smaller, known, points, str.split, 0, 1) is None
    assert "no better than the vectors" in caplog.text
