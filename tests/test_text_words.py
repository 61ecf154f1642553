"""Cleaning, vocabulary, tokens and spelling."""

import json
import string

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairgram.errors import FileFormatError, InputError
from pairgram.text.cleaning import DELETED, cleaner
from pairgram.text.ragged import Ragged
from pairgram.text.spelling import MAX_LETTERS, character_ids, ngram_ids
from pairgram.text.stopwords import STOP_WORDS
from pairgram.text.tokens import tokenize
from pairgram.text.vocabulary import UNKNOWN, Vocabulary
from pairgram.text.word_vectors import read_word_vectors

texts = st.lists(st.text(alphabet="abc xyz.,-'é東\n", max_size=30), max_size=8)


@pytest.mark.quick
@given(st.text(max_size=60))
def test_paper_cleaning_deletes_nine_marks_and_cuts_at_white_space(text):
    slow = "".join(c for c in text.lower() if c not in DELETED).split()
    assert cleaner("paper")(text) == [word for word in slow if word not in STOP_WORDS]


@pytest.mark.quick
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Beta-blockers, 20mg/day!", ["beta", "blockers", "20mg", "day"]),
        ("snake_case it's", ["snake", "case"]),
        ("Ménière's Straße", ["ménière", "straße"]),
        ("me\u0301nie\u0300re", ["ménière"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("糖尿病2型 type", ["糖", "尿", "病", "2", "型", "type"]),
        ("тест слова", ["тест", "слова"]),
        ("...", []),
        ("", []),
    ],
)
def test_unicode_words(text, words):
    assert cleaner("words")(text) == words


@pytest.mark.quick
@given(texts, st.integers(1, 3), st.sampled_from(["paper", "words"]))
def test_vocabulary_counts_like_a_loop(texts, min_count, cleaning):
    cut = cleaner(cleaning)
    made = Vocabulary.fit(texts, cleaning, min_count)
    flat = [word for text in texts for word in cut(text)]
    kept = {word for word in flat if flat.count(word) >= min_count}
    assert made.words[0] == UNKNOWN
    assert set(made.words[1:]) == kept
    for number, word in enumerate(made.words[1:], start=1):
        assert made.counts[number] == flat.count(word)
        assert made.documents[number] == sum(word in cut(text) for text in texts)
    assert made.counts.sum() == len(flat)
    assert made.characters == "".join(sorted(set("".join(flat))))
    assert (made.n_texts, made.n_distinct) == (len(texts), len(set(flat)))
    again = Vocabulary.from_json(json.loads(json.dumps(made.to_json())))
    assert again.words == made.words
    assert again.fingerprints == made.fingerprints
    assert (again.idf == made.idf).all()
    assert (np.diff(made.counts[1:]) <= 0).all()


@pytest.mark.quick
@pytest.mark.parametrize(
    "change",
    [
        lambda c: c.pop("words"),
        lambda c: c.update(words=["red"]),
        lambda c: c.update(counts=[1]),
        lambda c: c.update(cleaning="none"),
        lambda c: c.update(counts="many"),
    ],
)
def test_a_damaged_vocabulary_is_refused(change):
    content = Vocabulary.fit(["red apple"]).to_json()
    change(content)
    with pytest.raises(InputError, match="The vocabulary is damaged"):
        Vocabulary.from_json(content)


@pytest.mark.quick
@given(texts, texts, st.integers(1, 5))
def test_tokens_spell_the_texts(known, new, max_words):
    vocabulary = Vocabulary.fit(known)
    tokens = tokenize(new, vocabulary, max_words)
    words = (*vocabulary.words, *tokens.unknown)
    rows = [vocabulary.cut(text) for text in new]
    assert [[words[i] for i in tokens.ids[r]] for r in range(len(new))] == [
        row[:max_words] for row in rows
    ]
    assert len(set(tokens.unknown)) == len(tokens.unknown)
    assert tokens.empty == sum(not row for row in rows)
    assert tokens.cut == sum(len(row) > max_words for row in rows)
    assert tokens.ids.values.dtype == np.int32


@pytest.mark.quick
def test_a_word_in_brackets_is_not_the_unknown_word():
    vocabulary = Vocabulary.fit(["<unk> red"], "paper")
    assert vocabulary.ids["<unk>"] == 1
    assert tokenize(["<unk>"], vocabulary).ids[0].tolist() == [1]


