"""Tables of nodes cut by rows: each worker owns a run, and borrows the rows that a batch reads."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from pairgram.training.group import Group, summed
from pairgram.training.text_feed import Step
from pairgram.training.text_net import Contrast, TextNet

TABLES = ("table.weight", "id.weight")
SEEN = ("seen_center", "seen_context")


@dataclass(frozen=True, eq=False)
class Route:
    """Who needs which rows of whom.

    Attributes
    ----------
    given, taken
        Rows that this worker asks of each other, and that each asks of it.
    asked
        The rows asked of it, counted from its first, by who asks.
    """

    given: list[int]
    taken: list[int]
    asked: Tensor


class RowOwner:
    """Rows low .. high − 1 of all tables of nodes, and the exchange of rows with the others.

    Parameters
    ----------
    group
        The workers.
    n_nodes
        Rows of the tables.
    """

    def __init__(self, group: Group, n_nodes: int) -> None:
        self._group = group
        self.bounds = [rank * n_nodes // group.size for rank in range(group.size + 1)]
        self.low, self.high = self.bounds[group.rank], self.bounds[group.rank + 1]

    def route(self, rows: Tensor) -> Route:
        """Ask the owners of distinct rows, ascending, shape (m,)."""
        cuts = torch.searchsorted(rows, torch.tensor(self.bounds, device=rows.device))
        given = torch.diff(cuts).tolist()
        taken = self._group.swap_counts(given, rows.device)
        return Route(given, taken, self._group.swap(rows, given, taken) - self.low)

    def borrow(self, route: Route, own: Tensor) -> Tensor:
        """Rows asked for, shape (m, dim), out of the own rows of every owner."""
        return self._group.swap(own[route.asked], route.taken, route.given)

    def give_back(self, route: Route, values: Tensor) -> tuple[list[Tensor], list[Tensor]]:
        """Values for the rows asked for, (m, dim), to their owners; what came, by rank."""
        came = self._group.swap(values, route.given, route.taken)
        return list(route.asked.split(route.taken)), list(came.split(route.taken))


class Desk:
    """A `TextNet` of the rows that a batch reads, beside one of the rows owned.

    Parameters
    ----------
    owner
        Exchanges rows.
    own
        Holds the weights: the encoder, and the owned rows of the tables.
    contexts, id_vectors
        As in `TextNet`.
    """

    def __init__(self, owner: RowOwner, own: TextNet, contexts: str, id_vectors: bool) -> None:
        self._owner, self._own = owner, own
        self.net = TextNet(own.encoder, 1, contexts, id_vectors)
        self.net.head = own.head
        self._routes: dict[str, Route] = {}
        self._places: dict[str, Tensor] = {}

    def lay_out(self, rows: Tensor, reads: Mapping[str, Tensor]) -> None:
        """Take `rows`, distinct and ascending, as the desk's; borrow those that tables read."""
        own = {**dict(self._own.named_parameters()), **dict(self._own.named_buffers())}
        self._routes, self._places = {}, {}
        for name in (name for name in (*TABLES, *SEEN) if name in own):
            table = own[name].detach()
            laid = table.new_zeros((len(rows), table.shape[1]))
            if name in reads:
                wanted = torch.unique(reads[name])
                self._routes[name] = self._owner.route(wanted)
                self._places[name] = torch.searchsorted(rows, wanted)
                laid[self._places[name]] = self._owner.borrow(self._routes[name], table)
            self._lay(name, laid)

    def collect(self) -> None:
        """Send the gradients of borrowed rows to their owners, who add them up."""
        for name in (name for name in TABLES if name in self._routes):
            weight, own = self.net.get_parameter(name), self._own.get_parameter(name)
            laid = torch.zeros_like(weight) if weight.grad is None else weight.grad.to_dense()
            sent = laid.detach()[self._places[name]]
            rows, values = summed(*self._owner.give_back(self._routes[name], sent))
            own.grad = torch.sparse_coo_tensor(
                rows[None], values, own.shape, is_coalesced=True, check_invariants=False
            )

    def tell_seen(self, nodes: Tensor, places: Tensor) -> None:
        """Send what was seen of nodes, at their places on the desk, both (b,), to their owners."""
        if self._own.head is None:
            return
        order = torch.argsort(nodes)
        route = self._owner.route(nodes[order])
        for name in SEEN:
            rows, came = self._owner.give_back(route, getattr(self.net, name)[places[order]])
            getattr(self._own, name)[torch.cat(rows)] = torch.cat(came)

    def _lay(self, name: str, laid: Tensor) -> None:
        if name in SEEN:
            setattr(self.net, name, laid)
        else:
            self.net.get_submodule(name.removesuffix(".weight")).weight = nn.Parameter(laid)


def rows_read(step: Step, net: TextNet) -> dict[str, Tensor]:
    """Rows that a step reads in each table of nodes."""
    nodes, ahead = step.nodes, _others(step.ahead)
    back = nodes[:0] if step.back is None else _others(step.back)
    found = {}
    if net.table is not None:
        found["table.weight"] = ahead if net.head is None else torch.cat((ahead, nodes))
    if net.id is not None:
        found["id.weight"] = nodes
    if net.head is not None:
        found |= {"seen_context": ahead, "seen_center": back}
    return found


def renumbered(step: Step, rows: Tensor) -> Step:
    """A step with the places of its nodes among `rows`, ascending, instead of the nodes."""

    def place(contrast: Contrast) -> Contrast:
        context = torch.searchsorted(rows, contrast.context)
        return replace(contrast, context=context, noise=torch.searchsorted(rows, contrast.noise))

    back = None if step.back is None else place(step.back)
    nodes = torch.searchsorted(rows, step.nodes)
    return replace(step, nodes=nodes, ahead=place(step.ahead), back=back)


def _others(contrast: Contrast) -> Tensor:
    return torch.cat((contrast.context, contrast.noise.flatten()))
