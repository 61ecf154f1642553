"""Texts to words: `paper` is the paper's light cleaning, `words` takes Unicode words."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import pairwise

from pairgram.text.stopwords import STOP_WORDS

CLEANINGS = ("paper", "words")
DELETED = '.,;:!?"()'
# Scripts written without spaces: kana, Han, Thai, Lao, Myanmar, Khmer.
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)

Cleaner = Callable[[str], list[str]]


def cleaner(cleaning: str) -> Cleaner:
    """Return the function that cuts a text into its words, stop words left out.

    Parameters
    ----------
    cleaning
        "paper": lower case, delete . , ; : ! ? " ( ), cut at white space. "words": lower-case
        runs of letters, digits and marks; in scripts without spaces every character is a word.

    Examples
    --------
    >>> cleaner("paper")("The K3-surfaces (of type II): a review.")
    ['k3-surfaces', 'type', 'ii', 'review']
    >>> cleaner("words")("The K3-surfaces (of type II): 東京")
    ['k3', 'surfaces', 'type', 'ii', '東', '京']
    """
    cut = cutter(cleaning)
    return lambda text: [word for word in cut(text) if word not in STOP_WORDS]


def cutter(cleaning: str) -> Cleaner:
    """Return the same function with stop words left in, for callers that drop them in bulk."""
    return {"paper": _paper_words, "words": _unicode_words}[cleaning]


def beginning(text: str, most: int) -> str:
    """Return the first `most` characters and the rest of the word they end in.

    >>> beginning("red apple pie", 6)
    'red apple'
    """
    if len(text) <= most:
        return text
    space = _SPACE.search(text, most)
    return text if space is None else text[: space.start()]


def _paper_words(text: str) -> list[str]:
    return text.lower().translate(_DELETE).split()


def _unicode_words(text: str) -> list[str]:
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
        return _unicode_pattern().findall(text.lower())
    return _ASCII_WORD.findall(text.lower())


_DELETE = str.maketrans("", "", DELETED)
_SPACE = re.compile(r"\s")
_ASCII_WORD = re.compile(r"[a-z0-9]+")


@cache
def _unicode_pattern() -> re.Pattern[str]:
    """One character of an unspaced script with its marks, or a run of other word characters."""
    marks = "".join(_ranges(code for code in range(0x300, 0x3000) if _is_mark(code)))
    letter = rf"[^\W_{UNSPACED}]"
    return re.compile(rf"[{UNSPACED}][{marks}]*|{letter}(?:{letter}|[{marks}])*")


def _is_mark(code: int) -> bool:
    return unicodedata.category(chr(code)).startswith("M")


def _ranges(codes: Iterable[int]) -> list[str]:
    """Ascending codes as ranges of a character class."""
    runs: list[list[int]] = []
    for code in codes:
        if runs and code == runs[-1][1] + 1:
            runs[-1][1] = code
        else:
            runs.append([code, code])
    return [f"{chr(first)}-{chr(last)}" for first, last in runs]


def phrases(words: Sequence[str]) -> list[str]:
    """Every two words that follow each other.

    >>> phrases(["matrix", "string", "theory"])
    ['matrix string', 'string theory']
    """
    return [f"{first} {second}" for first, second in pairwise(words)]
