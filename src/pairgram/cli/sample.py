"""`pairgram sample`: the pairs of Pairs Sampling in a file."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pairgram.cli import outputs
from pairgram.cli.graphs import read_graph
from pairgram.cli.options import EngineFlags, GraphFlags, OutputFlags, Seed, Threads, grouped
from pairgram.cli.progress import counting_bar
from pairgram.cli.terminal import Terminal
from pairgram.errors import InputError, ParameterError

if TYPE_CHECKING:
    from pairgram.engine import Engine
    from pairgram.graph import TextGraph
    from pairgram.io.pair_files import PairTables
    from pairgram.sampling.pairs import PairSampler

SUFFIXES = (".parquet", ".tsv", ".tsv.gz")
Write = Callable[[Any], None]
Report = Callable[[int, int], None]


@grouped
def sample(
    graph: GraphFlags,
    to: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            help="File to write: .parquet, .tsv or .tsv.gz; a folder of shards, or s3://….",
        ),
    ],
    output: OutputFlags,
    engine: EngineFlags,
    order: Annotated[int, typer.Option(help="Largest distance in a pair, 1 to 8.")] = 3,
    times: Annotated[int, typer.Option(help="Rounds around every node.")] = 2,
    unique: Annotated[
        bool, typer.Option("--unique", help="Keep each (center, context) once.")
    ] = False,
    positions: Annotated[
        bool, typer.Option("--positions", help="Write node positions instead of ids.")
    ] = False,
    shards: Annotated[
        bool,
        typer.Option("--shards", help="Write a folder of parquet files, each by its worker."),
    ] = False,
    seed: Seed = 0,
    threads: Threads = None,
) -> None:
    """Write sampled pairs: columns center, context, order, round; streamed in blocks."""
    terminal = Terminal(output)
    engine.check()
    _check(to, shards, order, times, seed, threads)
    nodes = read_graph(graph)
    from pairgram.io.pair_files import PairTables
    from pairgram.sampling.pairs import PairSampler

    sampler = PairSampler(nodes, order, times, seed, unique, graph.directed)
    tables = PairTables(None if positions else nodes.names)
    write = _write_folder if shards else _write_file
    began = time.perf_counter()
    with (
        engine.open(threads) as opened,
        counting_bar(terminal, "sampling", nodes.n_nodes) as report,
    ):
        count = write(to, sampler, tables, nodes.n_nodes, opened, report)
    _say(terminal, to, nodes, count, time.perf_counter() - began)


def _write_folder(
    to: str, sampler: "PairSampler", tables: "PairTables", n: int, engine: "Engine", report: Report
) -> int:
    from pairgram.sampling.shards import write_shards

    return write_shards(to, sampler, tables, n, engine, after_shard=report)


def _write_file(
    at: str, sampler: "PairSampler", tables: "PairTables", n: int, engine: "Engine", report: Report
) -> int:
    import numpy as np

    from pairgram.io.atomic import replacing_file

    to = Path(at)
    outputs.check_file(to)
    count, centres = 0, np.arange(n).astype(sampler.index_dtype)
    with replacing_file(to) as temporary, _writer(temporary, to) as write:
        for block in engine.map(sampler.sample, sampler.blocks(centres)):
            write(tables.table(block.center, block.context, block.order, block.round))
            count += len(block)
            if len(block):
                report(int(block.center[-1]) + 1, count)
    return count


def _check(to: str, shards: bool, order: int, times: int, seed: int, threads: int | None) -> None:
    """Refuse bad parameters before a large file is read."""
    if shards and to.endswith(SUFFIXES):
        raise ParameterError(f"{to}: --shards writes a folder; leave out the suffix.")
    if not shards and not to.endswith(SUFFIXES):
        raise ParameterError(f"{to}: the suffix must be one of {', '.join(SUFFIXES)}.")
    from pairgram import params
    from pairgram.sampling.pairs import CONSTRAINTS

    known: dict[str, params.Constraint] = {
        **CONSTRAINTS,
        "threads": params.Optional(params.Int(1)),
    }
    given = {"order": order, "times": times, "seed": seed, "threads": threads}
    params.check("sample", known, given)


@contextmanager
def _writer(temporary: Path, final: Path) -> Iterator[Write]:
    """Give a function that appends a table, in the format of the final name's suffix."""
    import pyarrow as pa

    write_file = _parquet_writer if final.suffix == ".parquet" else _tsv_writer
    try:
        with write_file(temporary, final.suffix == ".gz") as write:
            yield write
    except pa.ArrowInvalid as error:
        raise InputError(
            f"{final}: ids with tabs, quotes or line ends do not go into tsv ({error}); write "
            ".parquet, or --positions."
        ) from None


@contextmanager
def _parquet_writer(path: Path, compress: bool) -> Iterator[Write]:
    from pyarrow import parquet

    writer = None

    def write(table: Any) -> None:
        nonlocal writer
        writer = writer or parquet.ParquetWriter(path, table.schema)
        writer.write_table(table)

    try:
        yield write
    finally:
        if writer is not None:
            writer.close()


@contextmanager
def _tsv_writer(path: Path, compress: bool) -> Iterator[Write]:
    import pyarrow as pa
    from pyarrow import csv

    options = csv.WriteOptions(include_header=False, delimiter="\t", quoting_style="none")
    with pa.output_stream(path, compression="gzip" if compress else None) as stream:
        stream.write(b"center\tcontext\torder\tround\n")
        yield lambda table: csv.write_csv(table, stream, options)


def _say(terminal: Terminal, to: str, graph: "TextGraph", count: int, seconds: float) -> None:
    if terminal.wants_json:
        terminal.json({"output": to, "nodes": graph.n_nodes, "pairs": count, "seconds": seconds})
    terminal.summary(f"{count:,} pairs around {graph.n_nodes:,} nodes in {seconds:.1f} s -> {to}")
