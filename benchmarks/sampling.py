"""Pairs and walk steps per second, hubs included, at one thread and at all.

Needs PAIRGRAM_DATA with hepth. Run: python benchmarks/sampling.py
"""

import numpy as np

import pairgram as pg
from common import median_seconds, write
from pairgram import datasets
from pairgram.engine import available_threads
from pairgram.sampling import iter_pairs, iter_walks


def graphs() -> dict[str, pg.TextGraph]:
    leaves = 1_000_000
    return {
        "hepth": datasets.load("hepth"),
        "star, a million leaves": pg.TextGraph.from_edges(
            np.zeros(leaves, np.int64), np.arange(1, leaves + 1)
        ),
        "clique of 3,000": pg.TextGraph.from_edges(*np.triu_indices(3000, 1)),
    }


def main() -> None:
    rows = []
    for name, graph in graphs().items():
        graph.adjacency()
        for order, times in [(3, 2)] if name != "hepth" else [(2, 5), (3, 5), (4, 5)]:
            for threads in sorted({1, available_threads()}):

                def work(graph=graph, order=order, times=times, threads=threads) -> int:
                    return sum(map(len, iter_pairs(graph, order, times, threads=threads)))

                pairs, took = work(), median_seconds(work)
                rows.append(
                    {
                        "graph": name,
                        "what": f"pairs, O={order}, N={times}",
                        "threads": threads,
                        "count": pairs,
                        "seconds": took["median"],
                        "M/s": pairs / took["median"] / 1e6,
                    }
                )
    graph = datasets.load("hepth")
    for p, q in [(1.0, 1.0), (0.5, 2.0)]:
        for threads in sorted({1, available_threads()}):

            def work(p=p, q=q, threads=threads) -> int:
                return sum(b.size for b in iter_walks(graph, 80, 10, p, q, threads=threads))

            steps, took = work(), median_seconds(work)
            rows.append(
                {
                    "graph": "hepth",
                    "what": f"walk steps, p={p:g}, q={q:g}",
                    "threads": threads,
                    "count": steps,
                    "seconds": took["median"],
                    "M/s": steps / took["median"] / 1e6,
                }
            )
    write("sampling", rows)


if __name__ == "__main__":
    main()
