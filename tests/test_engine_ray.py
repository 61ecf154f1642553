"""The Ray engine on one machine: the same bits, also when a worker dies."""

import importlib.util
import json
import os
import signal
import socket
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import pairgram as pg
from cli_files import FAST, run, run_json, write_cliques
from pairgram.engine import LocalEngine, open_engine
from pairgram.engine.ray import RayEngine
from pairgram.errors import InputError, MissingExtraError, PairgramError, ParameterError
from pairgram.models import streaming
from pairgram.sampling.pairs import PairSampler
from pairgram.training import checkpoint as checkpoints
from pairgram.training.settings import Settings
from pairgram.training.sgns import train
from pairgram.training.sources import SampledPairs
from text_graphs import worded

N = 300
needs_ray = pytest.mark.skipif(
    importlib.util.find_spec("ray") is None, reason="the extra 'ray' is not installed"
)


@pytest.fixture(scope="module")
def engine():
    with RayEngine(workers=2) as started:
        yield started


@pytest.fixture(scope="module")
def graph():
    random = np.random.default_rng(0)
    ends = (N * random.random((1200, 2)) ** 2).astype(np.int64)
    return pg.TextGraph.from_edges(ends[:, 0], ends[:, 1], [str(i) for i in range(N)])


@pytest.mark.quick
def test_without_ray_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'pairgram\[ray\]'"):
        RayEngine()
    with pytest.raises(MissingExtraError, match="The engine 'ray' needs"), open_engine("ray"):
        pass


@pytest.mark.quick
@pytest.mark.parametrize("given", [{"workers": 0}, {"workers": 1.5}, {"address": ""}])
def test_bad_parameters_are_said(given):
    with pytest.raises(ParameterError, match="parameter of RayEngine must be"):
        RayEngine(**given)


@pytest.mark.quick
def test_an_unknown_engine_is_said(graph):
    with pytest.raises(ParameterError, match=r"one of local, ray\. Got 'spark'"):
        pg.PS(dim=8).fit(graph, engine="spark")


@needs_ray
@pytest.mark.parametrize("address", ["ray://somewhere:10001", "somewhere", "somewhere:port"])
def test_addresses_of_another_form_are_said(address):
    with pytest.raises(ParameterError, match="must be host:port or 'auto'"):
        RayEngine(address)


@needs_ray
def test_an_address_that_does_not_answer_is_said_in_time():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    began = time.monotonic()
    with pytest.raises(PairgramError, match=f"Ray at '{address}' does not answer"):
        RayEngine(address)
    assert time.monotonic() - began < 30  # ray itself is imported in this time


@needs_ray
@pytest.mark.parametrize("answer", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b""])
def test_a_port_of_something_else_is_said(answer):
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve():
            line, _ = server.accept()
            with line:
                line.recv(100)
                line.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        with pytest.raises(PairgramError, match="what listens there is not Ray"):
            RayEngine(f"127.0.0.1:{server.getsockname()[1]}")
        thread.join()


@needs_ray
def test_map_keeps_the_order_and_raises_what_a_task_raised(engine):
    assert engine.threads == 2
    big = np.arange(100_000)

    def work(task):
        if task == 7:
            raise KeyError(task)
        return task * int(big[task])

    assert list(engine.map(work, range(6))) == [t * t for t in range(6)]
    assert list(engine.map(work, [])) == []
    with pytest.raises(KeyError):
        engine.run(work, range(20))
    assert list(engine.map(str, [1, 2])) == ["1", "2"]  # it still works


@needs_ray
@pytest.mark.parametrize("more", [{}, {"unique": True, "order": 2}])
def test_pairs_are_those_of_the_local_engine(engine, graph, more):
    expected = pg.sample_pairs(graph, seed=3, **more)
    blocks = list(pg.iter_pairs(graph, seed=3, block_pairs=500, engine=engine, **more))
    assert len(blocks) > 4
    for name in ("center", "context", "order", "round"):
        got = np.concatenate([getattr(block, name) for block in blocks])
        np.testing.assert_array_equal(got, getattr(expected, name))


