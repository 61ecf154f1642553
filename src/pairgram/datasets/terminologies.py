"""Medical terminologies that may be given away."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pairgram.datasets.base import DataFile, Dataset
from pairgram.graph import TextGraph


@dataclass(frozen=True)
class Part(Dataset):
    """One terminology of openmed: its nodes have one prefix."""

    prefix: str = ""

    def folder(self) -> Path:
        """Folder of openmed."""
        return OPENMED.folder()

    @property
    def files(self) -> tuple[DataFile, ...]:
        """The files of openmed."""
        return OPENMED.files

    def load(self, directed: bool = False, verify: bool = False) -> TextGraph:
        """Read openmed and keep the nodes of this terminology and the edges between them."""
        whole = OPENMED.load(directed, verify)
        mine = [name.startswith(self.prefix) for name in whole.names.tolist()]
        return whole.induced(np.array(mine))


OPENMED = Dataset(
    name="openmed",
    description="ICD-10-CM, Gene Ontology, MeSH descriptors, Mondo, EFO and Disease Ontology "
    "in one graph, with names.",
    licence="by part: public domain (ICD-10-CM), CC BY 4.0 (GO, Mondo), NLM terms (MeSH), "
    "Apache-2.0 (EFO), CC0 1.0 (DOID)",
    citation="CDC/NCHS ICD-10-CM 2026; Gene Ontology Consortium; NLM MeSH; Mondo; EFO; "
    "Human Disease Ontology",
    address="https://www.cdc.gov/nchs/icd/icd-10-cm/files.html, "
    "https://geneontology.org/docs/download-ontology/, "
    "https://nlmpubs.nlm.nih.gov/projects/mesh/, "
    "http://purl.obolibrary.org/obo/mondo.obo, https://github.com/EBISPOT/efo and "
    "http://purl.obolibrary.org/obo/doid.obo",
    nodes=223_316,
    edges=340_506,
    edge_file=DataFile(
        "edges.tsv.gz", "c749705badeef08731bbdc21d2e1ecc17ca5598b7106021cbf6d54ac4fe20146"
    ),
    text_file=DataFile(
        "nodes.tsv.gz", "8a6c4cfb7dc64f82ad6551061613c44ce094f83325604444e9ee302fc156c48a"
    ),
)


def _part(
    prefix: str, what: str, nodes: int, edges: int, licence: str, citation: str, address: str
) -> Part:
    return Part(
        name=f"openmed-{prefix.lower()}",
        description=f"{what}: the part of openmed whose ids begin with {prefix}:.",
        licence=licence,
        citation=citation,
        address=address,
        nodes=nodes,
        edges=edges,
        prefix=f"{prefix}:",
    )


PARTS = (
    _part(
        "ICD10CM", "ICD-10-CM 2026", 98_466, 109_689, "U.S. government, public domain",
        "CDC/NCHS: ICD-10-CM, April 2026",
        "https://www.cdc.gov/nchs/icd/icd-10-cm/files.html",
    ),
    _part(
        "GO", "Gene Ontology", 42_442, 85_342, "CC BY 4.0",
        "Gene Ontology Consortium: The Gene Ontology knowledgebase in 2023, Genetics 2023",
        "https://geneontology.org/docs/download-ontology/",
    ),
    _part(
        "MESH", "MeSH descriptors", 30_764, 42_021, "NLM: free, source to be named",
        "U.S. National Library of Medicine: Medical Subject Headings",
        "https://nlmpubs.nlm.nih.gov/projects/mesh/",
    ),
    _part(
        "MONDO", "Mondo Disease Ontology", 23_964, 38_134, "CC BY 4.0",
        "Vasilevsky et al.: Mondo: Unifying diseases for the world, 2022",
        "https://mondo.monarchinitiative.org, http://purl.obolibrary.org/obo/mondo.obo",
    ),
    _part(
        "EFO", "Experimental Factor Ontology", 16_226, 18_986, "Apache-2.0",
        "Malone et al.: Modeling sample variables with an Experimental Factor Ontology, 2010",
        "https://github.com/EBISPOT/efo",
    ),
    _part(
        "DOID", "Human Disease Ontology", 11_454, 15_938, "CC0 1.0",
        "Schriml et al.: The Human Disease Ontology 2022 update, 2022",
        "https://disease-ontology.org, http://purl.obolibrary.org/obo/doid.obo",
    ),
)  # fmt: skip

DATASETS = (
    OPENMED,
    *PARTS,
    Dataset(
        name="mesh",
        description="MeSH descriptors and supplementary records, with names.",
        licence="U.S. National Library of Medicine: free, source to be named, no endorsement",
        citation="U.S. National Library of Medicine: Medical Subject Headings",
        address="https://nlmpubs.nlm.nih.gov/projects/mesh/",
        nodes=354_068,
        edges=477_449,
        edge_file=DataFile(
            "edges.tsv.gz", "ad6135e48fb28240cf3e1fa32818c1630f3589a48ef49e792488a4f25db9aabd"
        ),
        text_file=DataFile(
            "nodes.tsv.gz", "b0bece9e0117d95c8898840e550116c3ae2cdf7f6c72a960cf1cbc07b6927363"
        ),
    ),
)
