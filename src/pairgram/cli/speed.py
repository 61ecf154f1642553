"""`pairgram bench speed`: pairgram beside other tools, each in its own environment."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from pairgram.cli.options import OutputFlags, grouped
from pairgram.cli.terminal import Terminal
from pairgram.errors import PairgramError


@dataclass(frozen=True)
class SpeedFlags:
    """Which runs, and where everything lies."""

    figures: Annotated[
        str | None,
        typer.Option(metavar="A,B", help="Of walks, pairs, sgns, reference, quality."),
    ] = None
    graphs: Annotated[str | None, typer.Option(metavar="A,B", help="Graphs of speed.yaml.")] = None
    tools: Annotated[str | None, typer.Option(metavar="A,B", help="Peers, by folder.")] = None
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder of the results.")] = Path(
        "results"
    )
    peers: Annotated[Path, typer.Option(help="Folder with speed.yaml and the peers.")] = Path(
        "benchmarks/peers"
    )
    environments: Annotated[Path, typer.Option(help="Folder of their environments.")] = Path(
        ".peers"
    )
    force: Annotated[bool, typer.Option("--force", help="Run finished ones again.")] = False
    again: Annotated[
        bool, typer.Option("--again", help="Run the rungs that reached the goal once more.")
    ] = False
    here: Annotated[
        bool, typer.Option("--here", help="Count only runs of this machine as finished.")
    ] = False
    busy: Annotated[
        bool, typer.Option("--busy", help="Mark the runs as taken beside other work.")
    ] = False
    most: Annotated[int | None, typer.Option(help="Stop after so many runs.")] = None


@grouped
def speed(
    chosen: SpeedFlags,
    output: OutputFlags,
    report_only: Annotated[
        bool, typer.Option("--report-only", help="Run nothing, only write the page.")
    ] = False,
) -> None:
    """Run what is missing of the speed figures, then write results/speed.md and its charts."""
    terminal = Terminal(output)
    from pairgram.bench.speed.execute import Environments
    from pairgram.bench.speed.records import SpeedStore
    from pairgram.bench.speed.report import write_page
    from pairgram.bench.speed.run import Bench, Choice
    from pairgram.bench.speed.spec import read_peers, read_spec

    bench = Bench(
        read_spec(chosen.peers),
        read_peers(chosen.peers),
        SpeedStore(chosen.out),
        Environments(chosen.environments, chosen.peers / "common"),
        chosen.environments / "graphs",
        Choice(*map(_listed, (chosen.figures, chosen.graphs, chosen.tools))),
        chosen.force,
        chosen.again,
        chosen.here,
        chosen.busy,
        chosen.most,
        terminal.note,
    )
    runs = [] if report_only else bench.run()
    pages = write_page(bench)
    errors = [run for run in runs if "error" in run]
    if terminal.wants_json:
        terminal.json({"runs": len(runs), "failed": len(errors), "pages": list(map(str, pages))})
    terminal.line(f"{len(runs)} runs, {len(errors)} failed; {', '.join(map(str, pages))}")
    if runs and len(errors) == len(runs):
        raise PairgramError(f"no run succeeded; the first: {errors[0]['error']}")


def _listed(names: str | None) -> list[str] | None:
    if names is None:
        return None
    return [name.strip() for name in names.split(",") if name.strip()]
