"""What a dataset entry says, and how its files are found and read."""

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pairgram.datasets.upstream import Upstream
from pairgram.errors import FileFormatError, InputError
from pairgram.graph import TextGraph


@dataclass(frozen=True)
class DataFile:
    """A file of a dataset: its name, which may go without ``.gz`` too, and its sha256.

    `content` is the sha256 of what a gzipped file holds.
    """

    name: str
    sha256: str
    content: str = ""

    @property
    def plain_name(self) -> str:
        """Name of the file when it is not gzipped."""
        return self.name.removesuffix(".gz")

    @property
    def plain_sha256(self) -> str:
        """Its sha256 then; empty where that is not known."""
        return self.content if self.name.endswith(".gz") else self.sha256

    def find(self, folder: Path) -> Path | None:
        """Path of the file in a folder, gzipped or not."""
        plain = self.plain_name
        places = (folder / name for name in (self.name, plain, f"{plain}.gz"))
        return next((place for place in places if place.is_file()), None)


@dataclass(frozen=True)
class Dataset:
    """An entry of the registry.

    Attributes
    ----------
    address
        Where a user gets the data.
    nodes, edges
        Expected nodes and edge lines (before merging).
    edge_file, text_file
        Files in the folder; `text_file` is None for a graph without texts.
    label_file
        File of node ids and classes, where there is one; loading does not read it.
    upstream
        What `pairgram data get` downloads, where it can.
    paper_counts
        Distinct words and characters that the paper of TGE counts in the texts.
    month_of
        Turns a node's id into its month, such as "1999-07", where ids carry dates.
    """

    name: str
    description: str
    licence: str
    citation: str
    address: str
    nodes: int
    edges: int
    edge_file: DataFile | None = None
    text_file: DataFile | None = None
    label_file: DataFile | None = None
    month_of: Callable[[str], str] | None = None
    paper_counts: tuple[int, int] | None = None
    upstream: Upstream | None = None

    @property
    def files(self) -> tuple[DataFile, ...]:
        """The files that loading reads."""
        return tuple(file for file in (self.edge_file, self.text_file) if file is not None)

    def is_here(self) -> bool:
        """Whether all files are found."""
        folder = self.folder()
        return all(file.find(folder) is not None for file in self.files)

    def folder(self) -> Path:
        """Folder of the files: in PAIRGRAM_DATA where it has one, otherwise in the cache."""
        return data_folder(self.name)

    def load(self, directed: bool = False, verify: bool = False) -> TextGraph:
        """Read the files and compare the counts."""
        if self.edge_file is None:
            raise InputError(f"The dataset {self.name!r} has no files to read.")
        edges = self.locate(self.edge_file, verify)
        texts = None if self.text_file is None else self.locate(self.text_file, verify)
        graph = TextGraph.from_files(edges, texts, directed=directed, header=False)
        self._check_counts(graph, edges)
        return graph

    def locate(self, file: DataFile, verify: bool = False) -> Path:
        """Path of a file; one that is not there raises with its address and its place."""
        folder = self.folder()
        found = file.find(folder)
        if found is None:
            raise InputError(self.how_to_get(file.name))
        if verify:
            _check_sum(found, file)
        return found

    def how_to_get(self, name: str) -> str:
        """Say where a missing file comes from and where to put it."""
        command = "" if self.upstream is None else f"run `pairgram data get {self.name}`, or "
        return (
            f"The dataset {self.name!r} needs {name}: {command}get it from {self.address} and put "
            f"it at {self.folder() / name} (or set PAIRGRAM_DATA to a folder with {self.name}/)."
        )

    def _check_counts(self, graph: TextGraph, path: Path) -> None:
        found = (graph.n_nodes, graph.counts.lines)
        if found != (self.nodes, self.edges):
            raise FileFormatError(
                path,
                f"expected {self.nodes} nodes and {self.edges} edges of {self.name!r}, "
                f"found {found[0]} and {found[1]}.",
            )


def data_folder(name: str) -> Path:
    """Folder of a name: in PAIRGRAM_DATA where it has one, otherwise in the cache."""
    local = os.environ.get("PAIRGRAM_DATA")
    if local and (Path(local) / name).is_dir():
        return Path(local) / name
    return cache_folder(name)


def cache_folder(name: str) -> Path:
    """Folder of a name in the cache."""
    cache = os.environ.get("PAIRGRAM_CACHE")
    return (Path(cache) if cache else Path.home() / ".cache" / "pairgram") / name


def content_sum(content: bytes) -> str:
    """Return the sha256 of some bytes."""
    return hashlib.sha256(content).hexdigest()


def _check_sum(path: Path, file: DataFile) -> None:
    known = {file.name: file.sha256, file.plain_name: file.plain_sha256}
    expected = known.get(path.name)
    if not expected:
        raise FileFormatError(path, f"no sha256 is known for it, only for {file.name}.")
    with path.open("rb") as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()
    if found != expected:
        raise FileFormatError(path, f"expected sha256 {expected}, found {found}.")
