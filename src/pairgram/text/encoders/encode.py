"""Texts to vectors with a trained encoder, in batches of similar length."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from pairgram.text.encoders.base import Batch, Encoder, Rows
from pairgram.text.ragged import Ragged

BATCH_WORDS = 1 << 15


def encode(
    encoder: Encoder,
    words: Ragged,
    spelling: Rows,
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
        Letters of all words, known and unknown, on `device`.
    device
        Where to work.
    features
        What `Encoder.features` made of `spelling`, where that is known already.
    """
    vectors = np.empty((len(words), encoder.dim), np.float32)
    with torch.no_grad():
        # For a few texts it is cheaper to spell the words of each batch alone.
        if features is None and len(words.values) > len(spelling):
            features = encoder.features(spelling)
        for rows in _batches(words.lengths):
            batch = Batch(Rows.of(words.take(rows), device), spelling, features=features)
            vectors[rows] = encoder(batch).cpu().numpy()
    return vectors


def _batches(lengths: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """Rows by length, cut so that a batch has about `BATCH_WORDS` words."""
    order = np.argsort(lengths, kind="stable")
    total = np.cumsum(np.maximum(lengths[order], 1))
    begin, used = 0, 0
    while begin < len(order):
        end = max(begin + 1, int(np.searchsorted(total, used + BATCH_WORDS, side="right")))
        yield order[begin:end]
        begin, used = end, int(total[end - 1])
