"""Suggestions for one new text against a graph of the size of openmed, after loading.

Vectors are random, the encoder is a real one with random weights over the words of the texts, the
ranker of `bag` is trained for a moment; none of it changes what a query costs. "MB but vectors" is
the folder without what has a row for every node: weights and vocabulary. Texts are openmed's where
PAIRGRAM_DATA has them, otherwise made up. Run: python benchmarks/query.py
"""

import statistics
import tempfile
import time
from pathlib import Path

import numpy as np

from common import write
from pairgram import datasets
from pairgram.errors import PairgramError
from pairgram.graph import TextGraph
from pairgram.models import TGE, load, rehearsing
from pairgram.models.base import Model
from pairgram.text.cleaning import cleaner
from pairgram.vectors import Vectors

NODES, DIM, QUERIES = 220_000, 128, 200
RULES = {"bag": ("calibrated", "symmetric", "ranked"), "bilstm": ("dot", "context")}
BY_NODE = ("vectors", "nodes", "edges")
HELD_OUT = 200


def graph() -> TextGraph:
    try:
        return datasets.load("openmed")
    except PairgramError:
        random = np.random.default_rng(0)
        words = [f"word{i}" for i in range(60_000)]
        texts = [" ".join(random.choice(words, 5)) for _ in range(NODES)]
        ends = random.integers(0, NODES, (2, 340_000))
        return TextGraph.from_edges(*ends, names=[str(i) for i in range(NODES)], texts=texts)


def save(nodes: TextGraph, encoder: str, folder: Path) -> None:
    """Write the folder of a model that knows all words of the texts and was trained for a step."""
    model = TGE(dim=DIM, preset="best", encoder=encoder, id_vectors=False)
    every = " ".join(nodes.texts or ())
    tiny = TextGraph.from_edges(["a"], ["b"], texts={"a": every, "b": "another"})
    model.set_params(epochs=1, patience=0, order=1, times=1).fit(tiny)
    random = np.random.default_rng(0)
    center, context = (random.standard_normal((nodes.n_nodes, DIM), np.float32) for _ in range(2))
    model.graph_, model.fingerprint_ = nodes, nodes.fingerprint
    model.vectors_ = Vectors(center, context, nodes.names)
    if "ranked" in RULES[encoder]:
        rehearsing.SHARES = ((1.0, HELD_OUT),)
        words = cleaner("words")
        model.ranking_ = rehearsing.fit_ranking(nodes, words, seed=0)
    model.save(folder)


def ask(model: Model, texts: list[str], rule: str) -> list[float]:
    """Milliseconds of each query."""
    took = []
    for text in texts:
        began = time.perf_counter()
        model.suggest(text, k=10, rule=rule)
        took.append(1000 * (time.perf_counter() - began))
    return took


def measure(folder: Path, encoder: str, new: list[str]) -> list[dict[str, object]]:
    began = time.perf_counter()
    model = load(folder)
    loaded = time.perf_counter() - began
    size = sum(f.stat().st_size for f in folder.iterdir() if f.stem.split(".")[0] not in BY_NODE)
    rows = []
    for rule in RULES[encoder]:
        first = ask(model, new[:1], rule)[0]
        took = ask(model, new, rule)
        rows.append(
            {
                "encoder": encoder, "rule": rule, "nodes": model.graph_.n_nodes, "dim": DIM,
                "median ms": statistics.median(took),
                "95 % below ms": float(np.quantile(took, 0.95)),
                "first query ms": first, "load s": loaded, "MB but vectors": size / 1e6,
            }
        )  # fmt: skip
    return rows


def main() -> None:
    nodes = graph()
    random = np.random.default_rng(1)
    drawn = random.choice(nodes.n_nodes, QUERIES, replace=False)
    new = [f"{nodes.texts[v]} newly found {v}" for v in drawn]
    rows = []
    with tempfile.TemporaryDirectory() as place:
        for encoder in RULES:
            save(nodes, encoder, Path(place) / encoder)
        # Measured alone, so that what saving left in memory plays no part.
        for encoder in RULES:
            rows += measure(Path(place) / encoder, encoder, new)
    write("query", rows)


if __name__ == "__main__":
    main()
