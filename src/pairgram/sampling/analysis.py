"""The paper's analysis of sampling, measured: α, β, redundant pairs, pairs until covered.

The paper writes the objective of random walks as T·Σ_i (1 + α_i) Σ_j β_{j|i} e'_j·e_i:

α_i
    T walks start at i, and T + T_i windows have i in their middle: 1 + α_i = (T + T_i) / T. The
    objective that walks stand for has α = 0. Pairs Sampling draws every neighbourhood N times.
β_{j|i}
    Share of j among the pairs of centre i. The pairs that a neighbourhood N_i needs grow with
    1 / min_j β_{j|i}, which is at least |N_i|.
self-pairs
    Pairs (i, i), from walks that come back.
neighbour-neighbour pairs
    Pairs of a walk neither end of which is the node that the walk was started for; they train
    other centres than its own.
repeated pairs
    Pairs (i, j) that were drawn before.
"""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairgram import params
from pairgram.graph import Adjacency, TextGraph
from pairgram.sampling.laws import pairs_law, pairs_until_covered, walk_law
from pairgram.sampling.pairs import iter_pairs
from pairgram.sampling.walks import iter_walks

IntArray = NDArray[np.integer[Any]]
LawOf = Callable[[Adjacency, int, int], tuple[IntArray, NDArray[np.float64]]]

CONSTRAINTS: dict[str, params.Constraint] = {
    "order": params.Int(1, 8),
    "times": params.Int(1, 65535),
    "length": params.Int(2, 100_000),
    "walks": params.Int(1, 65535),
    "centers": params.Int(1),
    "seed": params.Int(0, 2**63 - 1),
}
TRACKED = 1000
QUANTILES = (0.1, 0.5, 0.9)


@dataclass(frozen=True)
class Spread:
    """How unequal some positive numbers are.

    Attributes
    ----------
    mean, smallest, median, largest
        Of the numbers.
    variation
        Standard deviation over the mean.
    gini
        0 where all are equal, towards 1 where a few have everything.
    """

    mean: float
    smallest: float
    median: float
    largest: float
    variation: float
    gini: float


@dataclass(frozen=True)
class Drawn:
    """What a sample holds.

    Attributes
    ----------
    pairs
        Pairs drawn.
    windows
        Spread of 1 + α_i over nodes with an edge.
    per_center
        Spread of the number of pairs of a centre.
    self_pairs, neighbour_pairs
        Shares of all pairs.
    repeated
        Share of the pairs of `tracked` centres that had been drawn before.
    tracked
        Centres whose pairs were compared.
    """

    pairs: int
    windows: Spread
    per_center: Spread
    self_pairs: float
    neighbour_pairs: float
    repeated: float
    tracked: int


@dataclass(frozen=True)
class Law:
    """The distribution β of contexts, exact, over a draw of centres; medians of them.

    Attributes
    ----------
    neighbourhood
        Nodes within `order` steps of the centre, itself left out.
    entropy
        Of β in bits.
    evenness
        Entropy over its largest value, log2 of the neighbourhood's size.
    least
        Smallest β_{j|i}.
    inverse_least
        1 / least, what the paper takes for the pairs needed; at least the neighbourhood's size.
    covered
        Expected pairs of a centre until each node of its neighbourhood has come once, drawn
        independently from β; and its 10 %, 50 % and 90 % quantiles over centres, and its mean.
    """

    neighbourhood: float
    entropy: float
    evenness: float
    least: float
    inverse_least: float
    covered: dict[str, float]


def analyse(
    graph: TextGraph,
    order: int = 3,
    times: int = 2,
    length: int = 80,
    walks: int = 10,
    centers: int = 200,
    seed: int = 0,
    threads: int | None = None,
) -> dict[str, Any]:
    """Compare what random walks and Pairs Sampling draw around the nodes of a graph.

    Both look at neighbourhoods of the same size: the window of the walks is `order`.

    Parameters
    ----------
    graph
        The graph; direction and weights are ignored.
    order
        Largest distance O of Pairs Sampling, and window of the walks.
    times
        Rounds N of Pairs Sampling.
    length, walks
        Nodes L of a walk and walks T from every node.
    centers
        Centres, drawn uniformly among nodes with an edge, whose β is computed.
    seed
        Seed of the samples and of the draw of centres.
    threads
        None takes all cores.

    Returns
    -------
    dict
        `settings`; `walks` and `ps` with the entries of `Drawn` and, under `beta`, of `Law`.

    Examples
    --------
    >>> star = TextGraph.from_edges([0, 0, 0], [1, 2, 3])
    >>> found = analyse(star, order=2, times=1, length=10, walks=2)
    >>> found["ps"]["windows"]["variation"], found["ps"]["self_pairs"]
    (0.0, 0.0)
    """
    settings = {
        "order": order, "times": times, "length": length, "walks": walks, "centers": centers,
        "seed": seed,
    }  # fmt: skip
    params.check("analyse", CONSTRAINTS, settings)
    near = graph.adjacency()
    linked = np.flatnonzero(np.diff(near.indptr))
    if len(linked) == 0:
        return {"settings": settings, "walks": None, "ps": None}
    shuffled = np.random.Generator(np.random.PCG64(seed)).permutation(linked)
    chosen, tracked = np.sort(shuffled[:centers]), np.sort(shuffled[:TRACKED])
    return {
        "settings": settings,
        "walks": {
            **asdict(walked(graph, linked, tracked, order, length, walks, seed, threads)),
            "beta": asdict(_law(near, chosen, walk_law, order)),
        },
        "ps": {
            **asdict(paired(graph, linked, tracked, order, times, seed, threads)),
            "beta": asdict(_law(near, chosen, pairs_law, order)),
        },
    }


