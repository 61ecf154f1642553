"""Near-identical texts among those of openmed, all pairs, and new nodes against known ones.

Needs PAIRGRAM_DATA with openmed, else texts are made up. Run: python benchmarks/duplicates.py
"""

import time

import numpy as np

from common import write
from pairgram import datasets
from pairgram.errors import PairgramError
from pairgram.evaluation.duplicates import find_repeats, near_pairs, shingles, words_of
from pairgram.graph import TextGraph
from pairgram.split import split_nodes

TEXTS, SHARE = 200_000, 0.005


def graph() -> tuple[str, TextGraph]:
    try:
        return "openmed", datasets.load("openmed")
    except PairgramError:
        random = np.random.default_rng(0)
        words = random.integers(0, 40_000, (TEXTS, 6))
        texts = [" ".join(f"word{w}" for w in row) for row in words.tolist()]
        texts[: TEXTS // 20] = texts[-(TEXTS // 20) :]
        ends = random.integers(0, TEXTS, (2, 340_000))
        names = [str(i) for i in range(TEXTS)]
        return "made up", TextGraph.from_edges(*ends, names=names, texts=texts)


def main() -> None:
    name, nodes = graph()
    texts = nodes.texts or ()
    began = time.perf_counter()
    pairs = near_pairs(shingles(list(words_of(texts))))
    all_pairs = time.perf_counter() - began
    split = split_nodes(nodes, SHARE, seed=0)
    began = time.perf_counter()
    repeats = find_repeats(split)
    across = time.perf_counter() - began
    write(
        "duplicates",
        [
            {"dataset": name, "texts": len(texts), "what": "all pairs", "seconds": all_pairs,
             "found": len(pairs)},
            {"dataset": name, "texts": len(texts), "what": f"{len(split.new):,} new nodes",
             "seconds": across, "found": int(repeats.any.sum())},
        ],
    )  # fmt: skip


if __name__ == "__main__":
    main()
