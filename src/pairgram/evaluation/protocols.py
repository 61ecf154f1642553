"""Protocols for the AUCs: which positive and which negative every centre is tried with."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pairgram.errors import InputError
from pairgram.evaluation.negatives import KINDS, Draw, below
from pairgram.params import Choice, Constraint, Int, check
from pairgram.split import Split, unordered_keys

Positions = NDArray[np.int64]
Mask = NDArray[np.bool_]

UNSEEN = "without a training link"
NO_SEEN_LINK = "without a held-out link to a seen node"
NO_NEGATIVE = "linked to every candidate"
NO_LINK = "without any link"
NO_SUCH_LINK = "without a link of this kind"
NOT_DRAWN = "not drawn"
SKIPPED = "held-out links with an end that has no training link"
NO_NEIGHBOUR = "without a negative of this kind"

UNIFORM = "uniform"
MOST_TEXT_CENTERS = 2000  # every one is compared with all texts


@dataclass(frozen=True, eq=False)
class Trials:
    """One positive and one negative for every centre scored.

    Attributes
    ----------
    protocol, seed, negatives
        What made them.
    center, positive, negative
        Positions in the full graph, shape (k,); centres ascending, each once, but under `cane`.
    candidates
        Number of nodes that negatives were drawn from.
    left_out
        Reason -> number of nodes that have a held-out link, or are held out, and are not scored.
    """

    protocol: str
    seed: int
    center: Positions
    positive: Positions
    negative: Positions
    candidates: int
    left_out: dict[str, int]
    negatives: str = UNIFORM

    def __len__(self) -> int:
        return len(self.center)


@dataclass(frozen=True, eq=False)
class Sides:
    """Nodes that take part: as centres, and as positives and negatives; both of shape (n,)."""

    centers: Mask
    ends: Mask


def _seen(split: Split) -> Sides:
    seen = split.train.degree > 0
    return Sides(seen, seen)


def _all(split: Split) -> Sides:
    every = np.ones(split.full.n_nodes, dtype=bool)
    return Sides(every, every)


def _new_to_old(split: Split) -> Sides:
    new = _is_new(split)
    return Sides(new, ~new)


def _new_to_new(split: Split) -> Sides:
    new = _is_new(split)
    return Sides(new, new)


def _new_to_all(split: Split) -> Sides:
    return Sides(_is_new(split), np.ones(split.full.n_nodes, dtype=bool))


def _is_new(split: Split) -> Mask:
    new = np.zeros(split.full.n_nodes, dtype=bool)
    new[split.new] = True
    return new


ZERO_SHOT = "zero-shot"
CANE = "cane"
LINK_PROTOCOLS: dict[str, Callable[[Split], Sides]] = {"seen": _seen, "all": _all, CANE: _seen}
# The prefix of a zero-shot report's keys -> the nodes that take part.
NODE_PROTOCOLS: dict[str, Callable[[Split], Sides]] = {
    ZERO_SHOT: _new_to_old,
    f"{ZERO_SHOT}/new_new": _new_to_new,
    f"{ZERO_SHOT}/together": _new_to_all,
}
PROTOCOLS = LINK_PROTOCOLS | NODE_PROTOCOLS

_CONSTRAINTS: dict[str, Constraint] = {
    "protocol": Choice(*PROTOCOLS),
    "seed": Int(0),
    "negatives": Choice(*KINDS),
}


def draw_trials(
    split: Split, protocol: str = "seen", seed: int = 0, negatives: str = UNIFORM
) -> Trials:
    """Draw one positive and one negative for every node with a held-out link.

    The positive is uniform over the centre's held-out links, the negative one of the candidates
    that are not the centre and have no link with it in the full graph. Direction is ignored. Under
    `seen` both ends of a link, and the candidates, have a training link; under `all` every node
    takes part. Under `zero-shot` centres are held-out nodes and the other ends training nodes;
    under `zero-shot/new_new` both are held-out nodes, under `zero-shot/together` the other ends are
    any nodes. `cane` is that of another paper, see `draw_like_cane`.

    Parameters
    ----------
    split
        A split of links, or of nodes for `zero-shot`.
    protocol
        "seen", "all", "zero-shot", "zero-shot/new_new", "zero-shot/together" or "cane".
    seed
        Seed of the draw; the stream depends on the split and the protocol too.
    negatives
        "uniform", "degree" (in proportion to the training degree) or "text" (of the 100 nearest by
        BM25; at most 2,000 centres). The positives are the same for all.

    Examples
    --------
    >>> from pairgram.graph import TextGraph
    >>> from pairgram.split import split_edges
    >>> ring = TextGraph.from_edges([0, 1, 2, 3, 4], [1, 2, 3, 4, 0])
    >>> trials = draw_trials(split_edges(ring, keep=0.8), "all")
    >>> len(trials), trials.candidates, trials.left_out
    (2, 5, {})
    """
    given = {"protocol": protocol, "seed": seed, "negatives": negatives}
    check("draw_trials", _CONSTRAINTS, given)
    _check_kind(split, protocol)
    rng = _generator(split, protocol, seed)
    if protocol == CANE:
        return draw_like_cane(split, seed, negatives, rng)
    sides = PROTOCOLS[protocol](split)
    links, left_out = _eligible(both_ways(split), sides)
    if protocol in NODE_PROTOCOLS:
        left_out = _new_left_out(split, len(np.unique(links[:, 0])))
    center, positive = _one_link_each(links, rng)
    if negatives != UNIFORM:
        rng = _generator(split, f"{protocol} {negatives}", seed)
    if negatives == "text" and len(center) > MOST_TEXT_CENTERS:
        left_out[NOT_DRAWN] = len(center) - MOST_TEXT_CENTERS
        chosen = np.sort(rng.choice(len(center), MOST_TEXT_CENTERS, replace=False))
        center, positive = center[chosen], positive[chosen]
    negative = KINDS[negatives](Draw(split, center, sides.ends, rng))
    has_negative = negative >= 0
    reason = NO_NEGATIVE if negatives == UNIFORM else NO_NEIGHBOUR
    left_out[reason] = int(np.count_nonzero(~has_negative))
    return Trials(
        protocol=protocol,
        seed=int(seed),
        center=center[has_negative],
        positive=positive[has_negative],
        negative=negative[has_negative],
        candidates=int(np.count_nonzero(sides.ends)),
        left_out={reason: count for reason, count in left_out.items() if count},
        negatives=negatives,
    )


def draw_like_cane(split: Split, seed: int, negatives: str, rng: np.random.Generator) -> Trials:
    """Draw a negative for every held-out link the way CANE's code does, flaws and all.

    The centre is the source of the link. The negative is uniform over the ends of held-out links
    that have a training link, all but the positive: it may be a true neighbour, or the centre
    itself. Links with an end that has no training link are skipped. A node with many links counts
    many times. CANE's code also lets self-loops be test links, which our graphs do not have, and
    draws lines rather than pairs, so that a pair given both ways may be on both sides.

    References
    ----------
    Tu et al., "CANE", ACL 2017, and the file auc.py of its repository.
    """
    if negatives != UNIFORM:
        raise InputError(f"Protocol '{CANE}' has negatives of its own. Got {negatives!r}.")
    seen = split.train.degree > 0
    kept = split.held_out[seen[split.held_out].all(axis=1)]
    ends = np.unique(split.held_out)
    ends = ends[seen[ends]]
    center, positive = kept[:, 0], kept[:, 1]
    # The positive is one of the ends, so a draw of one place fewer steps over it.
    place = rng.integers(0, max(len(ends) - 1, 1), len(kept))
    negative = ends[place + (place >= np.searchsorted(ends, positive))] if len(ends) > 1 else center
    skipped = len(split.held_out) - len(kept)
    return Trials(
        protocol=CANE,
        seed=int(seed),
        center=center,
        positive=positive,
        negative=negative,
        candidates=len(ends),
        left_out={SKIPPED: skipped} if skipped else {},
    )


def _check_kind(split: Split, protocol: str) -> None:
    wanted = "nodes" if protocol in NODE_PROTOCOLS else "links"
    got = "nodes" if split.of_nodes else "links"
    if wanted != got:
        raise InputError(f"Protocol '{protocol}' needs a split of {wanted}. Got a split of {got}.")


def _generator(split: Split, protocol: str, seed: int) -> np.random.Generator:
    key = [int(seed), int(split.hash, 16), int.from_bytes(protocol.encode(), "big")]
    return np.random.Generator(np.random.PCG64(key))


def both_ways(split: Split) -> Positions:
    """Distinct held-out links seen from either end, sorted; shape (2m, 2)."""
    n_nodes = split.full.n_nodes
    keys = np.unique(unordered_keys(split.held_out, n_nodes))
    one_way = np.stack([keys // n_nodes, keys % n_nodes], axis=1)
    both = np.concatenate([one_way, one_way[:, ::-1]])
    links: Positions = both[np.lexsort((both[:, 1], both[:, 0]))]
    return links


def _eligible(links: Positions, sides: Sides) -> tuple[Positions, dict[str, int]]:
    """Links whose ends take part, and why centres are lost on the way."""
    from_allowed = links[sides.centers[links[:, 0]]]
    eligible = from_allowed[sides.ends[from_allowed[:, 1]]]
    centers, allowed_centers, kept_centers = (
        len(np.unique(rows[:, 0])) for rows in (links, from_allowed, eligible)
    )
    lost = {UNSEEN: centers - allowed_centers, NO_SEEN_LINK: allowed_centers - kept_centers}
    return eligible, lost


def _new_left_out(split: Split, centers: int) -> dict[str, int]:
    """Why held-out nodes are no centres."""
    alone = int(np.count_nonzero(split.full.degree[split.new] == 0))
    return {NO_LINK: alone, NO_SUCH_LINK: len(split.new) - alone - centers}


def _one_link_each(links: Positions, rng: np.random.Generator) -> tuple[Positions, Positions]:
    """One link of every centre, uniform over those it has; `links` sorted by centre."""
    center, start, count = np.unique(links[:, 0], return_index=True, return_counts=True)
    return center, links[start + below(count, rng), 1]
