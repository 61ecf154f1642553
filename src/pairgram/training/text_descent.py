"""The descent of a batch of texts: its gradients, its rate, and the vectors that come of it."""

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pairgram.text.encoders import to_device
from pairgram.training.text_contrast import Others, Terms, contrast_gradient, takes
from pairgram.training.text_feed import Feed, Step, TextSettings
from pairgram.training.text_net import Contrast, TextNet, contrast_loss

Table = NDArray[np.float32]

PAIR_SLICE = 1 << 18
"""Pairs whose products are held at once; a hub with more takes several turns."""
LAST_RATE = 0.1


def descend(net: TextNet, step: Step, settings: TextSettings, scale: float) -> Tensor:
    """Gradients of a batch, its loss divided by `scale`; return the loss of its pairs ahead."""
    text = net.encoder(step.texts)  # (b, dim)
    # The products of a hub's pairs come in slices, the encoder's gradient once.
    leaf = text.detach().requires_grad_()
    offset = -math.log(settings.negatives) if settings.offset else 0.0
    terms = Terms(settings.negatives, offset, settings.l2, scale)
    if step.back is not None:
        back = Others(None, net.seen_center)
        _descend_pairs(
            lambda: net.context(leaf, step.nodes), back, step.back, step.back_pairs, terms
        )
    # The many rows of the table come last: every gradient that is added to them copies them.
    ahead = Others(net.table, None if net.head is None else net.seen_context)
    total = _descend_pairs(
        lambda: net.center(leaf, step.nodes, step.keep_id), ahead, step.ahead, step.pairs, terms
    )
    with torch.no_grad():
        net.see(step.nodes, net.center(text, step.nodes), text)
    text.backward(leaf.grad)
    return total


def _descend_pairs(
    make: Callable[[], Tensor], others: Others, batch: Contrast, pairs: Tensor, terms: Terms
) -> Tensor:
    """Gradients of a batch's pairs with the vectors that `make` gives; return their loss."""
    total = torch.zeros((), device=pairs.device)
    for piece in _slices(batch):
        vectors = make()
        if takes(piece, vectors):
            gradient, loss = contrast_gradient(vectors, others, piece, pairs, terms)
            vectors.backward(gradient)
        else:
            rest = terms.negatives, terms.offset, terms.l2
            loss = contrast_loss(vectors, others.rows, piece, pairs, *rest)
            (loss / terms.scale).backward()
        total += loss.detach()
    return total


def rate_share(settings: TextSettings, feed: Feed, turn: int) -> float:
    """Share of the learning rate at a turn: it rises in the first epoch, then Adam's falls.

    AdaGrad's first steps are as long as the rate in every weight, whatever the gradient; taken at
    the full rate they drive the recurrent layers and the tanh into saturation.
    """
    risen = min(1.0, (turn + 1) / feed.batches)
    fallen = 1.0 if settings.optimizer == "adagrad" else 1.0 - (1.0 - LAST_RATE) * turn / feed.turns
    return risen * fallen


def vectors_of(
    net: TextNet, text: Table, nodes: NDArray[np.int64], device: Any
) -> tuple[Table, Table]:
    """Centre and context vectors of nodes, from those of their texts, all (m, dim)."""
    with torch.no_grad():
        there = to_device({"text": text, "nodes": nodes}, device)
        center = net.center(there["text"], there["nodes"])
        context = net.context(there["text"], there["nodes"])
    return center.cpu().numpy(), context.cpu().numpy()


def _slices(batch: Contrast) -> Iterator[Contrast]:
    count = len(batch.row)
    for begin in range(0, max(count, 1), PAIR_SLICE):
        yield batch.pairs(begin, begin + PAIR_SLICE)
