"""Time to quality: which rung of a ladder a peer tries next, and which one reached the goal."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any

from pairgram.bench.speed.records import HOST

Run = dict[str, Any]

# The first seed may fall this far under its goal and the mean of all still reach theirs.
SLACK = 0.001


@dataclass(frozen=True)
class Step:
    """A rung to run with a seed."""

    rung: int
    seed: int


def scores_of(runs: Sequence[Run], rung: int, rule: str) -> dict[int, float]:
    """AUC of a rung under a rule, by seed."""
    return {
        run["seed"]: run["scores"][rule]
        for run in runs
        if run["rung"] == rung and rule in run.get("scores", {})
    }


def failed(runs: Sequence[Run], rung: int) -> str | None:
    """Return why a rung has no result; None where it has, or has not been tried."""
    return next((run["error"] for run in runs if run["rung"] == rung and "error" in run), None)


def reached(
    runs: Sequence[Run], rungs: int, seeds: Sequence[int], rule: str, goal: float
) -> int | None:
    """Fastest rung whose mean over all seeds reaches the goal; None where none does (yet).

    Seconds of two machines are not compared: rungs of the machine of the latest run go first.
    """
    there = []
    for rung in range(rungs):
        found = scores_of(runs, rung, rule)
        if all(seed in found for seed in seeds) and fmean(found[s] for s in seeds) >= goal:
            there.append(rung)
    return min(there, key=lambda rung: (_is_old(runs, rung), _seconds(runs, rung)), default=None)


def _is_old(runs: Sequence[Run], rung: int) -> bool:
    """Whether a run of a rung was made on another machine than the latest run of all."""
    return any(run.get(HOST) != runs[-1].get(HOST) for run in runs if run["rung"] == rung)


def _seconds(runs: Sequence[Run], rung: int) -> float:
    return float(median(run["whole"] for run in runs if run["rung"] == rung))


def best(runs: Sequence[Run], rungs: int, seed: int, rule: str) -> int | None:
    """Rung with the highest score at a seed; None where no rung has one."""
    found = {
        rung: by_seed[seed]
        for rung in range(rungs)
        if seed in (by_seed := scores_of(runs, rung, rule))
    }
    return max(found, key=lambda rung: found[rung]) if found else None


def next_step(
    runs: Sequence[Run],
    rungs: int,
    seeds: Sequence[int],
    goals: Mapping[str, float],
    first_goals: Mapping[str, float] | None = None,
) -> Step | None:
    """Return what to run next; None when every rule is reached or the ladder ends.

    Rungs are tried in their order with the first seed, up to one that is over its limit. One that
    comes near a goal not reached below is run with the other seeds. When the ladder ends early
    under a rule, the best rung gets the other seeds, so that its mean can be stated.

    Parameters
    ----------
    runs
        What was run so far.
    rungs, seeds
        Number of rungs, and the seeds that a mean is over.
    goals
        Rule -> mean to reach.
    first_goals
        Rule -> what the first seed, whose split is like no other, is held against; None for goals.

    Examples
    --------
    >>> next_step([], 2, [0, 1], {"dot": 0.9})
    Step(rung=0, seed=0)
    >>> weak = {"rung": 0, "seed": 0, "scores": {"dot": 0.7}}
    >>> next_step([weak], 2, [0, 1], {"dot": 0.9})
    Step(rung=1, seed=0)
    >>> strong = {"rung": 1, "seed": 0, "scores": {"dot": 0.91}}
    >>> next_step([weak, strong], 2, [0, 1], {"dot": 0.9})
    Step(rung=1, seed=1)
    """
    first, *others = seeds
    alone = goals if first_goals is None else first_goals
    wanted = {
        rule: goal
        for rule, goal in goals.items()
        if reached(runs, rungs, seeds, rule, goal) is None
    }
    for rung in range(rungs):
        if failed(runs, rung) is not None:
            continue
        tried = {run["seed"] for run in runs if run["rung"] == rung}
        if first not in tried:
            if any(run.get("stopped") and run["rung"] < rung for run in runs):
                break
            given = {rule for run in runs for rule in run.get("scores", {})}
            more = not given or any(rule in given for rule in wanted)
            return Step(rung, first) if more else _rest(runs, rungs, seeds, wanted)
        near = any(
            scores_of(runs, rung, rule).get(first, 0.0) >= alone.get(rule, goal) - SLACK
            for rule, goal in wanted.items()
        )
        for seed in others:
            if near and seed not in tried:
                return Step(rung, seed)
    return _rest(runs, rungs, seeds, wanted)


def _rest(
    runs: Sequence[Run], rungs: int, seeds: Sequence[int], wanted: Mapping[str, float]
) -> Step | None:
    """Seeds that the best rung of a rule that is not reached still lacks."""
    first, *others = seeds
    for rule in wanted:
        top = best(runs, rungs, first, rule)
        if top is None or failed(runs, top) is not None:
            continue
        found = {run["seed"] for run in runs if run["rung"] == top}
        for seed in others:
            if seed not in found:
                return Step(top, seed)
    return None
