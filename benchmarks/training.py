"""SGNS pairs per second beside gensim's, and what a pair costs of the machine's flops and bytes.

HepTh with half of its links, dim 128, K 5, medians of three in one run. gensim trains on window
pairs of walks (`shrink_windows=False`, pairs counted), so does the first line of ours; the others
are PS with its defaults but for `shared_negatives`. Sampling is not part of any figure.

Needs PAIRGRAM_DATA with hepth, and gensim. Run: python benchmarks/training.py
"""

import statistics
import time

import numpy as np

from common import write
from pairgram import datasets
from pairgram.engine import LocalEngine
from pairgram.sampling.pairs import PairSampler
from pairgram.sampling.walks import WalkSampler
from pairgram.split import split_edges
from pairgram.training.settings import Settings
from pairgram.training.sgns import train
from pairgram.training.sources import SampledPairs, WalkWindows

DIM, NEGATIVES, LENGTH, WINDOW, WALKS, RUNS = 128, 5, 80, 5, 4_000, 3
SHARED = (1, 2, 5, 10)
# Of one node and one coordinate: two sums of products, two rows decayed and moved.
FLOPS, BYTES = 2 + 2 + 3 + 3, 8
NEAR, FAR = 1 << 18, 1 << 27


class Once:
    """A source that draws its pairs before the clock runs."""

    def __init__(self, source):
        self.source, self.chunks, self.kept = source, 1, None

    def chunk(self, k, parts, engine, span=None):
        """Give the one chunk."""
        if self.kept is None:
            self.kept = self.source.chunk(0, parts, engine)
        return self.kept


def gensim_rate(graph, threads: int) -> float:
    from gensim.models import Word2Vec

    starts = np.random.default_rng(0).permutation(graph.n_nodes)[:WALKS]
    walks = WalkSampler(graph, LENGTH, seed=0).walk(starts, np.zeros(WALKS, np.int64))
    texts = [[str(v) for v in walk if v >= 0] for walk in walks if walk[1] >= 0]
    pairs = sum(
        min(t, WINDOW) + min(len(text) - 1 - t, WINDOW) for text in texts for t in range(len(text))
    )
    model = Word2Vec(
        vector_size=DIM, window=WINDOW, min_count=0, sample=0, sg=1, negative=NEGATIVES,
        workers=threads, shrink_windows=False, epochs=1,
    )  # fmt: skip
    model.build_vocab(texts)
    began = time.perf_counter()
    model.train(texts, total_examples=len(texts), epochs=1)
    return pairs / (time.perf_counter() - began)


def our_rate(source, graph, settings: Settings, threads: int) -> float:
    with LocalEngine(threads) as engine:
        progress = train(source, graph.degree, settings, engine)[2]
    return progress.updates / progress.seconds["train"]


def product_flops(threads: int) -> float:
    """Flops of a large matrix product, which reads hardly anything for each."""
    from threadpoolctl import threadpool_limits

    a, b = np.ones((2, 2048, 2048), np.float32)
    with threadpool_limits(threads):
        began = time.perf_counter()
        a @ b
        return 2 * 2048**3 / (time.perf_counter() - began)


def copy_bytes(size: int, threads: int) -> float:
    """Bytes read and written in a second by copies of `size` bytes in every thread."""
    times = max(1, (1 << 30) // size)
    arrays = [np.ones((2, size), np.uint8) for _ in range(threads)]

    def copy(pair) -> None:
        for _ in range(times):
            np.copyto(pair[0], pair[1])

    with LocalEngine(threads) as engine:
        began = time.perf_counter()
        engine.run(copy, arrays)
        return 2 * size * times * threads / (time.perf_counter() - began)


def median(work) -> float:
    work()
    return statistics.median(work() for _ in range(RUNS))


def main() -> None:
    graph = split_edges(datasets.load("hepth"), keep=0.5, seed=0).train
    pairs = Once(SampledPairs(PairSampler(graph, order=2, times=5), graph.n_nodes, 1 << 40))
    windows = Once(WalkWindows(WalkSampler(graph, LENGTH), graph.n_nodes, 1, WINDOW))
    rows = []
    for threads in (1, 2):
        peer = median(lambda threads=threads: gensim_rate(graph, threads))
        rows.append({"threads": threads, "what": "gensim", "M pairs/s": peer / 1e6})
        limits = {
            "flops": median(lambda threads=threads: product_flops(threads)),
            "near": median(lambda threads=threads: copy_bytes(NEAR, threads)),
            "far": median(lambda threads=threads: copy_bytes(FAR, threads)),
        }
        for what, source, shared in [
            ("windows of walks, as gensim", windows, 1), *(("PS", pairs, w) for w in SHARED)
        ]:  # fmt: skip
            settings = Settings(
                DIM, NEGATIVES, epochs=3 if source is pairs else 1, learning_rate=0.1, l2=0.0125,
                offset=True, shared_negatives=shared,
            )  # fmt: skip
            rate = median(lambda s=source, t=settings, n=threads: our_rate(s, graph, t, n))
            rows.append(line(threads, what, shared, rate, peer, limits))
        rows.append(
            {
                "threads": threads, "what": "machine: matrix product, copies in L2, in memory",
                "Gflop/s": limits["flops"] / 1e9, "GB/s": limits["near"] / 1e9,
                "GB/s memory": limits["far"] / 1e9,
            }
        )  # fmt: skip
    write("training", rows)


def line(threads, what, shared, rate, peer, limits) -> dict[str, object]:
    nodes = 1 + NEGATIVES / shared
    flops, moved = nodes * DIM * FLOPS, nodes * DIM * BYTES
    return {
        "threads": threads, "what": what, "shared_negatives": shared, "M pairs/s": rate / 1e6,
        "times gensim": rate / peer, "flops a pair": int(flops), "bytes a pair": int(moved),
        "Gflop/s": rate * flops / 1e9, "of the product's": rate * flops / limits["flops"],
        "GB/s": rate * moved / 1e9, "of the copies'": rate * moved / limits["near"],
    }  # fmt: skip


if __name__ == "__main__":
    main()
