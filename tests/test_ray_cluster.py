"""Several Ray nodes on one machine, one of which is killed in the middle of the work."""

import importlib.util
import time

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import pairgram as pg
from pairgram.engine.ray import ENVIRONMENT, RayEngine
from pairgram.models.streaming import stream_texts
from pairgram.training import checkpoint as checkpoints
from pairgram.training import owned
from text_graphs import worded

# Ray itself is imported by the fixture: it would take a second of every run that looks here.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        importlib.util.find_spec("ray") is None, reason="the extra 'ray' is not installed"
    ),
]
N = 2000


@pytest.fixture(scope="module")
def graph():
    random = np.random.default_rng(0)
    ends = (N * random.random((8000, 2)) ** 2).astype(np.int64)
    return pg.TextGraph.from_edges(ends[:, 0], ends[:, 1], [str(i) for i in range(N)])


@pytest.fixture
def cluster(monkeypatch):
    from ray.cluster_utils import Cluster

    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    started = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    yield started
    started.shutdown()


def kill(cluster, node):
    """End a node at once; its workers may outlive it by seconds, so wait until it is given up."""
    import ray

    cluster.remove_node(node, allow_graceful=False)
    until = time.monotonic() + 60
    while any(one["Alive"] and one["NodeID"] == node.node_id for one in ray.nodes()):
        assert time.monotonic() < until
        time.sleep(0.05)


def test_pairs_are_the_same_when_a_node_dies(cluster, graph):
    # Joining by address also shows that a real cluster greets as it should.
    node = cluster.add_node(num_cpus=1)
    expected = pg.sample_pairs(graph, seed=3)
    with RayEngine(cluster.address) as engine:
        assert engine.threads == 2
        blocks = []
        for block in pg.iter_pairs(graph, seed=3, block_pairs=2000, engine=engine):
            blocks.append(block)
            if len(blocks) == 3:
                kill(cluster, node)
        assert len(blocks) > 10
        got = np.concatenate([block.context for block in blocks])
    np.testing.assert_array_equal(got, expected.context)


def test_vectors_are_the_same_when_a_node_dies(cluster, graph, monkeypatch):
    monkeypatch.setattr(owned, "FETCH_SECONDS", 0.0)
    monkeypatch.setattr(owned, "FETCH_SHARE", np.inf)
    node = cluster.add_node(num_cpus=2)
    expected = pg.PS(dim=16, epochs=6).fit(graph).vectors_
    turns, killed = [], []

    def watch(progress, _):
        turns.append(progress.turn)
        if progress.turn == 3 and not killed:
            killed.append(node)
            kill(cluster, node)

    with RayEngine(cluster.address) as engine:
        assert engine.threads == 3
        model = pg.PS(dim=16, epochs=6)
        got = model.fit(graph, callback=watch, engine=engine).vectors_
        assert engine.threads == 1
    assert killed
    assert turns == [1, 2, 3, 4, 5, 6]  # goes on from what was fetched after turn 3
    np.testing.assert_array_equal(got.center, expected.center)
    np.testing.assert_array_equal(got.context, expected.context)


def test_a_text_model_is_the_same_when_a_node_dies(cluster, tmp_path, monkeypatch, caplog):
    pytest.importorskip("torch")
    monkeypatch.setattr(checkpoints, "EVERY_SECONDS", 0.0)
    graph, killed = worded(nodes=400, edges=2000), []
    cluster.add_node(num_cpus=1)

    def model():
        return pg.TGE(dim=16, preset="paper", epochs=5, patience=0, batch_size=32)

    with RayEngine(cluster.address, workers=2) as engine:
        expected = model().fit(graph, engine=engine).vectors_
        node = cluster.worker_nodes.copy().pop()

        def watch(progress, _):
            if progress.turn >= 3 and not killed:
                killed.append(progress.turn)
                kill(cluster, node)

        # Two workers of half a core each are left on one machine.
        got = model().fit(graph, tmp_path / "state", watch, engine).vectors_
        assert engine.threads == 1
    assert killed
    assert "All begin again from the last checkpoint" in caplog.text
    np.testing.assert_array_equal(got.center, expected.center)
    np.testing.assert_array_equal(got.context, expected.context)


def test_texts_are_encoded_when_a_node_dies(cluster, small_graph, tmp_path):
    pytest.importorskip("torch")
    node = cluster.add_node(num_cpus=1)
    pg.TGE(dim=8, preset="best", epochs=1, patience=0).fit(small_graph).save(tmp_path / "model")
    table = pa.table({"id": [str(i) for i in range(90)], "text": [f"text {i}" for i in range(90)]})
    parquet.write_table(table, tmp_path / "in.parquet", row_group_size=5)
    killed = []

    def watch(done, texts):
        if done == 3:
            killed.append(node)
            kill(cluster, node)

    with RayEngine(cluster.address) as engine:
        given = (tmp_path / "model", tmp_path / "in.parquet", tmp_path / "out")
        assert stream_texts(*given, engine, after_piece=watch) == 90
    assert killed
    got = parquet.read_table(tmp_path / "out")
    assert got["id"].to_pylist() == table["id"].to_pylist()
    expected = pg.load(tmp_path / "model").embed(table["text"].to_pylist())
    np.testing.assert_allclose(np.array(got["vector"].to_pylist()), expected, atol=1e-6)
