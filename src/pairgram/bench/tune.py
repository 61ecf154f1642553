"""Tuning on validation links only, with one budget for every method."""

import logging
import tempfile
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

from pairgram.bench.graphs import absent
from pairgram.bench.jobs import Job, JobError, execute
from pairgram.bench.run import Cell, Selection, job_of
from pairgram.bench.spec import Parameters, Row, Table, Tuning
from pairgram.bench.store import Store, read_record, write_record
from pairgram.evaluation import card as cards

_LOG = logging.getLogger(__name__)

PROTOCOL = "seen"
SCORE = "mean of AUC_LR and of AUC_pair under the best rule, 'seen', validation links"
NOT_STARTED = "not started: the limit was reached"


def tune_tables(
    tables: Iterable[Table],
    store: Store,
    selection: Selection | None = None,
    *,
    force: bool = False,
    threads: int | None = None,
) -> list[Path]:
    """Run the trials of every selected row and method; return the files written.

    Parameters
    ----------
    tables, store, selection, threads
        As in `run_cells`; the seeds are those of the spec's tuning.
    force
        Run finished trials again.
    """
    listed, selection = list(tables), selection or Selection()
    selection.check(listed)
    written = []
    for table in listed:
        for row in filter(selection.takes_row, table.rows.values()):
            if row.tuning is None or row.missing is not None:
                continue
            for method in filter(selection.takes_method, table.methods):
                if not row.tuning.trials[method]:
                    continue
                search = _Search(table, row, row.tuning, method, store, threads)
                written.append(search.run(force))
    return written


class _Search:
    """All trials of one method on one row; the file is written after each."""

    def __init__(
        self,
        table: Table,
        row: Row,
        tuning: Tuning,
        method: str,
        store: Store,
        threads: int | None,
    ) -> None:
        self.table, self.row, self.tuning, self.method = table, row, tuning, method
        self.store, self.threads = store, threads
        self.path = store.tuning(row.name, method)

    def run(self, force: bool) -> Path:
        known = [] if force else self._known()
        trials: list[dict[str, Any]] = []
        for parameters in self.tuning.trials[self.method]:
            trial = next((t for t in known if t["parameters"] == parameters), None)
            if trial is None:
                left = self.tuning.seconds - sum(t["seconds"] for t in (*trials, *known))
                trial = self._trial(parameters, left)
            else:
                known.remove(trial)
            trials.append(trial)
            self._write(trials)
        return self.path

    def _known(self) -> list[dict[str, Any]]:
        """Trials of an earlier run of the same search that ended with a score."""
        record = read_record(self.path)
        if record is None or any(record[key] != value for key, value in self._head().items()):
            return []
        return [trial for trial in record["trials"] if trial["score"] is not None]

    def _trial(self, parameters: Parameters, left: float) -> dict[str, Any]:
        began = time.perf_counter()
        try:
            if reason := absent(self.row.dataset):
                raise JobError(reason)
            found = self._fit(parameters, left)
        except JobError as error:
            found = {"score": None, "reason": str(error)}
        seconds = time.perf_counter() - began
        _LOG.info(
            "tuning %s %s %s: %s in %.1f s",
            self.row.name, self.method, dict(parameters),
            found["reason"] if found["score"] is None else f"{found['score']:.4f}", seconds,
        )  # fmt: skip
        return {"parameters": dict(parameters), **found, "seconds": round(seconds, 2)}

    def _fit(self, parameters: Parameters, left: float) -> dict[str, Any]:
        """Score a trial on every tuning seed, all within the seconds left."""
        end = time.perf_counter() + left
        records = []
        with tempfile.TemporaryDirectory() as folder:
            for seed in self.tuning.seeds:
                remaining = end - time.perf_counter()
                if remaining <= 0:
                    raise JobError(NOT_STARTED)
                job = self._job(parameters, seed, Path(folder) / f"{seed}.json")
                execute(job, remaining)
                records.append(read_record(Path(job.record)) or {})
        return _summary(records)

    def _job(self, parameters: Parameters, seed: int, record: Path) -> Job:
        job = job_of(Cell(self.table, self.row, self.method, seed), self.store, self.threads)
        return replace(
            job,
            parameters={**self.row.parameters[self.method], **parameters},
            origin="trial",
            protocols=[PROTOCOL],
            validation=self.tuning.share,
            rank=0,  # no trial is chosen by its ranking
            record=str(record),
        )

    def _head(self) -> dict[str, Any]:
        """Name what must agree for earlier trials to count."""
        return {
            "row": self.row.name,
            "dataset": self.row.dataset,
            "keep": self.row.keep,
            "method": self.method,
            "own_parameters": dict(self.row.parameters[self.method]),
            "seeds": list(self.tuning.seeds),
            "share": self.tuning.share,
        }

    def _write(self, trials: list[dict[str, Any]]) -> None:
        ranked = [trial for trial in trials if trial["score"] is not None]
        best = max(ranked, key=lambda trial: float(trial["score"]), default=None)
        write_record(
            self.path,
            {
                **self._head(),
                "score": SCORE,
                "limit_seconds": self.tuning.seconds,
                "seconds": round(sum(trial["seconds"] for trial in trials), 2),
                "chosen": None if best is None else {**best["parameters"], "rule": best["rule"]},
                "best": None if best is None else best["score"],
                "planned": len(self.tuning.trials[self.method]),
                "trials": trials,
                "versions": cards.versions(),
                "machine": cards.machine(),
            },
        )


def _summary(records: list[dict[str, Any]]) -> dict[str, Any]:
    """Means over the tuning seeds of what the paper reports and of the best rule, and the cost."""
    metrics = [record["protocols"][PROTOCOL]["metrics"] for record in records]
    if any(figures["auc_lr"] is None for figures in metrics):
        raise JobError("too few validation links for AUC_LR")
    auc_lr = fmean(figures["auc_lr"] for figures in metrics)
    rules = [key for key in metrics[0] if key.startswith("auc_pair/")]
    auc_pair = {rule: fmean(figures[rule] for figures in metrics) for rule in rules}
    rule, best = max(auc_pair.items(), key=lambda item: item[1])
    return {
        "score": (auc_lr + best) / 2,
        "rule": rule.removeprefix("auc_pair/"),
        "auc_lr": auc_lr,
        **auc_pair,
        "pairs": fmean(record["pairs"] for record in records),
        "updates": fmean(record["updates"] for record in records),
        "fit_seconds": fmean(record["seconds"]["fit"] for record in records),
    }
