"""Short texts streamed to vectors: seconds and memory at several sizes, by tasks and by Ray Data.

Generated texts of eight words, in parquet files of row groups of 50,000, through a bag encoder of
dim 64: by `stream_texts` on the threads of this machine and on two Ray workers, and by a pipeline
of Ray Data (read_parquet, map_batches with two actors that hold the model, write_parquet). Every
run has a process of its own; memory of all its processes together is sampled every second, what
they share counted once: the most, and the most in every tenth of the time. Ray's own processes
count too.

Rows of the card with other sizes or ways are kept.

Run: python benchmarks/text_stream.py TEXTS [TEXTS ...] [--ways local ray data]
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from common import read, write
from scale import Memory

WORDS, VOCABULARY, DIM, GROUP, WORKERS = 8, 20_000, 64, 50_000, 2
STORE = 500_000_000
COMMAND = "python benchmarks/text_stream.py TEXTS ... --ways local ray data"


def make_texts(folder: Path, count: int) -> None:
    """Parquet files of ids and texts."""
    random = np.random.default_rng(0)
    folder.mkdir()
    schema = pa.schema([("id", pa.string()), ("text", pa.string())])
    writer = parquet.ParquetWriter(folder / "texts.parquet", schema)
    for begin in range(0, count, GROUP):
        size = min(GROUP, count - begin)
        words = random.integers(0, VOCABULARY, (size, WORDS))
        texts = [" ".join(f"w{w}" for w in row) for row in words.tolist()]
        ids = [str(begin + i) for i in range(size)]
        writer.write_table(pa.table({"id": ids, "text": texts}, schema))
    writer.close()


def make_model(folder: Path) -> None:
    """A bag encoder that knows all words, without a ranker; how good it is does not matter here."""
    import pairgram as pg

    names = [str(i) for i in range(2000)]
    texts = {n: " ".join(f"w{w}" for w in range(10 * i, 10 * i + 10)) for i, n in enumerate(names)}
    graph = pg.TextGraph.from_edges(names[:-1], names[1:], texts=texts)
    pg.TGE(
        dim=DIM, preset="best", contexts="table", id_vectors=False, ranker=False, epochs=1,
        patience=0,
    ).fit(graph).save(folder)  # fmt: skip


def by_tasks(way: str, model: Path, source: Path, to: Path) -> int:
    """`stream_texts` on an engine."""
    from pairgram.engine import open_engine
    from pairgram.models.streaming import stream_texts

    with open_engine(way, WORKERS) as engine:
        return stream_texts(model, source, to, engine)


class Encode:
    """What an actor of Ray Data holds."""

    def __init__(self, model: str) -> None:
        import pairgram as pg

        self._model = pg.load(model)

    def __call__(self, batch: pa.Table) -> pa.Table:
        from pairgram.io.text_stream import vector_table

        texts = batch.column("text").to_pylist()
        return vector_table(batch.column("id").to_pylist(), self._model.embed(texts))


def by_ray_data(model: Path, source: Path, to: Path) -> int:
    """A pipeline of Ray Data."""
    import ray

    ray.init(
        num_cpus=WORKERS + 1, include_dashboard=False, log_to_driver=False,
        object_store_memory=STORE,
    )  # fmt: skip
    ray.data.DataContext.get_current().enable_progress_bars = False
    data = ray.data.read_parquet(str(source)).map_batches(
        Encode, fn_constructor_args=(str(model),), batch_size=1024, batch_format="pyarrow",
        concurrency=WORKERS,
    )  # fmt: skip
    data.write_parquet(str(to))
    ray.shutdown()
    return parquet.read_table(to, columns=["id"]).num_rows


def one(way: str, count: int) -> dict[str, object]:
    """One run, in this process."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_texts(folder / "texts", count)
        subprocess.run([sys.executable, __file__, "--model", name], check=True)
        given = (folder / "model", folder / "texts", folder / "out")
        began = time.perf_counter()
        with Memory() as memory:
            done = by_ray_data(*given) if way == "data" else by_tasks(way, *given)
        seconds = time.perf_counter() - began
    return {
        "way": way, "texts": done, "seconds": seconds, "texts a second": done / seconds,
        "MB of all processes": memory.most / 1e6,
        "MB by tenths of the time": " ".join(f"{one / 1e6:.0f}" for one in memory.tenths()),
        "load after": os.getloadavg()[0],
    }  # fmt: skip


def _beside(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    """New rows beside those of the card, which they replace where way and number are the same."""
    known = {(row["texts"], row["way"]): row for row in [*read("text_stream"), *rows]}
    return [known[key] for key in sorted(known)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("texts", type=int, nargs="*")
    parser.add_argument("--ways", nargs="+", default=["local", "ray", "data"])
    parser.add_argument("--one", choices=("local", "ray", "data"))
    parser.add_argument("--model")
    asked = parser.parse_args()
    if asked.model:
        make_model(Path(asked.model) / "model")
    elif asked.one:
        print(json.dumps(one(asked.one, asked.texts[0])))
    else:
        rows = []
        for count in asked.texts:
            for way in asked.ways:
                command = [sys.executable, __file__, str(count), "--one", way]
                done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
                rows.append(json.loads(done.stdout.splitlines()[-1]))
                write("text_stream", _beside(rows), COMMAND)


if __name__ == "__main__":
    main()
