"""Training of who votes: a node is a good voter when its links are the links of the query."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pairgram.search.ranker import Judge
from pairgram.training.ranker import Descent, JudgeNet, by_feature, descend, log_sum_exp

Table = NDArray[np.float32]
IntArray = NDArray[np.int64]

FAINTEST = 1e-5


@dataclass(frozen=True, eq=False)
class Carried:
    """Which of a query's links the nodes that were looked at have too.

    Attributes
    ----------
    voter, link
        Rows of the nodes and numbers of the links, one entry for each that is had, shape (e,).
    share
        1 / degree of the voter, shape (e,).
    links
        Links that any of them has.
    """

    voter: IntArray
    link: IntArray
    share: Table
    links: int


def train_voters(
    features: Sequence[Table],
    carried: Sequence[Carried],
    settings: Descent,
    seed: int,
    device: Any = "cpu",
) -> Judge:
    """Minimise -Σ over links x of log Σ_w a_w · [x linked to w] / d_w, where a is a softmax.

    The nodes w that were looked at are drawn by a, the softmax of their scores, and x is drawn from
    the links of w: what is learned is whose links to draw from.

    Parameters
    ----------
    features
        Of every query those of its nodes, shape (c, f).
    carried
        Of every query the links that its nodes have.
    settings
        Sizes and rates.
    seed
        Seed of the start and the order.
    device
        Where to work.
    """
    some = [i for i, mine in enumerate(carried) if mine.links]
    mean, spread, scaled = by_feature(features, some)
    kept = [carried[i] for i in some]

    def loss(net: JudgeNet, chosen: IntArray, _: np.random.Generator) -> Tensor:
        batch = _Batch([scaled[i] for i in chosen], [kept[i] for i in chosen], device)
        return batch.loss(net)

    net = descend(loss, len(scaled), features[0].shape[1], settings, seed, device)
    return Judge(mean, spread, (net,))


class _Batch:
    """Queries end to end."""

    def __init__(self, rows: Sequence[Table], carried: Sequence[Carried], device: Any) -> None:
        sizes = np.array([len(some) for some in rows])
        links = np.array([mine.links for mine in carried])
        first, found = np.cumsum(sizes) - sizes, np.cumsum(links) - links
        query = np.repeat(np.arange(len(rows)), sizes)
        voter = np.concatenate([c.voter + at for c, at in zip(carried, first, strict=True)])
        link = np.concatenate([c.link + at for c, at in zip(carried, found, strict=True)])
        share = np.concatenate([c.share for c in carried])
        parts = np.concatenate(rows), query, voter, link, share
        self.rows, self.query, self.voter, self.link, self.share = (
            torch.from_numpy(part).to(device) for part in parts
        )
        self.queries, self.links = len(rows), int(links.sum())

    def loss(self, net: JudgeNet) -> Tensor:
        """Mean over the links."""
        scores = net(self.rows)
        weight = (scores - log_sum_exp(scores, self.query, self.queries)[self.query]).exp()
        drawn = weight.new_zeros(self.links).index_add(
            0, self.link, weight[self.voter] * self.share
        )
        return -(drawn + FAINTEST).log().mean()
