"""Methods: one file each, all with the same `fit`, `score`, `suggest`, `vectors_`, `save`."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pairgram.models.base import Model
    from pairgram.models.cane import CANE
    from pairgram.models.deepwalk import DeepWalk
    from pairgram.models.graphgan import GraphGAN
    from pairgram.models.graphsage import GraphSAGE
    from pairgram.models.line import LINE
    from pairgram.models.node2vec import Node2Vec
    from pairgram.models.paper2vec import Paper2Vec
    from pairgram.models.ps import PS
    from pairgram.models.registry import METHODS
    from pairgram.models.sentence_encoder import SentenceEncoder
    from pairgram.models.stne import STNE
    from pairgram.models.storage import load
    from pairgram.models.suggesting import Suggestion
    from pairgram.models.tadw import TADW
    from pairgram.models.text_matching import TextMatching
    from pairgram.models.tge import TGE

# Each method is imported when first used: one does not wait for what another needs.
_HOME = {
    "CANE": "cane",
    "DeepWalk": "deepwalk",
    "GraphGAN": "graphgan",
    "GraphSAGE": "graphsage",
    "LINE": "line",
    "METHODS": "registry",
    "Model": "base",
    "Node2Vec": "node2vec",
    "PS": "ps",
    "Paper2Vec": "paper2vec",
    "STNE": "stne",
    "SentenceEncoder": "sentence_encoder",
    "Suggestion": "suggesting",
    "TADW": "tadw",
    "TGE": "tge",
    "TextMatching": "text_matching",
    "load": "storage",
}

__all__ = [
    "CANE", "LINE", "METHODS", "PS", "STNE", "TADW", "TGE", "DeepWalk", "GraphGAN", "GraphSAGE",
    "Model", "Node2Vec", "Paper2Vec", "SentenceEncoder", "Suggestion", "TextMatching", "load",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'pairgram.models' has no attribute '{name}'")
    value = getattr(import_module(f"pairgram.models.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
