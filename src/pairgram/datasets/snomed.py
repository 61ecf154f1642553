"""SNOMED CT from an RF2 release that a licence holder has."""

from collections.abc import Iterator
from pathlib import Path

from pairgram.datasets.base import Dataset
from pairgram.errors import FileFormatError, InputError
from pairgram.graph import TextGraph

# Concepts of SNOMED CT's own model, the same in every release.
FULL_NAME = "900000000000003001"
INFERRED = "900000000000011006"
IS_A = "116680003"

KINDS = {
    "concepts": "sct2_Concept_Snapshot*.txt",
    "descriptions": "sct2_Description_Snapshot*.txt",
    "relationships": "sct2_Relationship_Snapshot*.txt",
}
COLUMNS = {
    "concepts": ("id", "active"),
    "descriptions": ("conceptId", "active", "typeId", "term"),
    "relationships": ("sourceId", "destinationId", "active", "typeId", "characteristicTypeId"),
}


class Snomed(Dataset):
    """An RF2 release, unpacked anywhere below the dataset's folder; counts follow the release."""

    def is_here(self) -> bool:
        """Whether a release is below the folder."""
        folder = self.folder()
        return folder.is_dir() and all(any(folder.rglob(form)) for form in KINDS.values())

    def load(self, directed: bool = False, verify: bool = False) -> TextGraph:
        """Read the snapshot of a release."""
        if verify:
            raise InputError("The dataset 'snomed' is your own release; there is no sha256.")
        folder = self.folder()
        if not self.is_here():
            raise InputError(
                f"The dataset 'snomed' needs a licence: get an RF2 release from {self.address} and "
                f"unpack it below {folder} (or set PAIRGRAM_DATA to a folder with snomed/)."
            )
        return read_release(folder, directed)


def read_release(folder: str | Path, directed: bool = False) -> TextGraph:
    """Read an RF2 snapshot: active concepts, their full names, active inferred relationships.

    Parameters
    ----------
    folder
        Folder with the files of the release anywhere below it; several languages or modules are
        read together.
    directed
        Whether edges keep their direction, from a concept to what it is defined by.
    """
    root = Path(folder)
    concepts = {row[0]: "" for path in _files(root, "concepts") for row in _rows(path, "concepts")}
    for path in _files(root, "descriptions"):
        for concept, kind, term in _rows(path, "descriptions"):
            if kind == FULL_NAME and not concepts.get(concept, "missing"):
                concepts[concept] = term
    edges = [
        (source, target, concepts.get(kind) or kind)
        for path in _files(root, "relationships")
        for source, target, kind, origin in _rows(path, "relationships")
        if origin == INFERRED and source in concepts and target in concepts
    ]
    if not edges:
        raise InputError(f"{root}: the release has no active inferred relationship.")
    source, target, relation = (list(column) for column in zip(*edges, strict=True))
    return TextGraph.from_edges(
        source, target, names=list(concepts), texts=list(concepts.values()), relation=relation,
        directed=directed,
    )  # fmt: skip


def _files(root: Path, kind: str) -> list[Path]:
    found = sorted(root.rglob(KINDS[kind]))
    if not found:
        raise InputError(
            f"{root}: there is no {KINDS[kind]} below it; unpack an RF2 release there."
        )
    return found


def _rows(path: Path, kind: str) -> Iterator[tuple[str, ...]]:
    """Columns of the active rows, without the column that says so."""
    with path.open(encoding="utf-8-sig", newline="") as lines:
        # Terms hold quotation marks that mean nothing: cut at tabs, not as csv.
        header = next(lines, "").rstrip("\r\n").split("\t")
        missing = [name for name in COLUMNS[kind] if name not in header]
        if missing:
            raise FileFormatError(path, f"is no RF2 file: it has no column {missing[0]}.", 1)
        at = [header.index(name) for name in COLUMNS[kind] if name != "active"]
        active = header.index("active")
        for number, line in enumerate(lines, start=2):
            cells = line.rstrip("\r\n").split("\t")
            if len(cells) != len(header):
                raise FileFormatError(
                    path, f"has {len(cells)} columns where {len(header)} are expected.", number
                )
            if cells[active] == "1":
                yield tuple(cells[place] for place in at)


DATASETS = (
    Snomed(
        name="snomed",
        description="SNOMED CT: clinical concepts with their full names and relationships; needs a "
        "licence and an RF2 release of your own.",
        licence="SNOMED International affiliate licence; not to be given away",
        citation="SNOMED International: SNOMED CT",
        address="https://www.snomed.org/get-snomed (members) and "
        "https://www.nlm.nih.gov/healthit/snomedct/ (UMLS licence)",
        nodes=391_892,
        edges=2_047_749,
    ),
)