@needs_ray
def test_a_block_is_drawn_again_when_its_worker_dies(engine, graph, tmp_path):
    sampler, mark = PairSampler(graph, 3, 2, seed=1), tmp_path / "died"
    centres = list(sampler.blocks(np.arange(N, dtype=np.int32), 500))

    def dies_once(block):
        if not mark.exists() and block[0] > 0:
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return sampler.sample(block)

    got = list(engine.map(dies_once, centres))
    assert mark.exists()
    for block, pairs in zip(centres, got, strict=True):
        np.testing.assert_array_equal(pairs.context, sampler.sample(block).context)


@needs_ray
@pytest.mark.parametrize("model", [pg.PS(dim=12, epochs=2), pg.LINE(dim=12, per_edge=3)], ids=str)
def test_vectors_are_those_of_the_local_engine(engine, graph, model):
    expected = model.fit(graph).vectors_
    got = model.fit(graph, engine=engine).vectors_
    np.testing.assert_array_equal(got.center, expected.center)
    if expected.context is not None:
        np.testing.assert_array_equal(got.context, expected.context)


@needs_ray
def test_training_ends_with_the_same_bits_when_a_worker_dies(engine, graph, tmp_path):
    mark = tmp_path / "died"

    class Deadly(SampledPairs):
        def chunk(self, k, parts, engine, span=None):
            if k == 1 and span is not None and not mark.exists():
                mark.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            return super().chunk(k, parts, engine, span)

    source = Deadly(PairSampler(graph, 3, 2, seed=1), N, 3000)
    settings = Settings(dim=12, epochs=2, seed=3)
    with LocalEngine(1) as local:
        expected = train(source, graph.degree, settings, local)
    got = train(source, graph.degree, settings, engine)
    assert mark.exists()
    np.testing.assert_array_equal(got[0], expected[0])
    np.testing.assert_array_equal(got[1], expected[1])


@needs_ray
def test_a_checkpoint_goes_from_engine_to_engine(engine, graph, tmp_path):
    model, file = pg.PS(dim=12, epochs=4), tmp_path / "state"
    expected = pg.PS(dim=12, epochs=4).fit(graph).vectors_

    def stop(progress, turns):
        if progress.turn == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model.fit(graph, checkpoint=file, callback=stop, engine=engine)
    got = model.fit(graph, checkpoint=file).vectors_
    np.testing.assert_array_equal(got.center, expected.center)


@needs_ray
def test_a_folder_that_workers_cannot_see_is_said(engine, tmp_path):
    engine.check_folder(tmp_path)
    assert list(tmp_path.iterdir()) == []
    # The path of an open folder under /proc/self is another process's or nobody's in a worker.
    handle = os.open(tmp_path, os.O_RDONLY)
    try:
        own = Path(f"/proc/self/fd/{handle}")
        with pytest.raises(InputError, match="1 of 1 machines of the Ray cluster do not see"):
            engine.check_folder(own)
    finally:
        os.close(handle)


@needs_ray
def test_fit_and_sample_from_the_command_line(engine, tmp_path):
    edges, _ = write_cliques(tmp_path)
    for name, flags in (("here", ()), ("there", ("--engine", "ray", "--threads", 2))):
        said = run_json("fit", edges, "-o", tmp_path / name, *FAST, *flags)
        run("sample", edges, "-o", tmp_path / f"{name}-pairs", "--shards", *flags)
        run("sample", edges, "-o", tmp_path / f"{name}.parquet", *flags)
    assert said["config"]["engine"] == "ray"
    here, there = (pg.load(tmp_path / name).vectors_ for name in ("here", "there"))
    np.testing.assert_array_equal(there.center, here.center)
    np.testing.assert_array_equal(there.context, here.context)
    tables = [parquet.read_table(tmp_path / f"{name}-pairs") for name in ("here", "there")]
    tables += [parquet.read_table(tmp_path / f"{name}.parquet") for name in ("here", "there")]
    assert len(tables[0]) > 100
    assert all(table.equals(tables[0]) for table in tables)


@needs_ray
def test_workers_of_another_version_are_said(engine, monkeypatch):
    monkeypatch.setattr(pg, "__version__", "9.9.9")
    with pytest.raises(PairgramError, match=r"has pairgram \S+, here it is 9\.9\.9: install the"):
        RayEngine()
    assert list(engine.map(str, [1])) == ["1"]  # the cluster that others use stays


