"""The page of the table of datasets, and the cell behind it."""

from typing import Any

from pairgram.bench.figures import Line, lines_of
from pairgram.bench.graphs import load_graph
from pairgram.bench.jobs import Job
from pairgram.bench.markdown import (
    NONE,
    grid,
    heading,
    missing_section,
    number,
    surroundings_section,
)
from pairgram.bench.measure import Clock, describe, surroundings
from pairgram.bench.spec import Table
from pairgram.bench.store import Store

METHOD = "counts"
COLUMNS = [
    "dataset", ">nodes, published", ">nodes", ">edge lines, published", ">edge lines", ">links",
    ">self-loops", ">both ways", ">mean degree", ">without a link", ">texts", ">repeated texts",
]  # fmt: skip


def count_graph(job: Job) -> dict[str, Any]:
    """Load a graph and count it; return the record of the cell."""
    clock = Clock()
    with clock.phase("load"):
        graph = load_graph(job.dataset)
    counts = graph.counts
    return {
        **describe(job),
        "parameters": {},
        "counts": {
            "nodes": graph.n_nodes,
            "lines": counts.lines,
            "links": graph.n_edges,
            "self_loops": counts.self_loops,
            "reciprocal": counts.reciprocal,
            "mean_degree": float(graph.degree.mean()),
            "isolated": counts.isolated,
            "texts": counts.texts,
            "repeated_texts": counts.repeated_texts,
        },
        "fingerprint": graph.fingerprint,
        "seconds": clock.seconds,
        **surroundings(job),
    }


def counts_page(table: Table, store: Store, command: str) -> str:
    """Return the page."""
    lines = lines_of(table, store)
    listed = list(lines.values())
    parts = [
        *heading(table, command),
        "An edge line is a line of the file; links are distinct unordered pairs without "
        "self-loops. Degrees count distinct neighbours.",
        "",
        *grid(COLUMNS, (_row(line) for line in listed)),
        "",
        *missing_section(table, store),
        *surroundings_section(listed),
    ]
    return "\n".join(parts).rstrip() + "\n"


def _row(line: Line) -> list[str]:
    published = line.row.published
    other = f" ({line.row.stands_in_for})" if line.row.stands_in_for else ""
    counts = next(iter(line.cards.values()))["counts"] if line.cards else {}
    nodes, edges = (
        NONE if key not in published else f"{published[key]:,}{other}" for key in ("nodes", "edges")
    )
    keys = ("links", "self_loops", "reciprocal")
    return [
        line.row.name,
        nodes,
        number(counts.get("nodes")),
        edges,
        number(counts.get("lines")),
        *(number(counts.get(key)) for key in keys),
        number(counts.get("mean_degree"), ".2f"),
        *(number(counts.get(key)) for key in ("isolated", "texts", "repeated_texts")),
    ]
