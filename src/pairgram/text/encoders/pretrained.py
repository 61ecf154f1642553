"""A pretrained transformer as an encoder, fine-tuned with the rest: extra `lm`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from pairgram.errors import FileFormatError, MissingExtraError
from pairgram.io.tensors import map_tensors
from pairgram.text.encoders.base import Batch, Encoder, Plan, Texts
from pairgram.text.encoders.bert import Bert
from pairgram.text.pieces import Pretrained
from pairgram.text.ragged import Ragged

WEIGHTS = "model.safetensors"
POOLER = "pooler."
PRETRAINED_RATE = 0.01
WORDS_AT_ONCE = 1 << 12
"""Pieces of a batch on the CPU: more do not stay in its cache."""


class PretrainedEncoder(Encoder):
    """e = W·h + b, h the mean (or first) output of a transformer over the pieces of a text.

    A BERT is built out of torch's layers; other transformers need the library of that name.
    The pieces are the transformer's own: word ids of a batch are piece ids, and nothing is
    spelled. Dropped words become its unknown piece. Its own dropout stays off, so that a resumed
    training ends as an unbroken one.

    Parameters
    ----------
    parts
        Shape and pieces of the transformer.
    dim
        Length of a text's vector; None takes h as it is.
    """

    words_at_once = WORDS_AT_ONCE

    def __init__(self, parts: Pretrained, dim: int | None = None) -> None:
        super().__init__()
        self.model = Bert(parts.config) if Bert.fits(parts.config) else _Library(parts.config)
        # A batch reads few of its pieces: only those move.
        table = self.model.get_input_embeddings()
        table.sparse = True
        self._table = next(n for n, p in self.named_parameters() if p is table.weight)
        self.size, self.width = table.weight.shape
        self.dim = self.width if dim is None else dim
        self.unknown, self.first_piece = parts.unknown, parts.pooling == "cls"
        if dim is None:
            self.project = nn.Identity()
            return
        self.project = nn.Linear(self.width, dim)
        # Texts that were alike stay alike.
        nn.init.orthogonal_(self.project.weight)
        nn.init.zeros_(self.project.bias)

    def load(self, folder: str | Path) -> None:
        """Take the weights of a sentence-transformers folder; ones that do not fit raise."""
        path = Path(folder) / WEIGHTS
        if not path.is_file():
            raise FileFormatError(folder, f"is no sentence-transformers folder: no {WEIGHTS}.")
        found = {
            name: torch.from_numpy(np.array(array, np.float32))
            for name, array in map_tensors(path).items()
            if POOLER not in name and "position_ids" not in name
        }
        try:
            self.model.load_state_dict(self.model.names_of_file(found))
        except RuntimeError as error:
            first = str(error).splitlines()[-1].strip()
            raise FileFormatError(path, f"does not fit its config.json: {first}") from None

    def train(self, mode: bool = True) -> "PretrainedEncoder":
        """Train without the transformer's dropout."""
        super().train(mode)
        self.model.eval()
        return self

    def share_of_rate(self, name: str) -> float:
        """Pretrained weights move slowly: full steps would undo what they know."""
        return PRETRAINED_RATE if name.startswith("model.") else 1.0

    def word_table(self) -> Tensor:
        """The table of piece vectors, shape (V, width)."""
        table: Tensor = self.model.get_input_embeddings().weight
        return table

    def spell(self, words: Sequence[str]) -> Ragged:
        """Nothing: pieces know no letters."""
        return Ragged.from_lengths(np.empty(0, np.int32), np.zeros(len(words), np.int64))

    def plan(self, texts: Texts) -> Plan:
        """Pieces with zeros after the end of each text, and where they are, both (b, longest)."""
        words = texts.words
        ids = words.values.astype(np.int64)
        if texts.dropped is not None:
            ids = np.where(texts.dropped, self.unknown, ids)
        lengths = words.lengths
        mask = np.arange(lengths.max(initial=0)) < lengths[:, None]
        padded = np.zeros(mask.shape, np.int64)
        padded[mask] = ids
        return Plan({"pieces": padded, "mask": mask}, reads={self._table: ids})

    def forward(self, batch: Batch) -> Tensor:
        """Vectors of texts, shape (b, dim)."""
        pieces, mask = batch.arrays["pieces"], batch.arrays["mask"]
        if pieces.shape[1] == 0:
            mean = self.word_table().new_zeros(len(pieces), self.width)
        else:
            states = self.model(pieces, mask)
            mean = states[:, 0] if self.first_piece else _mean(states, mask)
        vectors: Tensor = self.project(mean)
        return vectors


def _mean(states: Tensor, mask: Tensor) -> Tensor:
    share = mask.to(states.dtype)[:, :, None]
    mean: Tensor = (states * share).sum(1) / share.sum(1).clamp_min(1.0)
    return mean


class _Library(nn.Module):
    """Any transformer that the library of that name can build, with the calls of `Bert`."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        super().__init__()
        try:
            import transformers
        except ImportError:
            raise MissingExtraError("The pretrained encoder", "lm") from None
        kind = transformers.AutoConfig.for_model(**config)
        self.model = transformers.AutoModel.from_config(kind)
        if hasattr(self.model, "pooler"):
            self.model.pooler = None  # a layer for another task, never trained here

    def get_input_embeddings(self) -> nn.Embedding:
        """The table of piece vectors."""
        table: nn.Embedding = self.model.get_input_embeddings()
        return table

    def names_of_file(self, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Weights of a file under their names in here."""
        prefix = f"{self.model.base_model_prefix}."
        return {f"model.{name.removeprefix(prefix)}": value for name, value in weights.items()}

    def forward(self, pieces: Tensor, mask: Tensor) -> Tensor:
        """Outputs for pieces under a mask, (b, L, width)."""
        states: Tensor = self.model(input_ids=pieces, attention_mask=mask.long()).last_hidden_state
        return states
