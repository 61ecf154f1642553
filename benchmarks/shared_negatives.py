"""What noise shared by a centre's pairs costs in quality, on validation links.

PS of order 2 in 5 rounds with `shared_negatives` of 1 (drawn for every pair), 2, 4 and 5, with as
many epochs as the default or with more of them, trained on half of the links of a graph less 5 % of
them, which are scored (protocol `seen`). Means over the seeds; the difference from 1 is paired by
seed, with its standard error. The noise is drawn anew in every epoch, shared or not. Noise rows are
what a pair costs, (1 + K / shared) of them: `work` is that times the epochs, of the first line's.
The seconds are those of a machine that did other work as well; `training.py` measures speed.

Needs PAIRGRAM_DATA. Run: python benchmarks/shared_negatives.py [dataset ...]
"""

import statistics
import sys

from common import read, write
from pairgram import PS, datasets
from pairgram.evaluation.auc import auc_lr, by_rule
from pairgram.evaluation.protocols import draw_trials
from pairgram.split import split_edges, validation_split

DATASETS = ("hepth", "astroph", "cora", "facebook", "zhihu")
SEEDS = (100, 101, 102)
NEGATIVES = 5
# Pairs that share, and how many times the epochs.
SHARED = ((1, 1.0), (2, 1.0), (5, 1.0), (2, 1.5), (4, 2.0))


def measure(graph, seed: int, shared: int, longer: float) -> dict[str, float]:
    split = validation_split(split_edges(graph, keep=0.5, seed=seed), 0.05, seed)
    trials = draw_trials(split, "seen", seed)
    model = PS(order=2, times=5, seed=seed, shared_negatives=shared)
    model.set_params(epochs=round(model._epochs(split.train) * longer)).fit(split.train)
    found = {f"AUC_pair {k}": result.auc_pair for k, result in by_rule(model, trials).items()}
    return {
        "AUC_LR": auc_lr(model.vectors_.center, trials, seed)[0], **dict(sorted(found.items())),
        "train s": model.stats_["seconds"]["train"],
    }  # fmt: skip


def rows(name: str) -> list[dict[str, object]]:
    graph = datasets.load(name)
    found = {way: [measure(graph, seed, *way) for seed in SEEDS] for way in SHARED}
    lines = []
    for (shared, longer), cells in found.items():
        line: dict[str, object] = {
            "graph": name, "shared_negatives": shared, "epochs": f"x {longer:g}",
            "work": f"{longer * (1 + NEGATIVES / shared) / (1 + NEGATIVES):.2f}",
            "seeds": len(SEEDS),
        }  # fmt: skip
        for key in cells[0]:
            line[key] = f"{statistics.mean(cell[key] for cell in cells):.4f}"
            if shared > 1 and key != "train s":
                off = [a[key] - b[key] for a, b in zip(cells, found[SHARED[0]], strict=True)]
                error = statistics.stdev(off) / len(off) ** 0.5
                line[key] += f" ({statistics.mean(off):+.4f} ± {error:.4f})"
        lines.append(line)
        print(line, flush=True)
    return lines


def main() -> None:
    """Measure the data sets asked for; lines of the others are kept."""
    chosen = sys.argv[1:] or DATASETS
    kept = [line for line in read("shared_negatives") if line["graph"] not in chosen]
    write("shared_negatives", [*kept, *(line for name in chosen for line in rows(name))])


if __name__ == "__main__":
    main()
