"""From the files that are published to those that are read: ids in order, one edge a line."""

import gzip
import tarfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pairgram.errors import FileFormatError

Edges = NDArray[np.int64]
Made = dict[str, bytes]


@dataclass(frozen=True)
class Upstream:
    """Where a dataset comes from.

    Attributes
    ----------
    addresses
        Files to fetch.
    make
        From the fetched files by name to the dataset's files by name, not gzipped.
    """

    addresses: tuple[str, ...]
    make: Callable[[Mapping[str, Path]], Made]


def friendships(raw: Mapping[str, Path]) -> Made:
    """Each edge of the only file once, its smaller end first."""
    edges = read_edges(next(iter(raw.values())))
    return {"edges.tsv": edge_lines(np.sort(edges, axis=1))}


def arcs(raw: Mapping[str, Path]) -> Made:
    """Each arc of the only file once."""
    return {"edges.tsv": edge_lines(read_edges(next(iter(raw.values()))))}


def cane_texts(raw: Mapping[str, Path]) -> Made:
    """Arcs of CANE's files; of texts and classes, by line number, those of nodes with an edge."""
    edges = read_edges(raw["graph.txt"])
    linked = np.unique(edges)
    return {
        "edges.tsv": edge_lines(edges),
        "nodes.tsv": _chosen_lines(raw["data.txt"], linked),
        "labels.tsv": _chosen_lines(raw["group.txt"], linked),
    }


def cited_abstracts(raw: Mapping[str, Path]) -> Made:
    """Arcs of SNAP's citations inside the largest weak component, and its abstracts."""
    edges = read_edges(raw["cit-HepTh.txt.gz"])
    inside = largest_component(edges)
    edges = edges[np.isin(edges[:, 0], inside)]
    wanted = set(inside.tolist())
    texts = dict(_abstracts(raw["cit-HepTh-abstracts.tar.gz"], wanted))
    return {
        "edges.tsv": edge_lines(edges),
        "nodes.tsv": _lines((node, texts.get(node, "")) for node in inside.tolist()),
    }


def read_edges(path: Path) -> Edges:
    """Two numbers a line, (m, 2), from a file that may be gzipped and have lines after #."""
    content = path.read_bytes()
    if path.suffix == ".gz":
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError):
            raise FileFormatError(path, "is no whole gzip file.") from None
    numbers = [line.split() for line in content.splitlines() if not line.startswith(b"#")]
    try:
        return np.array([row for row in numbers if row], np.int64).reshape(-1, 2)
    except ValueError:
        raise FileFormatError(path, "expected two numbers a line.") from None


def edge_lines(edges: Edges) -> bytes:
    r"""Distinct edges in order, a tab between the ends.

    >>> edge_lines(np.array([[3, 1], [0, 2], [3, 1]]))
    b'0\t2\n3\t1\n'
    """
    return _lines(map(tuple, np.unique(edges, axis=0).tolist()))


def largest_component(edges: Edges) -> NDArray[np.int64]:
    """Nodes of the largest component, directions ignored, ascending.

    >>> largest_component(np.array([[0, 1], [5, 7], [7, 9]])).tolist()
    [5, 7, 9]
    """
    names, ends = np.unique(edges, return_inverse=True)
    ends = ends.reshape(edges.shape)
    root = np.arange(len(names))
    while True:
        # Every node takes the smallest root at the end of an edge, until nothing changes.
        before = root.copy()
        low = root[ends].min(axis=1)
        np.minimum.at(root, ends[:, 0], low)
        np.minimum.at(root, ends[:, 1], low)
        root = root[root]
        if np.array_equal(root, before):
            break
    most = np.bincount(root).argmax()
    largest: NDArray[np.int64] = names[root == most]
    return largest


def _chosen_lines(path: Path, wanted: NDArray[np.int64]) -> bytes:
    lines = path.read_text(encoding="utf-8").split("\n")
    if len(lines) <= int(wanted.max()):
        raise FileFormatError(path, f"expected a line for node {int(wanted.max())}.")
    return _lines((node, " ".join(lines[node].split())) for node in wanted.tolist())


def _abstracts(path: Path, wanted: set[int]) -> Iterable[tuple[int, str]]:
    """Number and abstract of wanted papers: what stands after the second line of backslashes."""
    with tarfile.open(path) as archive:
        for member in archive:
            number = Path(member.name).stem
            stream = archive.extractfile(member) if number.isdecimal() else None
            if stream is None or int(number) not in wanted:
                continue
            parts = stream.read().decode("latin-1").split("\\\\\n")
            yield int(number), " ".join(parts[2].split()) if len(parts) > 2 else ""


def _lines(rows: Iterable[tuple[object, object]]) -> bytes:
    return "".join(f"{one}\t{other}\n" for one, other in rows).encode()
