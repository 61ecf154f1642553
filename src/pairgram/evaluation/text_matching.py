"""The floor Text Matching: likeness of mean word vectors made elsewhere."""

from pathlib import Path
from typing import Any

from pairgram.errors import InputError
from pairgram.graph import TextGraph

NAME = "text_matching"
# The paper takes the raw dot product, which is far below this on abstracts: a floor is to be hard.
RULE = "cosine"


def text_matching(word_vectors: str | Path, graph: TextGraph) -> Any:
    """Text Matching on the texts of a training graph; nothing is learnt from it.

    Parameters
    ----------
    word_vectors
        File of word vectors, text or npz.
    graph
        The training side.
    """
    from pairgram.models import METHODS

    if graph.texts is None:
        raise InputError("The floor Text Matching needs a graph with texts.")
    return METHODS[NAME]().set_params(word_vectors=str(word_vectors), rule=RULE).fit(graph)
