"""Approximate search beside exact: recall@10, queries a second, size, building, adding, mapping.

Give model folders that `pairgram fit --model tge --preset best` wrote; queries are the texts of
known nodes with every other word left out. faiss is no dependency of pairgram: install faiss-cpu to
compare.
Run: python benchmarks/ann.py openmed=FOLDER mesh=FOLDER
"""

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from common import write
from pairgram.models import load

QUERIES, K, FETCH, ADDED = 1000, 10, 100, 1000
RULE = "calibrated"


def vectors(folder: str) -> tuple[np.ndarray, np.ndarray]:
    """Items (n, d) and queries (q, d) whose products are the scores."""
    model = load(folder)
    chosen = np.random.default_rng(0).choice(len(model.vectors_), QUERIES, replace=False)
    texts = [" ".join(model.graph_.texts[v].split()[::2]) for v in chosen]
    placed = model.place(texts)
    terms, bias = placed.terms(RULE)
    left = np.concatenate([a for a, _ in terms], axis=1)
    right = np.concatenate([b for _, b in terms], axis=1)
    items = np.column_stack([right, bias]).astype(np.float32)
    items -= items.mean(axis=0)  # the order of the products stays the same
    queries = np.column_stack([left, np.ones(len(left))]).astype(np.float32)
    return items, queries


def exact(items: np.ndarray, queries: np.ndarray) -> tuple[list[set[int]], float]:
    began = time.perf_counter()
    found = []
    for query in queries:
        scores = items @ query
        best = np.argpartition(-scores, K)[:K]
        found.append(set(best.tolist()))
    return found, len(queries) / (time.perf_counter() - began)


def lifted(items: np.ndarray) -> np.ndarray:
    """Items made equally long by one more number: the nearest by angle is the best."""
    squares = np.einsum("ij,ij->i", items, items)
    rest = np.sqrt(np.maximum(squares.max() - squares, 0))
    return np.column_stack([items, rest]).astype(np.float32)


def measure(
    name: str,
    items: np.ndarray,
    queries: np.ndarray,
    truth: list[set[int]],
    build: Callable[[np.ndarray], Any],
    search: Callable[[Any, np.ndarray, int], np.ndarray],
    add: Callable[[Any, np.ndarray], None],
    save: Callable[[Any, str], None],
    view: Callable[[str], Any],
) -> dict[str, Any]:
    """Build on all but some items, add those, search, and search again in a mapped file."""
    began = time.perf_counter()
    index = build(items[:-ADDED])
    built = time.perf_counter() - began
    began = time.perf_counter()
    add(index, items[-ADDED:])
    added = ADDED / (time.perf_counter() - began)

    def run(which: Any) -> tuple[float, float]:
        began, hits = time.perf_counter(), 0
        for query, best in zip(queries, truth, strict=True):
            some = search(which, query, FETCH)
            some = some[some >= 0]
            again = items[some] @ query
            hits += len(best & set(some[np.argsort(-again)[:K]].tolist()))
        return hits / (K * len(queries)), len(queries) / (time.perf_counter() - began)

    recall, rate = run(index)
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/index"
        save(index, path)
        size = Path(path).stat().st_size / 1e6
        began = time.perf_counter()
        mapped = view(path)
        opened = time.perf_counter() - began
        _, mapped_rate = run(mapped)
    return {
        "index": name, "recall@10": recall, "queries/s": rate, "MB on disk": size,
        "build s": built, "added/s": added, "open mapped s": opened,
        "queries/s mapped": mapped_rate,
    }  # fmt: skip


