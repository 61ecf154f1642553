"""Fused scores beside their parts: MRR of new nodes, weights fitted on validation nodes.

Run: python benchmarks/fused.py hepth openmed, with PAIRGRAM_DATA set; seeds 0 to 2. The learned
score is that of a small TGE, or with --word-vectors FILE that of Text Matching.
"""

import argparse
import functools
import json
import statistics
import time
from collections.abc import Callable
from typing import Any

from common import OUT, write
from pairgram import datasets
from pairgram.evaluation.fusing import fuse
from pairgram.evaluation.ranking import rank, zero_shot_queries
from pairgram.evaluation.text_floors import query_texts
from pairgram.metrics import ranking
from pairgram.models import TGE, TextMatching
from pairgram.models.fusing import Evidence
from pairgram.search.fusion import FUSED, LEARNED, PARTS
from pairgram.split import split_nodes

SEEDS = (0, 1, 2)
HOLD_OUT = {"hepth": 0.02, "openmed": 0.005}
TGE_SETTINGS = {"dim": 32, "preset": "best", "epochs": 3, "times": 1, "threads": 1, "patience": 0}


def builder(learned: str, word_vectors: str | None, seed: int) -> Callable[[], Any]:
    """Makes the model whose score is fused."""
    if learned == "text_matching":
        return functools.partial(TextMatching, word_vectors, rule="cosine")
    return functools.partial(TGE, **TGE_SETTINGS, seed=seed)


def one_seed(name: str, graph: Any, build: Callable[[], Any], seed: int) -> dict[str, Any]:
    """Fit the weights on validation, then rank the test nodes by every part and by all together."""
    began = time.perf_counter()
    split = split_nodes(graph, HOLD_OUT[name], seed)
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
        "data": name, "learned": model.method, "seed": seed, "queries": len(queries),
        "rule": fusion.rule,
        **{f"MRR {part}": found[part] for part in (*PARTS, FUSED)},
        "not below the best": found[FUSED] >= best,
        **{f"weight {part}": fusion.weights[part] for part in PARTS},
        "seconds": time.perf_counter() - began,
    }  # fmt: skip


def before() -> list[dict[str, Any]]:
    """Rows of earlier runs, which this one adds to."""
    card = OUT / "fused.json"
    return json.loads(card.read_text(encoding="utf-8"))["rows"] if card.exists() else []


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("data", nargs="+", choices=HOLD_OUT)
    parser.add_argument("--word-vectors")
    given = parser.parse_args()
    learned = "tge" if given.word_vectors is None else "text_matching"
    rows = before()
    for name in given.data:
        graph = datasets.load(name)
        rows = [row for row in rows if (row["data"], row["learned"]) != (name, learned)]
        mine: list[dict[str, Any]] = []
        for seed in SEEDS:
            mine.append(one_seed(name, graph, builder(learned, given.word_vectors, seed), seed))
            print(mine[-1], flush=True)
        mean = {
            key: statistics.mean(row[key] for row in mine) for key in mine[0] if key[:3] == "MRR"
        }
        best = max(mean[f"MRR {part}"] for part in PARTS)
        total = {"data": name, "learned": learned, "seed": "mean", **mean}
        rows += [*mine, {**total, "not below the best": mean["MRR fused"] >= best}]
        write("fused", rows, "python benchmarks/fused.py hepth openmed [--word-vectors FILE]")


if __name__ == "__main__":
    main()
