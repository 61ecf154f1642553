"""Seconds of an epoch of text training, beside what the machine's arithmetic or memory would take.

HepTh with half of its links (27,400 abstracts) at order 3, N 2, some two million pairs; an epoch is
timed from its first turn to its last, and the first epoch, which warms up, is left out. The least
work of an epoch: for `bilstm` arithmetic, two operations for every weight of an LSTM and token,
three times over (forward, and twice backward); for `bag` memory, a row of dim floats for every word
and every pair and noise pair, read forward, and read, moved and written backward. The machine's
rates of a large matrix product and of a large copy, measured in the same run, turn it into seconds.

Needs PAIRGRAM_DATA with hepth. Run: python benchmarks/text_training.py [cpu|cuda]
"""

import statistics
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import torch

from common import write
from pairgram import datasets
from pairgram.models import TGE
from pairgram.split import split_edges
from pairgram.text.cleaning import cleaner

EPOCHS = {"cpu": {"bag": 3, "bilstm": 2}, "cuda": {"bag": 6, "bilstm": 4}}
NAMES = {"cpu": "cpu", "cuda": "gpu"}
DIM, NEGATIVES = 128, 5
PRESET = {"bag": "best", "bilstm": "paper"}


class Work:
    """Operations of the LSTMs, counted as they run."""

    def __init__(self) -> None:
        self.flops = 0

    def count(self, module: torch.nn.Module, inputs: tuple[Any, ...]) -> None:
        """See the inputs of a module in training."""
        if module.training and isinstance(module, torch.nn.LSTM):
            weights = sum(p.numel() for name, p in module.named_parameters() if "weight" in name)
            self.flops += 3 * 2 * weights * len(inputs[0].data)


def epoch(encoder: str, graph: Any, device: str) -> dict[str, Any]:
    """Fit a few epochs, and tell the seconds of one and the work in it."""
    work, ends = Work(), []
    hook = torch.nn.modules.module.register_module_forward_pre_hook(work.count)
    epochs = EPOCHS[device][encoder]
    model = TGE(
        dim=DIM, negatives=NEGATIVES, order=3, times=2, preset=PRESET[encoder],
        epochs=epochs, patience=0, device=device,
    )  # fmt: skip
    try:
        model.fit(graph, callback=lambda progress, turns: ends.append((turns, time.perf_counter())))
    finally:
        hook.remove()
    turns = ends[0][0] // epochs
    marks = [moment for _, moment in ends[turns - 1 :: turns]]
    pairs = model.stats_["pairs"]
    words = sum(len(cleaner("words")(text)) for text in graph.texts)
    rows = words + pairs * (1 + NEGATIVES)
    return {
        "encoder": encoder, "texts": graph.n_nodes, "pairs": pairs,
        "seconds an epoch": statistics.median(b - a for a, b in pairwise(marks)),
        "Gflop": work.flops / epochs / 1e9, "GB": 4 * 4 * DIM * rows / 1e9,
    }  # fmt: skip


def rates(device: str) -> tuple[float, float]:
    """Gflop/s of a float32 matrix product, and GB/s of a copy, read and written."""
    square, long = torch.ones(4096, 4096, device=device), torch.ones(2, 1 << 27, device=device)
    product = min(_seconds(lambda: square @ square) for _ in range(4))
    copy = min(_seconds(lambda: long[0].copy_(long[1])) for _ in range(4))
    return 2 * 4096**3 / product / 1e9, 4 * long.numel() / copy / 1e9


def _seconds(work: Callable[[], torch.Tensor]) -> float:
    began = time.perf_counter()
    work().view(-1)[-1].item()
    return time.perf_counter() - began


def main(device: str) -> None:
    graph = split_edges(datasets.load("hepth"), 0.5, seed=0).train
    flops, copied = rates(device)
    rows = [{"device": device, **epoch(encoder, graph, device)} for encoder in PRESET]
    for row in rows:
        least = row["Gflop"] / flops if row["Gflop"] else row["GB"] / copied
        row |= {
            "Gflop/s of a product": flops, "GB/s of a copy": copied, "seconds at the limit": least,
            "times the limit": row["seconds an epoch"] / least,
        }  # fmt: skip
    write(f"text_training_{NAMES[device]}", rows, f"python benchmarks/text_training.py {device}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "cuda" if torch.cuda.is_available() else "cpu")
