"""`pairgram bench`: tables of measured figures beside the published ones."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pairgram.cli.options import OutputFlags, Threads, grouped
from pairgram.cli.speed import speed
from pairgram.cli.terminal import Terminal
from pairgram.errors import PairgramError, ParameterError

if TYPE_CHECKING:
    from pairgram.bench.run import Cell, Outcome, Selection
    from pairgram.bench.spec import Table
    from pairgram.bench.store import Store

QUICK = "quick"

app = typer.Typer(help="Tables beside the published ones.", no_args_is_help=True)
app.command("speed")(speed)


@dataclass(frozen=True)
class TableFlags:
    """Which cells, and where results lie."""

    tables: Annotated[str | None, typer.Option(metavar="A,B", help="Tables; all if not given.")] = (
        None
    )
    datasets: Annotated[
        str | None, typer.Option(metavar="A,B", help="Rows, as cora or cora@50; all if not given.")
    ] = None
    methods: Annotated[
        str | None, typer.Option(metavar="A,B", help="Methods; all if not given.")
    ] = None
    quick: Annotated[
        bool,
        typer.Option("--quick", help="A small generated graph instead, into OUT/quick."),
    ] = False
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder of the results.")] = Path(
        "results"
    )
    force: Annotated[bool, typer.Option("--force", help="Run finished ones again.")] = False

    def load(self) -> "tuple[list[Table], Store]":
        """Read the tables asked for; return them with the folder of their results."""
        from pairgram.bench.spec import load_table, table_names
        from pairgram.bench.store import Store

        names = _listed(self.tables)
        chosen = table_names() if names is None else names
        found = [load_table(name, self.quick) for name in chosen]
        return found, Store(self.out / QUICK if self.quick else self.out)

    def selection(self, seeds: str | None = None) -> "Selection":
        """Return which cells of the tables are asked for."""
        from pairgram.bench.run import Selection

        return Selection(_listed(self.datasets), _listed(self.methods), _seeds(seeds))


@app.command("paper")
@grouped
def paper(
    cells: TableFlags,
    output: OutputFlags,
    seeds: Annotated[
        str | None, typer.Option(metavar="0,1", help="Seeds; the table's own if not given.")
    ] = None,
    report_only: Annotated[
        bool, typer.Option("--report-only", help="Run nothing, only write the pages.")
    ] = False,
    models_from: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Score the models saved in DIR/TABLE/DATASET/METHOD-seedK instead of fitting.",
        ),
    ] = None,
    saved_only: Annotated[
        bool, typer.Option("--saved-only", help="Run only cells that --models-from has.")
    ] = False,
    threads: Threads = None,
) -> None:
    """Run the cells that have no card yet, then write the tables as Markdown."""
    terminal = Terminal(output)
    from pairgram.bench.report import write_pages
    from pairgram.bench.run import Outcome, SavedModels, run_cells
    from pairgram.bench.spec import load_table, table_names

    tables, store = cells.load()
    selection = cells.selection(seeds)
    if saved_only and models_from is None:
        raise ParameterError("--saved-only needs --models-from with the folder of saved models.")
    models = None if models_from is None else SavedModels(_folder(models_from), saved_only)
    outcome = Outcome()
    if not report_only:
        with _bar(terminal) as watch:
            outcome = run_cells(
                tables, store, selection, force=cells.force, threads=threads, watch=watch,
                models=models,
            )  # fmt: skip
    every_table = [load_table(name, cells.quick) for name in table_names()]
    pages = write_pages(every_table, store, cells.quick)
    if terminal.wants_json:
        terminal.json({**asdict(outcome), "pages": [str(page) for page in pages]})
    terminal.line(
        f"{len(outcome.done)} cells run, {len(outcome.kept)} kept, {len(outcome.failed)} failed, "
        f"{len(outcome.not_run)} cannot run; pages: {', '.join(map(str, pages))}"
    )
    _complain(outcome)


@app.command("tune")
@grouped
def tune(cells: TableFlags, output: OutputFlags, threads: Threads = None) -> None:
    """Try the settings of the tables on validation links, each method with the same budget."""
    terminal = Terminal(output)
    from pairgram.bench.store import read_record
    from pairgram.bench.tune import tune_tables

    tables, store = cells.load()
    paths = tune_tables(tables, store, cells.selection(), force=cells.force, threads=threads)
    records = [(path, read_record(path) or {}) for path in paths]
    if terminal.wants_json:
        terminal.json({str(path): record for path, record in records})
    terminal.table(
        ("dataset", "method", ">trials", ">seconds", ">score", "chosen"),
        [
            (
                record["row"],
                record["method"],
                f"{sum(t['score'] is not None for t in record['trials'])} of {record['planned']}",
                f"{record['seconds']:.0f}",
                "none" if record["best"] is None else f"{record['best']:.4f}",
                str(record["chosen"]),
            )
            for _, record in records
        ],
    )


@contextmanager
def _bar(terminal: Terminal) -> "Iterator[Callable[[Cell, int, int], None]]":
    """Give a function that shows the cell under way."""
    if not terminal.shows_progress:
        yield lambda cell, number, total: None
        return
    from rich.progress import Progress

    with Progress(console=terminal.stderr, transient=True) as bar:
        task = bar.add_task("cells")
        yield lambda cell, number, total: bar.update(
            task, description=str(cell), completed=number, total=total
        )


def _complain(outcome: "Outcome") -> None:
    if outcome.failed:
        cell, reason = next(iter(outcome.failed.items()))
        raise PairgramError(
            f"{len(outcome.failed)} cells failed; the pages list them. First: {cell}: {reason}"
        )


def _folder(path: Path) -> Path:
    if not path.is_dir():
        raise ParameterError(f"--models-from must be a folder of saved models. Got {path}.")
    return path


def _listed(names: str | None) -> list[str] | None:
    if names is None:
        return None
    return list(dict.fromkeys(name.strip() for name in names.split(",") if name.strip()))


def _seeds(listed: str | None) -> list[int] | None:
    names = _listed(listed)
    if names is None:
        return None
    if not all(name.isdecimal() for name in names):
        raise ParameterError(f"--seeds must be whole numbers, such as 0,1,2. Got {listed!r}.")
    return [int(name) for name in names]
