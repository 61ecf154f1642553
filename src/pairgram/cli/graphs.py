"""Reading the graph that a verb's flags name."""

from dataclasses import fields
from typing import TYPE_CHECKING

from pairgram.cli.options import GraphFlags
from pairgram.errors import ParameterError

if TYPE_CHECKING:
    from pairgram.graph import TextGraph

DATASET = "dataset:"
DELIMITERS = {"\\t": "\t", "tab": "\t"}


def read_graph(flags: GraphFlags) -> "TextGraph":
    """Read the edge list and texts, or the dataset, that the flags name."""
    if flags.edges.startswith(DATASET):
        return _read_dataset(flags)
    from pairgram.graph import TextGraph

    delimiter = flags.delimiter
    return TextGraph.from_files(
        flags.edges,
        flags.texts,
        directed=flags.directed,
        source=_column(flags.source),
        target=_column(flags.target),
        weight=_column(flags.weight),
        relation=_column(flags.relation),
        date=_column(flags.date),
        id_column=_column(flags.id_column),
        text_columns=_columns(flags.text_columns),
        header=flags.header,
        delimiter=None if delimiter is None else DELIMITERS.get(delimiter, delimiter),
    )


def _read_dataset(flags: GraphFlags) -> "TextGraph":
    from pairgram import datasets

    given = [
        field.name.replace("_", "-")
        for field in fields(flags)
        if field.name not in ("edges", "directed") and getattr(flags, field.name) is not None
    ]
    if given:
        raise ParameterError(
            f"--{given[0]} does not go with {flags.edges}: a dataset brings its own layout. "
            "Leave it out."
        )
    return datasets.load(flags.edges.removeprefix(DATASET), directed=flags.directed)


def paper_counts(edges: str) -> tuple[int, int] | None:
    """Words and characters that the paper counts in the texts of a dataset, where it does."""
    from pairgram import datasets

    name = edges.removeprefix(DATASET)
    known = edges.startswith(DATASET) and name in datasets.names()
    return datasets.info(name).paper_counts if known else None


def _column(given: str | None) -> str | int | None:
    return int(given) if given is not None and given.isdecimal() else given


def _columns(given: str | None) -> list[str | int] | None:
    if given is None:
        return None
    columns = [_column(part.strip()) for part in given.split(",")]
    return [column for column in columns if column is not None]
