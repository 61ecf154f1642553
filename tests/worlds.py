"""The world with a known answer in which all methods are tested."""

import atexit
import inspect
import itertools
import shutil
import tempfile
from functools import cache
from pathlib import Path

import numpy as np

import pairgram as pg
from pairgram.models import METHODS
from tiny_encoder import write_encoder

SIZE = 8
WORD_VECTORS = str(Path(__file__).parent / "data" / "word_vectors.txt")


@cache
def encoder_folder():
    """A tiny sentence encoder, the same in every process that asks for one."""
    place = tempfile.mkdtemp(prefix="pairgram-encoder-")
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    return str(write_encoder(Path(place)))


# Small and quick settings under which the world is learnt; a new method needs an entry.
SMALL = {
    # Under 'calibrated' pairs sampled across the bridge are likely, and rightly so.
    "ps": {"dim": 16, "rule": "symmetric"},
    "deepwalk": {"dim": 16, "length": 20, "times": 20},
    "node2vec": {"dim": 16, "length": 20, "times": 20, "p": 0.5, "q": 2.0},
    "line": {"dim": 16, "per_edge": 200},
    "tge": {
        "dim": 16,
        "preset": "best",
        "encoder": "bilstm",
        "contexts": "both",
        "id_vectors": True,
        "epochs": 6,
        "learning_rate": 0.02,
        "patience": 0,
        "word_dropout": 0.1,
        "l2": 0.001,
        "mask_known": True,
        "offset": True,
        "optimizer": "adam",
        "batch_size": 4,
        "threads": 1,
    },
    # With more features than the two that part the cliques, single words part nodes of one.
    "tadw": {"dim": 16, "features": 3, "epochs": 4},
    "paper2vec": {"dim": 16, "length": 20, "times": 20, "neighbours": 2},
    "cane": {
        "dim": 16,
        "epochs": 20,
        "learning_rate": 0.01,
        "negatives": 2,
        "batch_size": 32,
        "threads": 1,
    },
    "text_matching": {"word_vectors": WORD_VECTORS},
    "stne": {
        "dim": 16,
        "features": 3,
        "length": 5,
        "times": 3,
        "epochs": 4,
        "learning_rate": 0.02,
        "batch_size": 8,
        "threads": 1,
    },
    "graphgan": {"dim": 16, "epochs": 5, "samples": 5, "batch_size": 8},
    "sentence_encoder": {
        "pretrained": encoder_folder(),
        "epochs": 6,
        "learning_rate": 0.005,
        "batch_size": 16,
        "threads": 1,
    },
    "graphsage": {
        "dim": 16,
        "features": 4,
        "neighbours": 4,
        "far_neighbours": 3,
        "epochs": 20,
        "learning_rate": 0.01,
        "batch_size": 16,
        "threads": 1,
    },
}
# Less training, for promises that hold however well the world is learnt.
BRIEF = {
    "deepwalk": {"times": 4},
    "node2vec": {"times": 4},
    "paper2vec": {"times": 4},
    "line": {"per_edge": 40},
    "tge": {"epochs": 2},
    "cane": {"epochs": 2},
    "stne": {"epochs": 2},
    "graphgan": {"epochs": 2},
    "sentence_encoder": {"epochs": 2},
    "graphsage": {"epochs": 2},
}
# Methods that draw and train; the others are the same whatever the seed.
TRAINED = [method for method, cls in METHODS.items() if "seed" in cls.constraints]
# Those of them that follow arcs, and those that can be interrupted.
DIRECTED = [method for method in TRAINED if "directed" in METHODS[method].constraints]
RESUMED = [m for m in TRAINED if "checkpoint" in inspect.signature(METHODS[m].fit).parameters]
# Models that read text repeat themselves on one thread count, the others on any.
READS_TEXT = {method for method, cls in METHODS.items() if hasattr(cls, "embed")}
# A new text meets W of a known node, never the text of another: W of a new node is zero.
BLIND_BETWEEN_NEW = {"tadw"}


def world(directed=False, extra=()):
    """Two cliques and a bridge between their last and first nodes; texts that agree."""
    edges = [
        (f"{side}{a}", f"{side}{b}")
        for side in "ab"
        for a, b in itertools.combinations(range(SIZE), 2)
    ]
    source, target = zip(*edges, (f"a{SIZE - 1}", "b0"), strict=True)
    texts = {f"a{i}": f"red apple {i}" for i in range(SIZE)}
    texts |= {f"b{i}": f"blue boat {i}" for i in range(SIZE)}
    texts |= dict.fromkeys(extra, "")
    return pg.TextGraph.from_edges(list(source), list(target), texts=texts, directed=directed)


def build(method, **more):
    """Make a model; a direction is left to the methods that know one."""
    if "directed" not in METHODS[method].constraints:
        more.pop("directed", None)
    return METHODS[method](**(SMALL[method] | more))


def build_brief(method, **more):
    """Make a model that trains for a moment."""
    return build(method, **(BRIEF.get(method, {}) | more))


def shuffled(model):
    """Give a fitted model's vectors to other nodes: what it then scores is chance."""
    from pairgram.vectors import Vectors

    order = np.random.default_rng(0).permutation(len(model.vectors_))
    center, context = model.vectors_.center[order], model.vectors_.context
    model.vectors_ = Vectors(
        center, None if context is None else context[order], model.vectors_.names
    )
    return model
