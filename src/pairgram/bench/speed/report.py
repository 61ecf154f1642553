"""results/speed.md and its charts, made from the records alone."""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from pairgram.bench.markdown import NONE, grid
from pairgram.bench.speed import plot
from pairgram.bench.speed.execute import RunError
from pairgram.bench.speed.records import HOST, REFERENCE, hosted, latest
from pairgram.bench.speed.spec import Rate, label_of
from pairgram.bench.speed.summary import (
    OURS,
    Median,
    QualityRow,
    RateRow,
    quality_rows,
    rate_rows,
    unclimbed,
)
from pairgram.bench.store import read_record, write_text

if TYPE_CHECKING:
    from pairgram.bench.speed.run import Bench

PHASES = ("start", "import", "read", "prepare", "walk", "train", "write")
UNITS = {"walks": "M steps/s", "pairs": "M pairs/s", "sgns": "M pairs/s"}
TITLES = {
    "walks": "Walk steps per second",
    "pairs": "Sampled pairs per second",
    "sgns": "SGNS pairs per second",
}


def write_page(bench: "Bench") -> list[Path]:
    """Write the page and its charts; return their paths."""
    lines = list(_page(bench))
    page = bench.store.root / "speed.md"
    write_text(page, "\n".join(lines).rstrip() + "\n")
    return [page, *_charts(bench)]


def _page(bench: "Bench") -> Iterator[str]:
    spec = bench.spec
    yield "# Speed beside other tools"
    yield ""
    yield (
        "Generated from the records in `speed/`; do not edit. `make bench-peers` makes the "
        "environments of the peers, `pairgram bench speed` runs what is missing and writes this "
        "page, `--force --tools pairgram` runs pairgram's rows again."
    )
    yield ""
    common = ", ".join(f"{name} {value}" for name, value in spec.common.items())
    yield (
        f"All with {common}. Median of {spec.runs} runs, smallest and largest in brackets. Every "
        "run is a process of its own in the peer's own environment."
    )
    yield ""
    yield from _peers(bench)
    yield from _machine(bench)
    for rate in spec.rates.values():
        yield from _rate_section(bench, rate)
    for graph in spec.quality.graphs:
        yield from _quality_section(bench, graph)
    yield from _ladders(bench)


def _peers(bench: "Bench") -> Iterator[str]:
    yield "## Peers"
    yield ""
    rows = []
    for peer in bench.peers.values():
        try:
            bench.environments.python(peer)
            state = "ready"
        except RunError as error:
            state = str(error)
        rows.append([peer.title, _versions(bench, peer.name) or NONE, peer.about, state])
    yield from grid(["peer", "versions", "what it does", "environment here"], rows)
    yield ""


def _versions(bench: "Bench", name: str) -> str:
    """Packages of the latest record of a peer."""
    for path in sorted(bench.store.root.glob(f"speed/*/*/{name}.json")):
        for run in reversed((read_record(path) or {"runs": []})["runs"]):
            if "versions" in run:
                return ", ".join(f"{n} {v}" for n, v in run["versions"].items())
    return ""


def _machine(bench: "Bench") -> Iterator[str]:
    """Machines of the runs, and the limits measured beside them."""
    limits: dict[tuple[str, int], list[dict[str, float]]] = {}
    hosts: dict[str, str] = {}
    for path in sorted(bench.store.root.glob("speed/*/*/*.json")):
        record = read_record(path)
        if record is None:
            continue
        for run in hosted(record):
            hosts[run[HOST]] = f"{record['machine']['cores']} cores, {record['machine']['system']}"
            if "limits" in run:
                key = run[HOST], int(run["limits"]["threads"])
                limits.setdefault(key, []).append(run["limits"])
    yield "## Machines and their limits"
    yield ""
    yield from (f"- {host}, {rest}" for host, rest in sorted(hosts.items()))
    yield ""
    yield "Seconds and rates of two machines are not compared. Measured in the same runs:"
    yield ""
    dim, noise = int(bench.spec.common["dim"]), int(bench.spec.common["negatives"])
    flops = (noise + 1) * 6 * dim  # a score (2·dim) and two rows moved (4·dim), K + 1 times
    for (host, threads), found in sorted(limits.items()):
        triad = median(entry["triad_gb_s"] for entry in found)
        fma = median(entry["fma_gflop_s"] for entry in found)
        yield (
            f"- {host}, {threads} thread{'s' * (threads > 1)}: memory "
            f"{triad:.1f} GB/s (triad), float32 {fma:.0f} GFLOP/s (fused multiply-add)"
        )
        yield (
            f"  - a pair of SGNS is {flops:,} operations with K = {noise}: at most "
            f"{fma * 1e3 / flops:.1f} M pairs/s by arithmetic alone"
        )
    yield ""


