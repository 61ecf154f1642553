"""Encoders by name."""

from dataclasses import dataclass

from pairgram.text.encoders.bag import BagEncoder
from pairgram.text.encoders.base import Encoder
from pairgram.text.encoders.bilstm import BiLstmEncoder
from pairgram.text.vocabulary import Vocabulary

CHAR_DIM = 25


@dataclass(frozen=True)
class EncoderSpec:
    """What an encoder is built from beside the vocabulary: its name, sizes and what is left out."""

    name: str
    dim: int
    word_dim: int
    without_char: bool = False
    without_word: bool = False


def make_encoder(spec: EncoderSpec, vocabulary: Vocabulary) -> Encoder:
    """Return an untrained encoder."""
    without = (spec.without_char, spec.without_word)
    if spec.name == "bag":
        return BagEncoder(vocabulary.idf, spec.dim, spec.word_dim, *without)
    return BiLstmEncoder(
        len(vocabulary), vocabulary.characters, spec.dim, spec.word_dim, CHAR_DIM, *without
    )
