"""Word vectors made elsewhere, such as GloVe: a text file or an npz."""

import os
import zipfile
from collections.abc import Container, Iterator
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
        Environment variables in it are filled in.
    vocabulary
        Words to look for.

    Returns
    -------
    table
        Shape (V, d); rows of words that the file lacks are zero.
    found
        Which rows were found, shape (V,).
    """
    path, ids = _existing(path), vocabulary.ids
    table, found = np.zeros((len(vocabulary), 0), np.float32), np.zeros(len(vocabulary), bool)
    for word, vector in _rows(path, ids):
        if not table.shape[1]:
            table = np.zeros((len(vocabulary), len(vector)), np.float32)
        table[ids[word]], found[ids[word]] = vector, True
    if not found.any():
        raise FileFormatError(path, "holds none of the words of these texts.")
    return table, found


def read_all_word_vectors(path: str | Path) -> tuple[tuple[str, ...], Table]:
    """All words of a file, in its order, and their vectors, shape (m, d)."""
    path = _existing(path)
    words, vectors = [], []
    for word, vector in _rows(path):
        words.append(word)
        vectors.append(vector)
    if not words:
        raise FileFormatError(path, "holds no word vectors.")
    return tuple(words), np.stack(vectors)


def _existing(path: str | Path) -> Path:
    """Path with environment variables filled in; one that is no file raises."""
    place = Path(os.path.expandvars(path))
    if not place.is_file():
        raise FileFormatError(place, "is no file; give word vectors as text or npz.")
    return place


def _rows(path: Path, wanted: Container[str] | None = None) -> Iterator[tuple[str, Table]]:
    """Words and vectors of a file, of all words or of the wanted ones, all of one length."""
    rows = _npz_rows(path, wanted) if path.suffix == ".npz" else _text_rows(path, wanted)
    width = None
    for line, word, vector in rows:
        width = len(vector) if width is None else width
        if len(vector) != width:
            raise FileFormatError(
                path, f"has {len(vector)} numbers where {width} are expected.", line
            )
        yield word, vector


def _text_rows(path: Path, wanted: Container[str] | None) -> Iterator[tuple[int, str, Table]]:
    with path.open(encoding="utf-8", errors="replace") as lines:
        for line, content in enumerate(lines, start=1):
            word, *numbers = content.rstrip().split(" ")
            if (wanted is not None and word not in wanted) or (line == 1 and len(numbers) == 1):
                continue
            try:
                yield line, word, np.array(numbers, np.float32)
            except ValueError:
                raise FileFormatError(path, "is no line of word vectors.", line) from None


def _npz_rows(path: Path, wanted: Container[str] | None) -> Iterator[tuple[int, str, Table]]:
    try:
        with np.load(path, allow_pickle=False) as arrays:
            vectors, words = arrays["vectors"], arrays["words_utf8"].tobytes().decode().split("\n")
    except (KeyError, ValueError, zipfile.BadZipFile):
        raise FileFormatError(path, "needs the arrays 'vectors' and 'words_utf8'.") from None
    if vectors.ndim != 2 or len(vectors) != len(words):
        raise FileFormatError(path, f"has {len(words)} words for vectors of {vectors.shape}.")
    for line, word in enumerate(words):
        if wanted is None or word in wanted:
            yield line, word, vectors[line].astype(np.float32)
