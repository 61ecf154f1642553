"""Run what is missing: rates, the reference, the climbs."""

import logging
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean

from pairgram.bench.speed import climb
from pairgram.bench.speed.execute import Environments, RunError, StoppedError, Task, execute
from pairgram.bench.speed.graphs import edge_file, missing, score
from pairgram.bench.speed.limits import machine_limits
from pairgram.bench.speed.records import (
    HOST,
    QUALITY,
    REFERENCE,
    SHUFFLED,
    Run,
    SpeedStore,
    is_done,
    key_of,
    latest,
)
from pairgram.bench.speed.spec import Peer, Rate, Settings, Spec, label_of
from pairgram.evaluation import card as cards

_LOG = logging.getLogger(__name__)

WHOLE = "whole"
Watch = Callable[[str], None]


class EnoughError(Exception):
    """As many runs as asked for are made."""


@dataclass(frozen=True)
class Choice:
    """Which figures, graphs and peers; None for all."""

    figures: list[str] | None = None
    graphs: list[str] | None = None
    peers: list[str] | None = None

    def takes(self, figure: str, graph: str, peer: str) -> bool:
        """Whether a file of results is asked for."""
        pairs = ((self.figures, figure), (self.graphs, graph), (self.peers, peer))
        return all(chosen is None or name in chosen for chosen, name in pairs)


