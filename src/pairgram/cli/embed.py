"""`pairgram embed`: the vectors of a model in a file."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from pairgram.cli import outputs
from pairgram.cli.options import EngineFlags, OutputFlags, Threads, grouped
from pairgram.cli.terminal import Terminal
from pairgram.errors import InputError, ParameterError


class Which(StrEnum):
    """The two matrices of a model."""

    CENTER = "center"
    CONTEXT = "context"


@grouped
def embed(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="Model folder.")],
    to: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="File: .parquet, .npz, .txt or .w2v (word2vec), .bin (binary); a folder for "
            "--texts.",
        ),
    ],
    output: OutputFlags,
    engine: EngineFlags,
    which: Annotated[Which, typer.Option(help="Centre or context vectors.")] = Which.CENTER,
    texts: Annotated[
        Path | None,
        typer.Option(help="Parquet file or folder with columns id and text: vectors of new texts."),
    ] = None,
    threads: Threads = None,
) -> None:
    """Write a model's vectors for other tools, or with --texts the vectors of any texts."""
    terminal = Terminal(output)
    engine.check()
    if texts is not None:
        stream(terminal, model, texts, to, engine, threads)
        return
    if engine.engine != "local":
        raise ParameterError("--engine ray goes with --texts.")
    from pairgram.io.vector_files import SUFFIXES
    from pairgram.models import load

    if to.suffix not in SUFFIXES:
        raise ParameterError(f"{to}: the suffix must be one of {', '.join(SUFFIXES)}.")
    outputs.check_file(to)
    vectors = load(model, folded=True).vectors_
    vectors.save(to, "center" if which is Which.CENTER else "context")
    if terminal.wants_json:
        terminal.json(
            {"output": str(to), "which": which, "nodes": len(vectors), "dim": vectors.dim}
        )
    terminal.summary(f"{len(vectors):,} {which} vectors of length {vectors.dim} -> {to}")


def stream(
    terminal: Terminal,
    model: Path,
    texts: Path,
    to: Path,
    engine: EngineFlags,
    threads: int | None,
    k: int | None = None,
) -> None:
    """Write vectors, or k suggestions, of the texts in parquet files into a folder of such."""
    from pairgram.models.streaming import stream_texts

    if not texts.exists():
        raise InputError(f"{texts}: there is no such file or folder.")
    # On one machine torch has its own threads.
    with engine.open(threads if engine.engine == "ray" else 1) as opened:
        count = stream_texts(model, texts, to, opened, k)
    if terminal.wants_json:
        terminal.json({"output": str(to), "texts": count})
    what = "vectors" if k is None else "suggestions"
    terminal.summary(f"{what} of {count:,} texts -> {to}")
