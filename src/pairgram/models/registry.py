"""All methods by name."""

from pairgram.models.base import Model
from pairgram.models.cane import CANE
from pairgram.models.deepwalk import DeepWalk
from pairgram.models.graphgan import GraphGAN
from pairgram.models.graphsage import GraphSAGE
from pairgram.models.line import LINE
from pairgram.models.node2vec import Node2Vec
from pairgram.models.paper2vec import Paper2Vec
from pairgram.models.ps import PS
from pairgram.models.sentence_encoder import SentenceEncoder
from pairgram.models.stne import STNE
from pairgram.models.tadw import TADW
from pairgram.models.text_matching import TextMatching
from pairgram.models.tge import TGE

METHODS: dict[str, type[Model]] = {
    cls.method: cls
    for cls in (
        PS,
        DeepWalk,
        Node2Vec,
        LINE,
        TGE,
        TextMatching,
        TADW,
        Paper2Vec,
        CANE,
        STNE,
        GraphGAN,
        SentenceEncoder,
        GraphSAGE,
    )
}
