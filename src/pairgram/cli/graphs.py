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
        source=as_column(flags.source),
        target=as_column(flags.target),
        weight=as_column(flags.weight),
        relation=as_column(flags.relation),
        date=as_column(flags.date),
        id_column=as_column(flags.id_column),
        text_columns=_columns(flags.text_columns),
        label_column=as_column(flags.label_column),
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


def as_column(given: str | None) -> str | int | None:
    """Column by name, or by number where digits are given."""
    return int(given) if given is not None and given.isdecimal() else given


def _columns(given: str | None) -> list[str | int] | None:
    if given is None:
        return None
    columns = [as_column(part.strip()) for part in given.split(",")]
    return [column for column in columns if column is not None]
