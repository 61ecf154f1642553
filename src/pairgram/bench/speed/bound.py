"""What a ladder says that has not reached the goal: the seconds that the goal must be over.

Ladders go from cheap to dear, so a rung that fell short also speaks for those after it.
"""

from collections.abc import Sequence
from statistics import fmean, median

from pairgram.bench.speed.climb import SLACK, scores_of
from pairgram.bench.speed.records import HOST, Run

# Seconds of the same work differ by this much between runs.
SPREAD = 1.25


def seconds_over(
    runs: Sequence[Run],
    rungs: int,
    seeds: Sequence[int],
    rule: str,
    goals: tuple[float, float],
    limit: float,
    elsewhere: Sequence[Sequence[Run]] = (),
) -> float | None:
    """Seconds of the last rung that fell short; of the dearest where all did.

    None where no rung has, or where seconds that were taken contradict the order: an earlier rung
    was dearer, or on another graph one that was not tried here was cheaper.

    Parameters
    ----------
    runs, rungs, seeds, rule
        Those of one machine, as for `climb.next_step`; a rung that was not tried ends them.
    goals
        For the mean of the seeds, and for the first seed.
    limit
        Processor seconds that a run may take.
    elsewhere
        Runs of the same ladder on other graphs.

    Examples
    --------
    >>> weak = {"rung": 0, "seed": 0, "scores": {"dot": 0.7}, "whole": 8.0}
    >>> seconds_over([weak], 2, [0, 1], "dot", (0.9, 0.9), 60)
    8.0
    """
    taken: dict[int, float] = {}
    tried = 0
    while tried < rungs and _fell_short(runs, tried, seeds, rule, goals):
        if (spent := _seconds(runs, tried, limit)) is not None:
            taken[tried] = spent
        tried += 1
    if not taken:
        return None
    if tried == rungs:
        return max(taken.values())
    last = max(taken)
    later = range(tried, rungs)
    if max(taken.values()) > SPREAD * taken[last] or any(
        _is_cheaper(group, rung, last, limit) for group in elsewhere for rung in later
    ):
        return None
    return taken[last]


def _fell_short(
    runs: Sequence[Run], rung: int, seeds: Sequence[int], rule: str, goals: tuple[float, float]
) -> bool:
    """Whether a rung was tried and cannot reach the goal any more."""
    if any("error" in run for run in runs if run["rung"] == rung):
        return True
    found = scores_of(runs, rung, rule)
    if all(seed in found for seed in seeds):
        return fmean(found[seed] for seed in seeds) < goals[0]
    return seeds[0] in found and found[seeds[0]] < goals[1] - SLACK


def _seconds(runs: Sequence[Run], rung: int, limit: float) -> float | None:
    """Median seconds of a rung; of one that was stopped, those until then.

    None for runs beside other work, which took too long, and for those that failed.
    """
    mine = [run for run in runs if run["rung"] == rung and not run.get("busy")]
    taken = [run["whole"] for run in mine if "whole" in run]
    # What a stopped run compiled is not known: no more than others of this tool.
    compiled = max((run["seconds"].get("compile", 0.0) for run in runs if "seconds" in run),
                   default=0.0)  # fmt: skip
    taken += [
        run.get("wall", limit / run["threads"]) - compiled for run in mine if run.get("stopped")
    ]
    return median(taken) if taken else None


def _is_cheaper(runs: Sequence[Run], rung: int, than: int, limit: float) -> bool:
    """Whether a rung took less than another on one of the machines of some runs."""
    for host in {run.get(HOST) for run in runs}:
        here = [run for run in runs if run.get(HOST) == host]
        first, second = (_seconds(here, which, limit) for which in (rung, than))
        if first is not None and second is not None and first * SPREAD < second:
            return True
    return False
