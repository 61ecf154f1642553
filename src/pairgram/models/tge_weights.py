"""All weights of TGE's trained module, from what a fitted model keeps."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from pairgram.models.tge import TGE


def net_weights(model: "TGE", texts: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Weights by their names in `TextNet`; what a node has beside its text is what is left.

    Parameters
    ----------
    model
        A fitted model.
    texts
        Texts of its nodes and, after them, of new ones.
    """
    known, vectors = len(model.vectors_), model.vectors_
    center, head = model._vectors_of(texts)
    weights = dict(model._weights_)
    own, table = np.zeros_like(center), np.zeros_like(center)
    if model._chosen("id_vectors"):
        own[:known] = vectors.center - center[:known]
        weights["id.weight"] = own
    if model._chosen("contexts") != "text" and vectors.context is not None:
        # A node that was added has no context yet: it starts at 0.
        context = np.nan_to_num(vectors.context)
        table[:known] = context if head is None else context - head[:known]
        weights["table.weight"] = table
    if head is not None:
        weights |= {"seen_center": center + own, "seen_context": head}
    return weights
