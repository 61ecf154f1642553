"""Texts as the pieces of words that a pretrained transformer reads."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from pairgram.errors import FileFormatError, InputError, MissingExtraError
from pairgram.text.cleaning import beginning
from pairgram.text.ragged import Ragged
from pairgram.text.tokens import LONG, Tokens

CONFIG, TOKENIZER = "config.json", "tokenizer.json"
LIMITS, POOLING = "sentence_bert_config.json", "1_Pooling/config.json"
MOST_PIECES = 512


@dataclass(frozen=True, eq=False)
class Pretrained:
    """A transformer without its weights: its shape and its pieces, as plain JSON values.

    Attributes
    ----------
    config
        Shape of the transformer, as `config.json` of its folder holds it.
    tokenizer
        Rules that cut texts into pieces, as `tokenizer.json` holds them.
    pooling
        "mean" of the outputs, or "cls", the first.
    longest
        Pieces of a text that it can read.
    """

    config: Mapping[str, Any]
    tokenizer: Mapping[str, Any]
    pooling: str
    longest: int

    @classmethod
    def read(cls, folder: str | Path) -> "Pretrained":
        """Read a sentence-transformers folder, weights left out; anything else raises."""
        place = Path(folder)
        config, tokenizer = _json(place / CONFIG), _json(place / TOKENIZER)
        limits = _json(place / LIMITS) if (place / LIMITS).is_file() else {}
        most = config.get("max_position_embeddings", MOST_PIECES)
        longest = min(int(limits.get("max_seq_length") or most), int(most))
        return cls(config, tokenizer, _pooling(place / POOLING), longest)

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object that `from_json` reads."""
        return {
            "config": dict(self.config), "tokenizer": dict(self.tokenizer),
            "pooling": self.pooling, "longest": self.longest,
        }  # fmt: skip

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "Pretrained":
        """Read what `to_json` made; anything else raises `InputError`."""
        try:
            return cls(**content)
        except TypeError:
            raise InputError("The pretrained encoder's shape is damaged.") from None

    @property
    def unknown(self) -> int:
        """Id of the piece for what cannot be read."""
        found = self._pieces.token_to_id(str(self.tokenizer["model"].get("unk_token")))
        return 0 if found is None else int(found)

    def tokenize(self, texts: Sequence[str], max_words: int = MOST_PIECES) -> Tokens:
        """Cut texts into at most `max_words` pieces, marks of beginning and end among them.

        No piece is unknown: what the transformer does not know is cut into smaller ones.
        """
        most = min(max_words, self.longest)
        pieces = self._pieces
        pieces.enable_truncation(most)
        found = pieces.encode_batch([beginning(text, LONG * most) for text in texts])
        lengths = np.fromiter((len(one.ids) for one in found), np.int64, len(found))
        values = np.fromiter((number for one in found for number in one.ids), np.int32)
        return Tokens(
            Ragged.from_lengths(values, lengths),
            unknown=(),
            empty=sum(all(one.special_tokens_mask) for one in found),
            cut=sum(bool(one.overflowing) for one in found),
        )

    @cached_property
    def _pieces(self) -> Any:
        try:
            from tokenizers import Tokenizer
        except ImportError:
            raise MissingExtraError("The pretrained encoder", "lm") from None
        pieces = Tokenizer.from_str(json.dumps(self.tokenizer))
        pieces.no_padding()
        return pieces


def _pooling(path: Path) -> str:
    asked = _json(path) if path.is_file() else {"pooling_mode_mean_tokens": True}
    on = {name.removeprefix("pooling_mode_") for name, value in asked.items() if value is True}
    known = {"mean_tokens": "mean", "cls_token": "cls"}
    chosen = [known[name] for name in known if name in on]
    if len(chosen) != 1:
        raise FileFormatError(path, f"must ask for mean_tokens or cls_token, found {sorted(on)}.")
    return chosen[0]


def _json(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise FileFormatError(
            path.parent, f"is no sentence-transformers folder: no {path.name} in it."
        )
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise FileFormatError(path, f"is no JSON: {error}.") from None
    if not isinstance(content, dict):
        raise FileFormatError(path, "must hold a JSON object.")
    return content
