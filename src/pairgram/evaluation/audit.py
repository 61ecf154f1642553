"""The audit that runs on every evaluation: nothing held out may have reached training."""

import numpy as np
from numpy.typing import NDArray

from pairgram.errors import InputError, LeakError
from pairgram.evaluation.duplicates import Repeats
from pairgram.evaluation.scorer import LinkModel, method_name
from pairgram.split import Split, edge_keys, unordered_keys

_CUTS = {
    "edges": "split_edges",
    "nodes": "split_nodes",
    "time": "split_time",
    "nodes_time": "split_nodes_time",
}


def audit(split: Split) -> None:
    """Check a split for shared links, in either direction, and for shared nodes.

    Raises
    ------
    LeakError
        A held-out link is also a training link, or a held-out node a training node; the message
        has their number and an example.
    InputError
        The parts do not belong together: other nodes, or a held-out pair the full graph lacks.
    """
    _check_positions(split)
    (_check_new_nodes if split.of_nodes else _check_nodes)(split)
    n_nodes, cut = split.full.n_nodes, _CUTS[split.kind]
    held_out = np.unique(unordered_keys(split.held_out, n_nodes))
    shared = held_out[np.isin(held_out, _train_keys(split))]
    if len(shared):
        raise LeakError(
            f"The split leaks: {len(shared)} of {len(held_out)} held-out links are also training "
            f"links, e.g. {_example(split, shared)}; cut the graph with {cut}."
        )
    foreign = held_out[~np.isin(held_out, edge_keys(split.full))]
    if len(foreign):
        raise InputError(
            f"The split is broken: {len(foreign)} held-out pairs are no links of the full graph, "
            f"e.g. {_example(split, foreign)}; cut the graph with {cut}."
        )


def audit_model(model: LinkModel, split: Split) -> None:
    """Raise `LeakError` where a fitted model has seen another graph than the training side."""
    if model.fingerprint_ != split.train.fingerprint:
        raise LeakError(
            f"{method_name(model)} was fitted on another graph than the split's training side "
            f"(fingerprint {str(model.fingerprint_)[:12]}, expected "
            f"{split.train.fingerprint[:12]}); fit it on split.train."
        )
    if hasattr(model, "statistics_") and hasattr(model, "count_statistics"):
        _check_statistics(
            method_name(model), model.statistics_, model.count_statistics(split.train)
        )


def audit_texts(repeats: Repeats) -> None:
    """Raise `LeakError` where held-out nodes have the text of a training node, or nearly."""
    if repeats.any.any():
        exact, near = repeats.counts.values()
        raise LeakError(
            f"The split leaks: of {len(repeats.exact)} held-out nodes {exact} have the text of a "
            f"training node and {near} nearly; without strict texts every score is given without "
            "them too."
        )


def _check_statistics(name: str, stored: dict[str, str], counted: dict[str, str]) -> None:
    strange = [key for key in stored if stored[key] != counted.get(key)]
    if strange:
        raise LeakError(
            f"{name} holds statistics that are not those of the training side: "
            f"{', '.join(strange)}; fit it on split.train."
        )


def _check_positions(split: Split) -> None:
    n_nodes = split.full.n_nodes
    for what, positions in (("held-out", split.held_out), ("new", split.new)):
        outside = np.count_nonzero((positions < 0) | (positions >= n_nodes))
        if outside:
            raise InputError(
                f"The split is broken: {what} positions must be in [0, {n_nodes}). "
                f"Got {outside} outside."
            )


def _check_new_nodes(split: Split) -> None:
    names = split.full.names
    known = set(split.train.names.tolist())
    shared = [name for name in names[split.new].tolist() if name in known]
    if shared:
        raise LeakError(
            f"The split leaks: {len(shared)} of {len(split.new)} held-out nodes are also training "
            f"nodes, e.g. {shared[0]!r}; cut the graph with split_nodes."
        )
    if not np.array_equal(split.train.names, names[split.kept]):
        raise InputError(
            "The split is broken: the training side of a node split must have the other "
            f"{len(split.kept)} nodes of the full graph, in order. Got {split.train.n_nodes}."
        )


def _check_nodes(split: Split) -> None:
    n_nodes = split.full.n_nodes
    if split.train.n_nodes != n_nodes:
        raise InputError(
            f"The split is broken: the training side of an edge split must have the {n_nodes} "
            f"nodes of the full graph. Got {split.train.n_nodes}."
        )


def _train_keys(split: Split) -> NDArray[np.int64]:
    """One integer for each training link, by positions in the full graph, shape (m,)."""
    ends = np.stack([split.train.source, split.train.target], axis=1)
    return unordered_keys(split.kept[ends], split.full.n_nodes)


def _example(split: Split, keys: NDArray[np.int64]) -> str:
    first, second = divmod(int(keys[0]), split.full.n_nodes)
    names = split.full.names
    return f"({names[first]!r}, {names[second]!r})"
