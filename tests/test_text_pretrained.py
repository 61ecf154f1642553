"""The pretrained encoder with a tiny transformer that is built here."""

import importlib.util
import json

import numpy as np
import pytest

torch = pytest.importorskip("torch")
tokenizers = pytest.importorskip("tokenizers", reason="needs the extra 'lm'")

import pairgram as pg  # noqa: E402
from pairgram.errors import FileFormatError, InputError, ParameterError  # noqa: E402
from pairgram.text.encoders import (  # noqa: E402
    EncoderSpec,
    PretrainedEncoder,
    TextReader,
    Texts,
    make_encoder,
    tokenizer,
)
from pairgram.text.pieces import Pretrained  # noqa: E402
from pairgram.text.vocabulary import Vocabulary  # noqa: E402
from pairgram.training.text_optimizer import TextOptimizer  # noqa: E402

# Tests import transformers themselves: it takes seconds, in every process that looks at this file.
pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("transformers") is None, reason="needs the extra 'lm'"
)
PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "red", "blue", "boat", "##s", "apple", "pie"]
TEXTS = ["Red boats", "", "blue apple pie red boat", "zebra"]
WIDTH, LONGEST = 16, 12


def write_tokenizer(folder):
    pieces = tokenizers.Tokenizer(
        tokenizers.models.WordPiece({piece: i for i, piece in enumerate(PIECES)}, unk_token="[UNK]")
    )
    pieces.normalizer = tokenizers.normalizers.BertNormalizer()
    pieces.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    pieces.post_processor = tokenizers.processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    pieces.save(str(folder / "tokenizer.json"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder in the layout of sentence-transformers."""
    import transformers

    place = tmp_path_factory.mktemp("tiny")
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(PIECES), hidden_size=WIDTH, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=32, max_position_embeddings=32,
    )  # fmt: skip
    transformers.BertModel(config).save_pretrained(place)
    write_tokenizer(place)
    (place / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": LONGEST}))
    (place / "1_Pooling").mkdir()
    mean = {"word_embedding_dimension": WIDTH, "pooling_mode_mean_tokens": True}
    (place / "1_Pooling" / "config.json").write_text(json.dumps(mean))
    return place


@pytest.fixture
def spec(folder):
    return EncoderSpec("pretrained", 6, 6, pretrained=Pretrained.read(folder))


@pytest.fixture
def encoder(spec, folder):
    torch.manual_seed(1)
    made = make_encoder(spec, Vocabulary.fit(TEXTS))
    made.load(folder)
    return made.eval()


def batch_of(encoder, tokens):
    return encoder.batch(Texts(tokens.ids, encoder.spell(())))


def slow_vectors(encoder, folder, texts):
    """One text at a time, read by the model as its own library loads it."""
    import transformers

    model = transformers.BertModel.from_pretrained(folder).eval()
    pieces = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    rows = []
    for text in texts:
        ids = torch.tensor([pieces.encode(text).ids])
        mean = model(input_ids=ids).last_hidden_state[0].mean(0)
        rows.append(encoder.project(mean))
    return torch.stack(rows)


def test_pieces_are_those_of_the_transformer(spec):
    tokens = tokenizer(spec, Vocabulary.fit(TEXTS), 100)([*TEXTS, "red " * 50])
    assert [tokens.ids[i].tolist() for i in range(4)] == [
        [2, 4, 6, 7, 3], [2, 3], [2, 5, 8, 9, 4, 6, 3], [2, 1, 3],
    ]  # fmt: skip
    assert len(tokens.ids[4]) == LONGEST
    assert (tokens.unknown, tokens.empty, tokens.cut) == ((), 1, 1)
    assert len(tokenizer(spec, Vocabulary.fit(TEXTS), 4)(["red red red red"]).ids[0]) == 4


def test_vectors_are_those_of_the_library(encoder, spec, folder):
    tokens = tokenizer(spec, Vocabulary.fit(TEXTS), 100)(TEXTS)
    with torch.no_grad():
        found = encoder(batch_of(encoder, tokens))
        expected = slow_vectors(encoder, folder, TEXTS)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)


def test_transformers_that_are_no_bert_are_built_by_their_library(folder, tmp_path):
    import transformers

    config = transformers.DistilBertConfig(
        vocab_size=len(PIECES), dim=WIDTH, n_layers=1, n_heads=2, hidden_dim=32,
        max_position_embeddings=32,
    )  # fmt: skip
    torch.manual_seed(0)
    model = transformers.DistilBertModel(config).eval()
    model.save_pretrained(tmp_path)
    write_tokenizer(tmp_path)
    parts = Pretrained.read(tmp_path)
    made = PretrainedEncoder(parts)
    made.load(tmp_path)
    tokens = parts.tokenize(TEXTS, 12)
    with torch.no_grad():
        found = made.eval()(batch_of(made, tokens))
        for row, ids in zip(found, (tokens.ids[i] for i in range(len(TEXTS))), strict=True):
            one = torch.from_numpy(ids.astype(np.int64))[None]
            mean = model(input_ids=one).last_hidden_state[0].mean(0)
            torch.testing.assert_close(row, mean, rtol=1e-4, atol=1e-5)
    assert (made.dim, made.width) == (WIDTH, WIDTH)


def test_a_bert_is_that_of_the_library_weight_by_weight(folder):
    import transformers

    from pairgram.text.encoders.bert import Bert

    theirs = transformers.BertModel.from_pretrained(folder).eval()
    ours = Bert(Pretrained.read(folder).config).eval()
    weights = {k: v for k, v in theirs.state_dict().items() if "pooler" not in k}
    ours.load_state_dict(ours.names_of_file(weights))
    pieces = torch.tensor([[2, 5, 8, 9, 3], [2, 4, 3, 0, 0]])
    mask = pieces > 0
    expected = theirs(input_ids=pieces, attention_mask=mask.long()).last_hidden_state
    torch.testing.assert_close(ours(pieces, mask)[mask], expected[mask], rtol=1e-4, atol=1e-5)
    for change in ({"model_type": "roberta"}, {"hidden_act": "relu"}, {"is_decoder": True}):
        assert not Bert.fits({**Pretrained.read(folder).config, **change})


def test_every_weight_but_the_unread_pieces_is_fine_tuned(encoder, spec):
    tokens = tokenizer(spec, Vocabulary.fit(TEXTS), 100)(TEXTS)
    encoder.train()
    first, second = encoder(batch_of(encoder, tokens)), encoder(batch_of(encoder, tokens))
    torch.testing.assert_close(first, second)  # no dropout
    first.square().sum().backward()
    still = [name for name, p in encoder.named_parameters() if p.grad is None]
    assert still == []
    sparse = {name: p.grad for name, p in encoder.named_parameters() if p.grad.is_sparse}
    reads = encoder.plan(Texts(tokens.ids, encoder.spell(()))).reads
    assert sparse.keys() == reads.keys()
    for name, gradient in sparse.items():
        assert set(gradient._indices()[0].tolist()) == set(reads[name].tolist())
    encoder.zero_grad()
    adam = TextOptimizer(encoder, "adam", 1e-3, 1e9)
    for _ in range(20):
        length = encoder(batch_of(encoder, tokens)).square().sum()
        length.backward()
        adam.step()
    assert length < 0.9 * first.square().sum()


def test_dropped_words_are_the_unknown_piece(encoder, spec):
    tokens = tokenizer(spec, Vocabulary.fit(TEXTS), 100)(["red boat", "zebra boat"])
    dropped = np.array([False, True, False, False] + [False] * 4)
    batch = encoder.batch(Texts(tokens.ids, encoder.spell(()), dropped))
    with torch.no_grad():
        one, other = encoder(batch)
    torch.testing.assert_close(one, other)


def test_a_reader_needs_the_folder_no_more(encoder, spec, folder):
    weights = {f"encoder.{name}": value.numpy() for name, value in encoder.state_dict().items()}
    stored = Pretrained.from_json(json.loads(json.dumps(spec.pretrained.to_json())))
    again = EncoderSpec("pretrained", 6, 6, pretrained=stored)
    vectors, _ = TextReader(again, Vocabulary.fit(TEXTS), weights, 100).read(TEXTS)
    with torch.no_grad():
        expected = slow_vectors(encoder, folder, TEXTS).numpy()
    np.testing.assert_allclose(vectors, expected, rtol=1e-4, atol=1e-5)


def test_bad_folders_are_one_line(encoder, folder, tmp_path):
    with pytest.raises(FileFormatError, match="is no sentence-transformers folder"):
        Pretrained.read(tmp_path)
    with pytest.raises(FileFormatError, match=r"no model.safetensors"):
        encoder.load(tmp_path)
    for file in folder.glob("*.json"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "1_Pooling").mkdir()
    pooling = tmp_path / "1_Pooling" / "config.json"
    pooling.write_text(json.dumps({"pooling_mode_max_tokens": True}))
    with pytest.raises(FileFormatError, match="must ask for mean_tokens or cls_token"):
        Pretrained.read(tmp_path)
    pooling.write_text(json.dumps({"pooling_mode_cls_token": True}))
    first = Pretrained.read(tmp_path)
    assert first.pooling == "cls"
    smaller = PretrainedEncoder(
        Pretrained({**first.config, "hidden_size": 8}, first.tokenizer, "cls", 8), 4
    )
    with pytest.raises(FileFormatError, match=r"does not fit its config.json"):
        smaller.load(folder)
    with pytest.raises(InputError, match="shape is damaged"):
        Pretrained.from_json({"config": {}})
    with pytest.raises(InputError, match="needs the folder"):
        make_encoder(EncoderSpec("pretrained", 4, 4), Vocabulary.fit(TEXTS))


@pytest.fixture(scope="module")
def fitted(folder):
    """A model of two kinds of texts, linked among their own kind."""
    texts = {f"{colour}{i}": f"{colour} {'boat' if colour == 'red' else 'apple'}"
             for colour in ("red", "blue") for i in range(6)}  # fmt: skip
    ends = [(a, b) for a in texts for b in texts if a < b and a[:3] == b[:3]]
    graph = pg.TextGraph.from_edges(*zip(*ends, strict=True), texts=texts)
    model = pg.TGE(dim=8, preset="best", encoder="pretrained", pretrained=str(folder), epochs=20)
    return model.fit(graph)


def test_tge_fine_tunes_a_transformer(fitted, folder):
    import transformers

    found = {s.node[:3] for s in fitted.suggest("red boats", k=6, rule="context")}
    assert found == {"red"}
    start = transformers.BertModel.from_pretrained(folder).state_dict()
    name = "embeddings.word_embeddings.weight"
    moved = np.abs(fitted._weights()[f"encoder.model.{name}"] - start[name].numpy()).max()
    assert 0 < moved < 0.1


def test_a_fine_tuned_model_needs_its_folder_no_more(fitted, tmp_path):
    fitted.save(tmp_path / "model")
    loaded = pg.load(tmp_path / "model")
    loaded.pretrained = str(tmp_path / "nowhere")
    assert np.array_equal(loaded.embed(TEXTS), fitted.embed(TEXTS))


@pytest.mark.parametrize(
    "given",
    [
        {"encoder": "pretrained"},
        {"encoder": "bag", "pretrained": "somewhere"},
        {"encoder": "pretrained", "pretrained": "somewhere", "without_char": True},
    ],
)
def test_what_does_not_go_together_is_refused(given):
    graph = pg.TextGraph.from_edges(["a"], ["b"], texts={"a": "red", "b": "blue"})
    with pytest.raises(ParameterError, match="pretrained"):
        pg.TGE(**given).fit(graph)
