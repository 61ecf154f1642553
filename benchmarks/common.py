"""What the benchmarks share: medians in one run, and cards of what was measured."""

import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pairgram.evaluation.card import machine, versions

OUT = Path(__file__).parent.parent / "results" / "benchmarks"


def median_seconds(work: Callable[[], Any], runs: int = 3) -> dict[str, float]:
    """Median, fastest and slowest of some runs."""
    seconds = []
    for _ in range(runs):
        began = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - began)
    return {
        "median": statistics.median(seconds), "fastest": min(seconds), "slowest": max(seconds)
    }  # fmt: skip


def read(name: str) -> list[dict[str, Any]]:
    """Rows of the card of a benchmark; none where it has not been run."""
    card = OUT / f"{name}.json"
    return json.loads(card.read_text(encoding="utf-8"))["rows"] if card.exists() else []


def write(name: str, rows: list[dict[str, Any]], command: str = "") -> None:
    """Write the card and the table of a benchmark, and print the table."""
    OUT.mkdir(parents=True, exist_ok=True)
    card = {"benchmark": name, "rows": rows, "versions": versions(), "machine": machine()}
    (OUT / f"{name}.json").write_text(json.dumps(card, indent=1) + "\n", encoding="utf-8")
    keys = list(dict.fromkeys(key for row in rows for key in row if key != "runs"))
    lines = ["| " + " | ".join(keys) + " |", "| " + " | ".join("---" for _ in keys) + " |"]
    lines += ["| " + " | ".join(_cell(row.get(key)) for key in keys) + " |" for row in rows]
    host = machine()
    made_by = command or f"python benchmarks/{name}.py"
    page = [
        f"# {name}", "", f"Made by `{made_by}`, from `{name}.json`.", "",
        *lines, "", f"Machine: {host['cpu']}, {host['cores']} cores.", "",
    ]  # fmt: skip
    (OUT / f"{name}.md").write_text("\n".join(page), encoding="utf-8")
    print("\n".join(lines))


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.3g}" if abs(value) < 1000 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
