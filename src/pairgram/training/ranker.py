"""Training of the ranker: true links above all other nodes that are worth a look."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from numpy.typing import NDArray
from torch import Tensor, nn

from pairgram.search.ranker import BOUND, Judge

Table = NDArray[np.float32]
Mask = NDArray[np.bool_]

SMALLEST, NEVER = 1e-6, -1e9


@dataclass(frozen=True)
class JudgeSettings:
    """How a judge is trained.

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
    most
        Nodes of a query that a pass reads: its links and others drawn at random.
    members
        Trainings from new starts whose mean is taken.
    """

    hidden: int = 64
    epochs: int = 20
    batch_size: int = 32
    learning_rate: float = 1e-3
    decay: float = 1e-2
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
    features, is_link = [features[i] for i in some], [is_link[i] for i in some]
    stacked = np.concatenate(features)
    mean, spread = stacked.mean(axis=0), stacked.std(axis=0) + SMALLEST
    scaled = [np.clip((rows - mean) / spread, -BOUND, BOUND) for rows in features]
    members = [
        _member(scaled, is_link, settings, seed + k, device) for k in range(settings.members)
    ]
    return Judge(mean.astype(np.float32), spread.astype(np.float32), tuple(members))


def _member(
    features: Sequence[Table],
    is_link: Sequence[Mask],
    settings: JudgeSettings,
    seed: int,
    device: Any,
) -> dict[str, NDArray[Any]]:
    random = np.random.default_rng(seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        net = JudgeNet(features[0].shape[1], settings.hidden).to(device)
        optimizer = torch.optim.AdamW(net.parameters(), weight_decay=settings.decay)
        batches = -(-len(features) // settings.batch_size)
        steps = settings.epochs * batches
        for step in range(steps):
            if step % batches == 0:
                order = np.array_split(random.permutation(len(features)), batches)
            optimizer.param_groups[0]["lr"] = settings.learning_rate * (1 - step / steps)
            batch = _padded(features, is_link, order[step % batches], settings, random)
            loss = _loss(net, *(part.to(device) for part in batch))
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
    return {name: array.detach().cpu().numpy().copy() for name, array in net.state_dict().items()}


def _loss(net: JudgeNet, rows: Tensor, links: Tensor, there: Tensor) -> Tensor:
    scores = net(rows)  # (b, c)
    others = torch.logsumexp(scores.masked_fill(links | ~there, NEVER), 1, keepdim=True)
    return (F.softplus(others - scores) * links).sum() / links.sum()


def _padded(
    features: Sequence[Table], is_link: Sequence[Mask], chosen: NDArray[np.int64],
    settings: JudgeSettings, random: np.random.Generator,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Features, links and what is there at all, for some queries, (b, c, …)."""
    drawn = [(i, _some(is_link[i], settings.most, random)) for i in chosen.tolist()]
    shape = (len(drawn), max(len(kept) for _, kept in drawn))
    rows = np.zeros((*shape, features[0].shape[1]), np.float32)
    links, there = np.zeros(shape, bool), np.zeros(shape, bool)
    for row, (i, kept) in enumerate(drawn):
        rows[row, : len(kept)], links[row, : len(kept)] = features[i][kept], is_link[i][kept]
        there[row, : len(kept)] = True
    return torch.from_numpy(rows), torch.from_numpy(links), torch.from_numpy(there)


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
