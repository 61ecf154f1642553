"""Seconds and peak memory of sampling and training against the number of edges.

Graphs come from `pairgram.bench.speed.generate.power_law` (Chung and Lu's model, exponent 2.5, mean
degree 20), with hubs of any degree and with hubs capped at a degree of about 1,000. Every point is
a process of its own. Sampling is O = 3, N = 1, streamed; training one epoch of the same pairs with
dim 32, so that the tables of 10^7 nodes leave room for the rest.

Run: python benchmarks/growth.py [EDGES | EDGES:HUBS ...], as 1000000 or 100000000:uncapped
Points that are in results/benchmarks/growth.json are kept; the page and figures are made from it.
"""

import json
import subprocess
import sys
import time
from pathlib import Path

from common import OUT
from pairgram.bench.measure import peak_memory
from pairgram.evaluation.card import machine

SIZES = (10**5, 10**6, 10**7, 10**8)
HUBS = {"uncapped": None, "capped": 1000}
DEGREE, EXPONENT, ORDER, TIMES, DIM = 20, 2.5, 3, 1, 32
RECORD = OUT / "growth.json"
# Beyond this only sampling is measured: an epoch of 6·10^8 pairs takes minutes and shows no more.
TRAIN_UP_TO = 10**7


def measure(edges: int, hubs: str) -> dict[str, object]:
    """One point, in this process."""
    import pairgram as pg
    from pairgram.bench.speed.generate import power_law
    from pairgram.sampling import iter_pairs

    small = pg.TextGraph.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
    sum(map(len, iter_pairs(small, ORDER, TIMES)))
    pg.PS(dim=DIM, order=ORDER, times=TIMES, epochs=1).fit(small)  # compiles
    nodes = 2 * edges // DEGREE
    base = reset_peak()
    began = time.perf_counter()
    source, target = power_law(nodes, edges, EXPONENT, HUBS[hubs], seed=0)
    generated = time.perf_counter()
    graph = pg.TextGraph.from_edges(source, target)
    del source, target
    near = graph.adjacency()
    built = time.perf_counter()
    row = {
        "edges": edges, "hubs": hubs, "nodes": graph.n_nodes, "distinct": graph.n_edges,
        "largest degree": int(graph.degree.max()), "generate s": generated - began,
        "build s": built - generated, "build peak": peak_memory(), "baseline": base,
        "CSR bytes": near.indptr.nbytes + near.indices.nbytes,
    }  # fmt: skip
    before = reset_peak()
    began = time.perf_counter()
    row["pairs"] = sum(map(len, iter_pairs(graph, ORDER, TIMES)))
    row["sample s"] = time.perf_counter() - began
    row["sample peak"], row["sample peak above the graph"] = peak_memory(), peak_memory() - before
    if edges > TRAIN_UP_TO:
        return row
    reset_peak()
    began = time.perf_counter()
    pg.PS(dim=DIM, order=ORDER, times=TIMES, epochs=1).fit(graph)
    row["train s"], row["train peak"] = time.perf_counter() - began, peak_memory()
    return row


def reset_peak() -> int:
    """Let the peak start anew from what is held now; return that, in bytes."""
    Path("/proc/self/clear_refs").write_text("5")
    return peak_memory()


def main() -> None:
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(measure(int(sys.argv[2]), sys.argv[3])))
        return
    rows = json.loads(RECORD.read_text())["rows"] if RECORD.exists() else []
    for asked in sys.argv[1:] or map(str, SIZES):
        size, _, only = asked.partition(":")
        edges = int(size)
        for hubs in [only] if only else HUBS:
            if any((row["edges"], row["hubs"]) == (edges, hubs) for row in rows):
                continue
            command = [sys.executable, __file__, "--one", str(edges), hubs]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                print(f"{edges:,} {hubs}: failed: {done.stderr.strip().splitlines()[-1:]}")
                continue
            rows.append(json.loads(done.stdout.splitlines()[-1]) | {"machine": machine()})
            RECORD.write_text(json.dumps({"rows": rows}, indent=1) + "\n", encoding="utf-8")
            print(rows[-1])
    report(sorted(rows, key=lambda row: (row["hubs"], row["edges"])))


