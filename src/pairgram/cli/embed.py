"""`pairgram embed`: the vectors of a model in a file."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from pairgram.cli import outputs
from pairgram.cli.options import OutputFlags, grouped
from pairgram.cli.terminal import Terminal
from pairgram.errors import ParameterError


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
            "--output", "-o", help="File: .parquet, .npz, .txt or .w2v (word2vec), .bin (binary)."
        ),
    ],
    output: OutputFlags,
    which: Annotated[Which, typer.Option(help="Centre or context vectors.")] = Which.CENTER,
) -> None:
    """Write a model's vectors for other tools."""
    terminal = Terminal(output)
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
