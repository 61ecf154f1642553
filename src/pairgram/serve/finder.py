"""Known nodes by what is typed: ids first, then texts that have all the words."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, islice

MOST_LOOKED_AT = 5_000


class Finder:
    """Searches ids and texts for substrings, upper and lower case alike.

    Parameters
    ----------
    names, texts
        Id and text of each node, shape (n,); texts may be None.

    Examples
    --------
    >>> Finder(["J45", "E10"], ["Asthma", "Type 1 diabetes"]).find("diab type", 5)
    ['E10']
    """

    def __init__(self, names: Sequence[str], texts: Sequence[str] | None) -> None:
        self._names = list(names)
        texts = [""] * len(self._names) if texts is None else texts
        rows = [f"{_flat(n)}\t{_flat(t)}\n" for n, t in zip(self._names, texts, strict=True)]
        self._ends = list(accumulate(map(len, rows)))
        self._all = "".join(rows)

    def find(self, typed: str, most: int) -> list[str]:
        """Ids of at most `most` nodes, best first."""
        words = _flat(typed).split()
        if not words:
            return []
        whole, longest = " ".join(words), max(words, key=len)
        hits = islice(self._rows(longest), MOST_LOOKED_AT)
        found = [(row, text) for row, text in hits if all(word in text for word in words)]
        ranked = sorted((_rank(text, whole), row) for row, text in found)
        return [self._names[row] for _, row in ranked[:most]]

    def _rows(self, word: str) -> Iterator[tuple[int, str]]:
        """Rows that have a word, in order, with what they say."""
        at = self._all.find(word)
        while at >= 0:
            row = bisect_right(self._ends, at)
            end = self._ends[row]
            yield row, self._all[self._ends[row - 1] if row else 0 : end - 1]
            at = self._all.find(word, end)


def _rank(line: str, whole: str) -> tuple[int, int]:
    """Smaller is better: the id itself, its beginning, the text itself, its beginning."""
    name, _, text = line.partition("\t")
    tests = (name == whole, name.startswith(whole), text == whole, text.startswith(whole))
    return next((i for i, test in enumerate(tests) if test), len(tests)), len(line)


def _flat(text: str) -> str:
    return " ".join(text.casefold().split())
