"""The page of a table of zero-shot: held-out nodes, placed by their texts."""

from collections.abc import Iterator

from pairgram.bench.figures import Line, Spread, lines_of
from pairgram.bench.markdown import (
    NONE,
    figure,
    floor_label,
    grid,
    heading,
    missing_section,
    notes_section,
    published_cells,
    surroundings_section,
)
from pairgram.bench.report_cost import cost_section
from pairgram.bench.spec import FLOORS, Row, Table
from pairgram.bench.store import Store

PROTOCOL = "zero-shot"
RANKING = {"mrr": "MRR", "hits@10": "Hits@10", "hits@50": "Hits@50", "ndcg@10": "nDCG@10"}
FEWEST_FOR_INTERVALS = 10
ABOUT = (
    "Nodes are held out with all their links and placed by their text alone; the candidates are "
    "all training nodes. Mean ± sd over seeds; a seed is that of the split, the model and the "
    "draws. AUC_LR and AUC_pair `dot` are the paper's figures. The others are under the method's "
    "own rule. `nodup` leaves out held-out nodes whose text, or nearly, a training node has."
)


def zero_shot_page(table: Table, store: Store, command: str) -> str:
    """Return the page: AUCs, rankings, floors, cost, and what is missing."""
    lines = lines_of(table, store)
    listed = list(lines.values())
    parts = [*heading(table, command), ABOUT, ""]
    for row in table.rows.values():
        parts += _row_section(row, [line for line in listed if line.row is row])
    parts += [
        *cost_section(lines),
        *notes_section(table, listed),
        *missing_section(table, store),
        *surroundings_section(listed),
    ]
    return "\n".join(parts).rstrip() + "\n"


def _row_section(row: Row, lines: list[Line]) -> list[str]:
    columns = [
        "method", ">published AUC_LR", ">published AUC_pair", ">AUC_LR", ">AUC_pair dot",
        "own rule", ">AUC_pair", *(f">{name}" for name in RANKING.values()), ">MRR nodup", ">seeds",
    ]  # fmt: skip
    shown = [line for line in lines if line.method != FLOORS]
    floors = next((line for line in lines if line.method == FLOORS), None)
    rows = [_figures(line) for line in shown if line.cards or line.method in line.row.published]
    if floors is not None and floors.cards:
        rows += [_floor(floors, name) for name in floors.floor_names(PROTOCOL)]
    about = _about(row, lines)
    if not rows:
        return []
    return [f"## {row.name}", "", about, "", *grid(columns, rows), "", *_intervals(row, lines)]


def _about(row: Row, lines: list[Line]) -> str:
    cards = [card for line in lines for card in line.cards.values()]
    if row.missing is not None:
        return f"Not run: {row.missing}."
    how = f"nodes from {row.before} on" if row.before else f"{row.hold_out:.1%} of the nodes"
    if not cards:
        return f"Held out: {how}."
    counts = cards[0]["protocols"][PROTOCOL]["counts"]
    said = (
        f"Held out: {how}, {counts['new_nodes']:,} of {cards[0]['split']['nodes']:,} "
        f"({counts['queries']:,} have a link to a training node, {counts['ranked_links']:,} such "
        f"links; {counts['repeated_texts']:,} have the text of a training node, "
        f"{counts['near_texts']:,} nearly; seed {cards[0]['seed']})."
    )
    return said if row.stands_in_for is None else f"Stands in for {row.stands_in_for}. {said}"


def _figures(line: Line) -> list[str]:
    best = line.best_rule(PROTOCOL)
    return [
        line.label,
        *published_cells(line.row, line.method),
        figure(line.metric(PROTOCOL, "auc_lr")),
        figure(line.rules(PROTOCOL).get("dot")),
        NONE if best is None else best[0],
        NONE if best is None else str(best[1]),
        *(figure(line.metric(PROTOCOL, key)) for key in RANKING),
        figure(line.metric(PROTOCOL, "mrr_nodup")),
        f"{len(line.cards)} of {len(line.seeds)}",
    ]


def _floor(line: Line, name: str) -> list[str]:
    return [
        floor_label(name),
        *[NONE] * 5,
        figure(line.floor(PROTOCOL, name)),
        *(figure(line.floor(PROTOCOL, name, key)) for key in RANKING),
        figure(line.floor(PROTOCOL, name, "mrr_nodup")),
        f"{len(line.cards)} of {len(line.seeds)}",
    ]


def _intervals(row: Row, lines: list[Line]) -> list[str]:
    """95 % intervals of the means, where there are seeds enough to say so."""
    if len(row.seeds) < FEWEST_FOR_INTERVALS:
        return []
    columns = ["method", ">AUC_LR", ">AUC_pair dot", ">AUC_pair own", ">MRR", ">Hits@10"]
    rows = [cells for line in lines if line.cards for cells in _interval_rows(line)]
    about = f"95 % intervals of the means over {len(row.seeds)} splits, by Student's t."
    return [about, "", *grid(columns, rows), ""] if rows else []


def _interval_rows(line: Line) -> Iterator[list[str]]:
    if line.method == FLOORS:
        for name in line.floor_names(PROTOCOL):
            found = [line.floor(PROTOCOL, name, key) for key in ("auc_pair", "mrr", "hits@10")]
            label = floor_label(name)
            yield [label, NONE, NONE, *map(_interval, found)]
        return
    keys = ("auc_lr", "auc_pair/dot", "auc_pair", "mrr", "hits@10")
    yield [line.label, *(_interval(line.metric(PROTOCOL, key)) for key in keys)]


def _interval(value: Spread | None) -> str:
    found = None if value is None else value.interval
    return NONE if found is None else f"{found[0]:.4f} to {found[1]:.4f}"
