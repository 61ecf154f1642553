"""Graph embeddings sampled in pairs and driven by text.

>>> import pairgram as pg
>>> graph = pg.TextGraph.from_edges(["a", "b", "c"], ["b", "c", "d"])
>>> model = pg.PS(dim=8).fit(graph)
>>> len(model.suggest(node="a"))
2
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from pairgram.engine.ray import RayEngine
    from pairgram.errors import PairgramError
    from pairgram.evaluation import evaluate
    from pairgram.graph import TextGraph
    from pairgram.models import (
        CANE,
        LINE,
        PS,
        STNE,
        TADW,
        TGE,
        DeepWalk,
        GraphGAN,
        GraphSAGE,
        Node2Vec,
        Paper2Vec,
        SentenceEncoder,
        Suggestion,
        TextMatching,
        load,
    )
    from pairgram.sampling import Pairs, iter_pairs, sample_pairs
    from pairgram.split import Split, split_edges, split_nodes, split_nodes_time, split_time
    from pairgram.vectors import Vectors

# Each name is imported when first used: `import pairgram` itself loads nothing heavy.
_HOME = {
    "CANE": "models",
    "DeepWalk": "models",
    "GraphGAN": "models",
    "GraphSAGE": "models",
    "LINE": "models",
    "Node2Vec": "models",
    "PS": "models",
    "Pairs": "sampling",
    "Paper2Vec": "models",
    "PairgramError": "errors",
    "RayEngine": "engine.ray",
    "STNE": "models",
    "SentenceEncoder": "models",
    "Split": "split",
    "Suggestion": "models",
    "TADW": "models",
    "TGE": "models",
    "TextGraph": "graph",
    "TextMatching": "models",
    "Vectors": "vectors",
    "evaluate": "evaluation",
    "iter_pairs": "sampling",
    "load": "models",
    "sample_pairs": "sampling",
    "split_edges": "split",
    "split_nodes": "split",
    "split_nodes_time": "split",
    "split_time": "split",
}

__all__ = [
    "CANE",
    "LINE",
    "PS",
    "STNE",
    "TADW",
    "TGE",
    "DeepWalk",
    "GraphGAN",
    "GraphSAGE",
    "Node2Vec",
    "PairgramError",
    "Pairs",
    "Paper2Vec",
    "RayEngine",
    "SentenceEncoder",
    "Split",
    "Suggestion",
    "TextGraph",
    "TextMatching",
    "Vectors",
    "evaluate",
    "iter_pairs",
    "load",
    "sample_pairs",
    "split_edges",
    "split_nodes",
    "split_nodes_time",
    "split_time",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'pairgram' has no attribute '{name}'")
    value = getattr(import_module(f"pairgram.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
