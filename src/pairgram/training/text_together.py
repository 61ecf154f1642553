"""Text training by several workers as one: who waits for them, and puts their shares together."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from pairgram.engine import Engine
from pairgram.io.places import Place
from pairgram.training import checkpoint as checkpoints
from pairgram.training.text import load_weights, weights_of
from pairgram.training.text_feed import TextSettings, TextTask
from pairgram.training.text_net import TextNet
from pairgram.training.text_shards import Shards
from pairgram.training.text_share import Plan, Share, Table, train_share
from pairgram.training.text_state import COUNTS, TextProgress


def train_together(
    net: TextNet,
    task: TextTask,
    settings: TextSettings,
    engine: Engine,
    cards: bool,
    identity: Mapping[str, Any],
    checkpoint: str | Path | None = None,
    callback: Callable[[TextProgress, int], None] | None = None,
) -> tuple[TextProgress, tuple[Table, Table]]:
    """Minimise what `pairgram.training.text.train` does, every batch shared by all workers.

    The gradient of a batch is that of one machine but for the order of sums. Each worker has the
    encoder and a run of rows of every table of nodes.

    Parameters
    ----------
    net
        Where to start, its tables of nodes at zero; ends with the weights that read texts, while
        its tables stay as they were.
    task, settings
        As in `train`.
    engine
        Its workers must see the checkpoint. The same number of them gives the same result.
    cards
        Whether graphics cards may be used.
    identity
        What must agree for a checkpoint to be resumed, beside the number of workers.
    checkpoint
        Path or URI beside which the training state is kept.
    callback
        Called a few times a second with the progress and the most turns there can be.

    Returns
    -------
    progress
        Counts and scores.
    vectors
        Centre and context vectors of all nodes, both (n, dim).
    """
    shards = _shards(engine, identity, checkpoint)
    contexts = ("both" if net.table is not None else "text") if net.head is not None else "table"
    plan = Plan(
        net.encoder.cpu(), None if net.head is None else weights_of(net.head), contexts,
        net.id is not None, task, settings, None if shards is None else str(shards.place),
        {} if shards is None else shards.identity, checkpoints.EVERY_SECONDS,
    )  # fmt: skip

    def hear(news: tuple[dict[str, Any], int]) -> None:
        if callback is not None:
            callback(TextProgress(**news[0]), news[1])

    shares: list[Share] = engine.train_together(train_share, (plan,), hear, cards)
    _take(net, shares[0])
    vectors = tuple(np.concatenate([getattr(s, n) for s in shares]) for n in ("center", "context"))
    counts = {name: shares[0].counts[name] for name in COUNTS}
    return TextProgress(**counts), (vectors[0], vectors[1])


def _shards(
    engine: Engine, identity: Mapping[str, Any], checkpoint: str | Path | None
) -> Shards | None:
    """Where the state is kept, when all workers see it and it is of this training."""
    if checkpoint is None:
        return None
    place = Place(Path(checkpoint).absolute() if Place(checkpoint).path else checkpoint)
    if place.path is not None:
        engine.check_folder(place.path.parent)
    named = {**identity, "together": engine.together()}
    shards = Shards(place, named, checkpoints.EVERY_SECONDS)
    shards.note()
    return shards


def _take(net: TextNet, share: Share) -> None:
    # What comes from a worker may be read only.
    taken = {name: array.copy() for name, array in share.weights.items()}
    load_weights(net, {**weights_of(net), **taken})
