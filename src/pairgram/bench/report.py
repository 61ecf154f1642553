"""Pages of tables in Markdown. Every number comes from a card on disk."""

from collections.abc import Iterable
from pathlib import Path

from pairgram.bench.claims import claims_page
from pairgram.bench.figures import lines_of
from pairgram.bench.markdown import grid
from pairgram.bench.plots import write_figure
from pairgram.bench.report_counts import counts_page
from pairgram.bench.report_links import links_page
from pairgram.bench.report_ratios import ratios_page
from pairgram.bench.report_zero_shot import zero_shot_page
from pairgram.bench.spec import Table
from pairgram.bench.store import Store, write_text

PAGES = {
    "links": links_page,
    "zero_shot": zero_shot_page,
    "ratios": ratios_page,
    "counts": counts_page,
}
CLAIMS = "claims"
INDEX = "README"


def write_pages(tables: Iterable[Table], store: Store, quick: bool = False) -> list[Path]:
    """Write the page of every table and the index; return their paths.

    Parameters
    ----------
    tables
        All tables; those without any card get a page too, which lists what is missing.
    store
        Where the cards are and the pages go.
    quick
        Whether the commands in the pages are those of a quick run.
    """
    listed, written = list(tables), []
    for table in listed:
        path = store.page(table.name)
        page = PAGES[table.kind](table, store, _command(table, quick))
        if figure := write_figure(table, store):
            page = page.rstrip() + f"\n\n## Figure\n\n![{table.title}]({figure})\n"
        write_text(path, page)
        written.append(path)
    if {"ratios", "rw_vs_ps", "link_prediction", "zero_shot"} <= {table.name for table in listed}:
        write_text(store.page(CLAIMS), claims_page(listed, store))
        written.append(store.page(CLAIMS))
    write_text(store.page(INDEX), _index(listed, store, quick))
    return [*written, store.page(INDEX)]


def _index(tables: list[Table], store: Store, quick: bool) -> str:
    rows = [
        (
            f"[{table.title}]({table.name}.md)",
            _progress(table, store),
            f"`{_command(table, quick)}`",
        )
        for table in tables
    ]
    tune = "pairgram bench tune" + (" --quick" if quick else "")
    lines = [
        "# Results",
        "",
        "Generated; do not edit. Measured figures are in `cards/`, one JSON file a cell "
        "(`TABLE/DATASET/METHOD-seedK.json`), trials of the tuning in `tuning/`; the pages are "
        "made from them. [The paper's claims](claims.md), each with our verdict, rest on the same "
        "cards.",
        "",
        *grid(["table", "cells", "command"], rows),
        "",
        "A command runs the cells that have no card yet, then writes the pages; with "
        "`--report-only` it only writes the pages, with `--force` it runs finished cells again. "
        f"Parameters are tuned first by `{tune}`. Datasets are looked for in the folder that "
        "PAIRGRAM_DATA names.",
    ]
    return "\n".join(lines) + "\n"


def _progress(table: Table, store: Store) -> str:
    lines = lines_of(table, store).values()
    possible = sum(
        len(line.seeds)
        for line in lines
        if line.row.missing is None and table.methods[line.method].absent is None
    )
    return f"{sum(len(line.cards) for line in lines)} of {possible}"


def _command(table: Table, quick: bool) -> str:
    return f"pairgram bench paper --tables {table.name}" + (" --quick" if quick else "")
