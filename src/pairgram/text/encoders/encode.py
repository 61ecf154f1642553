"""Texts to vectors with a trained encoder, in batches of similar length."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from pairgram.text.encoders.base import Batch, Encoder, Texts
from pairgram.text.ragged import Ragged

DEVICE_BATCH_WORDS = 1 << 18
"""Words of a batch elsewhere than on the CPU, where every launch costs the same."""

Planned = tuple[NDArray[np.int64], Batch]


def encode(
    encoder: Encoder,
    words: Ragged,
    spelling: Ragged,
    device: Any = "cpu",
    features: torch.Tensor | None = None,
) -> NDArray[np.float32]:
    """Vectors of texts, shape (m, dim).

    Parameters
    ----------
    encoder
        On `device`; no dropout is applied.
    words
        Word ids of the texts.
    spelling
        Letters of all words, known and unknown.
    device
        Where to work.
    features
        What `Encoder.features` made of `spelling`, where that is known already.
    """
    with torch.no_grad():
        # For a few texts it is cheaper to spell the words of each batch alone.
        if features is None and len(words.values) > len(spelling):
            features = encoder.features(spelling, device)
        planned = plan(encoder, words, spelling, device, features is not None)
        return encode_planned(encoder, planned, len(words), features)


def plan(
    encoder: Encoder, words: Ragged, spelling: Ragged, device: Any, featured: bool
) -> Iterator[Planned]:
    """Rows of texts, and those texts as the encoder takes them."""
    on_cpu = torch.device(device).type == "cpu"
    most = encoder.words_at_once if on_cpu else DEVICE_BATCH_WORDS
    for rows in batches(words.lengths, most):
        texts = Texts(words.take(rows), spelling, featured=featured)
        yield rows, encoder.batch(texts, device)


def encode_planned(
    encoder: Encoder, planned: Iterable[Planned], count: int, features: torch.Tensor | None
) -> NDArray[np.float32]:
    """Vectors of planned texts, shape (count, dim)."""
    vectors = np.empty((count, encoder.dim), np.float32)
    with torch.no_grad():
        found = [
            (rows, encoder(Batch(batch.arrays, batch.sizes, features))) for rows, batch in planned
        ]
        # Only now, so that no batch waits for the one before.
        for rows, part in found:
            vectors[rows] = part.cpu().numpy()
    return vectors


def batches(lengths: NDArray[np.int64], most: int) -> Iterator[NDArray[np.int64]]:
    """Rows by length, cut so that a batch has about so many words."""
    order = np.argsort(lengths, kind="stable")
    total = np.cumsum(np.maximum(lengths[order], 1))
    begin, used = 0, 0
    while begin < len(order):
        end = max(begin + 1, int(np.searchsorted(total, used + most, side="right")))
        yield order[begin:end]
        begin, used = end, int(total[end - 1])
