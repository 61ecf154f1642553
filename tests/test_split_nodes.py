from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pairgram.errors import InputError, ParameterError
from pairgram.graph import TextGraph
from pairgram.split import Split, split_nodes, split_nodes_time, split_time, validation_split

ENDS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=3, max_size=40)


def clique(size, **options):
    source, target = zip(*combinations(range(size), 2), strict=True)
    return TextGraph.from_edges(list(source), list(target), **options)


def links(graph, names=None):
    names = graph.names if names is None else names
    return {(names[a], names[b]) for a, b in zip(graph.source, graph.target, strict=True)}


@pytest.mark.quick
@settings(max_examples=60)
@given(ENDS, st.booleans(), st.sampled_from([0.1, 0.3, 0.5]), st.integers(0, 2**70))
def test_training_is_the_graph_without_the_new_nodes(ends, directed, hold_out, seed):
    source, target = zip(*ends, strict=True)
    names = [f"n{node}" for node in range(11)]
    graph = TextGraph.from_edges(list(source), list(target), names=names, directed=directed)
    try:
        split = split_nodes(graph, hold_out, seed)
    except InputError:
        return
    new = {names[node] for node in split.new}
    assert len(new) == round(hold_out * 11)
    assert split.train.names.tolist() == [name for name in names if name not in new]
    assert [names[node] for node in split.kept] == split.train.names.tolist()
    assert links(split.train) == {pair for pair in links(graph) if not new & set(pair)}
    held = {(names[a], names[b]) for a, b in split.held_out}
    every = links(graph) if directed else {tuple(sorted(p)) for p in links(graph)}
    held = held if directed else {tuple(sorted(pair)) for pair in held}
    assert held == {pair for pair in every if new & set(pair)}


@pytest.mark.quick
def test_nothing_of_a_new_node_is_left_in_training():
    words = [f"common planted{node}" for node in range(12)]
    names = [f"name{node}" for node in range(12)]
    graph = clique(12, names=names, texts=words, weight=np.arange(66.0) + 1)
    split = split_nodes(graph, 0.25, seed=1)
    left = repr((split.train.names.tolist(), split.train.texts, split.train._index))
    for node in split.new.tolist():
        assert f"planted{node}'" not in left
        assert f"name{node}'" not in left
    assert split.train.degree.tolist() == [8] * 9
    assert len(split.train.weight) == split.train.n_edges == 36
    assert split.train.counts.texts == 9


@pytest.mark.quick
def test_the_draw_is_fixed_for_ever():
    split = split_nodes(clique(10), 0.3, seed=0)
    assert split.new.tolist() == [0, 4, 6]
    assert not split.new.flags.writeable
    assert split.hash == split_nodes(clique(10), 0.3, seed=0).hash
    assert split.hash != split_nodes(clique(10), 0.3, seed=1).hash


@pytest.mark.quick
def test_isolated_new_nodes_change_the_hash():
    # Two splits that hold the same links out, but other nodes.
    names = [str(node) for node in range(30)]
    graph = TextGraph.from_edges([0, 1, 2], [1, 2, 3], names=names)
    splits = []
    for seed in range(300):
        try:
            splits.append(split_nodes(graph, 0.2, seed))
        except InputError:
            continue
    by_links = {}
    for split in splits:
        by_links.setdefault(split.held_out.tobytes(), []).append(split)
    same_links = max(by_links.values(), key=len)
    assert len(same_links) > 1
    assert len({split.hash for split in same_links}) == len(
        {split.new.tobytes() for split in same_links}
    )


@pytest.mark.quick
def test_validation_nodes_come_from_training():
    split = split_nodes(clique(40), 0.1, seed=2)
    validation = validation_split(split, share=0.1, seed=2)
    assert validation.kind == "nodes"
    assert validation.full is split.train
    assert len(validation.new) == 4
    assert validation.train.n_nodes == 32
    drawn_again = split_nodes(split.train, 0.1, seed=2)
    assert drawn_again.new.tolist() != validation.new.tolist()  # streams of their own


@pytest.mark.quick
def test_saved_and_loaded(tmp_path):
    graph = clique(12, texts=[f"text {node}" for node in range(12)])
    split = split_nodes(graph, 0.25, seed=2**80)
    split.save(tmp_path / "split.npz")
    loaded = Split.load(tmp_path / "split.npz", graph)
    assert (loaded.hash, loaded.kind, loaded.seed) == (split.hash, "nodes", 2**80)
    assert loaded.new.tolist() == split.new.tolist()
    assert loaded.train.fingerprint == split.train.fingerprint


