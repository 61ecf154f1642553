"""Runs the cells of tables that have no card yet. What is done stays done, so a run resumes."""

import logging
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pairgram.bench.build import build, comparable, completed
from pairgram.bench.graphs import absent
from pairgram.bench.jobs import Job, JobError, execute
from pairgram.bench.spec import FLOORS, Row, Table
from pairgram.bench.store import Store, read_record, write_record
from pairgram.errors import InputError

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Selection:
    """Which cells to run; None takes all. A dataset is a row's name or its part before the @."""

    datasets: Collection[str] | None = None
    methods: Collection[str] | None = None
    seeds: Collection[int] | None = None

    def takes_row(self, row: Row) -> bool:
        """Whether the row is selected."""
        names = {row.name, row.name.partition("@")[0], row.dataset}
        return self.datasets is None or not names.isdisjoint(self.datasets)

    def takes_method(self, method: str) -> bool:
        """Whether the method is selected."""
        return self.methods is None or method in self.methods

    def check(self, tables: Iterable[Table]) -> None:
        """Raise `InputError` for a dataset or method that no table has."""
        listed = list(tables)
        rows = [row for table in listed for row in table.rows.values()]
        for name in self.datasets or ():
            if not any(Selection({name}).takes_row(row) for row in rows):
                known = ", ".join(dict.fromkeys(row.name for row in rows))
                raise InputError(f"No table has the dataset {name!r}; known are {known}.")
        methods = dict.fromkeys(method for table in listed for method in table.methods)
        for name in self.methods or ():
            if name not in methods:
                raise InputError(f"No table has the method {name!r}; known are {list(methods)}.")


@dataclass(frozen=True)
class Cell:
    """One place of a table: a row, a method and a seed."""

    table: Table
    row: Row
    method: str
    seed: int

    @property
    def key(self) -> tuple[str, str, str, int]:
        """What names its files."""
        return self.table.name, self.row.name, self.method, self.seed

    @property
    def absent(self) -> str | None:
        """Why it cannot run, or None."""
        return self.row.missing or self.table.methods[self.method].absent

    def __str__(self) -> str:
        return f"{self.table.name} {self.row.name} {self.method} seed {self.seed}"


@dataclass(frozen=True)
class SavedModels:
    """Model folders fitted elsewhere, one a cell: ROOT/TABLE/ROW/METHOD-seedK."""

    root: Path
    only: bool = False

    def folder(self, cell: Cell) -> str | None:
        """Folder of the cell's model, where there is one."""
        table, row, method, seed = cell.key
        path = self.root / table / row / f"{method}-seed{seed}"
        return str(path) if path.is_dir() else None

    def refuses(self, cell: Cell, folder: str | None) -> str | None:
        """Why the cell is left alone where only saved models count, or None."""
        trained = cell.table.kind in ("links", "zero_shot")
        if not self.only or folder is not None or not trained:
            return None
        return f"no saved model in {self.root}"


@dataclass
class Outcome:
    """What a run did, cell by cell."""

    done: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    not_run: dict[str, str] = field(default_factory=dict)


Watch = Callable[[Cell, int, int], None]


def cells(tables: Iterable[Table], selection: Selection) -> Iterator[Cell]:
    """Every selected cell, all seeds of a method together; rows that cannot run included."""
    for table in tables:
        own = [name for name in table.methods if table.home(name) == table.name]
        for row in filter(selection.takes_row, table.rows.values()):
            for method in filter(selection.takes_method, own):
                chosen = selection.seeds
                for seed in row.seeds_of(method) if chosen is None else tuple(chosen):
                    yield Cell(table, row, method, seed)


def run_cells(
    tables: Iterable[Table],
    store: Store,
    selection: Selection | None = None,
    *,
    force: bool = False,
    threads: int | None = None,
    watch: Watch | None = None,
    models: SavedModels | None = None,
) -> Outcome:
    """Run every selected cell that has no card with the parameters of today.

    Parameters
    ----------
    tables
        The tables.
    store
        Where cards go.
    selection
        Which cells; None takes all.
    force
        Run finished cells again.
    threads
        Threads of a fit; None takes all cores. Results do not depend on it, seconds do.
    watch
        Called before each cell with the cell, its number and the number of cells.
    models
        Model folders to score instead of fitting, where there is one for a cell.
    """
    listed, selection = list(tables), selection or Selection()
    selection.check(listed)
    todo, outcome = list(cells(listed, selection)), Outcome()
    for number, cell in enumerate(todo):
        if watch is not None:
            watch(cell, number, len(todo))
        job = job_of(cell, store, threads, models)
        if reason := cell.absent or (models and models.refuses(cell, job.folder)):
            outcome.not_run[str(cell)] = reason
            continue
        if not force and is_finished(cell, job, store):
            outcome.kept.append(str(cell))
            continue
        _run(cell, job, store, outcome)
    return outcome


def job_of(
    cell: Cell, store: Store, threads: int | None = None, models: SavedModels | None = None
) -> Job:
    """Return the job of a cell: tuned parameters where there are any, else the spec's."""
    parameters, origin = parameters_of(cell.table, cell.row, cell.method, store)
    return Job(
        kind=cell.table.kind,
        table=cell.table.name,
        row=cell.row.name,
        dataset=cell.row.dataset,
        keep=cell.row.keep,
        hold_out=cell.row.hold_out,
        before=cell.row.before,
        method=cell.method,
        model=cell.table.methods[cell.method].model,
        seed=cell.seed,
        parameters=parameters,
        origin=origin,
        record=str(store.card(*cell.key)),
        protocols=list(cell.table.protocols),
        threads=threads,
        rank=cell.table.rank,
        folder=None if models is None else models.folder(cell),
    )


def parameters_of(table: Table, row: Row, method: str, store: Store) -> tuple[dict[str, Any], str]:
    """Parameters of a method on a row, and where they come from: `tuning` or `spec`."""
    own = dict(row.parameters[method])
    tuned = read_record(store.tuning(row.name, method)) if table.kind == "links" else None
    if tuned is None or tuned["chosen"] is None:
        return own, "spec"
    return {**own, **tuned["chosen"]}, "tuning"


def is_finished(cell: Cell, job: Job, store: Store) -> bool:
    """Whether the cell has a card made with the parameters that the job would use."""
    card = read_record(store.card(*cell.key))
    if card is None:
        return False
    used = card["parameters"] if _counts_alone(job) else completed(job.model, card["parameters"])
    if comparable(used) == comparable(_all_parameters(job)):
        return True
    _LOG.info("%s: the card has other parameters, running it again", cell)
    return False


def _counts_alone(job: Job) -> bool:
    """Whether nothing is fitted, so that parameters are those of the spec."""
    return job.kind in ("ratios", "counts") or job.model == FLOORS


def _all_parameters(job: Job) -> dict[str, Any]:
    if _counts_alone(job):
        return job.parameters
    return build(job.model, job.parameters, job.seed).get_params()


def _run(cell: Cell, job: Job, store: Store, outcome: Outcome) -> None:
    failure = store.failure(*cell.key)
    began = time.perf_counter()
    try:
        if reason := absent(job.dataset):
            raise JobError(reason)
        execute(job)
    except JobError as error:
        _LOG.info("%s: failed: %s", cell, error)
        write_record(failure, {"reason": str(error)})
        outcome.failed[str(cell)] = str(error)
        return
    failure.unlink(missing_ok=True)
    _LOG.info("%s: done in %.1f s", cell, time.perf_counter() - began)
    outcome.done.append(str(cell))
