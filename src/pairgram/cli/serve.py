"""`pairgram serve`: suggestions over HTTP, and a page to work on."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from pairgram.cli.options import OutputFlags, grouped
from pairgram.cli.terminal import Terminal
from pairgram.errors import MissingExtraError


@grouped
def serve(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="Model folder.")],
    output: OutputFlags,
    host: Annotated[str, typer.Option(help="Address; any but loopback needs --token.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")] = 8000,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="PAIRGRAM_TOKEN",
            help="Secret for whatever writes; better given as PAIRGRAM_TOKEN than as a flag.",
        ),
    ] = None,
    map_file: Annotated[
        Path | None,
        typer.Option("--map", help="Map that 'pairgram map -o map.parquet' wrote; else by PCA."),
    ] = None,
    rate: Annotated[
        float, typer.Option(min=0, help="Requests a second of one address; 0: no limit.")
    ] = 100.0,
    max_body: Annotated[int, typer.Option(min=1, help="Bytes of a request.")] = 1 << 20,
) -> None:
    """Serve a model on this machine: a page at /, the interface at /openapi.json.

    SIGHUP, or POST /reload with the token, loads the folder again without a dropped request.
    Ctrl-C answers what is on its way, then ends.
    """
    terminal = Terminal(output)
    try:
        from pairgram.serve.limits import Limits
        from pairgram.serve.run import check_token, silence_notices
        from pairgram.serve.run import serve as answer
        from pairgram.serve.served import Holder
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("pairgram"):
            raise
        raise MissingExtraError("'pairgram serve'", "serve") from None
    check_token(host, token)
    silence_notices()
    holder = Holder(model, map_file)

    def ready(address: str) -> None:
        if terminal.wants_json:
            terminal.json({"address": address, "model": str(model)}, lines=True)
        terminal.line(f"{model} at {address} (Ctrl-C stops)")
        sys.stdout.flush()

    answer(holder, host, port, token, Limits(body=max_body, rate=rate), ready)
