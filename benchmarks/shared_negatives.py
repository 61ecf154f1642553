"""What noise shared by a centre's pairs costs in quality, on validation links.

PS of order 2 in 5 rounds with `shared_negatives` of 1 (drawn for every pair), 2 and 5, trained on
half of the links of a graph less 5 % of them, which are scored (protocol `seen`). Means over the
seeds; the difference from 1 is paired by seed, with its standard error. The seconds are those of a
machine that did other work as well; `training.py` measures speed.

Needs PAIRGRAM_DATA. Run: python benchmarks/shared_negatives.py [dataset ...]
"""

import statistics
import sys

from common import write
from pairgram import PS, datasets
from pairgram.evaluation.auc import auc_lr, by_rule
from pairgram.evaluation.protocols import draw_trials
from pairgram.split import split_edges, validation_split

DATASETS = ("hepth", "astroph", "cora", "facebook", "zhihu")
SEEDS = (100, 101, 102)
SHARED = (1, 2, 5)


def measure(graph, seed: int, shared: int) -> dict[str, float]:
    split = validation_split(split_edges(graph, keep=0.5, seed=seed), 0.05, seed)
    trials = draw_trials(split, "seen", seed)
    model = PS(order=2, times=5, seed=seed, shared_negatives=shared).fit(split.train)
    found = {f"AUC_pair {k}": result.auc_pair for k, result in by_rule(model, trials).items()}
    return {
        "AUC_LR": auc_lr(model.vectors_.center, trials, seed)[0], **dict(sorted(found.items())),
        "train s": model.stats_["seconds"]["train"],
    }  # fmt: skip


def rows(name: str) -> list[dict[str, object]]:
    graph = datasets.load(name)
    found = {w: [measure(graph, seed, w) for seed in SEEDS] for w in SHARED}
    lines = []
    for shared, cells in found.items():
        line: dict[str, object] = {"graph": name, "shared_negatives": shared, "seeds": len(SEEDS)}
        for key in cells[0]:
            line[key] = f"{statistics.mean(cell[key] for cell in cells):.4f}"
            if shared > 1 and key != "train s":
                off = [a[key] - b[key] for a, b in zip(cells, found[1], strict=True)]
                error = statistics.stdev(off) / len(off) ** 0.5
                line[key] += f" ({statistics.mean(off):+.4f} ± {error:.4f})"
        lines.append(line)
        print(line, flush=True)
    return lines


def main() -> None:
    chosen = sys.argv[1:] or DATASETS
    write("shared_negatives", [line for name in chosen for line in rows(name)])


if __name__ == "__main__":
    main()
