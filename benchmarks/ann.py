"""Approximate search beside exact: recall@10, queries a second, size, building, adding, mapping.

Give model folders that `pairgram fit --model tge --preset best` wrote; queries are the texts of
known nodes with every other word left out. Seconds are those of one core. usearch is no dependency
of pairgram: install it to compare.
Run: python benchmarks/ann.py openmed=FOLDER mesh=FOLDER
"""

import itertools
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from common import write
from pairgram.models import load

QUERIES, K, ADDED = 1000, 10, 1000
RULE = "calibrated"


def vectors(folder: str) -> tuple[np.ndarray, np.ndarray]:
    """Items (n, d) and queries (q, d) whose products are the scores, but for a constant."""
    model = load(folder)
    chosen = np.random.default_rng(0).choice(len(model.vectors_), QUERIES, replace=False)
    texts = [" ".join(model.graph_.texts[v].split()[::2]) for v in chosen]
    terms, bias = model.place(texts).terms(RULE)
    left = np.concatenate([a for a, _ in terms], axis=1)
    right = np.concatenate([b for _, b in terms], axis=1)
    items = np.column_stack([right, bias]).astype(np.float32)
    items -= items.mean(axis=0)  # the order of the products stays the same
    queries = np.column_stack([left, np.ones(len(left))]).astype(np.float32)
    return items, queries


def exact(items: np.ndarray, queries: np.ndarray) -> tuple[list[set[int]], float]:
    """The best items of every query, and queries a second."""
    began = time.process_time()
    found = []
    for query in queries:
        scores = items @ query
        found.append(set(np.argpartition(-scores, K)[:K].tolist()))
    return found, len(queries) / (time.process_time() - began)


class Usearch:
    """HNSW of usearch in half precision."""

    def __init__(self, links: int, effort: int) -> None:
        self.name, self.links, self.effort = f"usearch HNSW M={links} ef={effort}", links, effort

    def build(self, items: np.ndarray) -> Any:
        from usearch.index import Index

        index = Index(
            ndim=items.shape[1], metric="ip", dtype="f16", connectivity=self.links,
            expansion_add=128, expansion_search=self.effort,
        )  # fmt: skip
        self.add(index, items)
        return index

    def add(self, index: Any, items: np.ndarray) -> None:
        index.add(np.arange(len(index), len(index) + len(items)), items, threads=1)

    def search(self, index: Any, query: np.ndarray) -> np.ndarray:
        return index.search(query, self.effort, threads=1).keys.astype(np.int64)

    def save(self, index: Any, path: str) -> None:
        index.save(path)

    def view(self, path: str) -> Any:
        from usearch.index import Index

        index = Index.restore(path, view=True)
        index.expansion_search = self.effort
        return index


class Faiss:
    """HNSW or inverted lists of faiss in single precision."""

    def __init__(self, kind: str, effort: int) -> None:
        self.name, self.kind, self.effort = f"faiss {kind} effort {effort}", kind, effort

    def build(self, items: np.ndarray) -> Any:
        import faiss

        faiss.omp_set_num_threads(1)
        lists = int(2 * np.sqrt(len(items)))
        recipe = f"IVF{lists},Flat" if self.kind == "IVF" else "HNSW16,Flat"
        index = faiss.index_factory(items.shape[1], recipe, faiss.METRIC_INNER_PRODUCT)
        index.train(items)
        index.add(items)
        return self._set(index)

    def _set(self, index: Any) -> Any:
        import faiss

        name = "nprobe" if self.kind == "IVF" else "efSearch"
        faiss.ParameterSpace().set_index_parameter(index, name, self.effort)
        return index

    def add(self, index: Any, items: np.ndarray) -> None:
        index.add(items)

    def search(self, index: Any, query: np.ndarray) -> np.ndarray:
        found = index.search(query[None], 10 * K)[1][0]
        return found[found >= 0]

    def save(self, index: Any, path: str) -> None:
        import faiss

        faiss.write_index(index, path)

    def view(self, path: str) -> Any:
        import faiss

        return self._set(faiss.read_index(path, faiss.IO_FLAG_MMAP))


def measure(tool: Any, items: np.ndarray, queries: np.ndarray, truth: list[set[int]]) -> dict:
    """Build on all but some items, add those, search, and search again in a mapped file."""
    began = time.process_time()
    index = tool.build(items[:-ADDED])
    built = time.process_time() - began
    began = time.process_time()
    tool.add(index, items[-ADDED:])
    added = ADDED / (time.process_time() - began)

    def run(which: Any) -> tuple[float, float]:
        began, hits = time.process_time(), 0
        for query, best in zip(queries, truth, strict=True):
            some = tool.search(which, query)
            again = items[some] @ query
            hits += len(best & set(some[np.argsort(-again)[:K]].tolist()))
        return hits / (K * len(queries)), len(queries) / (time.process_time() - began)

    recall, rate = run(index)
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/index"
        tool.save(index, path)
        size = Path(path).stat().st_size / 1e6
        began = time.process_time()
        mapped = tool.view(path)
        opened = time.process_time() - began
        _, mapped_rate = run(mapped)
    return {
        "index": tool.name, "recall@10": recall, "queries/s": rate, "MB": size,
        "build s": built, "added/s": added, "open mapped s": opened,
        "queries/s mapped": mapped_rate,
    }  # fmt: skip


def tools() -> Iterator[Any]:
    """What is compared."""
    yield Faiss("IVF", 64)
    yield Faiss("IVF", 128)
    if find_spec("usearch") is not None:
        yield Usearch(16, 512)
    yield Faiss("HNSW", 512)


def main() -> None:
    rows: list[dict[str, Any]] = []
    known: dict[str, Any] = {}
    for given in sys.argv[1:]:
        name, _, folder = given.partition("=")
        items, queries = vectors(folder)
        truth, rate = exact(items, queries)
        known[name] = items, queries, truth
        about = {"data": name, "nodes": len(items), "dim": items.shape[1]}
        size = items.nbytes / 1e6
        rows.append({**about, "index": "exact", "recall@10": 1.0, "queries/s": rate, "MB": size})
    for tool, name in itertools.product(tools(), known):
        about = {"data": name, "nodes": len(known[name][0]), "dim": known[name][0].shape[1]}
        rows.append({**about, **measure(tool, *known[name])})
        print(rows[-1], flush=True)
        ordered = sorted(rows, key=lambda row: list(known).index(row["data"]))
        write("ann", ordered, "python benchmarks/ann.py openmed=FOLDER mesh=FOLDER")


if __name__ == "__main__":
    main()
