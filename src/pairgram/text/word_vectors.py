"""Word vectors made elsewhere, such as GloVe: a text file or an npz."""

import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pairgram.errors import FileFormatError
from pairgram.text.vocabulary import Vocabulary

Table = NDArray[np.float32]


def read_word_vectors(path: str | Path, vocabulary: Vocabulary) -> tuple[Table, NDArray[np.bool_]]:
    """Vectors of the vocabulary's words that a file holds; no others are kept.

    Parameters
    ----------
    path
        Text with a word and its numbers on each line (a first line with two counts may be there),
        or npz with ``vectors``, shape (m, d), and ``words_utf8``, the words joined by newlines.
    vocabulary
        Words to look for.

    Returns
    -------
    table
        Shape (V, d); rows of words that the file lacks are zero.
    found
        Which rows were found, shape (V,).
    """
    path = Path(path)
    if not path.is_file():
        raise FileFormatError(path, "is no file; give word vectors as text or npz.")
    rows = _npz_rows(path, vocabulary) if path.suffix == ".npz" else _text_rows(path, vocabulary)
    table, found = np.zeros((len(vocabulary), 0), np.float32), np.zeros(len(vocabulary), bool)
    for number, line, vector in rows:
        if not table.shape[1]:
            table = np.zeros((len(vocabulary), len(vector)), np.float32)
        if vector.shape != table.shape[1:]:
            raise FileFormatError(
                path, f"has {len(vector)} numbers where {table.shape[1]} are expected.", line
            )
        table[number], found[number] = vector, True
    if not found.any():
        raise FileFormatError(path, "holds none of the words of these texts.")
    return table, found


def _text_rows(path: Path, vocabulary: Vocabulary) -> Iterator[tuple[int, int, Table]]:
    ids = vocabulary.ids
    with path.open(encoding="utf-8", errors="replace") as lines:
        for line, content in enumerate(lines, start=1):
            word, *numbers = content.rstrip().split(" ")
            if word not in ids or (line == 1 and len(numbers) == 1):
                continue
            try:
                yield ids[word], line, np.array(numbers, np.float32)
            except ValueError:
                raise FileFormatError(path, "is no line of word vectors.", line) from None


def _npz_rows(path: Path, vocabulary: Vocabulary) -> Iterator[tuple[int, int, Table]]:
    try:
        with np.load(path, allow_pickle=False) as arrays:
            vectors, words = arrays["vectors"], arrays["words_utf8"].tobytes().decode().split("\n")
    except (KeyError, ValueError, zipfile.BadZipFile):
        raise FileFormatError(path, "needs the arrays 'vectors' and 'words_utf8'.") from None
    if vectors.ndim != 2 or len(vectors) != len(words):
        raise FileFormatError(path, f"has {len(words)} words for vectors of {vectors.shape}.")
    for line, word in enumerate(words):
        if word in vocabulary.ids:
            yield vocabulary.ids[word], line, vectors[line].astype(np.float32)