@dataclass
class Bench:
    """The bench at work.

    Attributes
    ----------
    spec, peers, store, environments
        What, with whom, where to, where from.
    work
        Folder of the edge lists.
    force
        Run again what is there; the reference only where that figure is named.
    again
        Run again, in one go, the rungs that the page shows: ratios are then of one run.
    here
        Only runs of this machine count as done; those of others are kept beside them.
    busy
        Mark the runs as taken beside other work; the page says so.
    most
        Stop after so many runs, so that a busy machine can be shared; None for all.
    watch
        Told before every run.
    done
        Runs made, with the error where one failed.
    """

    spec: Spec
    peers: dict[str, Peer]
    store: SpeedStore
    environments: Environments
    work: Path
    choice: Choice = field(default_factory=Choice)
    force: bool = False
    again: bool = False
    here: bool = False
    busy: bool = False
    most: int | None = None
    watch: Watch = lambda words: None
    done: list[Run] = field(default_factory=list)
    _limits: dict[int, dict[str, float]] = field(default_factory=dict)
    _made: set[tuple[str | int, ...]] = field(default_factory=set)

    def run(self) -> list[Run]:
        """Run all that is asked for and missing; return the runs."""
        with suppress(EnoughError):
            self._run_all()
        return self.done

    def _run_all(self) -> None:
        for rate in self.spec.rates.values():
            for graph, peer in self._asked(rate.name, tuple(rate.graphs)):
                self._run_rate(rate, graph, peer)
        for graph, peer in self._asked(REFERENCE, self.spec.quality.graphs):
            if peer.name == self.spec.quality.reference_peer:
                self._run_reference(graph, peer)
        for graph, peer in self._asked(QUALITY, self.spec.quality.graphs):
            self._climb(graph, peer)

    def goals(self, graph: str, seed: int | None = None) -> dict[str, float]:
        """AUC to reach, by rule: the reference's mean minus the margin; empty without one.

        With a seed, what the reference has on that seed's split, minus the margin.
        """
        quality = self.spec.quality
        runs = latest(self.store.runs(REFERENCE, graph, quality.reference_peer))
        scored = [run["scores"] for run in runs if "scores" in run and seed in (None, run["seed"])]
        return {
            rule: fmean(scores[rule] for scores in scored) - quality.margin
            for rule in quality.rules
            if scored
        }

    def rungs(self, peer: Peer) -> list[Settings]:
        """Full settings of every rung of a peer."""
        return [{**self.spec.common, **peer.base, **rung} for rung in peer.ladder]

    def _asked(self, figure: str, graphs: tuple[str, ...]) -> Iterator[tuple[str, Peer]]:
        for graph in graphs:
            reason = missing(self.spec.graphs[graph])
            if reason is not None:
                _LOG.warning("%s: %s", graph, reason)
                continue
            for peer in self.peers.values():
                if self.choice.takes(figure, graph, peer.name):
                    yield graph, peer

    def _run_rate(self, rate: Rate, graph: str, peer: Peer) -> None:
        for label, own in peer.rates.get(rate.name, {}).items():
            settings = {**self.spec.common, **rate.settings, **own, **rate.over(graph)}
            for threads in rate.threads(graph):
                for number in range(self.spec.runs):
                    entry = {"label": label, "settings": settings, "threads": threads}
                    self._once(rate.name, graph, peer, {**entry, "seed": number}, rate.name)

    def _run_reference(self, graph: str, peer: Peer) -> None:
        quality = self.spec.quality
        settings = {**self.spec.common, **quality.reference_settings}
        for seed in quality.reference_seeds[graph]:
            label = label_of(quality.reference_settings)
            entry = {"label": label, "settings": settings, "threads": quality.threads}
            self._once(REFERENCE, graph, peer, {**entry, "seed": seed}, WHOLE, scored=True)

    def _climb(self, graph: str, peer: Peer) -> None:
        goals, rungs, seeds = self.goals(graph), self.rungs(peer), self.spec.quality.seeds
        if not goals:
            _LOG.warning("%s: no reference yet, run --figures reference first", graph)
            return
        if self.force:
            others = [r for r in self.store.runs(QUALITY, graph, peer.name) if not _is_here(r)]
            self.store.keep(QUALITY, graph, peer, others)
        if self.again:
            self._repeat(graph, peer, rungs)
            return
        while rungs:
            runs = self._climbed(graph, peer, rungs)
            step = climb.next_step(runs, len(rungs), seeds, goals, self.goals(graph, seeds[0]))
            if step is None:
                return
            entry = self._rung_entry(peer, rungs, step.rung, step.seed)
            self._once(QUALITY, graph, peer, entry, WHOLE, scored=True)

    def _repeat(self, graph: str, peer: Peer, rungs: list[Settings]) -> None:
        """Run the rungs that reached a goal again, every seed of them."""
        runs, seeds = self._climbed(graph, peer, rungs), self.spec.quality.seeds
        found = [
            climb.reached(runs, len(rungs), seeds, rule, goal)
            for rule, goal in self.goals(graph).items()
        ]
        for rung in sorted({rung for rung in found if rung is not None}):
            for seed in seeds:
                entry = self._rung_entry(peer, rungs, rung, seed)
                self._once(QUALITY, graph, peer, entry, WHOLE, scored=True)

    def ladder_runs(self, graph: str, peer: Peer, rungs: list[Settings]) -> list[Run]:
        """Runs of the climb whose settings are still those of a rung."""
        return [
            {**run, "rung": rungs.index(run["settings"])}
            for run in self.store.runs(QUALITY, graph, peer.name)
            if run["settings"] in rungs
        ]

    def _climbed(self, graph: str, peer: Peer, rungs: list[Settings]) -> list[Run]:
        """Those that count when the climb goes on."""
        runs = self.ladder_runs(graph, peer, rungs)
        if self.here or self.force:
            return [run for run in runs if _is_here(run)]
        return latest(runs)

    def _rung_entry(self, peer: Peer, rungs: list[Settings], rung: int, seed: int) -> Run:
        return {
            "label": label_of(peer.ladder[rung]),
            "settings": rungs[rung],
            "threads": self.spec.quality.threads,
            "seed": seed,
        }

    def _once(
        self, figure: str, graph: str, peer: Peer, entry: Run, job: str, scored: bool = False
    ) -> None:
        """Run one entry and write it down, unless it is there."""
        key = (entry["label"], entry["settings"], entry["threads"], entry["seed"])
        named = figure != REFERENCE or REFERENCE in (self.choice.figures or ())
        again = (
            (self.force or (self.again and figure == QUALITY))
            and named
            and (figure, graph, peer.name, *key_of(entry)) not in self._made
        )
        # A reference is a score, which no machine changes.
        anywhere = figure == REFERENCE or not self.here
        counted = [r for r in self.store.runs(figure, graph, peer.name) if anywhere or _is_here(r)]
        if is_done(counted, *key) and not again:
            return
        if self.most is not None and len(self.done) >= self.most:
            raise EnoughError
        self.watch(f"{figure} {graph} {peer.title}: {entry['label']}, seed {entry['seed']}")
        seed = entry["seed"]
        # Rates need no split: all runs of a graph read the same file.
        given = self.spec.graphs[graph]
        file = edge_file(graph, given, seed if "keep" in given else 0, self.work)
        task = Task(job, file, entry["settings"], entry["threads"], seed, self.spec.limit(graph))
        trials = file.trials if scored else None
        try:
            result = execute(
                peer, self.environments, task,
                None if trials is None else lambda path: score(path, trials, seed),
            )  # fmt: skip
            result["limits"] = self._limits_of(entry["threads"])
        except RunError as error:
            result = {"error": str(error)}
            if isinstance(error, StoppedError):
                result |= {"stopped": True, "wall": round(error.seconds, 4)}
        marks = {HOST: cards.machine()["cpu"], SHUFFLED: True}
        if self.busy:
            marks["busy"] = True
        run = {**entry, **result, **marks}
        self.store.add(figure, graph, peer, run)
        self.done.append(run)
        self._made.add((figure, graph, peer.name, *key_of(run)))

    def _limits_of(self, threads: int) -> dict[str, float]:
        if threads not in self._limits:
            self._limits[threads] = machine_limits(threads)
        return self._limits[threads]


def _is_here(run: Run) -> bool:
    """Whether a run was made on this machine."""
    return bool(run[HOST] == cards.machine()["cpu"])
