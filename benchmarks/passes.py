"""Encoder passes of an epoch: one for each centre, however many pairs `times` gives it.

Needs PAIRGRAM_DATA with cora, else a planted graph. Run: python benchmarks/passes.py
"""

from common import write
from pairgram import datasets
from pairgram.bench.graphs import planted_graph
from pairgram.errors import PairgramError
from pairgram.models import TGE

TIMES = (1, 2, 4, 8, 16)


def main() -> None:
    try:
        graph, name = datasets.load("cora"), "cora"
    except PairgramError:
        graph, name = planted_graph(), "planted"
    linked = int((graph.degree > 0).sum())
    rows = []
    for times in TIMES:
        model = TGE(dim=32, preset="best", times=times, epochs=2, patience=0).fit(graph)
        stats = model.stats_
        rows.append(
            {
                "dataset": name, "times": times, "nodes with a link": linked,
                "encoder passes an epoch": stats["passes"] // stats["epochs"],
                "pairs": stats["pairs"], "pairs a pass": stats["pairs"] * stats["epochs"]
                / stats["passes"],
            }
        )  # fmt: skip
    write("passes", rows)


if __name__ == "__main__":
    main()