def usearch_rows(items: np.ndarray, queries: np.ndarray, truth: list[set[int]]) -> list[Any]:
    from usearch.index import Index

    def build(matrix: np.ndarray, metric: str, dtype: str, links: int, effort: int) -> Any:
        index = Index(
            ndim=matrix.shape[1], metric=metric, dtype=dtype, connectivity=links,
            expansion_add=128, expansion_search=effort,
        )  # fmt: skip
        index.add(np.arange(len(matrix)), matrix, threads=1)
        return index

    def add(index: Any, more: np.ndarray) -> None:
        index.add(np.arange(len(index), len(index) + len(more)), more, threads=1)

    def search(index: Any, query: np.ndarray, count: int) -> np.ndarray:
        padded = np.zeros(index.ndim, np.float32)
        padded[: len(query)] = query
        return index.search(padded, count, threads=1).keys.astype(np.int64)

    rows = []
    for metric, dtype, links, effort in (
        ("ip", "f16", 16, 128), ("cos", "f16", 16, 128), ("cos", "f16", 16, 256),
    ):  # fmt: skip
        stored = lifted(items) if metric == "cos" else items
        row = measure(
            f"usearch HNSW {metric} {dtype} M={links} ef={effort}", items, queries, truth,
            lambda matrix, m=metric, d=dtype, c=links, e=effort, s=stored: build(
                s[: len(matrix)], m, d, c, e
            ),
            search,
            lambda index, more, s=stored: add(index, s[len(s) - len(more) :]),
            lambda index, path: index.save(path),
            lambda path: Index.restore(path, view=True),
        )  # fmt: skip
        rows.append(row)
        print(row, flush=True)
    return rows


def faiss_rows(items: np.ndarray, queries: np.ndarray, truth: list[set[int]]) -> list[Any]:
    try:
        import faiss
    except ImportError:
        return []
    faiss.omp_set_num_threads(1)
    stored = lifted(items)

    def search(index: Any, query: np.ndarray, count: int) -> np.ndarray:
        padded = np.zeros((1, index.d), np.float32)
        padded[0, : len(query)] = query
        return index.search(padded, count)[1][0]

    def hnsw(matrix: np.ndarray, effort: int) -> Any:
        index = faiss.IndexHNSWFlat(stored.shape[1], 16, faiss.METRIC_INNER_PRODUCT)
        index.hnsw.efConstruction, index.hnsw.efSearch = 128, effort
        index.add(stored[: len(matrix)])
        return index

    def inverted(matrix: np.ndarray, probes: int) -> Any:
        coarse = faiss.IndexFlatIP(stored.shape[1])
        lists = int(2 * np.sqrt(len(matrix)))
        index = faiss.IndexIVFFlat(coarse, stored.shape[1], lists, faiss.METRIC_INNER_PRODUCT)
        index.train(stored[: len(matrix)])
        index.nprobe = probes
        index.add(stored[: len(matrix)])
        index.own_fields = False
        index.coarse = coarse
        return index

    rows = []
    for name, build in (
        ("faiss HNSW lifted f32 M=16 ef=128", lambda matrix: hnsw(matrix, 128)),
        ("faiss IVF lifted f32 nprobe=32", lambda matrix: inverted(matrix, 32)),
    ):
        row = measure(
            name, items, queries, truth, build, search,
            lambda index, more: index.add(stored[len(stored) - len(more) :]),
            faiss.write_index,
            lambda path: faiss.read_index(path, faiss.IO_FLAG_MMAP),
        )  # fmt: skip
        rows.append(row)
        print(row, flush=True)
    return rows


def main() -> None:
    rows: list[dict[str, Any]] = []
    for given in sys.argv[1:]:
        name, _, folder = given.partition("=")
        items, queries = vectors(folder)
        truth, rate = exact(items, queries)
        about = {"data": name, "nodes": len(items), "dim": items.shape[1]}
        rows.append({
            **about, "index": "exact", "recall@10": 1.0, "queries/s": rate,
            "MB on disk": items.nbytes / 1e6,
        })  # fmt: skip
        found = (*usearch_rows(items, queries, truth), *faiss_rows(items, queries, truth))
        rows += [{**about, **row} for row in found]
        write("ann", rows)


if __name__ == "__main__":
    main()
