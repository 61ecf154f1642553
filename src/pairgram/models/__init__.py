"""Methods: one file each, all with the same `fit`, `score`, `suggest`, `vectors_`, `save`."""

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

__all__ = [
    "CANE", "LINE", "METHODS", "PS", "STNE", "TADW", "TGE", "DeepWalk", "GraphGAN", "GraphSAGE",
    "Model", "Node2Vec", "Paper2Vec", "SentenceEncoder", "Suggestion", "TextMatching", "load",
]  # fmt: skip