@pytest.mark.quick
def test_a_text_of_ten_megabytes_is_cut():
    vocabulary = Vocabulary.fit(["red apple"])
    tokens = tokenize(["red apple " * 1_000_000], vocabulary, max_words=100)
    assert (len(tokens.ids[0]), tokens.cut) == (100, 1)


@pytest.mark.quick
@given(st.lists(st.lists(st.integers(0, 9), max_size=4), max_size=6), st.data())
def test_ragged_rows(rows, data):
    flat = np.array([v for row in rows for v in row], np.int32)
    ragged = Ragged.from_lengths(flat, map(len, rows))
    assert [ragged[i].tolist() for i in range(len(ragged))] == rows
    picked = data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=5)) if rows else []
    taken = ragged.take(np.array(picked, np.int64))
    assert [taken[i].tolist() for i in range(len(taken))] == [rows[p] for p in picked]


words = st.lists(st.text(alphabet=string.ascii_lowercase + "é東-", max_size=30), max_size=6)


@pytest.mark.quick
@given(words)
def test_character_ids(words):
    ids = character_ids(words, "abcé")
    for row, word in enumerate(words):
        slow = ["abcé".find(c) + 1 for c in word[:MAX_LETTERS]] or [0]
        assert ids[row].tolist() == slow


@pytest.mark.quick
@given(words)
def test_ngrams_are_a_function_of_the_letters(words):
    ids = ngram_ids(words, 1000)
    assert len(ids) == len(words)
    for row, word in enumerate(words):
        marked = f"<{word[:MAX_LETTERS] or '0'}>"
        grams = [marked[b : b + n] for b in range(len(marked)) for n in (3, 4, 5)]
        whole = [g for b, g in enumerate(grams) if len(g) == (3, 4, 5)[b % 3]]
        assert len(ids[row]) == len(whole)
        assert sorted(ids[row]) == sorted(ngram_ids([word], 1000)[0])
        assert ((ids[row] >= 0) & (ids[row] < 1000)).all()


@pytest.mark.quick
def test_words_that_share_letters_share_ngrams():
    one, other, third = (set(row) for row in map(ngram_ids(
        ["hypertension", "hypertensive", "boat"], 1 << 20).__getitem__, range(3)))  # fmt: skip
    assert len(one & other) > 10
    assert not one & third


@pytest.fixture
def vocabulary():
    return Vocabulary.fit(["red apple", "blue boat"])


@pytest.mark.quick
def test_word_vectors_from_text_and_npz(tmp_path, vocabulary):
    (tmp_path / "v.txt").write_text("3 2\nred 1 2\ngreen 9 9\nboat 0.5 -1\n")
    rows = np.array([[1, 2], [9, 9], [0.5, -1]], np.float16)
    names = np.frombuffer(b"red\ngreen\nboat", np.uint8)
    np.savez(tmp_path / "v.npz", vectors=rows, words_utf8=names)
    for name in ("v.txt", "v.npz"):
        table, found = read_word_vectors(tmp_path / name, vocabulary)
        assert table.shape == (len(vocabulary), 2)
        assert [vocabulary.words[i] for i in np.flatnonzero(found)] == ["boat", "red"]
        np.testing.assert_array_equal(table[vocabulary.ids["boat"]], [0.5, -1])


@pytest.mark.quick
@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("red 1 2\nblue 1\n", "line 2: has 1 numbers where 2 are expected"),
        ("red one two\n", "line 1: is no line of word vectors"),
        ("green 1 2\n", "holds none of the words"),
    ],
)
def test_bad_word_vectors_are_one_line(tmp_path, vocabulary, content, said):
    (tmp_path / "v.txt").write_text(content)
    with pytest.raises(FileFormatError, match=said):
        read_word_vectors(tmp_path / "v.txt", vocabulary)
    with pytest.raises(FileFormatError, match="is no file"):
        read_word_vectors(tmp_path / "none.txt", vocabulary)
    np.savez(tmp_path / "v.npz", vectors=np.zeros((1, 2)))
    with pytest.raises(FileFormatError, match="needs the arrays"):
        read_word_vectors(tmp_path / "v.npz", vocabulary)
