"""Figures of the page, gathered from the records: medians, spreads, ratios, who reached what."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import TYPE_CHECKING

from pairgram.bench.speed import climb
from pairgram.bench.speed.bound import seconds_over
from pairgram.bench.speed.records import HOST, QUALITY, SHUFFLED, Run, latest, on_host
from pairgram.bench.speed.spec import Peer, Rate

if TYPE_CHECKING:
    from pairgram.bench.speed.run import Bench

OURS = "pairgram"


@dataclass(frozen=True)
class Median:
    """Median of some runs, with the smallest and the largest."""

    middle: float
    low: float
    high: float
    runs: int


@dataclass(frozen=True)
class RateRow:
    """A rate of a peer: counts a second; or the reason why there is none."""

    peer: Peer
    label: str
    threads: int
    rate: Median | None
    error: str | None
    host: str


@dataclass(frozen=True)
class QualityRow:
    """A peer under a rule: the rung that reached the goal, or the best one.

    Attributes
    ----------
    reached
        Whether the mean of the seeds is at or above the goal.
    score
        Mean AUC_pair over the seeds that were run.
    seconds, memory
        Of the whole job, compiling left out, over the same seeds; None where there are none.
    finished
        Whether the ladder was climbed to its end, so that "not reached" is a finding.
    stopped
        What a dearer rung was stopped for; None where all could end.
    busy
        Whether a run was taken beside other work, so that its seconds are too many.
    ordered
        Whether a run read the nodes in the order of the data, from which some tools learn.
    host
        Processors that the runs were made on.
    phases
        Median seconds by phase; `start` is what passed before and between them.
    over
        Where the goal is not reached: seconds that it must be over on our host, if that is known.
    """

    peer: Peer
    rule: str
    label: str
    reached: bool
    score: float
    lr: float | None
    seconds: Median | None
    memory: float | None
    phases: dict[str, float]
    over: float | None
    finished: bool
    stopped: str | None
    busy: bool
    ordered: bool
    host: str


def middle(values: Iterable[float]) -> Median | None:
    """Median of some numbers with their range; None of none.

    >>> middle([3.0, 1.0, 2.0])
    Median(middle=2.0, low=1.0, high=3.0, runs=3)
    """
    numbers = list(values)
    if not numbers:
        return None
    return Median(median(numbers), min(numbers), max(numbers), len(numbers))


def rate_rows(bench: "Bench", rate: Rate, graph: str) -> list[RateRow]:
    """Rates of every peer on a graph, fastest first within a label."""
    rows = []
    host = our_host(bench, rate.name, graph)
    for peer in bench.peers.values():
        runs = bench.store.runs(rate.name, graph, peer.name)
        for label in peer.rates.get(rate.name, {}):
            for threads in rate.threads(graph):
                mine = [r for r in runs if (r["label"], r["threads"]) == (label, threads)]
                rows.append(_rate_row(peer, label, threads, on_host(mine, host), rate))
    return rows


def _rate_row(peer: Peer, label: str, threads: int, runs: Sequence[Run], rate: Rate) -> RateRow:
    good = [run for run in runs if "error" not in run]
    found = middle(run["counts"][rate.count] / run["seconds"][rate.phase] for run in good)
    error = next((run["error"] for run in runs if "error" in run), None)
    return RateRow(peer, label, threads, found, error, _hosts(good))


def our_host(bench: "Bench", figure: str, graph: str) -> str | None:
    """Where pairgram was last run for a figure: rows of that host go first."""
    runs = bench.store.runs(figure, graph, OURS)
    return runs[-1][HOST] if runs else None


def quality_rows(bench: "Bench", graph: str) -> list[QualityRow]:
    """Every peer under every rule, those that reached the goal first, the fastest first."""
    rows = [
        row
        for rule, goal in bench.goals(graph).items()
        for peer in bench.peers.values()
        if (row := _quality_row(bench, graph, peer, rule, goal)) is not None
    ]
    return sorted(
        rows, key=lambda r: (r.rule, not r.reached, r.seconds.middle if r.seconds else 1e9)
    )


def _quality_row(
    bench: "Bench", graph: str, peer: Peer, rule: str, goal: float
) -> QualityRow | None:
    rungs, seeds = bench.rungs(peer), bench.spec.quality.seeds
    all_runs, first = bench.ladder_runs(graph, peer, rungs), bench.goals(graph, seeds[0])
    runs = on_host(all_runs, our_host(bench, QUALITY, graph))
    rung = climb.reached(runs, len(rungs), seeds, rule, goal)
    over = None if rung is not None else _over(bench, graph, peer, rule, (goal, first[rule]))
    if rung is None and over is None:
        # Too little was run here to say anything: what another machine knows.
        runs = latest(all_runs)
        rung = climb.reached(runs, len(rungs), seeds, rule, goal)
    reached = rung is not None
    if rung is None:
        rung = climb.best(runs, len(rungs), seeds[0], rule)
    if rung is None:
        return None
    label = next(run["label"] for run in runs if run["rung"] == rung)
    timed = [run for run in runs if run["rung"] == rung and "error" not in run]
    memory = middle(run["peak_memory"] for run in timed)
    area = [run["scores"]["auc_lr"] for run in runs
            if run["rung"] == rung and "auc_lr" in run.get("scores", {})]  # fmt: skip
    return QualityRow(
        peer=peer,
        rule=rule,
        label=label,
        reached=reached,
        score=fmean(climb.scores_of(runs, rung, rule).values()),
        lr=fmean(area) if area else None,
        seconds=middle(run["whole"] for run in timed),
        memory=None if memory is None else memory.middle,
        phases=_phases(timed),
        over=over,
        finished=climb.next_step(runs, len(rungs), seeds, {rule: goal}, first) is None,
        stopped=next((run["error"] for run in runs if run.get("stopped")), None),
        busy=any(run.get("busy", False) for run in timed),
        ordered=not all(run.get(SHUFFLED, False) for run in timed),
        host=_hosts(timed),
    )


def _over(
    bench: "Bench", graph: str, peer: Peer, rule: str, goals: tuple[float, float]
) -> float | None:
    """Seconds that the goal is over for a peer, by its runs on our host."""
    rungs, host = bench.rungs(peer), our_host(bench, QUALITY, graph)
    by_graph = {g: bench.ladder_runs(g, peer, rungs) for g in bench.spec.quality.graphs}
    runs = [run for run in by_graph.pop(graph) if run[HOST] == host]
    return seconds_over(
        runs, len(rungs), bench.spec.quality.seeds, rule, goals, bench.spec.limit(graph),
        list(by_graph.values()),
    )  # fmt: skip


def _hosts(runs: Sequence[Run]) -> str:
    """Processors of some runs, one after the other."""
    return ", ".join(dict.fromkeys(run[HOST] for run in runs))


def _phases(runs: Sequence[Run]) -> dict[str, float]:
    """Median seconds of every phase but the compiling, which the whole job leaves out."""
    names = dict.fromkeys(name for run in runs for name in run["seconds"])
    found = {
        name: median(run["seconds"].get(name, 0.0) for run in runs)
        for name in names
        if name not in ("compile", "other")
    }
    if runs:
        known = median(sum(run["seconds"].values()) - run["seconds"]["other"] for run in runs)
        found["start"] = median(run["wall"] for run in runs) - known
    return found


def unclimbed(bench: "Bench", graph: str) -> dict[str, str]:
    """Peer -> why it has no score on a graph."""
    found = {}
    for peer in bench.peers.values():
        runs = bench.store.runs(QUALITY, graph, peer.name)
        if peer.ladder and not any("scores" in run for run in runs):
            errors = [run["error"] for run in runs if "error" in run]
            found[peer.title] = errors[0] if errors else "not run yet"
    return found
