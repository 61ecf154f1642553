"""The map as one page that needs nothing else."""

import base64
import gzip
import json
from html import escape
from importlib.resources import files
from pathlib import Path

from pairgram.graph import TextGraph
from pairgram.io.atomic import replacing_file
from pairgram.map.build import Map

SCRIPTS = ("cells.js", "plane.js", "view.js", "alone.js")
MOST_TEXT = 160
"""Characters of a node's text that the page keeps."""


def write_html(path: str | Path, drawn: Map, graph: TextGraph, title: str = "map") -> None:
    """Write the page: points, groups, ids and texts inside, no other file and no network."""
    with replacing_file(path) as temporary:
        temporary.write_text(html_page(drawn, graph, title), encoding="utf-8")


def html_page(drawn: Map, graph: TextGraph, title: str) -> str:
    """The page as text."""
    page = files("pairgram").joinpath("map", "page")
    texts = [""] * graph.n_nodes if graph.texts is None else graph.texts
    about = {
        "nodes": len(drawn),
        "method": drawn.method,
        "coloring": drawn.coloring,
        "groups": [{"name": group.name, "size": group.size} for group in drawn.groups],
        "names": [str(name) for name in graph.names],
        "texts": [" ".join(text.split())[:MOST_TEXT] for text in texts],
    }
    parts = {
        "{{title}}": escape(title),
        "{{style}}": page.joinpath("alone.css").read_text("utf-8"),
        "{{scripts}}": "\n".join(page.joinpath(name).read_text("utf-8") for name in SCRIPTS),
        "{{points}}": _packed(drawn.to_bytes()),
        "{{about}}": _packed(json.dumps(about, ensure_ascii=False).encode("utf-8")),
    }
    made = page.joinpath("alone.html").read_text("utf-8")
    for name, content in parts.items():
        made = made.replace(name, content)
    return made


def _packed(data: bytes) -> str:
    """Compressed, and in characters that end no script."""
    return base64.b64encode(gzip.compress(data, 6, mtime=0)).decode("ascii")
