"""`pairgram suggest`: the likeliest new links of a node."""

from collections.abc import Sequence
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pairgram.cli.options import OutputFlags, grouped
from pairgram.cli.terminal import Terminal, cut
from pairgram.errors import ParameterError

if TYPE_CHECKING:
    from pairgram.models import Suggestion

TEXT_WIDTH = 60
WHY_WIDTH = 50


class Direction(StrEnum):
    """Which links to suggest."""

    OUT = "out"
    IN = "in"
    BOTH = "both"


@grouped
def suggest(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="Model folder.")],
    output: OutputFlags,
    text: Annotated[
        str | None,
        typer.Argument(metavar="[TEXT]", help="Text of a new node, for models that read text."),
    ] = None,
    node: Annotated[str | None, typer.Option(help="Id of a known node.")] = None,
    k: Annotated[int, typer.Option("-k", "--k", help="How many.")] = 10,
    direction: Annotated[
        Direction, typer.Option(help="out and in need a model fitted with --directed.")
    ] = Direction.BOTH,
    rule: Annotated[
        str | None, typer.Option(help="How links are scored; the model's own if not given.")
    ] = None,
) -> None:
    """Suggest links that a node does not have yet."""
    terminal = Terminal(output)
    if text is None and node is None:
        raise ParameterError("suggest needs a text, or --node with the id of a known node.")
    from pairgram.models import load

    found = load(model).suggest(text, node=node, k=k, direction=direction.value, rule=rule)
    if terminal.wants_json:
        terminal.json([{"rank": i, **asdict(one)} for i, one in enumerate(found, start=1)])
    show(terminal, found)


def show(terminal: Terminal, found: "Sequence[Suggestion]", title: str | None = None) -> None:
    """Print suggestions as a table."""
    rows = [
        (str(i), one.node, f"{one.score:.4g}", cut(one.text, TEXT_WIDTH), cut(one.why, WHY_WIDTH))
        for i, one in enumerate(found, start=1)
    ]
    terminal.table((">rank", "id", ">score", "text", "why"), rows, title)
