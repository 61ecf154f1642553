"""A job is the work of one cell or trial; it runs in a process of its own."""

import json
import logging
import subprocess
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Job:
    """All that the work needs, as plain JSON values.

    Attributes
    ----------
    kind
        As in the table's spec.
    dataset, keep, hold_out, before
        The graph and how it is cut.
    method, model
        Name in the table, and the registered method behind it.
    seed
        Seed of the split, the model and the evaluation.
    parameters, origin
        Parameters of the method that differ from its defaults, and where they come from.
    validation
        Share of the training links to hold out for tuning; None for a final fit.
    record
        File to write.
    rank
        Nodes whose held-out links are ranked too.
    folder
        Model folder to score instead of fitting.
    """

    kind: str
    table: str
    row: str
    dataset: str
    keep: float | None
    method: str
    seed: int
    parameters: dict[str, Any]
    origin: str
    record: str
    protocols: list[str] = field(default_factory=list)
    validation: float | None = None
    threads: int | None = None
    model: str = ""
    hold_out: float | None = None
    before: str | None = None
    rank: int = 0
    folder: str | None = None

    def to_json(self) -> str:
        """Return the job as JSON."""
        return json.dumps(asdict(self))


class JobError(Exception):
    """A job that ended without a record; the message says why in one line."""


def execute(job: Job, seconds: float | None = None) -> None:
    """Run a job in a fresh process, so that the peak memory is its own.

    Parameters
    ----------
    job
        The work.
    seconds
        Limit; the process is ended when it is reached.

    Raises
    ------
    JobError
        It failed or reached the limit.
    """
    command = [sys.executable, "-m", "pairgram.bench.cell"]
    try:
        done = subprocess.run(
            command,
            input=job.to_json(),
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise JobError(f"stopped at the limit of {seconds:.0f} seconds") from None
    said = [line for line in done.stderr.splitlines() if line.strip()]
    if done.returncode:
        raise JobError(_reason(done.returncode, said))
    for line in said:
        _LOG.warning("%s %s seed %d: %s", job.row, job.method, job.seed, line)
    if not Path(job.record).is_file():
        raise JobError("the process ended well but wrote no record")


def _reason(code: int, said: list[str]) -> str:
    if code < 0:
        return f"ended by signal {-code}" + (" (out of memory?)" if code == -9 else "")
    return said[-1] if said else f"ended with code {code} and said nothing"
