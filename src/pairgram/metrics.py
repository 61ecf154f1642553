"""Link-prediction metrics: arrays in, numbers out."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pairgram.errors import InputError

HITS = (1, 10, 50)
DEPTH = 10  # length of the list that recall and nDCG look at


def auc_pair(positive: ArrayLike, negative: ArrayLike) -> float:
    """Share of trials whose positive scores above its negative, ties counted one half.

    Parameters
    ----------
    positive
        Scores of the true links, shape (m,).
    negative
        Scores of the non-links they are compared with, shape (m,).

    Examples
    --------
    >>> auc_pair([0.9, 0.5, 0.1], [0.2, 0.5, 0.3])
    0.5
    """
    positive = _scores("auc_pair", "positive", positive)
    negative = _scores("auc_pair", "negative", negative)
    _same_length("auc_pair", "positive", positive, "negative", negative)
    wins = int(np.count_nonzero(positive > negative))
    ties = int(np.count_nonzero(positive == negative))
    return (2 * wins + ties) / (2 * len(positive))


def roc_auc(scores: ArrayLike, labels: ArrayLike) -> float:
    """Area under the ROC curve, by mean ranks: P(score of a 1 > score of a 0) + P(equal) / 2.

    Parameters
    ----------
    scores
        Any real scores, shape (m,).
    labels
        0 or 1 (or bool), shape (m,); both must occur.

    Examples
    --------
    >>> roc_auc([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1])
    0.75
    """
    scores, truth = _labelled("roc_auc", scores, labels)
    ones = int(np.count_nonzero(truth))
    zeros = len(truth) - ones
    if not ones or not zeros:
        raise InputError(f"roc_auc: labels must hold both 0 and 1. Got {ones} ones, {zeros} zeros.")
    doubled = _doubled_mean_ranks(scores)
    # Twice the rank sum is an integer, so integer arithmetic keeps the area exact.
    above = int(doubled[truth].sum()) - ones * (ones + 1)
    return above / (2 * ones * zeros)


def average_precision(scores: ArrayLike, labels: ArrayLike) -> float:
    """Σ over thresholds of (recall gained) · precision; equal scores share one threshold.

    Parameters
    ----------
    scores
        Any real scores, shape (m,).
    labels
        0 or 1 (or bool), shape (m,); at least one 1.

    Examples
    --------
    >>> average_precision([0.9, 0.8, 0.7], [1, 0, 1])
    0.8333333333333333
    """
    scores, truth = _labelled("average_precision", scores, labels)
    ones = int(np.count_nonzero(truth))
    if not ones:
        raise InputError("average_precision: labels must hold at least one 1. Got none.")
    order = np.argsort(-scores, kind="stable")
    ordered = scores[order]
    last_of_value = np.append(ordered[1:] != ordered[:-1], True)
    found = np.cumsum(truth[order])[last_of_value]
    taken = np.flatnonzero(last_of_value) + 1
    gained = np.diff(found, prepend=0)
    return float(np.sum(gained * (found / taken)) / ones)


@dataclass(frozen=True, eq=False)
class Places:
    """Where true links stand among the candidates of their queries; all of shape (l,).

    Attributes
    ----------
    above, tied
        Candidates that are no true link of the query and score higher, and equally.
    first, size
        All candidates that score higher, and equally, the link itself and the query's other true
        links included.
    """

    above: NDArray[np.int64]
    tied: NDArray[np.int64]
    first: NDArray[np.int64]
    size: NDArray[np.int64]

    @property
    def rank(self) -> NDArray[np.float64]:
        """Filtered rank from 1 on, ties at the mean rank."""
        rank: NDArray[np.float64] = 1 + self.above + self.tied / 2
        return rank


def place_links(scores: ArrayLike, true: ArrayLike, barred: ArrayLike = ()) -> Places:
    """Place the true links of one query.

    Parameters
    ----------
    scores
        Scores of all nodes, shape (n,).
    true
        Positions of its true links, shape (l,).
    barred
        Positions that are no candidates, shape (f,); none of them in `true`.

    Examples
    --------
    >>> place_links([3.0, 2.0, 1.0, 1.0, 0.0], true=[0, 2]).rank.tolist()
    [1.0, 2.5]
    """
    row = _row("place_links", "scores", np.asarray(scores))
    links = _row("place_links", "true", np.asarray(true, dtype=np.int64))
    absent = np.asarray(barred, dtype=np.int64)
    return place_block(row[None], (links, [0, len(links)]), (absent, [0, len(absent)]))


def place_block(
    scores: NDArray[Any], true: tuple[ArrayLike, ArrayLike], barred: tuple[ArrayLike, ArrayLike]
) -> Places:
    """Place the true links of a block of queries, row by row.

    Parameters
    ----------
    scores
        Scores of all nodes for every query, shape (b, n).
    true
        Positions of the true links of all queries one after the other, shape (l,), and where those
        of each query begin and end, shape (b + 1,).
    barred
        The same for positions that are no candidates.
    """
    from pairgram.kernels.places import place_block as count

    (target, ends), (absent, absent_ends) = (
        (np.asarray(values, dtype=np.int64), np.asarray(bounds, dtype=np.int64))
        for values, bounds in (true, barred)
    )
    block = np.ascontiguousarray(scores)  # one layout, one compilation
    if block.dtype not in (np.float32, np.float64):
        block = block.astype(np.float64)
    first, size, missing = count(block, target, ends, absent, absent_ends)
    if missing:
        raise InputError(
            f"place_links: scores must be numbers. Got NaN in {missing} of {block.size}; "
            "the model that gave them diverged or was fed NaN."
        )
    query = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
    above, tied = among_fellows(block[query, target], ends)
    return Places(first - above, size - tied, first, size)


def join_places(places: Sequence[Places]) -> Places:
    """Places of several queries one after the other."""
    names = ("above", "tied", "first", "size")
    return Places(*(np.concatenate([getattr(one, name) for one in places]) for name in names))


def ranking(places: Places, query: ArrayLike) -> dict[str, float]:
    """Metrics of a ranking: mrr and hits@k over links, recall@10 and ndcg@10 over queries.

    The first are of filtered ranks, ties at the mean rank. The last two are of the whole list, and
    equal scores get the mean over all their orders.

    Parameters
    ----------
    places
        Where the links stand, l of them.
    query
        Query of each link, any integers, shape (l,).

    References
    ----------
    McSherry, Najork: Computing information retrieval performance measures efficiently in the
    presence of tied scores, 2008.

    Examples
    --------
    >>> found = ranking(place_links([3.0, 2.0, 1.0, 0.0], true=[0, 2]), [0, 0])
    >>> found["mrr"], found["hits@1"], found["recall@10"]
    (0.75, 0.5, 1.0)
    """
    rank = places.rank
    _same_length("ranking", "places", rank, "query", np.asarray(query))
    _, row, links = np.unique(np.asarray(query), return_inverse=True, return_counts=True)
    found = {"mrr": float(np.mean(1 / rank))}
    found |= {f"hits@{k}": float(np.mean(rank <= k)) for k in HITS}
    seen = np.ones(DEPTH)
    discount = 1 / np.log2(np.arange(DEPTH) + 2)
    ideal = np.cumsum(discount)[np.minimum(links, DEPTH) - 1]
    recall = np.bincount(row, _mean_gain(places, seen)) / links
    ndcg = np.bincount(row, _mean_gain(places, discount)) / ideal
    return found | {f"recall@{DEPTH}": float(recall.mean()), f"ndcg@{DEPTH}": float(ndcg.mean())}


def _mean_gain(places: Places, gain: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean of gain[i] over the places i that a link's tied group takes, 0 beyond; shape (l,)."""
    until = np.append(0.0, np.cumsum(gain))
    start = np.minimum(places.first, len(gain))
    end = np.minimum(places.first + places.size, len(gain))
    mean: NDArray[np.float64] = (until[end] - until[start]) / places.size
    return mean


