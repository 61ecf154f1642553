"""A trained encoder with its vocabulary: texts in, vectors out."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from pairgram.errors import InputError
from pairgram.text.encoders.encode import encode
from pairgram.text.encoders.make import EncoderSpec, make_encoder, tokenizer
from pairgram.text.ragged import Ragged
from pairgram.text.tokens import Tokens
from pairgram.text.vocabulary import Vocabulary

logger = logging.getLogger(__name__)

ENCODER, HEAD = "encoder.", "head."

Table = NDArray[np.float32]


class TextReader:
    """Reads texts that training has not seen.

    Parameters
    ----------
    spec, vocabulary
        What the encoder was built from.
    weights
        Its weights under names with the prefix ``encoder.``; where contexts come from text, those
        of the linear map to them under ``head.``.
    max_words
        Words of a text that are read.
    device
        Where to work.
    """

    def __init__(
        self,
        spec: EncoderSpec,
        vocabulary: Vocabulary,
        weights: Mapping[str, NDArray[Any]],
        max_words: int,
        device: Any = "cpu",
    ) -> None:
        self._max_words, self._device = max_words, device
        self._tokenize = tokenizer(spec, vocabulary, max_words)
        # A transformer makes more than weights when it is built, so that it needs a real place.
        with torch.device("meta" if spec.pretrained is None else device):
            self._encoder = make_encoder(spec, vocabulary)
            self._head = torch.nn.Linear(spec.dim, spec.dim) if f"{HEAD}weight" in weights else None
        _fill(self._encoder, weights, ENCODER, device)
        self._encoder.eval()
        if self._head is not None:
            _fill(self._head, weights, HEAD, device)
        self._spelling = self._encoder.spell(vocabulary.words)
        self._features: torch.Tensor | None = None

    @property
    def makes_contexts(self) -> bool:
        """Whether context vectors come from text too."""
        return self._head is not None

    def read(self, texts: Sequence[str]) -> tuple[Table, Table | None]:
        """Centre vectors and, where they come from text, context vectors, both (m, dim)."""
        tokens = self._tokenize(texts)
        if tokens.cut:
            logger.warning(
                "%d of %d texts longer than %d words: the rest of them is not read",
                tokens.cut, len(texts), self._max_words,
            )  # fmt: skip
        spelling, features = self._spelled(tokens)
        center = encode(self._encoder, tokens.ids, spelling, self._device, features)
        if self._head is None:
            return center, None
        with torch.no_grad():
            context = self._head(torch.from_numpy(center).to(self._device))
        return center, context.cpu().numpy()

    def _spelled(self, tokens: Tokens) -> tuple[Ragged, torch.Tensor | None]:
        """Letters of all words, and for many words what the encoder makes of them."""
        new = self._encoder.spell(tokens.unknown)
        if len(tokens.ids.values) > len(self._spelling):
            return self._spelling.join(new), self._all_features(new)
        if not tokens.unknown:
            return self._spelling, None
        met = np.unique(tokens.ids.values).astype(np.int64)
        return self._spelling.join_some(met[met < len(self._spelling)], new), None

    def _all_features(self, new: Ragged) -> torch.Tensor | None:
        """What the encoder makes of the spelling of known words, worked out once, and new ones."""
        with torch.no_grad():
            if self._features is None:
                self._features = self._encoder.features(self._spelling, self._device)
            more = self._encoder.features(new, self._device) if len(new) else None
        return self._features if more is None else torch.cat((self._features, more))


def _precision(array: NDArray[Any]) -> torch.dtype | None:
    return torch.float32 if array.dtype == np.float16 else None


def _fill(
    module: torch.nn.Module, weights: Mapping[str, NDArray[Any]], prefix: str, device: Any
) -> None:
    chosen = {
        # Tables that are kept in half precision are read as they were trained.
        name.removeprefix(prefix): torch.from_numpy(np.array(array)).to(device, _precision(array))
        for name, array in weights.items()
        if name.startswith(prefix)
    }
    try:
        module.load_state_dict(chosen, assign=True)
    except RuntimeError:
        raise InputError("The weights do not fit the encoder and its vocabulary.") from None
    for layer in module.modules():
        if isinstance(layer, torch.nn.LSTM):
            layer.flatten_parameters()
