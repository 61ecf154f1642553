"""Runs one job, given as JSON on standard input: `python -m pairgram.bench.cell`."""

import json
import logging
import sys
from pathlib import Path

from pairgram.bench.counting import count_samples
from pairgram.bench.jobs import Job
from pairgram.bench.links import fit_and_evaluate
from pairgram.bench.report_counts import count_graph
from pairgram.bench.store import write_record
from pairgram.errors import PairgramError

WORK = {
    "links": fit_and_evaluate,
    "zero_shot": fit_and_evaluate,
    "ratios": count_samples,
    "counts": count_graph,
}


def main() -> int:
    """Do the job and write its record; errors that a user can mend are one line."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(message)s")
    try:
        job = Job(**json.load(sys.stdin))
        write_record(Path(job.record), WORK[job.kind](job))
    except PairgramError as error:
        logging.getLogger(__name__).error("%s", error)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
