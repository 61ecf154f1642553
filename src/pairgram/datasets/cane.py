"""Graphs of the CANE paper's repository."""

from pairgram.datasets.base import DataFile, Dataset
from pairgram.datasets.upstream import Upstream, arcs, cane_texts

CANE = "https://raw.githubusercontent.com/thunlp/CANE/master/datasets/"

DATASETS = (
    Dataset(
        name="cora",
        description="Citations between machine-learning papers, with abstracts.",
        licence="MIT (the repository); abstracts for research",
        citation="McCallum, Nigam, Rennie, Seymore: Automating the Construction of Internet "
        "Portals with Machine Learning, Information Retrieval 2000; Tu, Liu, Liu, Sun: CANE, "
        "ACL 2017",
        address="https://github.com/thunlp/CANE/tree/master/datasets/cora",
        nodes=2_211,
        edges=5_214,
        edge_file=DataFile(
            "edges.tsv", "2f6a03a89bac50d493a5e9cda2ac5d3197994652ded2689434b96e98b7427582"
        ),
        text_file=DataFile(
            "nodes.tsv", "04fde960f9b15f547fb56054fec1e58bb7c346763ffb5c1ffbaaa0929d7af5c7"
        ),
        label_file=DataFile(
            "labels.tsv", "0b555ee787b72006feb2f8dc0bf9a42e1f025104a9fcbfc8aadc06b0cf327219"
        ),
        upstream=Upstream(
            tuple(f"{CANE}cora/{name}.txt" for name in ("graph", "data", "group")), cane_texts
        ),
    ),
    Dataset(
        name="zhihu",
        description="Links of a Chinese question-and-answer site, without texts.",
        licence="MIT (the repository)",
        citation="Tu, Liu, Liu, Sun: CANE, ACL 2017",
        address="https://github.com/thunlp/CANE/tree/master/datasets/zhihu",
        nodes=10_000,
        edges=43_894,
        edge_file=DataFile(
            "edges.tsv", "89e159277ca7ad51fd46e2f7435ef5d4ebfc7577f6fa6dcc9658b1a72b210a62"
        ),
        upstream=Upstream((f"{CANE}zhihu/graph.txt",), arcs),
    ),
)
