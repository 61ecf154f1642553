"""The audit that runs on every evaluation: nothing held out may have reached training."""

import numpy as np
from numpy.typing import NDArray

from pairgram.errors import InputError, LeakError
from pairgram.evaluation.scorer import LinkModel, method_name
from pairgram.graph import TextGraph
from pairgram.split import Split, unordered_keys


def audit(split: Split) -> None:
    """Check a split for shared links, in either direction.

    Raises
    ------
    LeakError
        A held-out link is also a training link; the message has their number and an example.
    InputError
        The parts do not belong together: other nodes, or a held-out pair the full graph lacks.
    """
    _check_nodes(split)
    n_nodes = split.full.n_nodes
    held_out = np.unique(unordered_keys(split.held_out, n_nodes))
    shared = held_out[np.isin(held_out, _link_keys(split.train))]
    if len(shared):
        raise LeakError(
            f"The split leaks: {len(shared)} of {len(held_out)} held-out links are also training "
            f"links, e.g. {_example(split, shared)}; cut the graph with split_edges."
        )
    foreign = held_out[~np.isin(held_out, _link_keys(split.full))]
    if len(foreign):
        raise InputError(
            f"The split is broken: {len(foreign)} held-out pairs are no links of the full graph, "
            f"e.g. {_example(split, foreign)}; cut the graph with split_edges."
        )


def audit_model(model: LinkModel, split: Split) -> None:
    """Raise `LeakError` where a fitted model has seen another graph than the training side."""
    if model.fingerprint_ != split.train.fingerprint:
        raise LeakError(
            f"{method_name(model)} was fitted on another graph than the split's training side "
            f"(fingerprint {str(model.fingerprint_)[:12]}, expected "
            f"{split.train.fingerprint[:12]}); fit it on split.train."
        )


def _check_nodes(split: Split) -> None:
    n_nodes = split.full.n_nodes
    if split.train.n_nodes != n_nodes:
        raise InputError(
            f"The split is broken: the training side of an edge split must have the {n_nodes} "
            f"nodes of the full graph. Got {split.train.n_nodes}."
        )
    outside = np.count_nonzero((split.held_out < 0) | (split.held_out >= n_nodes))
    if outside:
        raise InputError(
            f"The split is broken: held-out positions must be in [0, {n_nodes}). "
            f"Got {outside} outside."
        )


def _link_keys(graph: TextGraph) -> NDArray[np.int64]:
    return unordered_keys(np.stack([graph.source, graph.target], axis=1), graph.n_nodes)


def _example(split: Split, keys: NDArray[np.int64]) -> str:
    first, second = divmod(int(keys[0]), split.full.n_nodes)
    names = split.full.names
    return f"({names[first]!r}, {names[second]!r})"