def _rate_section(bench: "Bench", rate: Rate) -> Iterator[str]:
    yield f"## {TITLES.get(rate.name, rate.name)}"
    yield ""
    for graph in rate.graphs:
        rows = rate_rows(bench, rate, graph)
        shown = [row for row in rows if row.rate is not None or row.error is not None]
        if not shown:
            continue
        yield f"### {graph}"
        yield ""
        unit = UNITS.get(rate.name, "1/s")
        columns = ["what", ">threads", "peer", f">{unit}", ">times the best peer", ">of our best"]
        yield from grid(columns, [_rate_cells(row, shown) for row in _by_label(shown)])
        yield ""


def _by_label(rows: list[RateRow]) -> list[RateRow]:
    def order(row: RateRow) -> tuple[str, int, float]:
        return _kind(row), -row.threads, -(row.rate.middle if row.rate else 0.0)

    return sorted(rows, key=order)


def _kind(row: RateRow) -> str:
    """Rows of walks are compared within an order, those of other rates all together."""
    return row.label.split(",")[0] if "order" in row.label else ""


def _rate_cells(row: RateRow, rows: list[RateRow]) -> list[str]:
    same = _kind(row), row.threads, row.host
    alike = [r for r in rows if (_kind(r), r.threads, r.host) == same and r.rate]
    ours = [r.rate.middle for r in alike if r.peer.name == OURS and r.rate]
    others = [r.rate.middle for r in alike if r.peer.name != OURS and r.rate]
    times = share = NONE
    if row.rate is not None and row.peer.name == OURS and others:
        times = f"{row.rate.middle / max(others):.1f}"
    if row.rate is not None and row.peer.name != OURS and ours:
        share = f"1/{max(ours) / row.rate.middle:.1f}"
    elsewhere = _elsewhere(row, rows)
    value = f"failed: {row.error}" if row.rate is None else _median(row.rate, 1e-6) + elsewhere
    return [row.label, str(row.threads), row.peer.title, value, times, share]


def _quality_section(bench: "Bench", graph: str) -> Iterator[str]:
    yield f"## Time to quality: {graph}"
    yield ""
    goals = bench.goals(graph)
    if not goals:
        yield "The reference has not been run yet."
        yield ""
        return
    quality = bench.spec.quality
    runs = latest(bench.store.runs(REFERENCE, graph, quality.reference_peer))
    seeds = sum("scores" in run for run in runs)
    listed = ", ".join(f"`{rule}` {goal + quality.margin:.4f}" for rule, goal in goals.items())
    yield (
        f"DeepWalk (L 80, T 10, W 5) has AUC_pair {listed} on validation links (protocol `seen`, "
        f"mean of {seeds} seed{'s' * (seeds > 1)}); the goal is {quality.margin:g} less. Seconds "
        "are those of the whole job, from the edge list on disk to vectors on disk, import "
        "included, compiling left out, of the fastest rung of the peer's ladder whose mean over "
        f"seeds {', '.join(map(str, quality.seeds))} reaches the goal. `{OVER.strip()}` stands "
        "where a peer has not reached it: the last rung that fell short took so many times our "
        "seconds, a stopped one until its limit, and the rungs after it are dearer."
    )
    yield ""
    rows = quality_rows(bench, graph)
    for rule in goals:
        mine = [row for row in rows if row.rule == rule]
        if not mine:
            continue
        yield f"### Under `{rule}`"
        yield ""
        columns = [
            "peer", "rung", "goal", ">AUC_pair", ">AUC_LR", ">seconds", ">times ours",
            ">peak MB",
        ]  # fmt: skip
        yield from grid(columns, [_quality_cells(row, mine) for row in mine])
        yield ""
    yield from _phase_table(rows)
    absent = unclimbed(bench, graph)
    if absent:
        yield from (f"- {title}: {reason}" for title, reason in absent.items())
        yield ""


