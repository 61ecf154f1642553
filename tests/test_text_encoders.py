"""Encoders against slow versions that read one text, one word, one letter at a time."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from pairgram.text.encoders import (  # noqa: E402
    BagEncoder,
    BiLstmEncoder,
    EncoderSpec,
    TextReader,
    Texts,
    encode,
    make_encoder,
)
from pairgram.text.encoders.bilstm import _packing  # noqa: E402
from pairgram.text.encoders.device import pack, unpack  # noqa: E402
from pairgram.text.ragged import Ragged  # noqa: E402
from pairgram.text.tokens import tokenize  # noqa: E402
from pairgram.text.vocabulary import Vocabulary  # noqa: E402

TRAIN = ["red apple pie", "blue boat", "red boat on the sea", "a"]
NEW = ["zebra boat zebra", "", "blue apple red pie sea", "quagga"]
VARIANTS = [{}, {"without_char": True}, {"without_word": True}]

each = pytest.mark.parametrize("without", VARIANTS, ids=lambda v: next(iter(v), "whole"))


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def vocabulary():
    return Vocabulary.fit(TRAIN)


def prepare(encoder, vocabulary, texts, dropped=None):
    tokens = tokenize(texts, vocabulary)
    words = (*vocabulary.words, *tokens.unknown)
    mask = None if dropped is None else np.array(dropped)
    return tokens, words, Texts(tokens.ids, encoder.spell(words), mask)


def slow_bag(encoder, tokens, words, dropped):
    table, weight = encoder.table.weight, encoder.log_weight.exp()
    out, at = [], 0
    for row in range(len(tokens)):
        total, mass = torch.zeros(table.shape[1]), torch.tensor(0.0)
        for word in tokens.ids[row]:
            unknown = word >= encoder.size or dropped[at]
            at += 1
            if encoder.without_word or (unknown and not encoder.without_char):
                grams = [encoder.size + g for g in encoder.spell([words[word]])[0]]
                vector, a = table[grams].mean(0), weight[0]
            else:
                number = 0 if unknown else word
                vector, a = table[number], weight[number]
            total, mass = total + a * vector, mass + a
        out.append(encoder.project(total / mass if mass > 0 else total))
    return torch.stack(out)


@pytest.mark.quick
@each
@pytest.mark.parametrize("word_dim", [6, 5])
def test_bag_is_the_weighted_mean(vocabulary, without, word_dim):
    encoder = BagEncoder(vocabulary.idf, 6, word_dim, **without, buckets=50)
    torch.nn.init.normal_(encoder.log_weight)
    dropped = [i % 3 == 0 for i in range(9)]
    tokens, words, texts = prepare(encoder, vocabulary, NEW, dropped)
    torch.testing.assert_close(
        encoder(encoder.batch(texts)), slow_bag(encoder, tokens, words, dropped)
    )


def slow_bilstm(encoder, tokens, words, dropped):
    out, at = [], 0
    for row in range(len(tokens)):
        inputs = []
        for word in tokens.ids[row]:
            parts = []
            if not encoder.without_word:
                unknown = word >= encoder.size or dropped[at]
                parts.append(encoder.word.weight[0 if unknown else word])
            if not encoder.without_char:
                letters = torch.tensor(encoder.spell([words[word]])[0].tolist())
                _, (last, _) = encoder.char_lstm(encoder.char(letters)[:, None])
                parts.append(last[:, 0].flatten())
            inputs.append(torch.cat(parts))
            at += 1
        mean = torch.zeros(encoder.project.in_features)
        if inputs:
            mean = encoder.word_lstm(torch.stack(inputs)[:, None])[0][:, 0].mean(0)
        out.append(torch.tanh(encoder.project(mean)))
    return torch.stack(out)


@pytest.mark.quick
@each
def test_bilstm_reads_word_by_word(vocabulary, without):
    encoder = BiLstmEncoder(len(vocabulary), vocabulary.characters, 6, 5, 4, **without)
    dropped = [i % 3 == 0 for i in range(9)]
    tokens, words, texts = prepare(encoder, vocabulary, NEW, dropped)
    torch.testing.assert_close(
        encoder(encoder.batch(texts)), slow_bilstm(encoder, tokens, words, dropped)
    )


@pytest.mark.quick
@pytest.mark.parametrize("name", ["bag", "bilstm"])
@each
def test_gradients_are_those_of_the_slow_version(vocabulary, name, without):
    encoder = make_encoder(EncoderSpec(name, 6, 5, **without), vocabulary)
    dropped = [False] * 9
    tokens, words, texts = prepare(encoder, vocabulary, NEW, dropped)
    slow = {"bag": slow_bag, "bilstm": slow_bilstm}[name]
    gradients = []
    for vectors in (encoder(encoder.batch(texts)), slow(encoder, tokens, words, dropped)):
        encoder.zero_grad()
        (vectors * torch.arange(24.0).reshape(4, 6)).sum().backward()
        gradients.append(
            {
                key: (p.grad.to_dense() if p.grad.is_sparse else p.grad).clone()
                for key, p in encoder.named_parameters()
                if p.grad is not None
            }
        )
    assert gradients[0].keys() == gradients[1].keys()
    for key in gradients[0]:
        torch.testing.assert_close(gradients[0][key], gradients[1][key], msg=key)


@pytest.mark.quick
@pytest.mark.parametrize("name", ["bag", "bilstm"])
def test_a_text_does_not_depend_on_its_batch(vocabulary, name):
    encoder = make_encoder(EncoderSpec(name, 6, 6), vocabulary)
    many = NEW * 40
    tokens, _, texts = prepare(encoder, vocabulary, many)
    together = encode(encoder, tokens.ids, texts.spelling)
    assert together.dtype == np.float32
    for row, text in enumerate(NEW):
        alone, _, one = prepare(encoder, vocabulary, [text])
        vector = encode(encoder, alone.ids, one.spelling)[0]
        np.testing.assert_allclose(together[row::4], [vector] * 40, rtol=1e-5, atol=1e-7)


@pytest.mark.quick
def test_characters_are_read_once_a_distinct_word(vocabulary, monkeypatch):
    encoder = make_encoder(EncoderSpec("bilstm", 6, 6), vocabulary)
    seen = []
    spelled = encoder._spelled
    monkeypatch.setattr(
        encoder, "_spelled", lambda letters, steps: seen.append(steps) or spelled(letters, steps)
    )
    texts = prepare(encoder, vocabulary, ["red boat red", "red", "boat boat boat"])[2]
    encoder(encoder.batch(texts))
    assert [steps.tolist() for steps in seen] == [[2, 2, 2, 1]]


@pytest.mark.quick
@pytest.mark.parametrize("name", ["bag", "bilstm"])
def test_letters_tell_unknown_words_apart(vocabulary, name):
    def spread(**without):
        encoder = make_encoder(EncoderSpec(name, 6, 6, **without), vocabulary)
        tokens, _, texts = prepare(encoder, vocabulary, ["zebra", "quagga"])
        one, other = encode(encoder, tokens.ids, texts.spelling)
        return np.abs(one - other).max()

    assert spread() > 1e-4
    assert spread(without_char=True) < 1e-6


@pytest.mark.quick
@pytest.mark.parametrize("name", ["bag", "bilstm"])
def test_word_vectors_start_where_they_are_told(vocabulary, name):
    encoder = make_encoder(EncoderSpec(name, 6, 3), vocabulary)
    table = np.zeros((len(vocabulary), 3), np.float32)
    table[2], table[3] = [1, 2, 3], [4, 5, 6]
    found = np.zeros(len(vocabulary), bool)
    found[[2, 3]] = True
    encoder.start_from(table, found)
    start = encoder.word_table().detach().numpy()
    np.testing.assert_array_equal(start[[2, 3]], table[[2, 3]])
    assert (start[[0, 1]] != 0).all()


@pytest.mark.quick
def test_nothing_but_empty_texts(vocabulary):
    for name in ("bag", "bilstm"):
        encoder = make_encoder(EncoderSpec(name, 6, 6), vocabulary)
        tokens, _, texts = prepare(encoder, vocabulary, ["", "the"])
        vectors = encode(encoder, tokens.ids, texts.spelling)
        assert vectors.shape == (2, 6)
        assert np.isfinite(vectors).all()
        assert encode(encoder, tokenize([], vocabulary).ids, texts.spelling).shape == (0, 6)


@pytest.mark.quick
def test_weights_that_do_not_fit_are_refused(vocabulary):
    from pairgram.errors import InputError

    spec = EncoderSpec("bag", 6, 6)
    state = make_encoder(spec, vocabulary).state_dict()
    weights = {f"encoder.{name}": value.numpy() for name, value in state.items()}
    assert TextReader(spec, vocabulary, weights, 10).read(["red"])[0].shape == (1, 6)
    weights["encoder.log_weight"] = weights["encoder.log_weight"][:-1]
    with pytest.raises(InputError, match="The weights do not fit"):
        TextReader(spec, vocabulary, weights, 10)


@pytest.mark.quick
@pytest.mark.parametrize("name", ["bag", "bilstm"])
@each
def test_a_reader_reads_few_and_many_texts_alike(vocabulary, name, without):
    spec = EncoderSpec(name, 6, 6, **without)
    encoder = make_encoder(spec, vocabulary)
    weights = {f"encoder.{key}": value.numpy() for key, value in encoder.state_dict().items()}
    reader = TextReader(spec, vocabulary, weights, 10)
    many, _ = reader.read(NEW * 10)
    tokens, _, texts = prepare(encoder, vocabulary, NEW)
    np.testing.assert_allclose(many[:4], encode(encoder, tokens.ids, texts.spelling), atol=1e-6)
    for row, text in enumerate(NEW):
        np.testing.assert_allclose(reader.read([text])[0][0], many[row], rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(reader.read(NEW * 10)[0], many)


@pytest.mark.quick
@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(0, 6), max_size=8))
def test_rows_are_packed_as_torch_packs_them(lengths):
    total = sum(lengths)
    rows = Ragged.from_lengths(np.arange(total, dtype=np.int32), lengths)
    order, place, steps, rank = _packing(rows)
    sequences = [torch.from_numpy(rows[i]) for i in range(len(rows)) if len(rows[i])]
    np.testing.assert_array_equal(order[place], np.arange(total))
    if not sequences:
        assert len(order) == len(steps) == 0
        return
    theirs = torch.nn.utils.rnn.pack_sequence(sequences, enforce_sorted=False)
    np.testing.assert_array_equal(steps, theirs.batch_sizes)
    by_length = sorted(range(len(rows)), key=lambda i: -lengths[i])
    assert [by_length.index(i) for i in range(len(rows))] == rank.tolist()
    slow = [rows[i][t] for t in range(max(lengths)) for i in by_length if t < lengths[i]]
    assert order.tolist() == slow


@pytest.mark.quick
@pytest.mark.parametrize("name", ["bag", "bilstm"])
@each
def test_rows_with_a_gradient_are_foretold(vocabulary, name, without):
    encoder = make_encoder(EncoderSpec(name, 6, 5, **without), vocabulary)
    for dropped in ([False] * 9, [i % 3 == 0 for i in range(9)]):
        texts = prepare(encoder, vocabulary, NEW, dropped)[2]
        encoder.zero_grad()
        encoder(encoder.batch(texts)).sum().backward()
        sparse = {k: p.grad for k, p in encoder.named_parameters() if p.grad.is_sparse}
        reads = encoder.plan(texts).reads
        assert reads.keys() == sparse.keys()
        for key, gradient in sparse.items():
            assert set(gradient._indices()[0].tolist()) == set(reads[key].tolist())


@pytest.mark.quick
def test_arrays_come_back_from_one_piece():
    random = np.random.default_rng(0)
    arrays = {
        "ids": random.integers(0, 9, 5), "none": np.empty(0, np.int64),
        "mask": random.random((3, 7)) < 0.5, "share": random.random(11).astype(np.float32),
        "table": np.asfortranarray(random.random((4, 3)).astype(np.float32)),
    }  # fmt: skip
    packed, places = pack(arrays, pinned=False)
    found = unpack(packed, arrays, places)
    assert found.keys() == arrays.keys()
    for name, array in arrays.items():
        assert found[name].dtype == torch.from_numpy(array).dtype
        np.testing.assert_array_equal(found[name], array)