def report(rows: list[dict[str, object]]) -> None:
    """Write the page and the two figures."""
    from pairgram.bench.markdown import grid
    from pairgram.bench.speed.plot import lines

    columns = [
        "hubs", ">edges asked", ">distinct", ">nodes", ">largest degree", ">pairs", ">sample s",
        ">M pairs/s", ">sample peak MB", ">above the graph, of the CSR", ">train s",
        ">train peak MB",
    ]  # fmt: skip
    cells = [
        [
            row["hubs"], f"{row['edges']:,}", f"{row['distinct']:,}", f"{row['nodes']:,}",
            f"{row['largest degree']:,}", f"{row['pairs']:,}", f"{row['sample s']:.2f}",
            f"{row['pairs'] / row['sample s'] / 1e6:.1f}", f"{row['sample peak'] / 1e6:,.0f}",
            f"{row['sample peak above the graph'] / row['CSR bytes']:.2f}",
            _written(row, "train s", ".1f", 1), _written(row, "train peak", ",.0f", 1e-6),
        ]
        for row in rows
    ]  # fmt: skip
    host = rows[-1]["machine"]
    page = [
        "# Growth", "", "Made by `python benchmarks/growth.py`, from `growth.json`.", "",
        f"Chung-Lu graphs, exponent {EXPONENT}, mean degree {DEGREE} before duplicates are merged, "
        f"hubs of any degree or capped at about {HUBS['capped']:,}. Sampling: O = {ORDER}, "
        f"N = {TIMES}, streamed. Training: sampling and one epoch with dim {DIM}, K = 5, tables "
        "in memory. Every point in its own process; a peak counts all that the process holds.",
        "", *grid(columns, cells), "", *projected(rows),
        f"Machine: {host['cpu']}, {host['cores']} cores.", "",
        "![seconds](growth-seconds.svg)", "", "![memory](growth-memory.svg)", "",
    ]  # fmt: skip
    (OUT / "growth.md").write_text("\n".join(page), encoding="utf-8")
    for name, keys, unit in (
        ("seconds", ("sample s", "train s"), "seconds"),
        ("memory", ("sample peak", "train peak"), "peak bytes"),
    ):
        series = {
            f"{key.removesuffix(' s').removesuffix(' peak')}, {hubs}": [
                (row["distinct"], row[key]) for row in rows if row["hubs"] == hubs and key in row
            ]
            for hubs in HUBS
            for key in keys
        }
        shown = {label: points for label, points in series.items() if points}
        (OUT / f"growth-{name}.svg").write_text(
            lines(f"Growth: {unit} against edges", shown, "distinct edges", unit), encoding="utf-8"
        )


def projected(rows: list[dict[str, object]]) -> list[str]:
    """Say what training would take where only sampling was measured, from the points below."""
    found = []
    for row in rows:
        below = [r for r in rows if r["hubs"] == row["hubs"] and "train s" in r]
        if "train s" in row or len(below) < 2:
            continue
        small, large = below[-2:]
        # A fit samples, too; that part is measured here.
        cost = [(r["train s"] - r["sample s"]) / r["pairs"] for r in (small, large)]
        least = row["sample s"] + cost[1] * row["pairs"]
        most = row["sample s"] + cost[1] * row["pairs"] * cost[1] / cost[0]
        extra = (large["train peak"] - large["sample peak"]) * row["nodes"] / large["nodes"]
        found += [
            f"Training on {row['edges']:,} edges, {row['hubs']}, is projected, not measured: "
            f"{least:,.0f} s if a pair costs what it does at {large['edges']:,}, {most:,.0f} s if "
            "its cost grows once more as from the point before, and a peak of "
            f"{(row['sample peak'] + extra) / 1e9:.1f} GB, within 24 GiB.",
            "",
        ]
    return found


def _written(row: dict[str, object], key: str, form: str, scale: float) -> str:
    return format(row[key] * scale, form) if key in row else "–"


if __name__ == "__main__":
    main()
