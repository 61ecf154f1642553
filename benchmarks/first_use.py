"""A newcomer's path, timed: from a clone to a suggestion on one's own two files, by the README.

Run: python benchmarks/first_use.py
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from common import write

ROOT = Path(__file__).parent.parent
NODES, EDGES, TOPICS = 1_000, 4_000, 20


def files(folder: Path) -> None:
    """A graph of topics, with texts of their words."""
    random = np.random.default_rng(0)
    topic = random.integers(0, TOPICS, NODES)
    source = random.integers(0, NODES, EDGES)
    same = [random.choice(np.flatnonzero(topic == topic[u])) for u in source]
    lines = [f"item-{u}\titem-{v}\n" for u, v in zip(source, same, strict=True) if u != v]
    (folder / "edges.tsv").write_text("".join(lines))
    texts = [
        f"item-{i}\t{' '.join(f'word{10 * topic[i] + w}' for w in random.integers(0, 10, 6))}\n"
        for i in range(NODES)
    ]
    (folder / "nodes.tsv").write_text("".join(texts))


def main() -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        files(folder)
        bin_ = folder / "venv" / "bin"
        steps: list[tuple[str, list[object]]] = [
            ("git clone", ["git", "clone", "--quiet", ROOT, folder / "pairgram"]),
            ("environment", [sys.executable, "-m", "venv", folder / "venv"]),
            ("pip install '.[text,serve,map]'",
             [bin_ / "pip", "install", "--quiet", f"{folder / 'pairgram'}[text,serve,map]"]),
            ("pairgram inspect",
             [bin_ / "pairgram", "inspect", "edges.tsv", "--texts", "nodes.tsv"]),
            ("pairgram fit", [bin_ / "pairgram", "fit", "edges.tsv", "--texts", "nodes.tsv",
                              "--model", "tge", "--preset", "best", "-o", "model"]),
            ("pairgram suggest", [bin_ / "pairgram", "suggest", "model", "word1 word2 word3"]),
        ]  # fmt: skip
        rows: list[dict[str, object]] = []
        for name, command in steps:
            began = time.perf_counter()
            subprocess.run(list(map(str, command)), cwd=folder, check=True, capture_output=True)
            rows.append({"step": name, "seconds": time.perf_counter() - began})
        total = sum(float(str(row["seconds"])) for row in rows)
        write("first_use", [*rows, {"step": "all", "seconds": total}])


if __name__ == "__main__":
    main()
