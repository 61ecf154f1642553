"""Training of the judge that reads nodes with their links."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from numpy.typing import NDArray
from scipy.sparse import csr_array
from torch import Tensor, nn

from pairgram.kernels.ready import gather_links
from pairgram.search.clues import Look
from pairgram.search.graph_judge import FAINTEST, LIFT, SHARE, WAYS, GraphJudge
from pairgram.training.ranker import by_feature, log_sum_exp, scaled

Mask = NDArray[np.bool_]

PARTS = 2
"""Parts of a batch whose gradients are found side by side."""


@dataclass(frozen=True)
class GraphJudgeSettings:
    """How the judge is trained.

    Attributes
    ----------
    hidden, heads, told
        Length of a node's state, heads of a round, and numbers that a node tells its neighbours;
        both for all links and again for those along their direction.
    given
        Numbers that a node gives to what each head finds in all nodes.
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
    given: int = 8
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
        self.give = nn.ModuleList(nn.Linear(size, settings.given) for _ in rounds)
        self.merge = nn.ModuleList(nn.Linear(read, size) for _ in rounds)
        found = WAYS * heads * settings.given
        self.whole = nn.ModuleList(nn.Linear(found, size) for _ in rounds)
        self.back = nn.ModuleList(nn.Linear(size, size) for _ in rounds)
        self.settle, self.out = nn.Linear(size, size), nn.Linear(size, 1)
        self._left_out = settings.dropout

    def forward(self, batch: "Batch", draws: torch.Generator | None = None) -> Tensor:
        """Scores of all nodes of a batch, shape (c,); `draws` say what is left out in training."""
        degree, root = batch.degree[:, None], batch.degree.sqrt()[:, None]
        state = self._some(self.deepen(self.enter(batch.rows).relu()).relu(), draws)
        layers = zip(self.ask, self.tell, self.give, self.merge, self.whole, self.back, strict=True)
        for ask, tell, give, merge, whole, back in layers:
            heads, told = batch.softmax(ask(state)), tell(state) / root  # (c, WAYS·heads), …
            read, halves = [state], (heads.chunk(WAYS, 1), told.chunk(WAYS, 1))
            for way, (asked, said) in enumerate(zip(*halves, strict=True)):
                came = batch.gather(way, torch.cat([asked / degree, said], 1))
                votes = (came[:, : asked.shape[1]] + FAINTEST).log() + LIFT
                even = votes - degree.log() / 2
                read += [SHARE * votes, SHARE * even, came[:, asked.shape[1] :] / root]
            found = whole(batch.found(heads, give(state)))  # (queries, hidden)
            merged = (merge(torch.cat(read, 1)) + found.index_select(0, batch.query)).relu()
            state = state + back(self._some(merged, draws))
        scores: Tensor = self.out(self.settle(state).relu()) + self.linear(batch.rows)
        return scores[:, 0]

    def _some(self, state: Tensor, draws: torch.Generator | None) -> Tensor:
        """A state of which some numbers are left out, the others larger for it."""
        if draws is None or not self._left_out:
            return state
        kept = torch.rand(state.shape, generator=draws, device=state.device) >= self._left_out
        return state * kept / (1 - self._left_out)


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
        first = (np.cumsum(sizes) - sizes).astype(np.int32)
        query = np.repeat(np.arange(len(looks)), sizes)
        degree = np.concatenate([look.degree for look in looks])
        self.rows, self.query, self.degree = (
            torch.from_numpy(part).to(device) for part in (np.concatenate(rows), query, degree)
        )
        self._ways = [
            _Links(_joined(looks, by, first), _joined(looks, to, first), len(query), device)
            for by, to in (("voter", "voted"), ("giver", "taker"))
        ]
        self.queries = len(looks)

    def softmax(self, scores: Tensor) -> Tensor:
        """Softmax of each column within each query, shape (c, heads)."""
        heads = [log_sum_exp(one, self.query, self.queries) for one in scores.unbind(1)]
        # The gradient of x[index] adds up in any order; that of index_select in one.
        return (scores - torch.stack(heads, 1).index_select(0, self.query)).exp()

    def found(self, heads: Tensor, rows: Tensor) -> Tensor:
        """Sums of rows within each query under every head, shape (queries, heads · d)."""
        products = (heads[:, :, None] * rows[:, None, :]).flatten(1)
        return products.new_zeros(self.queries, products.shape[1]).index_add(
            0, self.query, products
        )

    def gather(self, way: int, rows: Tensor) -> Tensor:
        """Sums of the voters' rows by the nodes that they vote for, shape (c, d).

        Way 0 is over all links, way 1 over those given from the voter to the voted.
        """
        return self._ways[way].sums(rows)

    def loss(self, scores: Tensor, links: Tensor) -> Tensor:
        """Σ over the links of log(1 + Σ over other nodes of e^(s_other − s_link))."""
        others = log_sum_exp(scores[~links], self.query[~links], self.queries)
        return F.softplus(others.index_select(0, self.query[links]) - scores[links]).sum()


