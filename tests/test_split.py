import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pairgram.errors import FileFormatError, InputError, ParameterError
from pairgram.graph import TextGraph
from pairgram.split import Split, split_edges, validation_split

ENDS = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), min_size=1, max_size=30)


def ring(size, **options):
    nodes = np.arange(size)
    return TextGraph.from_edges(nodes, (nodes + 1) % size, **options)


def arcs(graph):
    return set(zip(graph.source.tolist(), graph.target.tolist(), strict=True))


def unordered(pairs):
    return {frozenset(pair) for pair in pairs}


@pytest.mark.quick
@settings(deadline=None)
@given(ENDS, st.booleans(), st.floats(0, 1), st.integers(0, 2**70))
def test_sides_are_disjoint_and_complete(ends, directed, keep, seed):
    source, target = zip(*ends, strict=True)
    graph = TextGraph.from_edges(list(source), list(target), directed=directed)
    links = unordered(arcs(graph))
    kept = round(keep * len(links))
    if kept in (0, len(links)):
        with pytest.raises(InputError, match="both sides must get a link"):
            split_edges(graph, keep, seed)
        return
    split = split_edges(graph, keep, seed)
    train, held_out = arcs(split.train), {tuple(pair) for pair in split.held_out.tolist()}
    assert len(unordered(train)) == kept
    assert not unordered(train) & unordered(held_out)
    assert unordered(train) | unordered(held_out) == links
    assert len(train) + len(held_out) == graph.n_edges == len(train) + len(split.held_out)
    assert split.train.n_nodes == graph.n_nodes
    assert split.held_out.tolist() == sorted(split.held_out.tolist())
    if directed:
        assert held_out <= arcs(graph)
    else:
        assert all(first < second for first, second in held_out)


@pytest.mark.quick
def test_same_seed_same_split_and_another_seed_another():
    graph = ring(200)
    first, again, other = (split_edges(graph, 0.5, seed) for seed in (3, 3, 4))
    assert np.array_equal(first.held_out, again.held_out)
    assert first.hash == again.hash
    assert first.train.fingerprint == again.train.fingerprint
    assert first.hash != other.hash


@pytest.mark.quick
def test_the_draw_is_fixed_for_ever():
    # Written down once: a NumPy release or another machine must not move a published split.
    assert split_edges(ring(10), 0.7, seed=0).held_out.tolist() == [[3, 4], [4, 5], [8, 9]]


@pytest.mark.quick
def test_the_split_does_not_depend_on_the_order_of_lines():
    graph = ring(50)
    order = np.random.default_rng(0).permutation(50)
    turned = TextGraph.from_edges(graph.target[order], graph.source[order])
    assert np.array_equal(split_edges(graph).held_out, split_edges(turned).held_out)


def test_every_link_is_held_out_equally_often():
    from scipy.stats import chisquare

    graph = ring(12)
    held = np.zeros(144)
    for seed in range(2000):
        pairs = split_edges(graph, 0.75, seed).held_out
        held[pairs[:, 0] * 12 + pairs[:, 1]] += 1
    counts = held[held > 0]
    assert len(counts) == 12
    assert chisquare(counts).pvalue > 1e-3


@pytest.mark.quick
def test_texts_names_and_weights_stay_with_training():
    graph = TextGraph.from_edges(
        ["a", "b", "c"], ["b", "c", "a"], texts={"a": "one", "d": "alone"}, weight=[1.0, 2.0, 3.0]
    )
    train = split_edges(graph, 0.67).train
    assert train.names.tolist() == ["a", "b", "c", "d"]
    assert list(train.texts) == ["one", "", "", "alone"]
    assert len(train.weight) == train.n_edges == 2


@pytest.mark.quick
def test_validation_comes_from_the_training_side_alone():
    split = split_edges(ring(400), 0.5, seed=1)
    validation = validation_split(split, share=0.05, seed=1)
    assert validation.full is split.train
    assert len(validation.held_out) == 10
    assert validation.train.n_edges == 190
    held = unordered(validation.held_out.tolist())
    assert held <= unordered(arcs(split.train))
    assert not held & unordered(split.held_out.tolist())


@pytest.mark.quick
def test_validation_by_date_needs_the_dates():
    split = split_edges(ring(8))
    other = Split("time", split.train, split.full, split.held_out, 0, 0.5, split.hash)
    with pytest.raises(InputError, match="the dates are not kept in the graph"):
        validation_split(other)


@pytest.mark.quick
@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"keep": 1.5}, "'keep' parameter of split_edges"),
        ({"keep": float("nan")}, "'keep' parameter"),
        ({"seed": -1}, "'seed' parameter"),
        ({"seed": 0.5}, "'seed' parameter"),
    ],
)
def test_bad_parameters_are_named(arguments, word):
    with pytest.raises(ParameterError, match=word):
        split_edges(ring(8), **arguments)


@pytest.mark.quick
@pytest.mark.parametrize("keep", [0.0, 0.5, 1.0])
def test_one_link_cannot_be_split(keep):
    with pytest.raises(InputError, match="of 1; use more links"):
        split_edges(TextGraph.from_edges([0], [1]), keep)


@pytest.mark.quick
def test_held_out_links_are_read_only():
    with pytest.raises(ValueError, match="read-only"):
        split_edges(ring(8)).held_out[0, 0] = 5


@pytest.mark.quick
@pytest.mark.parametrize("directed", [False, True])
def test_saved_and_loaded(tmp_path, directed):
    graph = ring(30, directed=directed)
    split = split_edges(graph, 0.6, seed=2**80)
    path = tmp_path / "split.npz"
    split.save(path)
    loaded = Split.load(path, graph)
    assert (loaded.hash, loaded.kind, loaded.seed, loaded.share) == (
        split.hash,
        "edges",
        2**80,
        0.6,
    )
    assert np.array_equal(loaded.held_out, split.held_out)
    assert loaded.train.fingerprint == split.train.fingerprint
    assert [file.name for file in tmp_path.iterdir()] == ["split.npz"]


@pytest.mark.quick
def test_a_saved_split_knows_its_graph(tmp_path):
    path = tmp_path / "split.npz"
    split_edges(ring(30)).save(path)
    with pytest.raises(InputError, match="made from another graph"):
        Split.load(path, ring(31))


@pytest.mark.quick
def test_broken_files_are_named(tmp_path):
    graph = ring(30)
    with pytest.raises(FileFormatError, match=r"absent\.npz: there is no such file"):
        Split.load(tmp_path / "absent.npz", graph)
    text = tmp_path / "text.npz"
    text.write_text("no archive")
    with pytest.raises(FileFormatError, match="not a saved split"):
        Split.load(text, graph)
    whole = tmp_path / "whole.npz"
    split_edges(graph).save(whole)
    (tmp_path / "half.npz").write_bytes(whole.read_bytes()[:200])
    with pytest.raises(FileFormatError, match="not a saved split"):
        Split.load(tmp_path / "half.npz", graph)
    np.save(tmp_path / "array.npy", np.zeros(3))
    with pytest.raises(FileFormatError, match="not a saved split"):
        Split.load(tmp_path / "array.npy", graph)
    np.savez(tmp_path / "other.npz", held_out=np.zeros((1, 2)))
    with pytest.raises(FileFormatError, match="it has no kind, seed"):
        Split.load(tmp_path / "other.npz", graph)


@pytest.mark.quick
def test_an_unwritable_folder_leaves_nothing(tmp_path):
    with pytest.raises(InputError, match="the split cannot be written"):
        split_edges(ring(8)).save(tmp_path / "absent" / "split.npz")
    assert not list(tmp_path.iterdir())
