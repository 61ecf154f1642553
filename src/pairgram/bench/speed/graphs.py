"""Graphs of the speed bench as edge lists on disk, and what a peer's vectors are scored on."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairgram.bench.graphs import absent, load_graph
from pairgram.bench.speed.generate import power_law
from pairgram.bench.speed.records import SHUFFLED
from pairgram.bench.store import read_record, write_record
from pairgram.errors import PairgramError
from pairgram.evaluation.auc import auc_lr
from pairgram.evaluation.protocols import Trials, draw_trials
from pairgram.graph import TextGraph
from pairgram.io.atomic import replacing_file
from pairgram.metrics import auc_pair
from pairgram.split import split_edges, validation_split

Table = NDArray[np.float32]

SIDES = ("center", "positive", "negative")


@dataclass(frozen=True)
class EdgeFile:
    """An edge list that peers read; node numbers and lines are in random order.

    The order of a dataset's nodes knows of its links (codes of a terminology, papers by date), and
    a tool that trains node after node, or starts by number, would be scored for it.

    Attributes
    ----------
    path, nodes, edges
        The file, the nodes of the graph (those without an edge too), its undirected edges.
    trials
        .npz with the centres, positives and negatives of validation links; None without a split.
    """

    path: Path
    nodes: int
    edges: int
    trials: Path | None


def edge_file(name: str, given: Mapping[str, Any], seed: int, work: Path) -> EdgeFile:
    """Write the graph of a name and seed below `work`, unless it is there already."""
    folder = work / name / f"seed{seed}"
    path, card = folder / "edges.tsv", folder / "graph.json"
    trials = folder / "trials.npz" if "keep" in given else None
    found = read_record(card) if path.exists() else None
    if found is None or found["given"] != dict(given) or not found.get(SHUFFLED):
        graph, drawn = _draw(given, seed)
        random = np.random.default_rng(seed)
        number, ends = random.permutation(graph.n_nodes), np.stack(undirected_edges(graph), 1)
        _write_edges(path, random.permutation(number[ends]))
        if trials is not None and drawn is not None:
            sides = {name: number[getattr(drawn, name)] for name in SIDES}
            with replacing_file(trials) as temporary, temporary.open("wb") as file:
                np.savez(file, **sides)
        counts = {"nodes": graph.n_nodes, "edges": len(ends)}
        found = {"given": dict(given), SHUFFLED: True, **counts}
        write_record(card, found)
    return EdgeFile(path, int(found["nodes"]), int(found["edges"]), trials)


def missing(given: Mapping[str, Any]) -> str | None:
    """Return why a graph cannot be had here; None where it can."""
    return absent(given["dataset"]) if "dataset" in given else None


def undirected_edges(graph: TextGraph) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Ends of every undirected edge, smaller one first, both of shape (m,)."""
    near = graph.adjacency()
    source = np.repeat(np.arange(graph.n_nodes), np.diff(near.indptr))
    once = source < near.indices
    return source[once], near.indices[once].astype(np.int64)


def score(vectors: Path, trials: Path, seed: int) -> dict[str, float]:
    """AUC_pair of a peer's vectors under every rule that they allow, and AUC_LR.

    `dot` and `cosine` use the centre vectors alone, `context` the centre of the one end and the
    context of the other.
    """
    with np.load(vectors) as tables, np.load(trials) as ends:
        center: Table = tables["center"]
        context: Table | None = tables["context"] if "context" in tables.files else None
        drawn = Trials(
            "seen", seed, ends["center"], ends["positive"], ends["negative"], len(center), {}
        )
    if not np.isfinite(center).all():
        raise PairgramError("the vectors are not all numbers")
    found = {
        "dot": _auc(drawn, center, center),
        "cosine": _auc(drawn, unit := _unit(center), unit),
    }
    if context is not None:
        found["context"] = _auc(drawn, center, context)
    area, _ = auc_lr(center, drawn, seed)
    return found if area is None else {**found, "auc_lr": area}


def _auc(trials: Trials, left: Table, right: Table) -> float:
    e = left[trials.center]
    positive = np.einsum("ij,ij->i", e, right[trials.positive])
    return auc_pair(positive, np.einsum("ij,ij->i", e, right[trials.negative]))


def _unit(table: Table) -> Table:
    length = np.linalg.norm(table, axis=1, keepdims=True)
    unit: Table = table / np.maximum(length, np.float32(1e-12))
    return unit


def _draw(given: Mapping[str, Any], seed: int) -> tuple[TextGraph, Trials | None]:
    if "dataset" not in given:
        source, target = power_law(
            given["nodes"], given["edges"], given["exponent"], given.get("most"), seed
        )
        names = [str(i) for i in range(given["nodes"])]
        return TextGraph.from_edges(source, target, names=names), None
    graph = load_graph(given["dataset"])
    if "keep" not in given:
        return graph, None
    # Test links are held out first and never looked at; validation links come from what remains.
    split = validation_split(split_edges(graph, given["keep"], seed), given["validation"], seed)
    return split.train, draw_trials(split, "seen", seed)


def _write_edges(path: Path, ends: NDArray[np.int64]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = "\n".join(f"{a}\t{b}" for a, b in ends.tolist())
    with replacing_file(path) as temporary:
        temporary.write_text(lines + "\n", encoding="ascii")
