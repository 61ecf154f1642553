"""Flags that several verbs share, in groups: a verb takes a group as one argument."""

import inspect
from collections.abc import Callable
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pairgram.cli.config import read_config
from pairgram.errors import ParameterError

if TYPE_CHECKING:
    from pairgram.engine import Engine

Seed = Annotated[int, typer.Option(help="The same seed gives the same result.")]
Threads = Annotated[
    int | None,
    typer.Option(
        help="Threads or workers; all if not given. From links alone the result is the same."
    ),
]


def _output(text: str, *names: str) -> Any:
    return typer.Option(*names, help=text, rich_help_panel="Output")


def _where(text: str, *names: str) -> Any:
    return typer.Option(*names, help=text, rich_help_panel="Engine")


def _layout(text: str, *names: str, **more: Any) -> Any:
    panel = "Columns and layout of the files"
    return typer.Option(*names, help=text, rich_help_panel=panel, **more)


@dataclass(frozen=True)
class OutputFlags:
    """How a verb speaks, and the file its flags may come from."""

    as_json: Annotated[bool, _output("Print JSON, nothing else.", "--json")] = False
    quiet: Annotated[bool, _output("No notices, no progress.", "--quiet", "-q")] = False
    verbose: Annotated[
        bool, _output("More notices; errors with a traceback.", "--verbose", "-v")
    ] = False
    config: Annotated[
        Path | None,
        typer.Option(
            help="YAML file with the names of these flags; flags given here win.",
            callback=read_config,
            is_eager=True,
        ),
    ] = None


@dataclass(frozen=True)
class EngineFlags:
    """Where the work runs."""

    engine: Annotated[
        str,
        _where(
            "local, or ray for a cluster; the result is the same, for tge but for rounding.",
            "--engine",
        ),
    ] = "local"
    address: Annotated[
        str | None,
        _where("Ray cluster as host:port or auto; without it ray runs on this machine."),
    ] = None

    def check(self) -> None:
        """Refuse what cannot be opened, before other work is done."""
        from pairgram.engine import ENGINES

        if self.engine not in ENGINES:
            raise ParameterError(
                f"--engine must be one of {', '.join(ENGINES)}. Got {self.engine!r}."
            )
        if self.address is not None and self.engine != "ray":
            raise ParameterError("--address is for --engine ray.")

    def open(self, threads: int | None) -> "Engine":
        """Return the engine, with so many threads or workers."""
        from pairgram.engine import LocalEngine

        if self.engine == "local":
            return LocalEngine(threads)
        from pairgram.engine.ray import RayEngine

        return RayEngine(self.address, threads)


EDGES_HELP = "Edge list: csv, tsv, white space (also .gz) or parquet; or dataset:NAME."


@dataclass(frozen=True)
class GraphFlags:
    """Where a graph is read from, and how."""

    edges: Annotated[str, typer.Argument(metavar="EDGES", help=EDGES_HELP)]
    texts: Annotated[Path | None, typer.Option(help="File with a text for each node id.")] = None
    directed: Annotated[
        bool, typer.Option("--directed", help="Keep and follow the direction of edges.")
    ] = False
    source: Annotated[str | None, _layout("Source column, by name or number from 0.")] = None
    target: Annotated[str | None, _layout("Target column.")] = None
    weight: Annotated[str | None, _layout("Weight column.")] = None
    relation: Annotated[str | None, _layout("Relation column.")] = None
    date: Annotated[str | None, _layout("Date column.")] = None
    id_column: Annotated[str | None, _layout("Id column of the texts.")] = None
    text_columns: Annotated[
        str | None, _layout("Text columns, joined: title,abstract.", metavar="A,B")
    ] = None
    label_column: Annotated[
        str | None, _layout("Column of the texts with a label, for filters of suggestions.")
    ] = None
    delimiter: Annotated[
        str | None, _layout("One character, tab, or a blank for runs of white space.")
    ] = None
    header: Annotated[
        bool | None,
        _layout("Whether the first line holds names; guessed otherwise.", "--header/--no-header"),
    ] = None


@dataclass(frozen=True)
class OptionalGraph(GraphFlags):
    """The same for a verb that can do without; `edges` is empty then."""

    edges: Annotated[str, typer.Argument(metavar="[EDGES]", help=EDGES_HELP)] = ""


def grouped(verb: Callable[..., None]) -> Callable[..., None]:
    """Turn every argument of `verb` that is a dataclass into flags, one for each field."""
    groups: dict[str, Any] = {}
    flags: list[inspect.Parameter] = []
    for parameter in inspect.signature(verb).parameters.values():
        if is_dataclass(parameter.annotation):
            groups[parameter.name] = parameter.annotation
            flags += map(_flag, fields(parameter.annotation))
        else:
            flags.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))

    @wraps(verb)
    def call(**values: Any) -> None:
        made = {
            name: group(**{field.name: values.pop(field.name) for field in fields(group)})
            for name, group in groups.items()
        }
        verb(**made, **values)

    call.__signature__ = inspect.Signature(flags)  # type: ignore[attr-defined]
    call.__annotations__ = {flag.name: flag.annotation for flag in flags}
    return call


def _flag(field: "Field[Any]") -> inspect.Parameter:
    default = inspect.Parameter.empty if field.default is MISSING else field.default
    return inspect.Parameter(
        field.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=field.type
    )


def help_without_verb(ctx: typer.Context) -> None:
    """Print the help of a group of verbs that is called alone."""
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())
