"""Fused scores beside their parts: MRR of new nodes, weights fitted on validation nodes.

Run: python benchmarks/fused.py hepth openmed, with PAIRGRAM_DATA set; seeds 0 to 2.
"""

import argparse
import functools
import statistics
import time
from typing import Any

from common import write
from pairgram import datasets
from pairgram.evaluation.fusing import fuse
from pairgram.evaluation.ranking import rank, zero_shot_queries
from pairgram.evaluation.text_floors import query_texts
from pairgram.metrics import ranking
from pairgram.models import TGE
from pairgram.models.fusing import Evidence
from pairgram.search.fusion import FUSED, LEARNED, PARTS
from pairgram.split import split_nodes

SEEDS = (0, 1, 2)
HOLD_OUT = {"hepth": 0.02, "openmed": 0.005}
SETTINGS = {
    "hepth": {"dim": 64, "preset": "best", "epochs": 4, "times": 1, "threads": 1},
    "openmed": {"dim": 64, "preset": "best", "epochs": 6, "times": 1, "threads": 1},
}


def one_seed(name: str, graph: Any, seed: int) -> dict[str, Any]:
    """Fit the weights on validation, then rank the test nodes by every part and by all together."""
    began = time.perf_counter()
    split = split_nodes(graph, HOLD_OUT[name], seed)
    build = functools.partial(TGE, **SETTINGS[name], seed=seed)
    fusion = fuse(build, split, seed)
    model = build().fit(split.train)
    queries = zero_shot_queries(split)
    texts = query_texts(split, queries)
    placed, evidence = model.place(texts), Evidence(split.train, model.words)

    def blocks(rows: slice) -> dict[str, Any]:
        parts = {LEARNED: placed.block(rows, fusion.rule), **evidence.parts(texts[rows])}
        return {**parts, FUSED: fusion.combine(parts)}

    found = {k: ranking(r.places, queries.row)["mrr"] for k, r in rank(blocks, queries).items()}
    best = max(found[part] for part in PARTS)
    return {
        "data": name, "seed": seed, "queries": len(queries), "rule": fusion.rule,
        **{f"MRR {part}": found[part] for part in (*PARTS, FUSED)},
        "not below the best": found[FUSED] >= best,
        **{f"weight {part}": fusion.weights[part] for part in PARTS},
        "seconds": time.perf_counter() - began,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("data", nargs="+", choices=HOLD_OUT)
    rows: list[dict[str, Any]] = []
    for name in parser.parse_args().data:
        graph = datasets.load(name)
        for seed in SEEDS:
            rows.append(one_seed(name, graph, seed))
            print(rows[-1], flush=True)
        mine = [row for row in rows if row["data"] == name]
        mean = {
            key: statistics.mean(row[key] for row in mine) for key in mine[0] if key[:3] == "MRR"
        }
        best = max(mean[f"MRR {part}"] for part in PARTS)
        rows.append(
            {"data": name, "seed": "mean", **mean, "not below the best": mean["MRR fused"] >= best}
        )
        write("fused", rows)


if __name__ == "__main__":
    main()
