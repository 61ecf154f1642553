"""Word vectors that methods start from or match texts with."""

from dataclasses import dataclass
from pathlib import Path

from pairgram.datasets.base import DataFile, data_folder
from pairgram.errors import InputError


@dataclass(frozen=True)
class WordVectors:
    """Word vectors by name: where they come from, and the file that is read."""

    name: str
    description: str
    licence: str
    citation: str
    address: str
    file: DataFile

    def path(self) -> Path:
        """Path of the file; one that is not there raises with its address."""
        folder = data_folder(self.name)
        if not (folder / self.file.name).is_file():
            raise InputError(
                f"The word vectors {self.name!r} need {self.file.name}: get them from "
                f"{self.address} and put them at {folder / self.file.name} (text or npz)."
            )
        return folder / self.file.name


WORD_VECTORS = {
    "glove6b_100d": WordVectors(
        name="glove6b_100d",
        description="GloVe vectors of 100 numbers, cut to the words of the datasets here.",
        licence="Public Domain Dedication and License 1.0",
        citation="Pennington, Socher, Manning: GloVe, EMNLP 2014",
        address="https://nlp.stanford.edu/data/glove.6B.zip",
        file=DataFile(
            "glove6b_100d_f16.npz",
            "6680e0ebdf74dc3d250e5ae6f8d073e73095fa47eecd8086aa77982d56f2f441",
        ),
    )
}
