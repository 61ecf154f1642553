"""A cell of a table of links: one fit, evaluated under every protocol."""

import logging
from typing import Any

from pairgram.bench.build import ready, recorded, saved
from pairgram.bench.graphs import load_graph, planted_graph
from pairgram.bench.jobs import Job
from pairgram.bench.measure import Clock, cut, describe, peak_memory, surroundings
from pairgram.bench.spec import FLOORS
from pairgram.evaluation import Card, evaluate
from pairgram.evaluation.measure import Findings, Options, measure_floors
from pairgram.models import Model
from pairgram.split import Split

PAIR = "pair"
# What a fit says of itself beside pairs, updates and seconds; kept where it is there.
SAID = ("passes", "epochs", "best_epoch", "device", "machine", "words", "characters", "peak_memory")


def fit_and_evaluate(job: Job) -> dict[str, Any]:
    """Load, split, fit or load the model, evaluate; return the record of the cell."""
    clock, notices = Clock(), _Notices()
    memory: dict[str, int | None] = {}
    with clock.phase("load"):
        graph = load_graph(job.dataset)
    with clock.phase("split"):
        split = cut(graph, job)
    model = None if job.model == FLOORS else _fitted(job, split, clock, memory)
    protocols = {}
    for protocol in job.protocols:
        with clock.phase(f"evaluate_{protocol}"):
            protocols[protocol] = _score(model, split, protocol, job)
    memory["evaluate"] = peak_memory()
    return {
        **describe(job),
        "split": _split_entry(split, job),
        **_fit_entry(model, job, clock),
        "peak_memory": memory,
        "protocols": protocols,
        "notices": notices.lines,
        **surroundings(job),
    }


def _fitted(job: Job, split: Split, clock: Clock, memory: dict[str, int | None]) -> Model:
    """Fit the model, or load it where it was fitted elsewhere; the audit sees on what."""
    if job.folder is not None:
        memory["fit"] = None
        return saved(job, job.folder)
    model = ready(job)
    with clock.phase("compile"):
        _warm_up(job)
    memory["before_fit"] = peak_memory()
    with clock.phase("fit"):
        model.fit(split.train)
    memory["fit"] = peak_memory()
    return model


def _score(model: Model | None, split: Split, protocol: str, job: Job) -> dict[str, Any]:
    rank = 0 if split.of_nodes else job.rank
    if model is None:
        return _floor_figures(measure_floors(split, protocol, Options(job.seed, rank)))
    # A CUDA card ranks where there is one, but a score of two texts is no product of tables.
    device = None if PAIR in model.rules_ else "auto"
    return _figures(evaluate(model, split, protocol, job.seed, rank=rank, device=device).card)


def _fit_entry(model: Model | None, job: Job, clock: Clock) -> dict[str, Any]:
    if model is None:
        return {"parameters": {}, "pairs": 0, "updates": 0, "seconds": clock.seconds}
    stats = model.stats_
    seconds = _rounded(stats.get("seconds", {}))
    if job.folder is not None:
        seconds["fit"] = round(sum(seconds.values()), 4)
    return {
        "parameters": recorded(model, job),
        "pairs": stats.get("pairs", 0),
        "updates": stats.get("updates", 0),
        "fit": {"here": job.folder is None, **{k: stats[k] for k in SAID if k in stats}},
        "seconds": {**clock.seconds, **seconds},
    }


def _warm_up(job: Job) -> None:
    """Fit a tiny graph first, so that compiled kernels are ready and not part of the fit."""
    model = ready(job)
    if "seed" not in model.get_params():  # nothing is drawn or trained
        return
    if "epochs" in model.get_params():
        model.set_params(epochs=1)
    model.fit(planted_graph(communities=2, size=8, inside=0.9))


def _figures(card: Card) -> dict[str, Any]:
    return {
        "rule": card.rule,
        "centers": card.counts["centers"],
        "candidates": card.candidates,
        "left_out": card.left_out,
        "ties": card.ties,
        "metrics": card.metrics,
        "notes": card.notes,
        "floors": card.floors,
        "buckets": card.buckets,
        "counts": card.counts,
    }


def _floor_figures(found: Findings) -> dict[str, Any]:
    return {
        "rule": None,
        "centers": len(found.trials),
        "candidates": found.trials.candidates,
        "left_out": found.trials.left_out,
        "ties": {},
        "metrics": {},
        "notes": {},
        "floors": found.floors,
        "counts": found.counts,
    }


def _split_entry(split: Split, job: Job) -> dict[str, Any]:
    return {
        "hash": split.hash,
        "kind": split.kind,
        "seed": split.seed,
        "share": split.share,
        "validation": job.validation,
        "fingerprint": split.full.fingerprint,
        "nodes": split.full.n_nodes,
        "train_links": split.train.n_edges,
        "held_out_links": len(split.held_out),
        "mean_degree": float(split.train.degree.mean()),
    }


def _rounded(seconds: dict[str, float]) -> dict[str, float]:
    return {phase: round(value, 4) for phase, value in seconds.items()}


class _Notices(logging.Handler):
    """Keeps the warnings of the cell for its record; they go on to the terminal as well."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []
        logging.getLogger("pairgram").addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())