@needs_ray
def test_more_workers_than_cores_are_said(engine, caplog):
    other = RayEngine(workers=5)
    assert other.threads == 2
    assert "5 workers asked for, 2 cores in the cluster" in caplog.text
    other.close()
    assert engine.threads == 2
    with pytest.raises(ParameterError, match="this process is in a Ray cluster already"):
        RayEngine("head:6379")


@needs_ray
def test_a_text_model_is_trained_together_and_goes_on_from_its_shards(
    engine, tmp_path, monkeypatch
):
    monkeypatch.setattr(checkpoints, "EVERY_SECONDS", 0.0)
    graph, file, last = worded(), tmp_path / "state", []
    model = pg.TGE(dim=8, preset="best", epochs=4, patience=0, threads=1, ranker=False)
    here = model.fit(graph).vectors_

    def stop(progress, turns):
        last.append(progress.turn)
        if progress.turn >= 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model.fit(graph, file, stop, engine)
    assert len(list(tmp_path.glob("state.*"))) == 3  # two shards, and what names them
    stored = json.loads((tmp_path / "state.latest").read_text())
    assert last[-1] <= stored["turn"] < 200
    got = model.fit(graph, file, engine=engine).vectors_
    np.testing.assert_allclose(got.center, here.center, atol=2e-5)
    np.testing.assert_allclose(got.context, here.context, atol=2e-5)
    assert model.stats_["updates"] == model.fit(graph).stats_["updates"]


@needs_ray
def test_what_a_worker_of_a_team_raises_is_raised_here(engine):
    def bad(team, given):
        raise InputError(f"worker {team.rank} cannot use {given}")

    with pytest.raises(InputError, match=r"worker \d cannot use this"):
        engine.train_together(bad, ("this",), print)


@needs_ray
def test_texts_stream_through_workers_also_when_one_dies(engine, small_graph, tmp_path):
    pg.TGE(dim=8, preset="best", epochs=1, patience=0).fit(small_graph).save(tmp_path / "model")
    table = pa.table({"id": [str(i) for i in range(40)], "text": [f"text {i}" for i in range(40)]})
    parquet.write_table(table, tmp_path / "in.parquet", row_group_size=10)
    with LocalEngine(1) as local:
        streaming.stream_texts(tmp_path / "model", tmp_path / "in.parquet", tmp_path / "a", local)
    mark = tmp_path / "died"

    class Mortal:
        """The engine, a worker of which dies at its second piece."""

        check_file, check_folder = engine.check_file, engine.check_folder

        def map(self, work, tasks):
            def once(piece):
                if piece[0] == 1 and not mark.exists():
                    mark.touch()
                    os.kill(os.getpid(), signal.SIGKILL)
                return work(piece)

            return engine.map(once, tasks)

    streaming.stream_texts(tmp_path / "model", tmp_path / "in.parquet", tmp_path / "b", Mortal())
    assert mark.exists()
    here, there = (parquet.read_table(tmp_path / name) for name in "ab")
    assert there["id"].to_pylist() == table["id"].to_pylist()
    got, expected = (np.array(one["vector"].to_pylist()) for one in (there, here))
    np.testing.assert_allclose(got, expected, atol=1e-6)


@needs_ray
def test_a_cluster_that_is_full_is_said(engine, graph, tmp_path, monkeypatch):
    import ray

    busy = [tmp_path / "one", tmp_path / "two"]

    @ray.remote(num_cpus=1, max_retries=0)
    def nap(path):
        Path(path).touch()
        time.sleep(600)

    naps = [nap.remote(str(path)) for path in busy]
    try:
        until = time.monotonic() + 120
        while not all(path.exists() for path in busy):
            assert time.monotonic() < until
            time.sleep(0.05)
        monkeypatch.setattr("pairgram.engine.ray.PLACE_SECONDS", 2.0)
        with pytest.raises(PairgramError, match="Ray found no free worker within 2 s"):
            pg.PS(dim=8, epochs=1).fit(graph, engine=engine)
    finally:
        for one in naps:
            ray.cancel(one, force=True)
