"""`pairgram sample`: the pairs of Pairs Sampling in a file."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pairgram.cli import outputs
from pairgram.cli.graphs import read_graph
from pairgram.cli.options import GraphFlags, OutputFlags, Seed, Threads, grouped
from pairgram.cli.progress import counting_bar
from pairgram.cli.terminal import Terminal
from pairgram.errors import InputError, ParameterError

if TYPE_CHECKING:
    from pairgram.graph import TextGraph
    from pairgram.sampling import Pairs

SUFFIXES = (".parquet", ".tsv", ".tsv.gz")
Write = Callable[[Any], None]


@grouped
def sample(
    graph: GraphFlags,
    to: Annotated[
        Path, typer.Option("--output", "-o", help="File to write: .parquet, .tsv or .tsv.gz.")
    ],
    output: OutputFlags,
    order: Annotated[int, typer.Option(help="Largest distance in a pair, 1 to 8.")] = 3,
    times: Annotated[int, typer.Option(help="Rounds around every node.")] = 2,
    unique: Annotated[
        bool, typer.Option("--unique", help="Keep each (center, context) once.")
    ] = False,
    positions: Annotated[
        bool, typer.Option("--positions", help="Write node positions instead of ids.")
    ] = False,
    seed: Seed = 0,
    threads: Threads = None,
) -> None:
    """Write sampled pairs: columns center, context, order, round; streamed in blocks."""
    terminal = Terminal(output)
    _check(to, order, times, seed, threads)
    nodes = read_graph(graph)
    outputs.check_file(to)
    from pairgram.io.atomic import replacing_file
    from pairgram.sampling import iter_pairs

    began, count = time.perf_counter(), 0
    blocks = iter_pairs(nodes, order, times, seed, threads, unique, graph.directed)
    columns = _position_columns if positions else _name_columns(nodes)
    with (
        replacing_file(to) as temporary,
        _writer(temporary, to) as write,
        counting_bar(terminal, "sampling", nodes.n_nodes) as report,
    ):
        for block in blocks:
            write(_table(columns(block), block))
            count += len(block)
            if len(block):
                report(int(block.center[-1]) + 1, count)
    _say(terminal, to, nodes, count, time.perf_counter() - began)


def _check(to: Path, order: int, times: int, seed: int, threads: int | None) -> None:
    """Refuse bad parameters before a large file is read."""
    if not to.name.endswith(SUFFIXES):
        raise ParameterError(f"{to}: the suffix must be one of {', '.join(SUFFIXES)}.")
    from pairgram import params
    from pairgram.sampling.pairs import CONSTRAINTS

    known: dict[str, params.Constraint] = {
        **CONSTRAINTS,
        "threads": params.Optional(params.Int(1)),
    }
    given = {"order": order, "times": times, "seed": seed, "threads": threads}
    params.check("sample", known, given)


def _position_columns(block: "Pairs") -> tuple[Any, Any]:
    return block.center, block.context


def _name_columns(graph: "TextGraph") -> Callable[["Pairs"], tuple[Any, Any]]:
    import pyarrow as pa

    names = pa.array(graph.names, pa.string())
    return lambda block: (
        names.take(pa.array(block.center)),
        names.take(pa.array(block.context)),
    )


def _table(ends: tuple[Any, Any], block: "Pairs") -> Any:
    import pyarrow as pa

    center, context = ends
    return pa.table(
        {"center": center, "context": context, "order": block.order, "round": block.round}
    )


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


def _say(terminal: Terminal, to: Path, graph: "TextGraph", count: int, seconds: float) -> None:
    if terminal.wants_json:
        terminal.json(
            {"output": str(to), "nodes": graph.n_nodes, "pairs": count, "seconds": seconds}
        )
    terminal.summary(f"{count:,} pairs around {graph.n_nodes:,} nodes in {seconds:.1f} s -> {to}")
