"""What every encoder is: a module from batches of word ids to vectors."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from pairgram.text.ragged import Ragged


@dataclass(frozen=True, eq=False)
class Rows:
    """A `Ragged` on a device: row i is ``values[offsets[i] : offsets[i + 1]]``."""

    values: Tensor
    offsets: Tensor

    @classmethod
    def of(cls, ragged: Ragged, device: Any = "cpu") -> "Rows":
        """Copy to a device."""
        return cls(
            torch.from_numpy(ragged.values.astype(np.int64)).to(device),
            torch.from_numpy(ragged.offsets).to(device),
        )

    @property
    def lengths(self) -> Tensor:
        """Length of each row, shape (rows,)."""
        return self.offsets.diff()

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, rows: Tensor) -> "Rows":
        """Return the given rows, in their order."""
        begin, lengths = self.offsets[rows], self.offsets[rows + 1] - self.offsets[rows]
        offsets = _offsets(lengths)
        shift = torch.repeat_interleave(begin - offsets[:-1], lengths)
        return Rows(self.values[torch.arange(len(shift), device=shift.device) + shift], offsets)

    def join(self, more: "Rows") -> "Rows":
        """Return these rows and then `more`."""
        offsets = torch.cat((self.offsets, more.offsets[1:] + self.offsets[-1]))
        return Rows(torch.cat((self.values, more.values)), offsets)

    def join_some(self, wanted: Tensor, more: "Rows") -> "Rows":
        """Return what `join` does with all of these rows empty but the wanted ones, ascending."""
        some = self.take(wanted)
        lengths = torch.zeros(len(self) + len(more), dtype=torch.long, device=wanted.device)
        lengths[wanted], lengths[len(self) :] = some.lengths, more.lengths
        return Rows(torch.cat((some.values, more.values)), _offsets(lengths))

    def keep(self, mask: Tensor) -> "Rows":
        """Return all rows with the values of a mask, shape (total,), only."""
        before = _offsets(mask.long())
        return Rows(self.values[mask], before[self.offsets])


@dataclass(frozen=True, eq=False)
class Batch:
    """Texts to encode.

    Attributes
    ----------
    words
        Word ids of each text; from the vocabulary's size on they are unknown words.
    spelling
        Letters of all words, known and unknown, as the encoder's `spell` gives them.
    dropped
        Words to treat as unknown, shape (total,), or None: this is how <unk> learns.
    features
        What `Encoder.features` made of the spelling of all words, or None to work it out here.
    """

    words: Rows
    spelling: Rows
    dropped: Tensor | None = None
    features: Tensor | None = None


class Encoder(nn.Module):
    """Base of the encoders.

    Attributes
    ----------
    size
        Words of the vocabulary, <unk> among them.
    dim
        Length of a text's vector.
    """

    size: int
    dim: int

    @abstractmethod
    def spell(self, words: Sequence[str]) -> Ragged:
        """Letters of words as numbers, one row a word."""

    @abstractmethod
    def forward(self, batch: Batch) -> Tensor:
        """Vectors of texts, shape (b, dim)."""

    def features(self, spelling: Rows) -> Tensor | None:
        """What a batch would work out again for every word, shape (words, …), or None."""
        return None

    def start_from(self, table: NDArray[np.float32], found: NDArray[np.bool_]) -> None:
        """Let word vectors start at the rows of `table`, shape (V, word_dim), that were found.

        The other rows are brought to the same spread.
        """
        words = self.word_table()
        with torch.no_grad():
            rows = torch.from_numpy(found)
            given = torch.from_numpy(table)
            words[: self.size] *= given[rows].std() / words.std()
            words[: self.size][rows] = given[rows]

    def share_of_rate(self, name: str) -> float:
        """Share of the learning rate that a weight, by its name in here, moves at."""
        return 1.0

    @abstractmethod
    def word_table(self) -> Tensor:
        """The table whose first `size` rows are the word vectors."""


def _offsets(lengths: Tensor) -> Tensor:
    zero = torch.zeros(1, dtype=lengths.dtype, device=lengths.device)
    return torch.cat((zero, lengths.cumsum(0)))
