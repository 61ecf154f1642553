"""How CANE's vectors come about: a trained module, and texts read in view of neighbours."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pairgram.graph import TextGraph
from pairgram.models.tge_fit import import_torch
from pairgram.text.ragged import Ragged
from pairgram.training.checkpoint import Checkpoint

if TYPE_CHECKING:
    from pairgram.training.cane import CaneSettings
    from pairgram.training.cane_net import CaneNet
    from pairgram.training.text_state import TextProgress

# A text without training neighbours is read in view of so many known ones.
ANCHORS = 32

Table = NDArray[np.float32]


def settings_of(chosen: Mapping[str, Any]) -> "CaneSettings":
    """Return the settings of training from the parameters of the model."""
    import_torch()
    from pairgram.training.cane import CaneSettings
    from pairgram.training.cane_net import Weights

    weights = Weights(*(chosen[f"{part}_weight"] for part in ("structure", "text", "cross")))
    names = ("negatives", "epochs", "learning_rate", "batch_size", "seed")
    return CaneSettings(weights, *(chosen[name] for name in names))


def learn(
    chosen: Mapping[str, Any],
    graph: TextGraph,
    words: Ragged,
    n_words: int,
    device: Any,
    identity: Mapping[str, Any],
    checkpoint: str | Path | None,
    callback: "Callable[[TextProgress, int], None] | None",
) -> "tuple[CaneNet, TextProgress]":
    """Train a module on the links of a graph.

    Parameters
    ----------
    chosen
        Parameters of the model.
    words, n_words
        Known words of every text, and how many there are.
    identity
        What must agree for a checkpoint to be resumed.
    checkpoint, callback
        As in `TGE.fit`.
    """
    torch = import_torch()
    from pairgram.training.cane import CaneFeed, train
    from pairgram.training.cane_net import CaneNet
    from pairgram.training.text_state import TextProgress

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(chosen["seed"])
        net = CaneNet(graph.n_nodes, n_words, chosen["dim"] // 2, chosen["with_attention"])
    feed = CaneFeed(graph, settings_of(chosen))
    if checkpoint is None:
        return net, train(net, words, feed, device, None, callback)
    keeper = Checkpoint(Path(checkpoint), dict(identity), kind=TextProgress)
    done = train(net, words, feed, device, keeper.read(), keeper.after_turn(callback))
    keeper.write(done)
    return net, done


def averaged(graph: TextGraph, words: Ragged, net: "CaneNet", device: Any, seed: int) -> Table:
    """[s ; mean of t over the neighbours] of every node; s is zero where there is no link."""
    from pairgram.training.cane import PairTexts

    reader, half = PairTexts(net, words, device), net.dim
    linked, alone = np.flatnonzero(graph.degree > 0), np.flatnonzero(graph.degree == 0)
    center = np.zeros((graph.n_nodes, 2 * half), np.float32)
    center[linked, :half] = net.structure.weight.detach().cpu().numpy()[linked]
    others = graph.adjacency().indices.astype(np.int64)
    center[linked, half:] = reader.means(linked, graph.degree[linked], others)
    center[alone, half:] = reader.means_over(alone, anchors(graph, seed))
    return center


def anchors(graph: TextGraph, seed: int) -> NDArray[np.int64]:
    """Known nodes with links that a text without neighbours is read in view of."""
    linked = np.flatnonzero(graph.degree > 0)
    random = np.random.Generator(np.random.PCG64(seed))
    return np.sort(random.choice(linked, min(ANCHORS, len(linked)), replace=False))
