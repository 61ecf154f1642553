"""The command `pairgram`: its verbs, and what becomes of errors."""

import io
import logging
import os
import sys
import traceback
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from pairgram import __version__
from pairgram.cli import (
    add,
    bench,
    data,
    demo,
    embed,
    evaluate,
    fit,
    inspect,
    map,  # noqa: A004
    review,
    sample,
    serve,
    suggest,
    tune,
)
from pairgram.cli.options import help_without_verb
from pairgram.cli.terminal import ROOT, reset_notices
from pairgram.errors import PairgramError, ParameterError

FAILURE, BAD_USAGE = 1, 2
INTERRUPTED = 130
"""What typer makes of a Ctrl-C that comes before the verb runs."""


class Verbs(TyperGroup):
    """Ends every run with exit code 0, 1 or 2, and every failure in one line."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run a verb; the process ends with its exit code unless `standalone_mode` is off."""
        given = (args, prog_name, complete_var, False, windows_expand_args)
        if not standalone_mode:
            return super().main(*given, **extra)
        try:
            code = super().main(*given, **extra)
            if code == INTERRUPTED:
                raise PairgramError("interrupted.")
        except Exception as error:
            # The outermost shell: nobody above would put it in words.
            code = _explain(error)
            _leave_stdout()
        finally:
            reset_notices()
        sys.exit(code if isinstance(code, int) else 0)

    def invoke(self, ctx: Any) -> Any:
        """Run the verb and write out what it said."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except KeyboardInterrupt:
            raise PairgramError("interrupted.") from None
        return result


app = typer.Typer(
    cls=Verbs,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("demo")(demo.demo)
app.command("inspect")(inspect.inspect)
app.command("fit")(fit.fit)
app.command("suggest")(suggest.suggest)
app.command("add")(add.add)
app.command("embed")(embed.embed)
app.command("serve")(serve.serve)
app.command("map")(map.draw)
app.command("evaluate")(evaluate.evaluate)
app.command("review")(review.review)
app.command("tune")(tune.tune)
app.command("sample")(sample.sample)
app.add_typer(data.app, name="data")
app.add_typer(bench.app, name="bench")


def _version(value: bool) -> None:
    if value:
        typer.echo(f"pairgram {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def root(
    ctx: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Graph embeddings sampled in pairs: from an edge list to vectors, scores and suggestions."""
    help_without_verb(ctx)


def run() -> None:
    """Entry point of the console script."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal that cannot show a character of an id shows '?' instead of failing.
            stream.reconfigure(errors="replace")
    app()


def _explain(error: Exception) -> int:
    """Say what went wrong in one line on stderr; return the exit code."""
    if os.environ.get("PAIRGRAM_DEBUG") or ROOT.isEnabledFor(logging.INFO):
        traceback.print_exception(error, file=sys.stderr)
    text, code = _message(error)
    sys.stderr.write(f"error: {' '.join(text.split())}\n")
    return code


def _leave_stdout() -> None:
    """Drop what stdout could not take; at the exit Python would try again, and fail."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _message(error: Exception) -> tuple[str, int]:
    if isinstance(error, PairgramError):
        return str(error), BAD_USAGE if isinstance(error, ParameterError) else FAILURE
    if hasattr(error, "format_message") and hasattr(error, "exit_code"):
        # What typer raises for bad usage; the class itself is not public in all versions.
        ctx = getattr(error, "ctx", None)
        place = "pairgram" if ctx is None else ctx.command_path
        return f"{error.format_message()} ('{place} --help' lists what there is)", error.exit_code
    if isinstance(error, typer.Abort):
        return "interrupted.", FAILURE
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror or error}.", FAILURE
    if isinstance(error, MemoryError):
        return "out of memory; use a smaller --dim or a machine with more.", FAILURE
    return (
        f"{type(error).__name__}: {error} (a defect in pairgram; PAIRGRAM_DEBUG=1 shows where)",
        FAILURE,
    )
