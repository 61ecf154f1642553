"""Settings tried for pairgram's ladder, scored on validation links of seeds that no page shows.

AUC_pair under `dot` and `context` and AUC_LR, means over the seeds, and million pairs trained on;
the graphs and links are those of `pairgram bench speed`. Seconds are not taken. Lines are kept,
those of the same graph and settings replaced.

Needs PAIRGRAM_DATA. Run:
python benchmarks/rungs.py hepth@50 100,101 '{"order": 2, "times": 1, "epochs": 2}' ...
"""

import json
import sys
import tempfile
from pathlib import Path

import numpy as np

from common import read, write
from pairgram import PS, DeepWalk, TextGraph
from pairgram.bench.speed.graphs import edge_file, score
from pairgram.bench.speed.spec import label_of, read_spec

PEERS = Path(__file__).parent / "peers"
METHODS = {"ps": PS, "deepwalk": DeepWalk}


def measure(graph: str, seed: int, settings: dict[str, object], work: Path) -> dict[str, float]:
    """Scores of one fit, and its pairs."""
    file = edge_file(graph, read_spec(PEERS).graphs[graph], seed, work)
    given = dict(settings)
    model = METHODS[str(given.pop("model", "ps"))](**given, seed=seed)
    fitted = model.fit(TextGraph.from_files(file.path))
    rows = np.array(fitted.graph_.names, dtype=np.int64)
    tables = np.zeros((2, file.nodes, fitted.vectors_.center.shape[1]), np.float32)
    tables[0, rows], tables[1, rows] = fitted.vectors_.center, fitted.vectors_.context
    vectors = work / "vectors.npz"
    np.savez(vectors, center=tables[0], context=tables[1])
    return {**score(vectors, file.trials, seed), "pairs": fitted.stats_["updates"] / 1e6}


def main() -> None:
    graph, seeds = sys.argv[1], [int(seed) for seed in sys.argv[2].split(",")]
    lines = read("rungs")
    for asked in sys.argv[3:]:
        settings = json.loads(asked)
        with tempfile.TemporaryDirectory() as work:
            found = [measure(graph, seed, settings, Path(work)) for seed in seeds]
        mean = {key: float(np.mean([one[key] for one in found])) for key in found[0]}
        line = {
            "graph": graph, "settings": label_of({"model": "ps", **settings}),
            "seeds": ", ".join(map(str, seeds)), "dot": f"{mean['dot']:.4f}",
            "context": f"{mean['context']:.4f}", "AUC_LR": f"{mean['auc_lr']:.4f}",
            "M pairs": f"{mean['pairs']:.2f}",
        }  # fmt: skip
        same = (line["graph"], line["settings"])
        lines = [one for one in lines if (one["graph"], one["settings"]) != same] + [line]
        write("rungs", lines, "python benchmarks/rungs.py GRAPH SEEDS '{\"order\": 2, …}' …")


if __name__ == "__main__":
    main()
