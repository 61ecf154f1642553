"""Encoders by name, and how each cuts texts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from pairgram.errors import InputError
from pairgram.text.encoders.bag import BagEncoder
from pairgram.text.encoders.base import Encoder
from pairgram.text.encoders.bilstm import BiLstmEncoder
from pairgram.text.encoders.pretrained import PretrainedEncoder
from pairgram.text.pieces import Pretrained
from pairgram.text.tokens import Tokens, tokenize
from pairgram.text.vocabulary import Vocabulary

CHAR_DIM = 25


@dataclass(frozen=True)
class EncoderSpec:
    """What an encoder is built from beside the vocabulary: its name, sizes and what is left out.

    `pretrained` is the transformer of the encoder of that name.
    """

    name: str
    dim: int
    word_dim: int
    without_char: bool = False
    without_word: bool = False
    pretrained: Pretrained | None = None


def make_encoder(spec: EncoderSpec, vocabulary: Vocabulary) -> Encoder:
    """Return an untrained encoder."""
    without = (spec.without_char, spec.without_word)
    if spec.name == "pretrained":
        return PretrainedEncoder(_parts(spec), spec.dim)
    if spec.name == "bag":
        return BagEncoder(vocabulary.idf, spec.dim, spec.word_dim, *without)
    return BiLstmEncoder(
        len(vocabulary), vocabulary.characters, spec.dim, spec.word_dim, CHAR_DIM, *without
    )


def tokenizer(
    spec: EncoderSpec, vocabulary: Vocabulary, max_words: int
) -> Callable[[Sequence[str]], Tokens]:
    """Return the function that cuts texts into what the encoder reads."""
    if spec.name == "pretrained":
        return partial(_parts(spec).tokenize, max_words=max_words)
    return partial(tokenize, vocabulary=vocabulary, max_words=max_words)


def _parts(spec: EncoderSpec) -> Pretrained:
    if spec.pretrained is None:
        raise InputError("The pretrained encoder needs the folder of a transformer.")
    return spec.pretrained
