"""A pretrained transformer as an encoder, fine-tuned with the rest: extra `lm`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from pairgram.errors import FileFormatError, MissingExtraError
from pairgram.io.tensors import map_tensors
from pairgram.text.encoders.base import Batch, Encoder, Plan, Texts
from pairgram.text.pieces import Pretrained
from pairgram.text.ragged import Ragged

WEIGHTS = "model.safetensors"
POOLER = "pooler."
PRETRAINED_RATE = 0.01


class PretrainedEncoder(Encoder):
    """e = W·h + b, h the mean (or first) output of a transformer over the pieces of a text.

    The pieces are the transformer's own: word ids of a batch are piece ids, and nothing is
    spelled. Dropped words become its unknown piece. Its own dropout stays off, so that a resumed
    training ends as an unbroken one.

    Parameters
    ----------
    parts
        Shape and pieces of the transformer.
    dim
        Length of a text's vector.
    """

    def __init__(self, parts: Pretrained, dim: int) -> None:
        super().__init__()
        transformers = _transformers()
        config = transformers.AutoConfig.for_model(**parts.config)
        self.model = transformers.AutoModel.from_config(config)
        if hasattr(self.model, "pooler"):
            self.model.pooler = None  # a layer for another task, never trained here
        # A batch reads few of its pieces: only those move.
        table = self.model.get_input_embeddings()
        table.sparse = True
        self._table = next(n for n, p in self.named_parameters() if p is table.weight)
        self.dim, self.size = dim, int(config.vocab_size)
        self.unknown, self.first_piece = parts.unknown, parts.pooling == "cls"
        self.project = nn.Linear(int(config.hidden_size), dim)
        # Texts that were alike stay alike.
        nn.init.orthogonal_(self.project.weight)
        nn.init.zeros_(self.project.bias)

    def load(self, folder: str | Path) -> None:
        """Take the weights of a sentence-transformers folder; ones that do not fit raise."""
        path = Path(folder) / WEIGHTS
        if not path.is_file():
            raise FileFormatError(folder, f"is no sentence-transformers folder: no {WEIGHTS}.")
        prefix = f"{self.model.base_model_prefix}."
        found = {
            name.removeprefix(prefix): torch.from_numpy(np.array(array, np.float32))
            for name, array in map_tensors(path).items()
            if not name.removeprefix(prefix).startswith(POOLER) and "position_ids" not in name
        }
        try:
            self.model.load_state_dict(found)
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
            mean = self.project.weight.new_zeros(len(pieces), self.project.in_features)
        else:
            states = self.model(input_ids=pieces, attention_mask=mask.long()).last_hidden_state
            mean = states[:, 0] if self.first_piece else _mean(states, mask)
        vectors: Tensor = self.project(mean)
        return vectors


def _mean(states: Tensor, mask: Tensor) -> Tensor:
    share = mask.to(states.dtype)[:, :, None]
    mean: Tensor = (states * share).sum(1) / share.sum(1).clamp_min(1.0)
    return mean


def _transformers() -> Any:
    try:
        import transformers
    except ImportError:
        raise MissingExtraError("The pretrained encoder", "lm") from None
    return transformers
