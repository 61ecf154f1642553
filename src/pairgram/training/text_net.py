"""The trained module: an encoder for centres, and contexts from a table, from text, or both."""

from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from numpy.typing import NDArray
from torch import Tensor, nn

from pairgram.text.encoders import Encoder

IntArray = NDArray[np.int64]

CONTEXTS = ("table", "text", "both")


class TextNet(nn.Module):
    """Centre vectors e_u = encoder(text of u) [+ id_u], context vectors e'_v.

    A context from text is H·encoder(text of v) + b. Only the centres of a batch are encoded, so
    the other ends of their pairs come from what was last seen of them: `seen_center` and
    `seen_context`, which get no gradient.

    Parameters
    ----------
    encoder
        From texts to vectors.
    n_nodes
        Number of nodes.
    contexts
        "table", "text" or "both", where the two are added.
    id_vectors
        Whether a known node has a vector of its own beside its text's.
    """

    def __init__(
        self, encoder: Encoder, n_nodes: int, contexts: str = "table", id_vectors: bool = False
    ) -> None:
        super().__init__()
        self.encoder, dim = encoder, encoder.dim
        self.table = _zeros(n_nodes, dim) if contexts != "text" else None
        self.id = _zeros(n_nodes, dim) if id_vectors else None
        self.head = nn.Linear(dim, dim) if contexts != "table" else None
        if self.head is not None:
            self.register_buffer("seen_center", torch.zeros(n_nodes, dim))
            self.register_buffer("seen_context", torch.zeros(n_nodes, dim))

    @property
    def sparse(self) -> set[str]:
        """Names of the tables whose gradients are sparse."""
        layers = self.named_modules()
        return {f"{n}.weight" for n, m in layers if isinstance(m, nn.Embedding) and m.sparse}

    @property
    def shares_of_rate(self) -> dict[str, float]:
        """Share of the learning rate of each weight of the encoder, by its name in here."""
        weights = (name for name, _ in self.encoder.named_parameters())
        return {f"encoder.{name}": self.encoder.share_of_rate(name) for name in weights}

    def reads(self, nodes: IntArray, context: IntArray, noise: IntArray) -> dict[str, IntArray]:
        """Rows that a batch reads in the tables of nodes.

        Parameters
        ----------
        nodes
            Centres of the batch, shape (b,).
        context, noise
            As in `Contrast`.
        """
        found = {}
        if self.table is not None:
            last = [] if self.head is None else [nodes]
            found["table.weight"] = np.concatenate((context, noise.ravel(), *last))
        if self.id is not None:
            found["id.weight"] = nodes
        return found

    def center(self, text: Tensor, nodes: Tensor, keep: Tensor | None = None) -> Tensor:
        """e_u of nodes from their texts' vectors, both (b, dim); `keep` (b,) masks the ids."""
        if self.id is None:
            return text
        own = self.id(nodes)
        return text + (own if keep is None else own * keep[:, None])

    def context(self, text: Tensor, nodes: Tensor) -> Tensor:
        """e'_v of nodes from their texts' vectors, shape (b, dim)."""
        parts = [] if self.table is None else [self.table(nodes)]
        parts += [] if self.head is None else [self.head(text)]
        return sum(parts[1:], parts[0])

    def see(self, nodes: Tensor, center: Tensor, text: Tensor) -> None:
        """Remember the vectors of nodes."""
        if self.head is not None:
            with torch.no_grad():
                self.seen_center.index_copy_(0, nodes, center)
                self.seen_context.index_copy_(0, nodes, self.head(text))


def _zeros(rows: int, dim: int) -> nn.Embedding:
    table = nn.Embedding(rows, dim, sparse=True)
    nn.init.zeros_(table.weight)
    return table


@dataclass(frozen=True, eq=False)
class Contrast:
    """Pairs and noise of a batch, on the device.

    Attributes
    ----------
    row, context, count
        As in `Group`, shape (p,).
    noise
        Noise nodes: shared by the batch, shape (m,), or of each pair, shape (p, K).
    known
        Which (centre, noise node) are links: (b, m), or (p, K); None leaves them in.
    """

    row: Tensor
    context: Tensor
    count: Tensor
    noise: Tensor
    known: Tensor | None = None

    def pairs(self, begin: int, end: int) -> "Contrast":
        """Return a run of the pairs; shared noise goes with the first run alone."""
        cut = slice(begin, end)
        noise, known = self.noise, self.known
        if noise.ndim == 2:
            noise, known = noise[cut], None if known is None else known[cut]
        elif begin > 0:
            noise, known = noise[:0], None
        return Contrast(self.row[cut], self.context[cut], self.count[cut], noise, known)


def contrast_loss(
    vectors: Tensor,
    other: "nn.Module",
    batch: Contrast,
    pairs: Tensor,
    negatives: int,
    offset: float,
    l2: float,
) -> Tensor:
    """Σ over pairs −log σ(x_u·y_v) − Σ_K log σ(−x_u·y_k), and L2, summed over the batch.

    Parameters
    ----------
    vectors
        x_u of the batch's centres, shape (b, dim).
    other
        Function from nodes to their vectors y.
    batch
        Pairs and noise.
    pairs
        Pairs of each centre, all of them, shape (b,).
    negatives
        Noise nodes K that a pair counts.
    offset
        Added to every product.
    l2
        Weight λ of λ/2·(‖x_u‖² + ‖y_v‖²) for every pair and noise pair.
    """
    x, y = F.embedding(batch.row, vectors), other(batch.context)  # (p, dim)
    loss = -(batch.count * F.logsigmoid((x * y).sum(1) + offset)).sum()
    loss = loss + l2 / 2 * (batch.count * (_squares(x) + _squares(y))).sum()
    if len(batch.noise) == 0:
        return loss
    k = other(batch.noise.flatten()).unflatten(0, batch.noise.shape)  # (m, dim) or (p, K, dim)
    if batch.noise.ndim == 1:
        score = vectors @ k.T + offset  # (b, m)
        weight = (pairs * (negatives / len(k)))[:, None].expand_as(score)
        length = _squares(vectors)[:, None] + _squares(k)
    else:
        score = (x[:, None] * k).sum(2) + offset  # (p, K)
        weight = batch.count[:, None].expand_as(score)
        length = _squares(x)[:, None] + _squares(k)
    if batch.known is not None:
        weight = weight.masked_fill(batch.known, 0.0)
    return loss + (weight * (l2 / 2 * length - F.logsigmoid(-score))).sum()


def _squares(vectors: Tensor) -> Tensor:
    return vectors.square().sum(-1)
