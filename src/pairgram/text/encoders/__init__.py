"""Encoders: modules from word ids to vectors, all with one interface. This package needs torch."""

from pairgram.text.encoders.bag import BagEncoder
from pairgram.text.encoders.base import Batch, Encoder, Plan, Texts
from pairgram.text.encoders.bilstm import BiLstmEncoder
from pairgram.text.encoders.device import resolve_device, to_device
from pairgram.text.encoders.encode import encode, encode_planned, plan
from pairgram.text.encoders.make import EncoderSpec, make_encoder, tokenizer
from pairgram.text.encoders.pretrained import PretrainedEncoder
from pairgram.text.encoders.reader import TextReader

__all__ = [
    "BagEncoder",
    "Batch",
    "BiLstmEncoder",
    "Encoder",
    "EncoderSpec",
    "Plan",
    "PretrainedEncoder",
    "TextReader",
    "Texts",
    "encode",
    "encode_planned",
    "make_encoder",
    "plan",
    "resolve_device",
    "to_device",
    "tokenizer",
]
