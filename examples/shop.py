"""A small graph for the examples: things in a shop, linked where they are used together."""

import itertools

import pairgram as pg

SHELVES = {
    "kitchen": ["bread knife", "bread board", "frying pan", "soup pan", "soup spoon", "pan lid"],
    "garden": ["garden spade", "garden fork", "flower pot", "flower seeds", "can", "seed tray"],
    "office": ["paper clips", "paper punch", "ink pen", "ink bottle", "desk lamp", "desk tray"],
}  # fmt: skip


def names() -> dict[str, str]:
    """Id -> text of every thing."""
    return {
        f"{shelf[0].upper()}{number}": text
        for shelf, things in SHELVES.items()
        for number, text in enumerate(things)
    }


def labels() -> dict[str, str]:
    """Id -> shelf of every thing."""
    return {name: next(s for s in SHELVES if s[0].upper() == name[0]) for name in names()}


def edges() -> list[tuple[str, str]]:
    """Things of a shelf, but for some pairs that the models may find, and two bridges."""
    inside = [
        pair
        for shelf in SHELVES
        for pair in itertools.combinations([n for n in names() if n[0] == shelf[0].upper()], 2)
        if (int(pair[0][1]) + int(pair[1][1])) % 3
    ]
    return [*inside, ("K5", "G2"), ("G5", "O5")]


def graph() -> pg.TextGraph:
    """The graph with texts and labels."""
    source, target = (list(side) for side in zip(*edges(), strict=True))
    return pg.TextGraph.from_edges(source, target, texts=names()).with_labels(labels())


def model() -> pg.TGE:
    """A text-driven model of it, in a second."""
    return pg.TGE(dim=16, preset="best", epochs=40, patience=0, threads=1).fit(graph())