class _Links:
    """Links of a batch: `by` votes for `to`, both (e,).

    On the CPU they are sparse rows, read by a kernel: no table is as long as the links.
    """

    def __init__(
        self, by: NDArray[np.int32], to: NDArray[np.int32], count: int, device: Any
    ) -> None:
        self._ends: tuple[Tensor, ...] = ()
        if torch.device(device).type != "cpu":
            self._ends = torch.from_numpy(by).to(device), torch.from_numpy(to).to(device)
            return
        links = csr_array((np.ones(len(by), np.int8), (to, by)), shape=(count, count))
        self.voters, self.voted = (
            (half.indptr.astype(np.int32), half.indices.astype(np.int32))
            for half in (links, links.tocsc())
        )

    def sums(self, rows: Tensor) -> Tensor:
        """Σ of the rows of those who vote for each node, shape (c, d)."""
        if not self._ends:
            return _Sums.apply(rows, self)
        by, to = self._ends
        return torch.zeros_like(rows).index_add(0, to, rows.index_select(0, by))


class _Sums(torch.autograd.Function):
    """`_Links.sums` by the kernel: its gradient is the same along the links turned round."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, links: _Links) -> Tensor:
        """Sums over who votes for a node."""
        ctx.links = links
        return _added_up(links.voters, rows)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        """Sums over whom a node votes for."""
        return _added_up(ctx.links.voted, gradients[0]), None


def _added_up(links: tuple[NDArray[np.int32], NDArray[np.int32]], rows: Tensor) -> Tensor:
    given = rows.detach().contiguous()
    sums = torch.empty_like(given)
    gather_links(*links, given.numpy(), sums.numpy())
    return sums


def _joined(looks: Sequence[Look], side: str, first: NDArray[np.int32]) -> NDArray[np.int32]:
    """One side of the links of all looks, as rows of the batch."""
    parts = [getattr(look, side) + at for look, at in zip(looks, first, strict=True)]
    joined: NDArray[np.int32] = np.concatenate(parts)
    return joined


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
    mean, spread = by_feature([look.features for look in looks], some)
    random = np.random.default_rng(seed)
    batches = -(-len(some) // settings.batch_size)
    fewest = min(settings.least_steps, settings.most_epochs * batches)
    steps = max(settings.epochs * batches, fewest)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        net = GraphJudgeNet(len(mean), settings).to(device)
    optimizer = torch.optim.AdamW(net.parameters(), weight_decay=settings.decay)
    with _Parts(net, seed, device) as parts:
        for step in range(steps):
            if step % batches == 0:
                order = np.array_split(random.permutation(len(some)), batches)
            chosen = [some[i] for i in order[step % batches].tolist()]
            warm = min(1.0, (step + 1) / settings.warm)
            optimizer.param_groups[0]["lr"] = settings.learning_rate * warm * (1 - step / steps)
            # Scaled anew in every pass: all of them at once would take their memory twice.
            parts.descend(
                [looks[i] for i in chosen], [is_link[i] for i in chosen],
                lambda look: scaled(look.features, mean, spread),
            )  # fmt: skip
            nn.utils.clip_grad_norm_(net.parameters(), settings.longest)
            optimizer.step()
    weights = {name: array.detach().cpu().numpy() for name, array in net.state_dict().items()}
    return GraphJudge(mean, spread, weights)


class _Parts:
    """Finds the gradients of a batch part by part, side by side, and adds them up in order.

    There are as many parts at any number of threads, each on one thread and with its own draws of
    what is left out: the same seed gives the same bits on one thread and on two.
    """

    def __init__(self, net: GraphJudgeNet, seed: int, device: Any) -> None:
        self._net, self._device, self._threads = net, device, torch.get_num_threads()
        self._weights = list(net.parameters())
        self._draws = [
            torch.Generator(device).manual_seed(PARTS * seed + part) for part in range(PARTS)
        ]

    def __enter__(self) -> "_Parts":
        # New threads take the number that is set when they begin.
        torch.set_num_threads(1)
        alone = torch.device(self._device).type != "cpu"
        self._pool = ThreadPoolExecutor(1 if alone else min(PARTS, self._threads))
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown()
        torch.set_num_threads(self._threads)

    def descend(
        self,
        looks: Sequence[Look],
        is_link: Sequence[Mask],
        rows: Callable[[Look], NDArray[np.float32]],
    ) -> None:
        """Set the gradient of the mean loss over the links of a batch."""
        links = sum(int(mask.sum()) for mask in is_link)

        def gradients(part: int) -> tuple[Tensor, ...]:
            mine = looks[part::PARTS]
            batch = Batch(mine, [rows(look) for look in mine], self._device)
            wanted = torch.from_numpy(np.concatenate(is_link[part::PARTS])).to(self._device)
            loss = batch.loss(self._net(batch, self._draws[part]), wanted) / links
            found: tuple[Tensor, ...] = torch.autograd.grad(loss, self._weights)
            return found

        found = list(self._pool.map(gradients, range(min(PARTS, len(looks)))))
        for weight, *parts in zip(self._weights, *found, strict=True):
            weight.grad = sum(parts[1:], parts[0])
