"""`pairgram add`: new nodes for a model, without a new fit."""

from pathlib import Path
from typing import Annotated

import typer

from pairgram.cli.graphs import as_column
from pairgram.cli.options import OutputFlags, grouped
from pairgram.cli.terminal import Terminal
from pairgram.errors import ParameterError

AT_A_TIME = 1000


@grouped
def add(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="Model folder.")],
    file: Annotated[
        Path,
        typer.Argument(
            metavar="NEW", help="File of nodes: an id and a text on each line, tsv, csv or parquet."
        ),
    ],
    output: OutputFlags,
    update: Annotated[
        bool, typer.Option("--update", help="Nodes that the model has get the new text.")
    ] = False,
    remove: Annotated[
        bool, typer.Option("--remove", help="Take the nodes of the file away; texts do not count.")
    ] = False,
    label_column: Annotated[
        str | None, typer.Option(help="Column with a label, by name or number from 0.")
    ] = None,
) -> None:
    """Add nodes to a model folder by their texts; they can be suggested at once.

    What is added is on disk when a part of 1,000 nodes is done: after a crash, the same command
    with --update goes on.
    """
    terminal = Terminal(output)
    if update and remove:
        raise ParameterError("--update and --remove do not go together: leave out one of them.")
    from pairgram.io.texts import read_texts
    from pairgram.models import load

    found = read_texts(file, label_column=as_column(label_column))
    fitted = load(model)
    done = {"added": 0, "updated": 0, "removed": 0}
    for begin in range(0, len(found.ids), AT_A_TIME):
        part = slice(begin, begin + AT_A_TIME)
        texts = dict(zip(found.ids[part], found.texts[part], strict=True))
        labels = None if found.labels is None else dict(zip(texts, found.labels[part], strict=True))
        if remove:
            done["removed"] += len(fitted.remove(texts))
            continue
        known = {name for name in texts if update and fitted.has(name)}
        for call, names, count in (
            (fitted.add, texts.keys() - known, "added"), (fitted.update, known, "updated"),
        ):  # fmt: skip
            chosen = {name: text for name, text in texts.items() if name in names}
            marks = None if labels is None else {name: labels[name] for name in chosen}
            done[count] += len(call(chosen, marks))
    size = fitted.size_
    fitted.close()
    if terminal.wants_json:
        terminal.json({"model": str(model), **done, "nodes": size})
    said = (
        ", ".join(f"{count:,} {what}" for what, count in done.items() if count) or "nothing to do"
    )
    terminal.summary(f"{said}; {model} has {size:,} nodes")
