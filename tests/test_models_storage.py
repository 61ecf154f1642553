import json

import numpy as np
import pytest

import pairgram as pg
from pairgram.errors import FileFormatError, PairgramError


@pytest.fixture
def folder(tmp_path, small_graph):
    pg.PS(dim=8, seed=3).fit(small_graph).save(tmp_path / "model")
    return tmp_path / "model"


def edit(folder, change):
    config = json.loads((folder / "config.json").read_text())
    change(config)
    (folder / "config.json").write_text(json.dumps(config))


@pytest.mark.quick
def test_loaded_names_and_texts(folder, small_graph):
    loaded = pg.load(folder)
    assert loaded.graph_.names.tolist() == small_graph.names.tolist()
    assert loaded.graph_.texts == small_graph.texts
    np.testing.assert_array_equal(loaded.graph_.source, small_graph.source)
    assert not loaded.vectors_.center.flags.writeable  # mapped, not read


@pytest.mark.quick
def test_a_loaded_model_can_be_fitted_and_saved_over_itself(folder, small_graph):
    loaded = pg.load(folder)
    before = loaded.vectors_.center.copy()
    loaded.set_params(seed=4).fit(small_graph).save(folder)
    again = pg.load(folder)
    assert again.seed == 4
    assert (again.vectors_.center != before).any()


@pytest.mark.quick
def test_weights_do_not_change_scores_of_a_loaded_model(tmp_path):
    graph = pg.TextGraph.from_edges(["a", "b", "c"], ["b", "c", "d"], weight=[1.0, 5.0, 2.0])
    model = pg.DeepWalk(dim=8, length=10, times=2).fit(graph)
    model.save(tmp_path / "model")
    loaded = pg.load(tmp_path / "model")
    pairs = [("a", "b"), ("a", "d"), ("b", "d")]
    for rule in model.rules_:
        np.testing.assert_array_equal(loaded.score(pairs, rule), model.score(pairs, rule))
    assert loaded.fingerprint_ == graph.fingerprint


@pytest.mark.quick
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda c: c.update(method="guess"), "holds the method 'guess'; this pairgram knows ps"),
        (lambda c: c.pop("method"), "holds the method None"),
        (lambda c: c.pop("fingerprint"), "is incomplete"),
        (lambda c: c["params"].update(depth=3), "PS has no parameter 'depth'"),
        (lambda c: c["params"].update(negatives=-1), "The 'negatives' parameter of PS must be"),
        (lambda c: c.update(params=[1]), "is incomplete"),
        (lambda c: c.pop("directed"), "is incomplete"),
    ],
)
def test_a_damaged_config_is_one_line_with_the_path(folder, change, said):
    edit(folder, change)
    with pytest.raises(FileFormatError, match="model") as caught:
        pg.load(folder)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.quick
def test_a_folder_without_edges_is_refused(folder):
    (folder / "edges.parquet").unlink()
    with pytest.raises(FileFormatError, match="holds no edges"):
        pg.load(folder)


@pytest.mark.quick
def test_no_folder_at_all(tmp_path):
    with pytest.raises(FileFormatError, match="is no pairgram model"):
        pg.load(tmp_path / "nothing")


@pytest.mark.quick
def test_weights_and_dates_of_edges_are_kept(tmp_path):
    graph = pg.TextGraph.from_edges(
        ["d", "a", "c"], ["c", "b", "b"], weight=[2.0, 1.0, 5.0],
        date=np.array(["2001-05", "2003-01", "NaT"], "M8[M]"), directed=True,
    )  # fmt: skip
    pg.DeepWalk(dim=8, length=10, times=2).fit(graph).save(tmp_path / "model")
    loaded = pg.load(tmp_path / "model").graph_
    np.testing.assert_array_equal(loaded.weight, graph.weight)
    np.testing.assert_array_equal(loaded.date, graph.date)
    assert loaded.date.dtype.kind == graph.date.dtype.kind
    assert loaded.fingerprint == graph.fingerprint


@pytest.mark.quick
def test_a_folder_with_other_edges_than_its_own_is_refused(tmp_path):
    graph = pg.TextGraph.from_edges(["a", "b"], ["b", "c"], relation=["likes", "knows"])
    pg.PS(dim=8).fit(graph).save(tmp_path / "one")
    other = pg.TextGraph.from_edges(["a", "a"], ["b", "c"], relation=["likes", "knows"])
    pg.PS(dim=8).fit(other).save(tmp_path / "other")
    (tmp_path / "other" / "relations.parquet").replace(tmp_path / "one" / "relations.parquet")
    with pytest.raises(FileFormatError, match="its relations are those of other edges"):
        pg.load(tmp_path / "one")


@pytest.mark.quick
def test_a_folder_that_holds_another_method_now_is_not_taken_up(folder, small_graph):
    reader, writer = pg.load(folder), pg.PS(dim=4, seed=5).fit(small_graph)
    writer.save(folder)
    reader.refresh()
    assert (reader.dim, reader.seed) == (4, 5)
    pg.DeepWalk(dim=8, length=10, times=2).fit(small_graph).save(folder)
    with pytest.raises(PairgramError, match="holds DeepWalk now, no PS: load it again"):
        reader.refresh()
    assert reader.dim == 4
