"""Sequences of letters, against sets of substrings."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairgram.text import letters
from pairgram.text.letters import BITS, LENGTH, READ, letter_rows

pytestmark = pytest.mark.quick

TEXTS = st.lists(st.text("aAb \n\té𝔸", max_size=20), max_size=8)


def slow_sequences(text):
    words = text[:READ].lower().split()
    if not words:
        return set()
    even = " " + " ".join(words) + " "
    even += " " * (LENGTH - len(even))
    return {even[at : at + LENGTH] for at in range(len(even) - LENGTH + 1)}


@given(TEXTS)
def test_texts_share_as_many_sequences_as_their_sets(texts):
    rows = letter_rows(texts)
    assert rows.shape == (len(texts), 1 << BITS)
    sets = [slow_sequences(text) for text in texts]
    common = [[len(a & b) for b in sets] for a in sets]
    np.testing.assert_array_equal(
        (rows.astype(np.int64) @ rows.T.astype(np.int64)).toarray(),
        np.array(common).reshape(len(texts), len(texts)),
    )
    assert all((np.diff(part.indices) > 0).all() for part in rows)


@given(TEXTS)
def test_a_text_has_the_same_sequences_whatever_is_read_beside_it(texts):
    together = letter_rows(texts)
    for row, text in enumerate(texts):
        alone = letter_rows([text])
        assert together[row : row + 1].indices.tolist() == alone.indices.tolist()


def test_blocks_change_nothing(monkeypatch):
    texts = [f"text number {i} of many" * (i % 3) for i in range(20)]
    whole = letter_rows(texts)
    monkeypatch.setattr(letters, "TOGETHER", 50)
    parts = letter_rows(texts)
    assert (whole != parts).nnz == 0
    assert whole.nnz > 100


def test_long_texts_are_read_in_part():
    read = "a different word " * 200
    assert len(read) > READ
    assert (letter_rows([read]) != letter_rows([read + "unheard of"])).nnz == 0
