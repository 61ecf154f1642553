"""The two sets of defaults of TGE."""

from typing import Any

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
