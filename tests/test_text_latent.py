"""The latent space: weights against a slow version, letters of unknown words, storage."""

from collections import Counter

import numpy as np
import pytest

from pairgram.errors import InputError
from pairgram.text import latent
from pairgram.text.latent import (
    BUCKETS,
    LETTERS,
    LatentSpace,
    _counts,
    _exact_directions,
    _in_steps,
    _strong_directions,
)
from pairgram.text.spelling import ngram_ids

pytestmark = pytest.mark.quick

TEXTS = [
    ["red", "apple", "red"],
    ["red", "cherry"],
    ["blue", "boat"],
    ["blue", "apple", "boat"],
    [],
    ["lonely"],
]


def slow_weights(space, text):
    """Words and letters of one text, weighed one by one; shape (v + BUCKETS,)."""
    known = {word: place for place, word in enumerate(space.words)}
    row = np.zeros(len(space.idf))
    for word, count in Counter(text).items():
        if word in known:
            row[known[word]] = (1 + np.log(count)) * space.idf[known[word]]
    grams = Counter(int(gram) for word in text for gram in ngram_ids([word], BUCKETS)[0])
    for gram, count in grams.items():
        at = len(known) + gram
        row[at] = (1 + np.log(count)) * space.idf[at]
    for part, share in ((slice(0, len(known)), 1.0), (slice(len(known), None), LETTERS)):
        length = np.linalg.norm(row[part])
        row[part] *= share / length if length else 0
    return row


def test_vectors_are_projected_weights_of_length_one():
    space = LatentSpace.fit(TEXTS, 4, seed=0)
    assert set(space.words) == {"red", "apple", "blue", "boat"}  # the others are in one text alone
    found = space.vectors([*TEXTS, ["apples", "unheard"]])
    for text, row in zip([*TEXTS, ["apples", "unheard"]], found, strict=True):
        expected = slow_weights(space, text) @ (
            space.basis * space.scale[:, None].astype(np.float64)
        )
        length = np.linalg.norm(expected)
        np.testing.assert_allclose(row, expected / length if length else expected, atol=1e-4)
    assert not found[4].any()


def test_directions_are_those_of_a_full_decomposition():
    random = np.random.default_rng(0)
    texts = [[f"w{w}" for w in random.integers(0, 30, 6)] for _ in range(40)]
    texts += texts[:5]  # twice: some values are 0
    space = LatentSpace.fit(texts, 1, seed=0)
    weighed = space._weigh(space._raw(*_counts(texts)))
    _, values, expected = np.linalg.svd(weighed.toarray().astype(np.float64), full_matrices=False)
    found = _exact_directions(weighed, len(texts))
    rank = int((values > 1e-6 * values[0]).sum())
    assert rank == 40
    np.testing.assert_allclose(np.abs((found.T[:rank] * expected[:rank]).sum(1)), 1, atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(found, axis=0)[:rank], 1, atol=1e-9)
    assert not found[:, rank:].any()
    # The way of many texts comes near to it, the strongest directions first.
    near = _strong_directions(weighed, 30, seed=0)
    np.testing.assert_allclose(np.abs((near[:, :5] * found[:, :5]).sum(0)), 1, atol=1e-2)


def test_few_and_many_texts_find_one_space(monkeypatch):
    texts = [[f"w{i % 7}", f"v{i % 5}"] for i in range(60)]
    exact = LatentSpace.fit(texts, 12, seed=0).vectors(texts)
    monkeypatch.setattr(latent, "EXACT_TEXTS", 0)
    near = LatentSpace.fit(texts, 12, seed=0).vectors(texts)
    np.testing.assert_allclose(near @ near.T, exact @ exact.T, atol=0.05)


def test_rarity_is_counted_in_texts():
    space = LatentSpace.fit(TEXTS, 4, seed=0)
    at = space.words.index("red")
    assert space.idf[at] == pytest.approx(np.log((1 + len(TEXTS)) / (1 + 2)) + 1)


def test_letters_place_words_that_no_text_has():
    space = LatentSpace.fit(TEXTS, 4, seed=0)
    new, cherry, boat = space.vectors([["cherries"], ["cherry"], ["boat"]])
    assert new @ cherry > new @ boat


def test_the_same_seed_gives_the_same_space_and_storage_keeps_it():
    first, second = (LatentSpace.fit(TEXTS, 3, seed=5) for _ in range(2))
    np.testing.assert_array_equal(first.basis, second.basis)
    back = LatentSpace.from_arrays(first.arrays())
    assert back.words == first.words
    np.testing.assert_array_equal(back.vectors(TEXTS), first.vectors(TEXTS))
    broken = {**first.arrays(), "idf": first.idf[:-1]}
    with pytest.raises(InputError, match="do not fit its map"):
        LatentSpace.from_arrays(broken)


def test_more_dimensions_than_texts_are_as_many_as_there_are():
    assert LatentSpace.fit(TEXTS, 100, seed=0).dim == len(TEXTS)
    assert LatentSpace.fit([["a"], ["b"]], 100, seed=0).vectors([["zzz"]]).shape == (1, 2)


def test_the_map_is_kept_in_steps_of_each_row():
    rows = np.random.default_rng(0).normal(size=(30, 6)) * np.logspace(-6, 2, 30)[:, None]
    rows[4] = 0
    basis, scale = _in_steps(rows)
    assert basis.dtype == np.int8
    assert not basis[4].any()
    error = np.abs(basis * scale[:, None] - rows).max(axis=1)
    assert (error <= 0.51 * np.abs(rows).max(axis=1) / 127 + 1e-12).all()
