"""Graphs of the Stanford Network Analysis Project."""

from pairgram.datasets.base import DataFile, Dataset
from pairgram.datasets.upstream import Upstream, cited_abstracts, friendships

SNAP = "https://snap.stanford.edu/data/"
UNSTATED = "none stated by SNAP; published for research"


def arxiv_month(number: str) -> str:
    """Month of an arXiv number YYMMNNN that has lost its leading zeros.

    >>> arxiv_month("9907001"), arxiv_month("1001")
    ('1999-07', '2000-01')
    """
    full = number.zfill(7)
    return f"{'19' if full[0] == '9' else '20'}{full[:2]}-{full[2:4]}"


DATASETS = (
    Dataset(
        name="facebook",
        description="Friendships in ten ego networks, without texts.",
        licence=UNSTATED,
        citation="McAuley, Leskovec: Learning to Discover Social Circles in Ego Networks, "
        "NIPS 2012",
        address="https://snap.stanford.edu/data/facebook_combined.txt.gz",
        nodes=4_039,
        edges=88_234,
        edge_file=DataFile(
            "edges.tsv", "a23ba0e1930d856fe71c3355969ca2a53756de3ea9ccae486fd7cb4294a59567"
        ),
        upstream=Upstream((f"{SNAP}facebook_combined.txt.gz",), friendships),
    ),
    Dataset(
        name="astroph",
        description="Co-authors in astrophysics, each pair once, without texts.",
        licence=UNSTATED,
        citation="Leskovec, Kleinberg, Faloutsos: Graph Evolution, ACM TKDD 2007",
        address="https://snap.stanford.edu/data/ca-AstroPh.txt.gz",
        nodes=18_772,
        edges=198_110,
        edge_file=DataFile(
            "edges.tsv.gz",
            "5ba38371eba94687279ae55f4b29c3fd3377da65e86a91df5ab0183690dc4357",
            "1ffaacd2833b08cdfafba98c5630c1857996041e930c2b6d0c85a32b0bd53e1d",
        ),
        upstream=Upstream((f"{SNAP}ca-AstroPh.txt.gz",), friendships),
    ),
    Dataset(
        name="hepth",
        description="Citations in high-energy physics theory, with abstracts; the largest "
        "component.",
        licence="abstracts CC0 1.0 (arXiv metadata); citations: " + UNSTATED,
        citation="Leskovec, Kleinberg, Faloutsos: Graphs over Time, KDD 2005; Gehrke, Ginsparg, "
        "Kleinberg: Overview of the 2003 KDD Cup, SIGKDD Explorations 2003",
        address="https://snap.stanford.edu/data/cit-HepTh.html",
        nodes=27_400,
        edges=352_542,
        edge_file=DataFile(
            "edges.tsv.gz",
            "14213d1df43f15f56916b3cb8903ab91104444f4c0e73ff0795e7f00f609a2b1",
            "db068e79ab560de018843f657e3b015e0d982d375d80814e6953882bddf032a5",
        ),
        text_file=DataFile(
            "nodes.tsv.gz",
            "1ec97ddf4f67dd16a3f325b15a140acad5f4526c0e1b794369c21cca416b0c2b",
            "2e184f402ad33c65438b9f3808f8e6da2e63f9e6708897ccf63432b8c8ed9f44",
        ),
        upstream=Upstream(
            (f"{SNAP}cit-HepTh.txt.gz", f"{SNAP}cit-HepTh-abstracts.tar.gz"), cited_abstracts
        ),
        month_of=arxiv_month,
        paper_counts=(72_083, 59),
    ),
)
