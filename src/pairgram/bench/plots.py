"""Which figure belongs to which table."""

from collections.abc import Callable

from pairgram.bench.figures import Line, lines_of
from pairgram.bench.report_ratios import PAIRS, WALKS, counted_ratio
from pairgram.bench.spec import FLOORS, Table
from pairgram.bench.store import Store, write_text
from pairgram.bench.svg import Mark, figure_svg

Marks = list[Mark]


def write_figure(table: Table, store: Store) -> str | None:
    """Draw the figure of a table into `figures/`; return its name, None where nothing is drawn."""
    drawer = DRAWERS.get(table.kind)
    axis, marks = ("", []) if drawer is None else drawer(table, store)
    if not any(mark.ours is not None for mark in marks):
        return None
    write_text(store.figure(table.name), figure_svg(table.title, axis, marks))
    return f"figures/{table.name}.svg"


def _links(table: Table, store: Store) -> tuple[str, Marks]:
    lines = lines_of(table, store).values()
    first = table.protocols[0]
    return f"AUC_LR, protocol '{first}'", [_area(line, first) for line in lines if _shown(line)]


def _zero_shot(table: Table, store: Store) -> tuple[str, Marks]:
    lines = lines_of(table, store).values()
    marks = []
    for line in lines:
        if line.method == FLOORS:
            marks += [
                Mark(f"{line.row.name}, floor {name}", line.floor("zero-shot", name))
                for name in line.floor_names("zero-shot")
            ]
        elif _shown(line):
            pair = line.row.published.get(line.method)
            own = line.row.stands_in_for is None and pair is not None
            dot = line.metric("zero-shot", "auc_pair/dot")
            published = float(pair[1]) if own and pair is not None else None
            marks.append(Mark(f"{line.row.name}, {line.label}", dot, published))
    return "AUC_pair, rule 'dot' (floors: their own)", marks


def _ratios(table: Table, store: Store) -> tuple[str, Marks]:
    lines = lines_of(table, store)
    marks = [
        Mark(
            row.name,
            counted_ratio(lines[row.name, WALKS], lines[row.name, PAIRS]),
            row.published.get("r") if row.stands_in_for is None else None,
        )
        for row in table.rows.values()
    ]
    return "pairs of random walks for one of Pairs Sampling", marks


def _area(line: Line, protocol: str) -> Mark:
    area = (line.row.published.get(line.method) or (None,))[0]
    published = None if area is None or line.row.stands_in_for is not None else float(area)
    ours = line.metric(protocol, "auc_lr") if line.cards else None
    return Mark(f"{line.row.name}, {line.label}", ours, published)


def _shown(line: Line) -> bool:
    published = line.method in line.row.published and line.row.stands_in_for is None
    return line.method != FLOORS and (bool(line.cards) or published)


DRAWERS: dict[str, Callable[[Table, Store], tuple[str, Marks]]] = {
    "links": _links,
    "zero_shot": _zero_shot,
    "ratios": _ratios,
}
