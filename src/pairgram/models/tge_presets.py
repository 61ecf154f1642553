"""What parameters of TGE may be, and its two sets of defaults."""

from typing import Any

from pairgram import params
from pairgram.models.scoring import RULES
from pairgram.text.cleaning import CLEANINGS

PRESETS: dict[str, dict[str, Any]] = {
    "paper": {
        "encoder": "bilstm", "contexts": "table", "id_vectors": False, "cleaning": "paper",
        "word_dropout": 0.1, "mask_known": False, "offset": True, "l2": 1e-2,
        "optimizer": "adagrad", "learning_rate": 0.07, "epochs": 40, "patience": 5, "rule": "dot",
        "ranker": False,
    },
    "best": {
        "encoder": "bag", "contexts": "both", "id_vectors": True, "cleaning": "words",
        "word_dropout": 0.1, "mask_known": True, "offset": True, "l2": 1e-3,
        "optimizer": "adam", "learning_rate": 0.005, "epochs": 20, "patience": 3,
        "rule": "calibrated", "ranker": True,
    },
}  # fmt: skip

CONSTRAINTS: dict[str, params.Constraint] = {
    "dim": params.Int(1, 65536),
    "order": params.Int(1, 8),
    "times": params.Int(1, 65535),
    "encoder": params.Optional(params.Choice("bilstm", "bag", "pretrained")),
    "pretrained": params.Optional(params.Text()),
    "preset": params.Choice(*PRESETS),
    "contexts": params.Optional(params.Choice("table", "text", "both")),
    "id_vectors": params.Optional(params.Bool()),
    "without_char": params.Bool(),
    "without_word": params.Bool(),
    "cleaning": params.Optional(params.Choice(*CLEANINGS)),
    "min_count": params.Int(1),
    "max_words": params.Int(1, 65536),
    "word_vectors": params.Optional(params.Text()),
    "word_dropout": params.Optional(params.Float(0.0, 0.9)),
    "negatives": params.Int(1, 1000),
    "shared_negatives": params.Int(0, 65536),
    "mask_known": params.Optional(params.Bool()),
    "offset": params.Optional(params.Bool()),
    "l2": params.Optional(params.Float(0.0)),
    "optimizer": params.Optional(params.Choice("adagrad", "adam")),
    "learning_rate": params.Optional(params.Float(0.0, open_low=True)),
    "batch_size": params.Optional(params.Int(1)),
    "epochs": params.Optional(params.Int(1)),
    "patience": params.Optional(params.Int(0)),
    "refit": params.Bool(),
    "rule": params.Optional(params.Choice(*RULES)),
    "ranker": params.Optional(params.Bool()),
    "device": params.Choice("auto", "cpu", "cuda", "mps"),
    "directed": params.Bool(),
    "seed": params.Int(0, 2**63 - 1),
    "threads": params.Optional(params.Int(1)),
}