def walked(
    graph: TextGraph,
    linked: IntArray,
    tracked: IntArray,
    window: int,
    length: int,
    walks: int,
    seed: int,
    threads: int | None,
) -> Drawn:
    """Count the window pairs of random walks; `linked` are the nodes with an edge."""
    n = graph.n_nodes
    windows, per_center = np.zeros(n, np.int64), np.zeros(n, np.int64)
    slot = np.full(n, -1, np.int64)
    slot[tracked] = np.arange(len(tracked))
    own = between = 0
    keys = []
    for block in iter_walks(graph, length, walks, seed=seed, threads=threads):
        windows += np.bincount(block[block >= 0], minlength=n)
        for a, b, start in _steps_apart(block, window):
            own += 2 * int(np.count_nonzero(a == b))
            between += 2 * int(np.count_nonzero((a != start) & (b != start)))
            for u, v in ((a, b), (b, a)):
                per_center += np.bincount(u, minlength=n)
                mine = slot[u] >= 0
                keys.append(slot[u[mine]] * n + v[mine])
    pairs = int(per_center.sum())
    seen = np.concatenate(keys)
    return Drawn(
        pairs=pairs,
        windows=spread(windows[linked] / walks),
        per_center=spread(per_center[linked]),
        self_pairs=own / pairs,
        neighbour_pairs=between / pairs,
        repeated=1 - len(np.unique(seen)) / max(len(seen), 1),
        tracked=len(tracked),
    )


def _steps_apart(block: IntArray, window: int) -> Iterator[tuple[IntArray, IntArray, IntArray]]:
    """Nodes of a walk 1 … window steps apart, and the walk's start; all of shape (m,)."""
    start = np.broadcast_to(block[:, :1], block.shape)
    for d in range(1, min(window, block.shape[1] - 1) + 1):
        there = block[:, d:] >= 0
        yield block[:, :-d][there], block[:, d:][there], start[:, d:][there]


def paired(
    graph: TextGraph,
    linked: IntArray,
    tracked: IntArray,
    order: int,
    times: int,
    seed: int,
    threads: int | None,
) -> Drawn:
    """Count the pairs of Pairs Sampling; every pair is drawn for its own centre."""
    n = graph.n_nodes
    per_center, rounds = np.zeros(n, np.int64), np.zeros(n, np.int64)
    is_tracked = np.zeros(n, bool)
    is_tracked[tracked] = True
    own = compared = distinct = 0
    for block in iter_pairs(graph, order, times, seed, threads):  # whole centres
        center = block.center.astype(np.int64)
        per_center += np.bincount(center, minlength=n)
        drawn = np.unique(center * times + block.round)
        rounds += np.bincount(drawn // times, minlength=n)
        own += int(np.count_nonzero(block.center == block.context))
        mine = is_tracked[center]
        compared += int(np.count_nonzero(mine))
        distinct += len(np.unique(center[mine] * n + block.context[mine]))
    pairs = int(per_center.sum())
    return Drawn(
        pairs=pairs,
        windows=spread(rounds[linked] / times),
        per_center=spread(per_center[linked]),
        self_pairs=own / pairs,
        neighbour_pairs=0.0,
        repeated=1 - distinct / max(compared, 1),
        tracked=len(tracked),
    )


def spread(values: NDArray[Any]) -> Spread:
    """How unequal positive numbers of shape (k,) are.

    >>> even = spread(np.array([2.0, 2.0]))
    >>> even.variation, even.gini
    (0.0, 0.0)
    """
    ordered = np.sort(values.astype(np.float64))
    mean, k = float(ordered.mean()), len(ordered)
    rank = np.arange(1, k + 1)
    gini = float(((2 * rank - k - 1) * ordered).sum() / (k * ordered.sum())) if mean > 0 else 0.0
    return Spread(
        mean, float(ordered[0]), float(np.median(ordered)), float(ordered[-1]),
        float(ordered.std() / mean) if mean > 0 else 0.0, gini,
    )  # fmt: skip


def _law(near: Adjacency, chosen: IntArray, law: LawOf, order: int) -> Law:
    columns = []
    for center in chosen.tolist():
        context, beta = law(near, center, order)
        beta = beta[context != center]
        entropy = float(-(beta * np.log2(beta)).sum())
        most = np.log2(len(beta)) if len(beta) > 1 else 1.0
        columns.append(
            (len(beta), entropy, entropy / most if len(beta) > 1 else 1.0, beta.min(),
             1 / beta.min(), pairs_until_covered(beta))
        )  # fmt: skip
    table = np.array(columns)
    size, entropy, evenness, least, inverse, _ = np.median(table, axis=0).tolist()
    quantiles = np.quantile(table[:, 5], QUANTILES).tolist()
    covered = {f"{q:.0%}": value for q, value in zip(QUANTILES, quantiles, strict=True)}
    covered["mean"] = float(table[:, 5].mean())
    return Law(size, entropy, evenness, least, inverse, covered)
