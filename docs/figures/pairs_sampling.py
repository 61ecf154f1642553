"""Draw docs/figures/pairs_sampling.svg: one round of Pairs Sampling on the paper's example graph.

Run from the root of the project: python docs/figures/pairs_sampling.py
"""

import math
from pathlib import Path

import pairgram as pg

EDGES = ["AB", "AC", "AD", "AE", "BF", "BG", "BH", "DI", "EJ", "EK"]
# Angle in degrees on the ring of each node's distance from A.
ANGLE = {
    "B": 150, "C": 60, "D": 330, "E": 230,
    "F": 120, "G": 150, "H": 180, "I": 330, "J": 215, "K": 245,
}  # fmt: skip
RING = {0: 0, 1: 90, 2: 180}
CENTRE = (230, 215)


def place(node: str, distance: int) -> tuple[float, float]:
    angle = math.radians(ANGLE.get(node, 0))
    return (
        CENTRE[0] + 1.12 * RING[distance] * math.cos(angle),
        CENTRE[1] - RING[distance] * math.sin(angle),
    )


def paper_draw() -> tuple[pg.TextGraph, set[str]]:
    """Find a round that takes what the paper's figure takes: H after B and J after E."""
    graph = pg.TextGraph.from_edges([e[0] for e in EDGES], [e[1] for e in EDGES])
    for seed in range(1000):
        pairs = pg.sample_pairs(graph, order=2, times=1, seed=seed)
        mine = pairs.center == graph.position("A")
        taken = {str(graph.names[v]) for v in pairs.context[mine]}
        if {"H", "J"} <= taken:
            return graph, taken
    raise SystemExit("no seed below 1000 draws the example")


def draw() -> str:
    graph, taken = paper_draw()
    distance = {"A": 0, **dict.fromkeys("BCDE", 1), **dict.fromkeys("FGHIJK", 2)}
    at = {name: place(name, distance[name]) for name in map(str, graph.names)}
    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 560 430" role="img" '
        'font-family="system-ui, sans-serif" aria-labelledby="title">',
        '<title id="title">One round of Pairs Sampling around A: all of B, C, D, E; one successor '
        "for each branch that has one: H, I, J.</title>",
        '<rect width="560" height="430" fill="#ffffff"/>',
    ]
    parts += [
        f'<ellipse cx="{CENTRE[0]}" cy="{CENTRE[1]}" rx="{1.12 * radius:.0f}" ry="{radius}" '
        'fill="none" stroke="#b8c0cc" stroke-dasharray="5 5"/>'
        for radius in (RING[1], RING[2])
    ]
    for a, b in EDGES:
        used = b in taken
        colour, width = ("#c0392b", 3) if used else ("#8a94a3", 1.5)
        (x1, y1), (x2, y2) = at[a], at[b]
        parts.append(
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" '
            f'stroke-width="{width}"/>'
        )
    for name, (x, y) in at.items():
        fill = "#2c3e50" if name == "A" else "#c0392b" if name in taken else "#ffffff"
        ink = "#ffffff" if name == "A" or name in taken else "#2c3e50"
        parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="17" fill="{fill}" stroke="#2c3e50"/>'
            f'<text x="{x:.1f}" y="{y + 5:.1f}" text-anchor="middle" fill="{ink}" '
            f'font-size="15">{name}</text>'
        )
    legend = [("#2c3e50", "centre"), ("#c0392b", "taken: a pair"), ("#ffffff", "not taken")]
    for i, (colour, words) in enumerate(legend):
        y = 340 + 28 * i
        parts.append(
            f'<circle cx="430" cy="{y}" r="9" fill="{colour}" stroke="#2c3e50"/>'
            f'<text x="448" y="{y + 5}" font-size="14" fill="#2c3e50">{words}</text>'
        )
    return "\n".join([*parts, "</svg>"]) + "\n"


if __name__ == "__main__":
    Path(__file__).with_suffix(".svg").write_text(draw(), encoding="utf-8")
