"""What the order of a dataset's nodes says about its links, and what a tool makes of it.

AUC_pair of minus the distance of two nodes in the order of the data, on validation links; and
GRAPE's first rung with a larger rate, on an edge list in that order and on one in random order.

Needs PAIRGRAM_DATA, and .peers/grape for its columns. Run:
python benchmarks/node_order.py [GRAPH ...]
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

from common import read, write
from pairgram.bench.graphs import load_graph
from pairgram.bench.speed.execute import Environments, RunError, Task, execute
from pairgram.bench.speed.graphs import SIDES, EdgeFile, score, undirected_edges
from pairgram.bench.speed.spec import read_peers, read_spec
from pairgram.evaluation.protocols import Trials, draw_trials
from pairgram.graph import TextGraph
from pairgram.metrics import auc_pair
from pairgram.split import split_edges, validation_split

PEERS = Path(__file__).parent / "peers"
ENVIRONMENTS = Environments(PEERS.parent.parent / ".peers", PEERS / "common")
SEED, LIMIT = 100, 600.0
GRAPHS = ("hepth@50", "astroph@50", "openmed@69")


def by_distance(trials: Trials) -> float:
    """AUC_pair of nodes that are near each other in the order."""
    near = [-np.abs(trials.center - side) for side in (trials.positive, trials.negative)]
    return float(auc_pair(*(side.astype(float) for side in near)))


def of_grape(graph: TextGraph, trials: Trials, shuffled: bool, work: Path) -> dict[str, float]:
    """Scores of GRAPE on an edge list in the order of the data, or with nodes and lines shuffled.

    Both are shuffled: GRAPE numbers nodes as the lines name them.
    """
    random = np.random.default_rng(SEED)
    number = random.permutation(graph.n_nodes) if shuffled else np.arange(graph.n_nodes)
    ends = number[np.stack(undirected_edges(graph), 1)]
    ends = random.permutation(ends) if shuffled else ends
    np.savetxt(work / "edges.tsv", ends, fmt="%d", delimiter="\t")
    np.savez(work / "trials.npz", **{side: number[getattr(trials, side)] for side in SIDES})
    file = EdgeFile(work / "edges.tsv", graph.n_nodes, len(ends), work / "trials.npz")
    spec, peer = read_spec(PEERS), read_peers(PEERS)["grape"]
    settings = {**spec.common, **peer.base, "times": 1, "epochs": 1, "learning_rate": 0.05}
    task = Task("whole", file, settings, 2, SEED, LIMIT)
    found = execute(
        peer, ENVIRONMENTS, task, lambda vectors: score(vectors, work / "trials.npz", SEED)
    )
    return dict(found["scores"])


def main() -> None:
    lines = read("node_order")
    for name in sys.argv[1:] or GRAPHS:
        given = read_spec(PEERS).graphs[name]
        split = split_edges(load_graph(given["dataset"]), given["keep"], SEED)
        split = validation_split(split, given["validation"], SEED)
        trials = draw_trials(split, "seen", SEED)
        line = {"graph": name, "seed": SEED, "near in the order": f"{by_distance(trials):.4f}"}
        for order, shuffled in {"data's": False, "random": True}.items():
            with tempfile.TemporaryDirectory() as work:
                try:
                    found = of_grape(split.train, trials, shuffled, Path(work))["dot"]
                    line[f"GRAPE under dot, {order} order"] = f"{found:.4f}"
                except RunError as error:
                    line[f"GRAPE under dot, {order} order"] = str(error)
        lines = [one for one in lines if one["graph"] != name] + [line]
        write("node_order", lines)


if __name__ == "__main__":
    main()