@pytest.mark.quick
@pytest.mark.parametrize(
    ("graph", "hold_out", "word"),
    [
        (clique(4), 0.01, "at least one node must be held out. Got 0 of 4"),
        (clique(4), 1.0, "both sides must get a link. Got 0 to train on"),
        (TextGraph.from_edges([0], [1]), 0.5, "both sides must get a link"),
    ],
)
def test_shares_that_leave_nothing(graph, hold_out, word):
    with pytest.raises(InputError, match=word):
        split_nodes(graph, hold_out)


@pytest.mark.quick
def test_bad_parameters_are_named():
    with pytest.raises(ParameterError, match="'hold_out' parameter of split_nodes"):
        split_nodes(clique(4), 1.5)
    with pytest.raises(ParameterError, match="'seed' parameter of split_nodes"):
        split_nodes(clique(4), 0.5, seed=-1)


@pytest.mark.quick
def test_links_of_a_date_and_later_are_held_out():
    dates = np.array(["2020-01-01", "2021-06-01", "2022-01-01", "2020-05-05"], "datetime64[s]")
    graph = TextGraph.from_edges(list("abca"), list("bcdd"), date=dates)
    split = split_time(graph, before="2021-06-01")
    assert split.kind == "time"
    assert split.held_out.tolist() == [[1, 2], [2, 3]]
    assert split.share == 0.5
    assert split.train.n_nodes == 4


@pytest.mark.quick
def test_both_directions_go_with_the_earlier_date():
    dates = [1.0, 9.0, 9.0]
    graph = TextGraph.from_edges(list("aba"), list("bac"), date=dates, directed=True)
    split = split_time(graph, before=5)
    assert split.held_out.tolist() == [[0, 2]]
    assert split.train.n_edges == 2


@pytest.mark.quick
def test_dates_that_cannot_cut_are_named():
    graph = TextGraph.from_edges([0, 1], [1, 2], date=[1.0, 2.0])
    with pytest.raises(InputError, match=r"dates from 1\.0 to 2\.0: both sides"):
        split_time(graph, before=0)
    with pytest.raises(InputError, match=r"before must be a date .* such as 1\.0"):
        split_time(graph, before="soon")
    with pytest.raises(InputError, match="carry no dates"):
        split_time(TextGraph.from_edges([0], [1]), before=0)
    with pytest.raises(InputError, match="Got 1 of 2 without"):
        split_time(TextGraph.from_edges([0, 1], [1, 2], date=[1.0, np.nan]), before=2)


@pytest.mark.quick
def test_time_split_validates_on_the_latest_training_links():
    n = 41
    graph = TextGraph.from_edges(range(n - 1), range(1, n), date=np.arange(n - 1.0))
    split = split_time(graph, before=20)
    validation = validation_split(split, 0.1)
    assert (validation.kind, validation.held_out.tolist()) == ("time", [[18, 19], [19, 20]])
    assert validation.full.fingerprint == split.train.fingerprint


@pytest.mark.quick
def test_nodes_by_date_leave_nothing_of_later_nodes_in_training(tmp_path):
    n = 30
    texts = [f"text {i}" for i in range(n)]
    names = [f"n{i}" for i in range(n)]
    source, target = [*range(n - 1), 0], [*range(1, n), n - 1]
    graph = TextGraph.from_edges(source, target, names=names, texts=texts)
    months = np.datetime64("2000-01", "M") + np.arange(n)[::-1]
    split = split_nodes_time(graph, months, before="2002-02")
    assert (split.kind, split.of_nodes, split.new.tolist()) == ("nodes_time", True, [0, 1, 2, 3, 4])
    assert split.share == pytest.approx(25 / 30)
    assert split.train.names.tolist() == names[5:]
    assert len(split.held_out) == 6
    validation = validation_split(split, 0.1)
    held = split.train.names[validation.new].tolist()
    assert (validation.kind, held) == ("nodes_time", ["n5", "n6"])
    split.save(tmp_path / "split.npz")
    loaded = Split.load(tmp_path / "split.npz", graph)
    assert (loaded.hash, loaded.kind) == (split.hash, "nodes_time")
    assert loaded.date.tolist() == split.date.tolist()
    assert validation_split(loaded, 0.1).hash == validation.hash


@pytest.mark.quick
def test_nodes_by_date_refuse_bad_dates_in_one_line():
    graph = TextGraph.from_edges([0, 1], [1, 2])
    for date, before, message in [
        ([1, 2], 2, r"one entry for every node, shape \(3,\)\. Got \(2,\)"),
        ([1.0, np.nan, 2.0], 2, "every node needs a date. Got 1 of 3 without"),
        ([1, 2, 3], "soon", "before must be a date like the graph's"),
        (["a", "b", "c"], 2, "must hold numbers or dates. Got 'a'"),
        ([1, 2, 3], 9, "at least one node must be held out"),
        ([1, 2, 3], 0, "both sides must get a link. Got 0 to train on and 2 to test"),
    ]:
        with pytest.raises(InputError, match=message):
            split_nodes_time(graph, date, before=before)
