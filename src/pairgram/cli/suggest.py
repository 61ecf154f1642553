"""`pairgram suggest`: the likeliest new links of a node, or of many new texts."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pairgram.cli.options import EngineFlags, OutputFlags, Threads, grouped
from pairgram.cli.terminal import Terminal, cut
from pairgram.errors import ParameterError

if TYPE_CHECKING:
    from pairgram.io.columns import TextColumns
    from pairgram.models import Model, Suggestion

TEXT_WIDTH = 60
WHY_WIDTH = 50
TEXTS_AT_A_TIME = 1000


class Direction(StrEnum):
    """Which links to suggest."""

    OUT = "out"
    IN = "in"
    BOTH = "both"


@grouped
def suggest(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="Model folder.")],
    output: OutputFlags,
    engine: EngineFlags,
    text: Annotated[
        str | None,
        typer.Argument(metavar="[TEXT]", help="Text of a new node, for models that read text."),
    ] = None,
    node: Annotated[str | None, typer.Option(help="Id of a known node.")] = None,
    file: Annotated[
        Path | None,
        typer.Option(help="File of new texts: an id and a text on each line, tsv, csv or parquet."),
    ] = None,
    k: Annotated[int, typer.Option("-k", "--k", help="How many.")] = 10,
    direction: Annotated[
        Direction, typer.Option(help="out and in need a model fitted with --directed.")
    ] = Direction.BOTH,
    rule: Annotated[
        str | None, typer.Option(help="How links are scored; the model's own if not given.")
    ] = None,
    prefix: Annotated[
        list[str] | None, typer.Option(help="Only ids that begin with this; may be repeated.")
    ] = None,
    label: Annotated[
        list[str] | None, typer.Option(help="Only nodes with this label; may be repeated.")
    ] = None,
    relation: Annotated[
        str | None, typer.Option(help="Only nodes whose likeliest relation is this.")
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Say of each suggestion what carried it.")
    ] = False,
    search: Annotated[
        str, typer.Option(help="exact, ann, or auto: the index where the model has one.")
    ] = "auto",
    to: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="With a parquet --file: a folder of parquet files to write."
        ),
    ] = None,
    threads: Threads = None,
) -> None:
    """Suggest links that a node does not have yet.

    With --file and --json every text gives one line of JSON.
    """
    terminal = Terminal(output)
    engine.check()
    if sum(given is not None for given in (text, node, file)) != 1:
        raise ParameterError(
            "suggest needs one of: a text, --node with the id of a known node, --file with texts."
        )
    from pairgram.models import load

    asked: dict[str, Any] = {
        "k": k, "direction": direction.value, "rule": rule, "prefix": prefix or None,
        "label": label or None, "relation": relation, "search": search,
    }  # fmt: skip
    if explain and file is not None:
        raise ParameterError("--explain goes with one text or --node: leave out --file.")
    if to is not None:
        _stream(terminal, model, file, to, engine, threads, asked)
        return
    if engine.engine != "local":
        raise ParameterError("--engine ray goes with --file and --output.")
    if file is not None:
        _suggest_file(terminal, load(model), file, asked)
        return
    found = load(model).suggest(text, node=node, explain=explain, **asked)
    if terminal.wants_json:
        terminal.json(_ranked(found))
    show(terminal, found)


def show(terminal: Terminal, found: "Sequence[Suggestion]", title: str | None = None) -> None:
    """Print suggestions as a table."""
    chance = ["" if one.probability is None else f"{one.probability:.2f}" for one in found]
    relation = [one.relation or "" for one in found]
    extra = {
        name: cells
        for name, cells in ((">probability", chance), ("relation", relation))
        if any(cells)
    }
    rows = [
        (
            str(i + 1), one.node, f"{one.score:.4g}", *(cells[i] for cells in extra.values()),
            cut(one.text, TEXT_WIDTH), cut(one.why, WHY_WIDTH),
        )
        for i, one in enumerate(found)
    ]  # fmt: skip
    terminal.table((">rank", "id", ">score", *extra, "text", "why"), rows, title)
    for i, one in enumerate(found, start=1):
        if one.explanation is not None:
            terminal.line(f"{i}. {one.node}: {one.explanation}")


def _stream(
    terminal: Terminal,
    model: Path,
    file: Path | None,
    to: Path,
    engine: EngineFlags,
    threads: int | None,
    asked: dict[str, Any],
) -> None:
    """Write suggestions for the texts of parquet files; what else may be asked is refused."""
    from pairgram.cli.embed import stream

    plain = {"k": asked["k"], "direction": "both", "search": "auto"}
    if file is None or any(asked[name] != plain.get(name) for name in asked):
        raise ParameterError("--output goes with --file and -k alone.")
    stream(terminal, model, file, to, engine, threads, asked["k"])


def _suggest_file(terminal: Terminal, model: "Model", file: Path, asked: dict[str, Any]) -> None:
    from pairgram.io.texts import read_texts

    for name, text, found in _in_parts(model, read_texts(file), asked):
        if terminal.wants_json:
            terminal.json({"id": name, "text": text, "suggestions": _ranked(found)}, lines=True)
        show(terminal, found, cut(f"{name} {text}", TEXT_WIDTH))


def _in_parts(
    model: "Model", texts: "TextColumns", asked: dict[str, Any]
) -> "Iterator[tuple[str, str, Sequence[Suggestion]]]":
    """Id, text and suggestions of each new text; a part of them is worked out at a time."""
    many = getattr(model, "suggest_many", None)
    if many is None:
        raise ParameterError(
            f"{type(model).__name__} learns from structure alone and cannot place new texts. "
            "Use --node with the id of a known node."
        )
    for begin in range(0, len(texts.ids), TEXTS_AT_A_TIME):
        part = slice(begin, begin + TEXTS_AT_A_TIME)
        found = many(texts.texts[part], **asked)
        yield from zip(texts.ids[part], texts.texts[part], found, strict=True)


def _ranked(found: "Sequence[Suggestion]") -> list[dict[str, Any]]:
    """Suggestions as JSON has them; what was not asked for or is not known is left out."""
    optional = ("relation", "relations", "explanation")
    return [
        {"rank": i}
        | {name: v for name, v in asdict(one).items() if name not in optional or v is not None}
        for i, one in enumerate(found, start=1)
    ]
