"""What every encoder is: a module from batches of word ids to vectors."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from pairgram.text.encoders.device import to_device
from pairgram.text.ragged import Ragged

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class Texts:
    """Texts to encode.

    Attributes
    ----------
    words
        Word ids of each text; from the vocabulary's size on they are unknown words.
    spelling
        Letters of all words, known and unknown, as the encoder's `spell` gives them.
    dropped
        Words to treat as unknown, shape (total,), or None: this is how <unk> learns.
    featured
        Whether `Encoder.features` of all words will be at hand.
    """

    words: Ragged
    spelling: Ragged
    dropped: NDArray[np.bool_] | None = None
    featured: bool = False


@dataclass(frozen=True, eq=False)
class Plan:
    """All that can be worked out about texts without weights, so that a device need not wait.

    Attributes
    ----------
    arrays
        What the encoder reads, by name.
    sizes
        The same for arrays that stay with the host.
    reads
        Rows that are read in each sparse table, by the name of its weight.
    """

    arrays: Arrays
    sizes: Arrays = field(default_factory=dict)
    reads: Arrays = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Batch:
    """A plan on a device.

    Attributes
    ----------
    arrays, sizes
        As in `Plan`.
    features
        What `Encoder.features` made of the spelling of all words, or None.
    """

    arrays: Mapping[str, Tensor]
    sizes: Mapping[str, Tensor]
    features: Tensor | None = None


class Encoder(nn.Module):
    """Base of the encoders.

    Attributes
    ----------
    size
        Words of the vocabulary, <unk> among them.
    dim
        Length of a text's vector.
    words_at_once
        Words of a batch of texts to encode on the CPU.
    """

    size: int
    dim: int
    words_at_once: int = 1 << 15

    @abstractmethod
    def spell(self, words: Sequence[str]) -> Ragged:
        """Letters of words as numbers, one row a word."""

    @abstractmethod
    def plan(self, texts: Texts) -> Plan:
        """Work out all about texts that needs no weights."""

    @abstractmethod
    def forward(self, batch: Batch) -> Tensor:
        """Vectors of texts, shape (b, dim)."""

    def batch(self, texts: Texts, device: Any = "cpu", features: Tensor | None = None) -> Batch:
        """Texts as `forward` takes them."""
        plan = self.plan(texts)
        return Batch(to_device(plan.arrays, device), to_device(plan.sizes, "cpu"), features)

    @property
    def has_features(self) -> bool:
        """Whether `features` gives some."""
        return False

    def features(self, spelling: Ragged, device: Any = "cpu") -> Tensor | None:
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

    def round_words(self) -> None:
        """Round what is kept in half precision to it, when training is over: here nothing."""
