"""A cell of a table of links: one fit, evaluated under every protocol."""

import logging
from typing import Any

from pairgram.bench.graphs import load_graph, planted_graph
from pairgram.bench.jobs import Job
from pairgram.bench.measure import Clock, cut, describe, peak_memory, surroundings
from pairgram.evaluation import Card, evaluate
from pairgram.models import METHODS, Model
from pairgram.split import Split


def build(method: str, parameters: dict[str, Any], seed: int, threads: int | None = None) -> Model:
    """Make the model of a cell; unknown parameters raise `ParameterError`."""
    return METHODS[method]().set_shared(seed=seed, threads=threads).set_params(**parameters)


def fit_and_evaluate(job: Job) -> dict[str, Any]:
    """Load, split, fit, evaluate; return the record of the cell."""
    clock, notices, memory = Clock(), _Notices(), {}
    model = build(job.method, job.parameters, job.seed, job.threads)
    with clock.phase("load"):
        graph = load_graph(job.dataset)
    with clock.phase("split"):
        split = cut(graph, job)
    with clock.phase("compile"):
        _warm_up(job)
    memory["before_fit"] = peak_memory()
    with clock.phase("fit"):
        model.fit(split.train)
    memory["fit"] = peak_memory()
    protocols = {}
    for protocol in job.protocols:
        with clock.phase(f"evaluate_{protocol}"):
            protocols[protocol] = _figures(evaluate(model, split, protocol, job.seed).card)
    memory["evaluate"] = peak_memory()
    return {
        **describe(job),
        "parameters": {k: v for k, v in model.get_params().items() if k != "threads"},
        "split": _split_entry(split, job),
        "pairs": model.stats_["pairs"],
        "updates": model.stats_["updates"],
        "seconds": {**clock.seconds, **_rounded(model.stats_["seconds"])},
        "peak_memory": memory,
        "protocols": protocols,
        "notices": notices.lines,
        **surroundings(job),
    }


def _warm_up(job: Job) -> None:
    """Fit a tiny graph first, so that compiled kernels are ready and not part of the fit."""
    model = build(job.method, job.parameters, job.seed, job.threads)
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
    }


def _split_entry(split: Split, job: Job) -> dict[str, Any]:
    return {
        "hash": split.hash,
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
