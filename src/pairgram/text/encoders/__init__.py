"""Encoders: modules from word ids to vectors, all with one interface. This package needs torch."""

from pairgram.text.encoders.bag import BagEncoder
from pairgram.text.encoders.base import Batch, Encoder, Rows
from pairgram.text.encoders.bilstm import BiLstmEncoder
from pairgram.text.encoders.device import resolve_device
from pairgram.text.encoders.encode import encode
from pairgram.text.encoders.make import EncoderSpec, make_encoder, tokenizer
from pairgram.text.encoders.pretrained import PretrainedEncoder
from pairgram.text.encoders.reader import TextReader

__all__ = [
    "BagEncoder",
    "Batch",
    "BiLstmEncoder",
    "Encoder",
    "EncoderSpec",
    "PretrainedEncoder",
    "Rows",
    "TextReader",
    "encode",
    "make_encoder",
    "resolve_device",
    "tokenizer",
]
