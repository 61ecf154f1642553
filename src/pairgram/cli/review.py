"""`pairgram review`: known links that a model scores low, and nodes that may be one."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pairgram.cli.options import OutputFlags, grouped
from pairgram.cli.progress import fit_model
from pairgram.cli.terminal import Terminal, cut

if TYPE_CHECKING:
    from pairgram.graph import TextGraph

TEXT_WIDTH = 40


@grouped
def review(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="Model folder.")],
    output: OutputFlags,
    k: Annotated[int, typer.Option("-k", "--k", help="How many of each.")] = 20,
    rule: Annotated[
        str | None, typer.Option(help="How links are scored; the model's own if not given.")
    ] = None,
) -> None:
    """List the lowest-scored known links, and pairs of nodes that look alike."""
    terminal = Terminal(output)
    from pairgram.models import load

    show(terminal, load(model, folded=True), k, rule)


def review_fitted(
    terminal: Terminal,
    graph: "TextGraph",
    names: Sequence[str],
    build: Callable[[str], Any],
    k: int,
) -> None:
    """Fit models on the whole graph and let each review it."""
    for name in names:
        model = build(name)
        fit_model(terminal, model, graph, f"fitting {name}")
        show(terminal, model, k)


def show(terminal: Terminal, model: Any, k: int, rule: str | None = None) -> None:
    """Print what a fitted model finds."""
    from pairgram.evaluation.review import twins, weakest_links

    weak, alike = weakest_links(model, k, rule), twins(model.graph_, k)
    if terminal.wants_json:
        terminal.json(
            {
                "weakest_links": [asdict(one) for one in weak],
                "twins": [asdict(one) for one in alike],
            }
        )
    terminal.table(
        ("source", "target", ">score", ">lower", "texts"),
        [
            (
                one.source,
                one.target,
                f"{one.score:.4g}",
                f"{one.below:.2%}",
                f"{_text(model, one.source)} | {_text(model, one.target)}",
            )
            for one in weak
        ],
        "Known links that the model scores lowest",
    )
    terminal.table(
        ("first", "second", "why", "text"),
        [(one.first, one.second, one.why, _text(model, one.first)) for one in alike],
        "Nodes that may be one",
    )


def _text(model: Any, name: str) -> str:
    graph = model.graph_
    return "" if graph.texts is None else cut(graph.texts[graph.position(name)], TEXT_WIDTH)
