"""BERT out of torch's own layers, so that one of its kind needs no other library to be read."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

# Names in a file of weights -> names of torch's layer, which holds query, key and value as one.
_LAYER = {
    "attention.output.dense": "self_attn.out_proj",
    "attention.output.LayerNorm": "norm1",
    "intermediate.dense": "linear1",
    "output.dense": "linear2",
    "output.LayerNorm": "norm2",
}
_TOGETHER = ("query", "key", "value")
_JOINED = [f"attention.self.{one}" for one in _TOGETHER]
IN_FILE = "encoder.layer."


class Bert(nn.Module):
    """Outputs of a BERT over pieces of texts, without dropout and without its pooling layer.

    Parameters
    ----------
    config
        Shape, as `config.json` of its folder holds it.
    """

    def __init__(self, config: Mapping[str, Any]) -> None:
        super().__init__()
        width, eps = int(config["hidden_size"]), float(config.get("layer_norm_eps", 1e-12))
        self.embeddings = nn.ModuleDict({
            "word_embeddings": nn.Embedding(int(config["vocab_size"]), width, padding_idx=0),
            "position_embeddings": nn.Embedding(int(config["max_position_embeddings"]), width),
            "token_type_embeddings": nn.Embedding(int(config.get("type_vocab_size", 2)), width),
            "LayerNorm": nn.LayerNorm(width, eps),
        })  # fmt: skip
        layer = nn.TransformerEncoderLayer(
            width, int(config["num_attention_heads"]), int(config["intermediate_size"]),
            dropout=0.0, activation="gelu", layer_norm_eps=eps, batch_first=True,
        )  # fmt: skip
        self.layers = nn.TransformerEncoder(
            layer, int(config["num_hidden_layers"]), enable_nested_tensor=False
        )

    @staticmethod
    def fits(config: Mapping[str, Any]) -> bool:
        """Whether a transformer of this shape is one."""
        positions = config.get("position_embedding_type", "absolute")
        kind = (config.get("model_type"), config.get("hidden_act", "gelu"), positions)
        return kind == ("bert", "gelu", "absolute") and not config.get("is_decoder")

    def get_input_embeddings(self) -> nn.Embedding:
        """The table of piece vectors."""
        table: nn.Embedding = self.embeddings["word_embeddings"]
        return table

    @staticmethod
    def names_of_file(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Weights of a file under their names in here; what is not known keeps its name."""
        plain = {name.removeprefix("bert."): tensor for name, tensor in weights.items()}
        found: dict[str, Tensor] = {}
        for name, tensor in plain.items():
            number, _, rest = name.removeprefix(IN_FILE).partition(".")
            part, _, kind = rest.rpartition(".")
            names = [name.replace(".query.", f".{one}.") for one in _TOGETHER]
            if part in _LAYER and name.startswith(IN_FILE):
                found[f"layers.layers.{number}.{_LAYER[part]}.{kind}"] = tensor
            elif part == "attention.self.query" and all(one in plain for one in names):
                together = torch.cat([plain[one] for one in names])
                found[f"layers.layers.{number}.self_attn.in_proj_{kind}"] = together
            elif part not in _JOINED:
                found[name] = tensor
        return found

    def forward(self, pieces: Tensor, mask: Tensor) -> Tensor:
        """Outputs for piece ids under a mask that is true up to a text's end, (b, L, width)."""
        table, place = self.embeddings, torch.arange(pieces.shape[1], device=pieces.device)
        read = table["word_embeddings"](pieces) + table["token_type_embeddings"].weight[0]
        read = table["LayerNorm"](read + table["position_embeddings"](place))
        states: Tensor = self.layers(read, src_key_padding_mask=~mask)
        return states
