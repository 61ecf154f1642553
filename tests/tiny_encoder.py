"""A sentence-transformers folder with a transformer of a few numbers, written in no time."""

import json

import numpy as np

from pairgram.io.tensors import write_tensors

PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "red", "blue", "boat", "##s", "apple", "two",
          *"0123456789"]  # fmt: skip
WIDTH, INNER, HEADS, LAYERS, LONGEST = 16, 32, 2, 1, 12
CONFIG = {
    "model_type": "bert", "hidden_act": "gelu", "vocab_size": len(PIECES), "hidden_size": WIDTH,
    "intermediate_size": INNER, "num_attention_heads": HEADS, "num_hidden_layers": LAYERS,
    "max_position_embeddings": 32, "type_vocab_size": 2, "layer_norm_eps": 1e-12,
}  # fmt: skip


def write_encoder(folder, seed=0):
    """Write config, tokeniser, pooling and random weights into a folder; return it."""
    (folder / "1_Pooling").mkdir(parents=True, exist_ok=True)
    pooling = {"word_embedding_dimension": WIDTH, "pooling_mode_mean_tokens": True}
    for name, content in (
        ("config.json", CONFIG),
        ("sentence_bert_config.json", {"max_seq_length": LONGEST}),
        ("1_Pooling/config.json", pooling),
        ("tokenizer.json", _tokenizer()),
    ):
        (folder / name).write_text(json.dumps(content), encoding="utf-8")
    write_tensors(folder / "model.safetensors", _weights(np.random.default_rng(seed)))
    return folder


def _tokenizer():
    special = [
        {"id": i, "content": PIECES[i], "single_word": False, "lstrip": False, "rstrip": False,
         "normalized": False, "special": True}
        for i in range(4)
    ]  # fmt: skip
    return {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": special,
        "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True,
                       "strip_accents": None, "lowercase": True},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]},
        "decoder": None,
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                  "max_input_chars_per_word": 100,
                  "vocab": {piece: i for i, piece in enumerate(PIECES)}},
    }  # fmt: skip


def _weights(random):
    def table(*shape):
        return random.normal(0.0, 0.3, shape).astype(np.float32)

    def norm(name):
        return {f"{name}.weight": np.ones(WIDTH, np.float32), f"{name}.bias": table(WIDTH)}

    def dense(name, rows, columns):
        return {f"{name}.weight": table(rows, columns), f"{name}.bias": table(rows)}

    found = {
        "embeddings.word_embeddings.weight": table(len(PIECES), WIDTH),
        "embeddings.position_embeddings.weight": table(32, WIDTH) / 10,
        "embeddings.token_type_embeddings.weight": table(2, WIDTH),
        **norm("embeddings.LayerNorm"),
    }
    for layer in range(LAYERS):
        at = f"encoder.layer.{layer}"
        for part in ("query", "key", "value"):
            found |= dense(f"{at}.attention.self.{part}", WIDTH, WIDTH)
        found |= dense(f"{at}.attention.output.dense", WIDTH, WIDTH)
        found |= norm(f"{at}.attention.output.LayerNorm")
        found |= dense(f"{at}.intermediate.dense", INNER, WIDTH)
        found |= dense(f"{at}.output.dense", WIDTH, INNER) | norm(f"{at}.output.LayerNorm")
    return found