def _phase_table(rows: list[QualityRow]) -> Iterator[str]:
    """Where the seconds go; the phases that a tool cannot tell apart are in `train`."""
    timed = [row for row in rows if row.phases]
    if not timed:
        return
    yield "### Where the seconds go"
    yield ""
    yield (
        "Medians. `start` is the interpreter and what no phase holds; compiling is left out. A "
        "tool that walks inside its training has both in `train`."
    )
    yield ""
    yield from grid(
        ["peer", "under", *(f">{name}" for name in PHASES)],
        [
            [row.peer.title, f"`{row.rule}`", *(f"{row.phases.get(n, 0.0):.2f}" for n in PHASES)]
            for row in timed
        ],
    )
    yield ""


OVER = "> "
BUSY, ORDERED = " (busy machine)", " (ids in the data's order)"


def _quality_cells(row: QualityRow, rows: list[QualityRow]) -> list[str]:
    elsewhere = _elsewhere(row, rows)
    return [
        row.peer.title, row.label, _state(row),
        f"{row.score:.4f}" + ORDERED * row.ordered, NONE if row.lr is None else f"{row.lr:.4f}",
        NONE if row.seconds is None else _median(row.seconds, 1.0) + BUSY * row.busy + elsewhere,
        _times_ours(row, rows),
        NONE if row.memory is None else f"{row.memory / 1e6:,.0f}",
    ]  # fmt: skip


def _times_ours(row: QualityRow, rows: list[QualityRow]) -> str:
    """Seconds over ours, where both reached the goal; where only we did, what they are over."""
    ours = next((r.seconds for r in rows if r.peer.name == OURS and r.reached), None)
    if row.peer.name == OURS or ours is None or _elsewhere(row, rows):
        return NONE
    if row.reached and row.seconds is not None:
        return f"{row.seconds.middle / ours.middle:.1f}"
    # Rounded down: it is a bound.
    return NONE if row.over is None else f"{OVER}{math.floor(10 * row.over / ours.middle) / 10:.1f}"


def _elsewhere(row: RateRow | QualityRow, rows: Sequence[RateRow | QualityRow]) -> str:
    """Where a row was measured, if not where ours was."""
    ours = next((r.host for r in rows if r.peer.name == OURS and r.host), row.host)
    return f" (on {row.host})" if row.host != ours else ""


def _state(row: QualityRow) -> str:
    if row.reached:
        return "reached"
    if not row.finished:
        return "ladder not finished"
    return "not reached" if row.stopped is None else f"not reached; next rung {row.stopped}"


def _ladders(bench: "Bench") -> Iterator[str]:
    yield "## Ladders"
    yield ""
    limit = ", ".join(f"{name} {value:g}" for name, value in bench.spec.limits.items())
    yield (
        "Rungs are tried in this order with the first seed; one that comes near the reference on "
        "that seed's split is run with the other seeds. A run is stopped at its limit of "
        f"processor seconds ({limit}), and the dearer rungs after it are not tried."
    )
    yield ""
    for peer in bench.peers.values():
        if peer.ladder:
            yield f"- {peer.title}: {'; '.join(label_of(rung) for rung in peer.ladder)}"
    yield ""


def _median(value: Median, scale: float) -> str:
    """Write median [smallest, largest]."""
    form = ".1f" if value.middle * scale >= 10 else ".2f"
    low, high = format(value.low * scale, form), format(value.high * scale, form)
    return f"{format(value.middle * scale, form)} [{low}, {high}]"


def _charts(bench: "Bench") -> Iterator[Path]:
    for graph in bench.spec.quality.graphs:
        rows = quality_rows(bench, graph)
        for rule in bench.goals(graph):
            ruled = [row for row in rows if row.rule == rule]
            mine = [
                (r.peer.title + ("" if r.reached else f" ({_state(r)})") + _elsewhere(r, ruled),
                 r.seconds.middle, f"{r.seconds.middle:.1f} s, AUC {r.score:.4f}")
                for r in ruled
                if r.seconds is not None
            ]  # fmt: skip
            if mine:
                path = bench.store.root / "speed" / f"quality-{graph}-{rule}.svg"
                title = f"Seconds to DeepWalk's AUC_pair, {graph}, {rule}"
                write_text(path, plot.bars(title, mine, OURS))
                yield path
