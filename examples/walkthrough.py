"""From a graph to suggestions, reasons, additions and pictures, cell by cell.

Editors that know `# %%` show this file as a notebook. Pictures go to the folder given, or to
`pictures/`.
"""

import sys
from html import escape
from pathlib import Path

import numpy as np

import pairgram as pg
import shop

FOLDER = Path(sys.argv[1] if len(sys.argv) > 1 else "pictures")
COLOURS = {"kitchen": "#d1242f", "garden": "#1a7f37", "office": "#1f6feb", "": "#24292f"}

# %% A graph: edges, a text per node, and a label to filter by.
graph = shop.graph()
print(graph)

# %% A model whose vectors come from the texts.
model = shop.model()
print(model.vectors_)

# %% Where does a new thing belong, and why?
for one in model.suggest("a lid for the soup pan", k=3, explain=True):
    print(f"{one.node}  {one.score:.2f}  {one.text}  ({one.why})\n    {one.explanation}")

# %% Only things of one shelf, or ids with one beginning.
print([one.text for one in model.suggest("a tray", k=2, label="office")])
print([one.text for one in model.suggest("a tray", k=2, prefix="G")])

# %% Add it. The model that was saved keeps it, without a new fit.
model.save(FOLDER / "model")
model.add({"K9": "lid for soup pan"}, labels={"K9": "kitchen"})
again = pg.load(FOLDER / "model")
print(again.node_text("K9"), [one.text for one in again.suggest(node="K9", k=2)])

# %% Accept a suggestion: a link, and a little more training.
best = model.suggest(node="K9", k=1)[0]
model.partial_fit([("K9", best.node)])
model.save(FOLDER / "model")

# %% Links that the model finds least likely: candidates for a mistake.
ends = [(graph.names[u], graph.names[v]) for u, v in zip(graph.source, graph.target, strict=True)]
scores = model.score(ends, rule="dot")
for worst in np.argsort(scores)[:2]:
    print(ends[worst], f"{scores[worst]:.2f}")


# %% Two pictures: the vectors in two dimensions, and all scores as a chart.
def scatter(vectors: np.ndarray, names: list[str]) -> str:
    """The two main directions of the vectors, one dot a node."""
    centred = vectors - vectors.mean(axis=0)
    flat = centred @ np.linalg.svd(centred, full_matrices=False)[2][:2].T
    low, high = flat.min(axis=0), flat.max(axis=0)
    places = 40 + 420 * (flat - low) / (high - low)
    shelves = shop.labels() | {"K9": "kitchen"}
    dots = [
        f'<circle cx="{x:.0f}" cy="{y:.0f}" r="5" fill="{COLOURS[shelves[name]]}"/>'
        f'<text x="{x + 8:.0f}" y="{y + 4:.0f}">{escape(model.node_text(name))}</text>'
        for name, (x, y) in zip(names, places, strict=True)
    ]
    return svg(620, 500, dots)


def chart(query: str) -> str:
    """Scores of all nodes for a text, the best first."""
    found = model.suggest(query, k=8)
    low = min(one.score for one in found)
    bars = [
        f'<rect x="170" y="{30 + 24 * i}" width="{20 + 60 * (one.score - low):.0f}" height="16" '
        f'fill="{COLOURS["office"]}"/><text x="10" y="{43 + 24 * i}">{escape(one.text)}</text>'
        for i, one in enumerate(found)
    ]
    return svg(620, 240, [f'<text x="10" y="16">{escape(query)}</text>', *bars])


def svg(width: int, height: int, parts: list[str]) -> str:
    """A picture with a white ground."""
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
    style = (
        'font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="white"/>'
    )
    return "\n".join([head + style, *parts, "</svg>"]) + "\n"


vectors = model.vectors_
(FOLDER / "map.svg").write_text(scatter(vectors.center, vectors.names.tolist()), encoding="utf-8")
(FOLDER / "scores.svg").write_text(chart("a lid for the soup pan"), encoding="utf-8")