def among_fellows(
    own: NDArray[Any], ends: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """True links of the same query above and equal to each link, itself included; shape (l,).

    Parameters
    ----------
    own
        Scores of the links, query after query, shape (l,).
    ends
        Where those of each query begin and end, shape (b + 1,).
    """
    query = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
    order = np.lexsort((own, query))
    query, own = query[order], own[order]
    starts = np.append(True, (query[1:] != query[:-1]) | (own[1:] != own[:-1]))
    group = np.cumsum(starts) - 1
    size = np.bincount(group) if len(group) else np.zeros(0, dtype=np.int64)
    last = np.cumsum(size)  # place after the last of every group of equal links
    above, tied = np.empty(len(own), dtype=np.int64), np.empty(len(own), dtype=np.int64)
    above[order] = ends[query + 1] - last[group]
    tied[order] = size[group]
    return above, tied


def _doubled_mean_ranks(scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """Twice the 1-based rank of every score, equal scores at their mean rank; shape (m,)."""
    _, value, size = np.unique(scores, return_inverse=True, return_counts=True)
    end = np.cumsum(size)
    doubled: NDArray[np.int64] = (2 * end - size + 1)[value]
    return doubled


def _labelled(
    owner: str, scores: ArrayLike, labels: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    checked = _scores(owner, "scores", scores)
    given = np.asarray(labels)
    _same_length(owner, "scores", checked, "labels", given)
    if not np.all((given == 0) | (given == 1)):
        raise InputError(f"{owner}: labels must be 0 or 1. Got {np.unique(given)[:4]}.")
    return checked, given.astype(bool)


def _scores(owner: str, name: str, values: ArrayLike) -> NDArray[np.float64]:
    return _row(owner, name, np.asarray(values, dtype=np.float64))


def _row(owner: str, name: str, row: NDArray[Any]) -> NDArray[Any]:
    """Check that the values are a row of numbers, at least one."""
    if row.ndim != 1 or not len(row):
        raise InputError(f"{owner}: {name} must be a non-empty row. Got shape {row.shape}.")
    missing = int(np.count_nonzero(np.isnan(row)))
    if missing:
        raise InputError(
            f"{owner}: {name} must be numbers. Got NaN in {missing} of {len(row)}; "
            "the model that gave them diverged or was fed NaN."
        )
    return row


def _same_length(
    owner: str, first: str, one: NDArray[np.float64], second: str, two: NDArray[np.generic]
) -> None:
    if one.shape != two.shape:
        raise InputError(
            f"{owner}: {first} and {second} must have one shape. Got {one.shape} and {two.shape}."
        )
