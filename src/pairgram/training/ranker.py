"""Training of the ranker: true links above all other nodes that are worth a look."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from numpy.typing import NDArray
from torch import Tensor, nn

from pairgram.search.graph_judge import BOUND
from pairgram.search.ranker import Judge

Table = NDArray[np.float32]
Mask = NDArray[np.bool_]

SMALLEST, NEVER = 1e-6, -1e9


@dataclass(frozen=True)
class Descent:
    """How a module is trained on queries.

    Attributes
    ----------
    hidden
        Width of its layers.
    epochs
        Passes over the queries.
    batch_size
        Queries of a batch.
    learning_rate, decay
        First rate of AdamW, which falls linearly to 0, and its weight decay.
    """

    hidden: int = 64
    epochs: int = 8
    batch_size: int = 32
    learning_rate: float = 1e-3
    decay: float = 1e-2


@dataclass(frozen=True)
class JudgeSettings(Descent):
    """How a judge is trained.

    Attributes
    ----------
    most
        Nodes of a query that a pass reads: its links and others drawn at random.
    members
        Trainings from new starts whose mean is taken.
    """

    hidden: int = 128
    epochs: int = 12
    most: int = 256
    members: int = 3


class JudgeNet(nn.Module):
    """A linear score and two layers beside it."""

    def __init__(self, features: int, hidden: int) -> None:
        super().__init__()
        self.linear = nn.Linear(features, 1, bias=False)
        self.add_module("in", nn.Linear(features, hidden))
        self.middle, self.out = nn.Linear(hidden, hidden), nn.Linear(hidden, 1)

    def forward(self, rows: Tensor) -> Tensor:
        """Scores, shape (...,), of scaled features, shape (..., f)."""
        hidden = self.middle(self.get_submodule("in")(rows).relu()).relu()
        scores: Tensor = (self.out(hidden) + self.linear(rows)).squeeze(-1)
        return scores


def train_judge(
    features: Sequence[Table],
    is_link: Sequence[Mask],
    settings: JudgeSettings,
    seed: int,
    device: Any = "cpu",
) -> Judge:
    """Minimise Σ over links of log(1 + Σ over other nodes of e^(s_other − s_link)).

    It is what the ranking measures, made smooth: a link against all that is no link of its query.

    Parameters
    ----------
    features
        Of every query those of its nodes, shape (c, f).
    is_link
        Of every query which nodes are links, shape (c,).
    settings
        Sizes and rates.
    seed
        Seed of starts and draws.
    device
        Where to work.
    """
    some = [i for i, mask in enumerate(is_link) if mask.any()]
    is_link = [is_link[i] for i in some]
    mean, spread = by_feature(features, some)
    even = [scaled(features[i], mean, spread) for i in some]

    def loss(net: JudgeNet, chosen: NDArray[np.int64], random: np.random.Generator) -> Tensor:
        drawn = [(i, _some(is_link[i], settings.most, random)) for i in chosen.tolist()]
        rows = np.concatenate([even[i][kept] for i, kept in drawn])
        links = np.concatenate([is_link[i][kept] for i, kept in drawn])
        query = np.repeat(np.arange(len(drawn)), [len(kept) for _, kept in drawn])
        on_device = [torch.from_numpy(part).to(device) for part in (rows, links, query)]
        return _loss(net, on_device[0], on_device[1], on_device[2], len(drawn))

    width = features[0].shape[1]
    members = [
        descend(loss, len(even), width, settings, seed + k, device) for k in range(settings.members)
    ]
    return Judge(mean, spread, tuple(members))


def by_feature(features: Sequence[Table], some: Sequence[int]) -> tuple[Table, Table]:
    """Mean and spread of every feature in some queries, both (f,)."""
    chosen = [features[i] for i in some]
    count, zero = max(sum(map(len, chosen)), 1), np.zeros(features[0].shape[1])
    mean = sum((rows.sum(axis=0, dtype=np.float64) for rows in chosen), zero) / count
    squares = sum((((rows - mean) ** 2).sum(axis=0) for rows in chosen), zero)
    return mean.astype(np.float32), (np.sqrt(squares / count) + SMALLEST).astype(np.float32)


def scaled(rows: Table, mean: Table, spread: Table) -> Table:
    """Features less their mean, over their spread, cut at ± `BOUND`; shape of the rows."""
    even: Table = np.clip((rows - mean) / spread, -BOUND, BOUND)
    return even


def descend(
    loss_of: Callable[[JudgeNet, NDArray[np.int64], np.random.Generator], Tensor],
    queries: int,
    features: int,
    settings: Descent,
    seed: int,
    device: Any,
) -> dict[str, NDArray[Any]]:
    """Weights of a module after passes over the queries with AdamW at a falling rate."""
    random = np.random.default_rng(seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        net = JudgeNet(features, settings.hidden).to(device)
        optimizer = torch.optim.AdamW(net.parameters(), weight_decay=settings.decay)
        batches = -(-queries // settings.batch_size)
        steps = settings.epochs * batches
        for step in range(steps):
            if step % batches == 0:
                order = np.array_split(random.permutation(queries), batches)
            optimizer.param_groups[0]["lr"] = settings.learning_rate * (1 - step / steps)
            loss = loss_of(net, order[step % batches], random)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
    return {name: array.detach().cpu().numpy().copy() for name, array in net.state_dict().items()}


def _loss(net: JudgeNet, rows: Tensor, links: Tensor, query: Tensor, queries: int) -> Tensor:
    scores = net(rows)
    others = log_sum_exp(scores[~links], query[~links], queries)
    return F.softplus(others[query[links]] - scores[links]).mean()


def log_sum_exp(scores: Tensor, query: Tensor, queries: int) -> Tensor:
    """Logarithms of the sums of e^score by query, shape (queries,); far below 0 for none."""
    top = scores.new_full((queries,), NEVER).scatter_reduce(0, query, scores.detach(), "amax")
    raised = (scores - top[query]).exp()
    total = raised.new_zeros(queries).index_add(0, query, raised)
    return top + total.clamp(min=SMALLEST).log()


def _some(mask: Mask, most: int, random: np.random.Generator) -> NDArray[np.int64]:
    if len(mask) <= most:
        return np.arange(len(mask))
    others = np.flatnonzero(~mask)
    drawn = random.choice(others, min(most, len(others)), replace=False)
    return np.concatenate([np.flatnonzero(mask), drawn])


def halves(count: int, seed: int) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Two halves of so many queries, each once to train on and once to judge."""
    order = np.random.default_rng(seed).permutation(count)
    left, right = np.sort(order[: count // 2]), np.sort(order[count // 2 :])
    yield left, right
    yield right, left
