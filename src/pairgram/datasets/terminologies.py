"""Medical terminologies that may be given away."""

from pairgram.datasets.base import DataFile, Dataset

DATASETS = (
    Dataset(
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
    ),
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
