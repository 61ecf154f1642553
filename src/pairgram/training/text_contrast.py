"""Gradients of the contrast loss on the CPU, without what torch would write between its steps.

Torch gathers the rows of all pairs, multiplies, squares and sums them, and walks back through each
of these tables of pairs; here a pair's rows are read once (`kernels.contrast`). The products with
the shared noise are the same few matrix products as there.
"""

from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from pairgram.kernels.ready import pair_gradients
from pairgram.training.text_net import Contrast


@dataclass(frozen=True, eq=False)
class Others:
    """The vectors y_v of nodes: rows of a table that is trained, of what was last seen, or both."""

    table: nn.Embedding | None
    seen: Tensor | None

    def rows(self, nodes: Tensor) -> Tensor:
        """y_v of nodes, shape (m, dim)."""
        parts = [] if self.table is None else [self.table(nodes)]
        parts += [] if self.seen is None else [F.embedding(nodes, self.seen)]
        return sum(parts[1:], parts[0])


@dataclass(frozen=True)
class Terms:
    """Numbers of the loss; see `contrast_loss`. Gradients are those of the loss / `scale`."""

    negatives: int
    offset: float
    l2: float
    scale: float


def takes(batch: Contrast, vectors: Tensor) -> bool:
    """Whether a batch is worked on here: noise shared by all centres, on the CPU."""
    on_cpu = bool(vectors.device.type == "cpu" and vectors.dtype == torch.float32)
    return on_cpu and batch.noise.ndim == 1


def contrast_gradient(
    x: Tensor, others: Others, batch: Contrast, pairs: Tensor, terms: Terms
) -> tuple[Tensor, Tensor]:
    """Gradient of `contrast_loss` by x_u, shape (b, dim), and the loss, not scaled.

    The gradient by the table of `others` is added to what it has.

    Parameters
    ----------
    x, batch, pairs
        As `vectors`, `batch` and `pairs` in `contrast_loss`.
    others, terms
        Where the y_v come from, and the numbers of the loss.
    """
    x = x.detach().contiguous()
    own, count = torch.zeros_like(x), len(batch.row)
    nodes = torch.cat((batch.context, batch.noise))
    theirs = x.new_empty(0 if others.table is None else len(nodes), x.shape[1])
    with torch.no_grad():
        loss = torch.tensor(_pairs(x, others, batch, own, theirs[:count], terms))
        if len(batch.noise):
            loss += _noise(x, others, batch, pairs, own, theirs[count:], terms)
        _give(others, nodes, theirs)
    return own, loss


def _pairs(
    x: Tensor, others: Others, batch: Contrast, own: Tensor, theirs: Tensor, terms: Terms
) -> float:
    """Loss of the pairs; gradients are added to `own`, (b, dim), and written to `theirs`."""
    table = None if others.table is None else others.table.weight.detach()
    # A place that is not read must be a table all the same.
    given = [x if part is None else part for part in (table, others.seen)]
    arrays = (part.numpy() for part in (x, batch.row, batch.context, batch.count, *given))
    numbers = (np.float32(n) for n in (terms.offset, terms.l2, 1 / terms.scale))
    total = pair_gradients(
        *arrays, table is not None, others.seen is not None, *numbers,
        np.empty(x.shape[1], np.float32), own.numpy(), theirs.numpy(),
    )  # fmt: skip
    return float(total)


def _noise(
    x: Tensor,
    others: Others,
    batch: Contrast,
    pairs: Tensor,
    own: Tensor,
    theirs: Tensor,
    terms: Terms,
) -> Tensor:
    """Loss of the noise; gradients as in `_pairs`."""
    k = others.rows(batch.noise)  # (m, dim)
    weight = (pairs * (terms.negatives / len(k)))[:, None].expand(-1, len(k))  # (b, m)
    if batch.known is not None:
        weight = weight.masked_fill(batch.known, 0.0)
    score = (x @ k.T).add_(terms.offset)
    by_row, by_column = weight.sum(1), weight.sum(0)
    length = by_row @ x.square().sum(1) + by_column @ k.square().sum(1)
    loss = (F.softplus(score) * weight).sum() + terms.l2 / 2 * length
    slope, pull = score.sigmoid_().mul_(weight), terms.l2 / terms.scale
    own.addmm_(slope, k, alpha=1 / terms.scale).addcmul_(x, by_row[:, None], value=pull)
    if others.table is not None:
        torch.mm(slope.T, x, out=theirs)
        theirs.div_(terms.scale).addcmul_(k, by_column[:, None], value=pull)
    return loss


def _give(others: Others, nodes: Tensor, gradient: Tensor) -> None:
    """Add to the gradient of the table's rows."""
    if others.table is None or not len(nodes):
        return
    weight = others.table.weight
    if others.table.sparse:
        more = torch.sparse_coo_tensor(nodes[None], gradient, weight.shape, check_invariants=False)
    else:
        more = torch.zeros_like(weight).index_add_(0, nodes, gradient)
    weight.grad = more if weight.grad is None else weight.grad + more
