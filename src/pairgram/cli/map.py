"""`pairgram map`: the nodes of a model on a plane, as a page, a picture or a table."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pairgram.cli import outputs
from pairgram.cli.options import OutputFlags, Seed, grouped
from pairgram.cli.terminal import Terminal
from pairgram.errors import ParameterError

if TYPE_CHECKING:
    from pairgram.graph import TextGraph
    from pairgram.map import Map

SUFFIXES = (".html", ".png", ".parquet")


class Projection(StrEnum):
    """How vectors become points."""

    AUTO = "auto"
    UMAP = "umap"
    PCA = "pca"


@grouped
def draw(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="Model folder.")],
    to: Annotated[
        list[Path],
        typer.Option(
            "--output", "-o", help="File: .html, .png or .parquet; may be given several times."
        ),
    ],
    output: OutputFlags,
    method: Annotated[
        Projection, typer.Option(help="auto is UMAP where umap-learn is installed, else PCA.")
    ] = Projection.AUTO,
    labels: Annotated[
        Path | None,
        typer.Option(
            help="File with a label for each node id; else the graph's, else communities."
        ),
    ] = None,
    size: Annotated[
        int, typer.Option(min=100, max=10_000, help="Pixels along a side of the picture.")
    ] = 1600,
    seed: Seed = 0,
) -> None:
    """Draw a map of all nodes, coloured by label or by community.

    The page needs nothing else and no network; the table is for 'pairgram serve --map'.
    """
    terminal = Terminal(output)
    for path in to:
        if path.suffix not in SUFFIXES:
            raise ParameterError(f"{path}: the suffix must be one of {', '.join(SUFFIXES)}.")
        outputs.check_file(path)
    from pairgram.map import make_map
    from pairgram.models import load

    fitted = load(model)
    graph = fitted.graph_
    given = None if labels is None else _labels(graph, labels)
    terminal.note(f"placing {graph.n_nodes:,} nodes")
    drawn = make_map(fitted.vectors_.center, graph, given, method.value, seed, terminal.note)
    for path in to:
        _write(path, drawn, graph, size, model.name)
    if terminal.wants_json:
        said = {"nodes": len(drawn), "method": drawn.method, "groups": len(drawn.groups)}
        terminal.json({"output": list(map(str, to)), **said, "coloring": drawn.coloring})
    terminal.summary(
        f"{len(drawn):,} nodes by {drawn.method.upper()}, {len(drawn.groups)} groups by "
        f"{drawn.coloring} -> {', '.join(map(str, to))}"
    )


def _write(path: Path, drawn: "Map", graph: "TextGraph", size: int, title: str) -> None:
    if path.suffix == ".png":
        from pairgram.map.png import write_png

        write_png(path, drawn, size)
    elif path.suffix == ".parquet":
        from pairgram.map.files import write_table

        write_table(path, drawn, graph.names)
    else:
        from pairgram.map.html import write_html

        write_html(path, drawn, graph, title)


def _labels(graph: "TextGraph", file: Path) -> list[str]:
    """Label of each node, "" where the file has none."""
    from pairgram.io.texts import read_texts

    read = read_texts(file)
    graph.positions(read.ids)  # an id that is not there is an error
    by_id = dict(zip(read.ids, read.texts, strict=True))
    return [by_id.get(name, "") for name in graph.names.tolist()]
