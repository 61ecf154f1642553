"""Training of the judge that reads nodes with their links."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from numpy.typing import NDArray
from torch import Tensor, nn

from pairgram.search.clues import Look
from pairgram.search.graph_judge import FAINTEST, LIFT, SHARE, WAYS, GraphJudge
from pairgram.training.ranker import by_feature, log_sum_exp

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class GraphJudgeSettings:
    """How the judge is trained.

    Attributes
    ----------
    hidden, heads, told
        Length of a node's state, heads of a round, and numbers that a node tells its neighbours;
        both for all links and again for those along their direction.
    rounds
        How often nodes are asked.
    dropout
        Share of a state left out in training.
    epochs, most_epochs, least_steps
        Passes over the queries, and up to `most_epochs` where that would be fewer steps than this.
    batch_size
        Queries of a batch.
    learning_rate, decay
        Largest rate of AdamW, reached after `warm` steps and then falling linearly to 0, and its
        weight decay.
    longest
        Gradients are cut to this length.
    """

    hidden: int = 64
    heads: int = 4
    told: int = 16
    rounds: int = 2
    dropout: float = 0.1
    epochs: int = 10
    most_epochs: int = 60
    least_steps: int = 400
    batch_size: int = 16
    learning_rate: float = 2e-3
    decay: float = 1e-2
    warm: int = 50
    longest: float = 1.0


class GraphJudgeNet(nn.Module):
    """The judge as a module; see `GraphJudge`."""

    def __init__(self, features: int, settings: GraphJudgeSettings) -> None:
        super().__init__()
        size, heads, told = settings.hidden, settings.heads, settings.told
        self.linear = nn.Linear(features, 1, bias=False)
        self.enter, self.deepen = nn.Linear(features, size), nn.Linear(size, size)
        rounds = range(settings.rounds)
        self.ask = nn.ModuleList(nn.Linear(size, WAYS * heads) for _ in rounds)
        self.tell = nn.ModuleList(nn.Linear(size, WAYS * told) for _ in rounds)
        read = size + WAYS * (2 * heads + told)
        self.merge = nn.ModuleList(nn.Linear(read, size) for _ in rounds)
        self.back = nn.ModuleList(nn.Linear(size, size) for _ in rounds)
        self.settle, self.out = nn.Linear(size, size), nn.Linear(size, 1)
        self.dropout = nn.Dropout(settings.dropout)

    def forward(self, batch: "Batch") -> Tensor:
        """Scores of all nodes of a batch, shape (c,)."""
        degree, root = batch.degree[:, None], batch.degree.sqrt()[:, None]
        state = self.dropout(self.deepen(self.enter(batch.rows).relu()).relu())
        layers = zip(self.ask, self.tell, self.merge, self.back, strict=True)
        for ask, tell, merge, back in layers:
            heads, told = batch.softmax(ask(state)), tell(state) / root  # (c, WAYS·heads), …
            read, halves = [state], (heads.chunk(WAYS, 1), told.chunk(WAYS, 1))
            for way, (asked, said) in enumerate(zip(*halves, strict=True)):
                came = batch.gather(way, torch.cat([asked / degree, said], 1))
                votes = (came[:, : asked.shape[1]] + FAINTEST).log() + LIFT
                even = votes - degree.log() / 2
                read += [SHARE * votes, SHARE * even, came[:, asked.shape[1] :] / root]
            merged = merge(torch.cat(read, 1)).relu()
            state = state + back(self.dropout(merged))
        scores: Tensor = self.out(self.settle(state).relu()) + self.linear(batch.rows)
        return scores[:, 0]


class Batch:
    """Looks end to end.

    Parameters
    ----------
    looks
        Queries, without added nodes.
    rows
        Scaled features of each, shape (c, f).
    device
        Where to work.
    """

    def __init__(
        self, looks: Sequence[Look], rows: Sequence[NDArray[np.float32]], device: Any
    ) -> None:
        sizes = np.array([len(some) for some in rows])
        first = np.cumsum(sizes) - sizes
        sides = [
            np.concatenate(
                [getattr(look, side) + at for look, at in zip(looks, first, strict=True)]
            )
            for side in ("voter", "voted", "giver", "taker")
        ]
        query = np.repeat(np.arange(len(looks)), sizes)
        degree = np.concatenate([look.degree for look in looks])
        self.rows, self.query, self.degree, *ends = (
            torch.from_numpy(part).to(device)
            for part in (np.concatenate(rows), query, degree, *sides)
        )
        self._ways = (ends[0], ends[1]), (ends[2], ends[3])
        self.queries = len(looks)

    def softmax(self, scores: Tensor) -> Tensor:
        """Softmax of each column within each query, shape (c, heads)."""
        heads = [log_sum_exp(one, self.query, self.queries) for one in scores.unbind(1)]
        # The gradient of x[index] adds up in any order; that of index_select in one.
        return (scores - torch.stack(heads, 1).index_select(0, self.query)).exp()

    def gather(self, way: int, rows: Tensor) -> Tensor:
        """Sums of the voters' rows by the nodes that they vote for, shape (c, d).

        Way 0 is over all links, way 1 over those given from the voter to the voted.
        """
        by, to = self._ways[way]
        return torch.zeros_like(rows).index_add(0, to, rows.index_select(0, by))

    def loss(self, scores: Tensor, links: Tensor) -> Tensor:
        """Mean over the links of log(1 + Σ over other nodes of e^(s_other − s_link))."""
        others = log_sum_exp(scores[~links], self.query[~links], self.queries)
        return F.softplus(others.index_select(0, self.query[links]) - scores[links]).mean()


def train_graph_judge(
    looks: Sequence[Look],
    is_link: Sequence[Mask],
    settings: GraphJudgeSettings,
    seed: int,
    device: Any = "cpu",
) -> GraphJudge:
    """Minimise Σ over links of log(1 + Σ over other nodes of e^(s_other − s_link)).

    It is what the ranking measures, made smooth: a link against all that is no link of its query.

    Parameters
    ----------
    looks
        Queries with what was seen of their nodes; one at least has a link among them.
    is_link
        Of every query which nodes are links, shape (c,).
    settings
        Sizes and rates.
    seed
        Seed of the start and the order.
    device
        Where to work.
    """
    some = [i for i, mask in enumerate(is_link) if mask.any()]
    mean, spread, scaled = by_feature([look.features for look in looks], some)
    random = np.random.default_rng(seed)
    batches = -(-len(some) // settings.batch_size)
    fewest = min(settings.least_steps, settings.most_epochs * batches)
    steps = max(settings.epochs * batches, fewest)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        net = GraphJudgeNet(scaled[0].shape[1], settings).to(device)
        optimizer = torch.optim.AdamW(net.parameters(), weight_decay=settings.decay)
        for step in range(steps):
            if step % batches == 0:
                order = np.array_split(random.permutation(len(some)), batches)
            chosen = order[step % batches].tolist()
            warm = min(1.0, (step + 1) / settings.warm)
            optimizer.param_groups[0]["lr"] = settings.learning_rate * warm * (1 - step / steps)
            batch = Batch([looks[some[i]] for i in chosen], [scaled[i] for i in chosen], device)
            links = torch.from_numpy(np.concatenate([is_link[some[i]] for i in chosen])).to(device)
            loss = batch.loss(net(batch), links)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), settings.longest)
            optimizer.step()
    weights = {name: array.detach().cpu().numpy() for name, array in net.state_dict().items()}
    return GraphJudge(mean, spread, weights)
