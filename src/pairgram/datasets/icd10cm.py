"""ICD-10-CM from the package simple-icd-10-cm: the tree and the codes named in its notes."""

import re
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pairgram.datasets.base import Dataset
from pairgram.errors import InputError, MissingExtraError
from pairgram.graph import TextGraph

PACKAGE = "simple_icd_10_cm"
NOTES = ("excludes1", "excludes2", "includes", "use_additional_code", "code_first", "code_also")
CODE = r"[A-Z]\d[0-9A-Z](?:\.[0-9A-Z]{1,4})?"
REFERENCE = re.compile(rf"\b({CODE})(?:\s*-\s*({CODE})|\.?-)?(?![0-9A-Za-z])")
"""A code (E11.2), a subtree (E11.-, O24.4-) or a range (P35-P39)."""
PARENTHESES = re.compile(r"\(([^()]*)\)")
TRAILING_RANGE = re.compile(r"\s*\([A-Z]\d[0-9A-Z](?:-[A-Z][0-9A-Z]{2})?\)$")


class Icd10cm(Dataset):
    """ICD-10-CM has no files of its own: the package brings them, so counts follow its version."""

    def folder(self) -> Path:
        """Folder of the installed package."""
        spec = find_spec(PACKAGE)
        if spec is None or not spec.submodule_search_locations:
            raise MissingExtraError("The dataset 'icd10cm'", "demo")
        return Path(spec.submodule_search_locations[0])

    def is_here(self) -> bool:
        """Whether the package is installed."""
        return self.folder().is_dir()

    def load(self, directed: bool = False, verify: bool = False) -> TextGraph:
        """Build the graph; relations are ``is_a`` and the kinds of notes."""
        if verify:
            raise InputError("The dataset 'icd10cm' comes with a package; there is no sha256.")
        icd = _import()
        codes = list(dict.fromkeys(icd.get_all_codes(True)))
        edges = [*_tree(icd, codes), *_references(icd, codes)]
        source, target, relation = (list(column) for column in zip(*edges, strict=True))
        texts = [_text(icd, code) for code in codes]
        return TextGraph.from_edges(
            source, target, names=codes, texts=texts, relation=relation, directed=directed
        )


def _import() -> Any:
    with warnings.catch_warnings():
        # The package reads its files by a function that Python 3.11 and 3.12 warn of.
        warnings.filterwarnings("ignore", r"(read|open)_text is deprecated", DeprecationWarning)
        try:
            import simple_icd_10_cm
        except ImportError:
            raise MissingExtraError("The dataset 'icd10cm'", "demo") from None
    return simple_icd_10_cm


def _tree(icd: Any, codes: list[str]) -> Iterator[tuple[str, str, str]]:
    for code in codes:
        parent = icd.get_parent(code)
        if parent == code:
            # A block of one category bears its name; both are one node here.
            parent = icd.get_parent(code, prioritize_blocks=True)
        if parent:
            yield code, parent, "is_a"


def _references(icd: Any, codes: list[str]) -> Iterator[tuple[str, str, str]]:
    known = set(codes)
    chapters = {_range_of(icd, code): code for code in codes if icd.is_chapter(code)}
    readers = {kind: getattr(icd, f"get_{kind}") for kind in NOTES}
    for code in codes:
        for kind, read in readers.items():
            for named in codes_in(_note(read, code, icd.is_block(code)), known, chapters):
                if named != code:
                    yield code, named, kind


def _note(read: Callable[..., str | list[str]], code: str, block: bool) -> str:
    found = [read(code)]
    if block and "-" not in code:
        # The block's own notes, beside those of the category of the same name.
        found.append(read(code, prioritize_blocks=True))
    return "\n".join(part if isinstance(part, str) else "\n".join(part) for part in found)


def codes_in(note: str, known: set[str], chapters: dict[str, str]) -> Iterator[str]:
    """Nodes that a note names.

    A range that names a block or chapter gives it, one inside a category gives the category,
    any other its two ends. Outside of parentheses a bare three-character word is no code:
    vitamin B12 is none.

    >>> list(codes_in("sepsis (A40-A41.9, O08.-)", {"A40", "A41.9", "O08"}, {}))
    ['A40', 'A41.9', 'O08']
    """
    if not note:
        return
    inside = [match for part in PARENTHESES.findall(note) for match in REFERENCE.finditer(part)]
    outside = [
        match for match in REFERENCE.finditer(PARENTHESES.sub(" ", note)) if len(match.group()) > 3
    ]
    for match in (*inside, *outside):
        for code in _resolve(match[1], match[2], known, chapters):
            if code in known:
                yield code


def _resolve(
    first: str, last: str | None, known: set[str], chapters: dict[str, str]
) -> tuple[str, ...]:
    if last is None:
        return (first,)
    name = f"{first}-{last}"
    if name in known:
        return (name,)
    if name in chapters:
        return (chapters[name],)
    return (first[:3],) if first[:3] == last[:3] else (first, last)


def _range_of(icd: Any, chapter: str) -> str:
    return str(icd.get_description(chapter).rpartition("(")[2].removesuffix(")"))


def _text(icd: Any, code: str) -> str:
    text = icd.get_description(code)
    return TRAILING_RANGE.sub("", text) if icd.is_chapter_or_block(code) else text


DATASETS = (
    Icd10cm(
        name="icd10cm",
        description="ICD-10-CM 2026: chapters, blocks and codes with their titles, the tree and "
        "the codes that notes name.",
        licence="public domain (U.S. government); titles are not to be changed",
        citation="CDC/NCHS: ICD-10-CM, April 2026",
        address="https://www.cdc.gov/nchs/icd/icd-10-cm/files.html",
        nodes=98_466,
        edges=110_088,
    ),
)
