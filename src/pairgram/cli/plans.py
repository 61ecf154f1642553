"""What an evaluation does, from flags or from a card: the cut, the protocol, the options."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pairgram.cli.graphs import DATASET
from pairgram.cli.options import GraphFlags
from pairgram.errors import ParameterError

if TYPE_CHECKING:
    from pairgram.graph import TextGraph
    from pairgram.split import Split

KEEP, HOLD_OUT = 0.5, 0.005


class Task(StrEnum):
    """What is asked of the vectors."""

    LINK = "link"
    ZERO_SHOT = "zero-shot"
    CLASSIFY = "classify"
    REVIEW = "review"


class Protocol(StrEnum):
    """Which nodes count."""

    SEEN = "seen"
    ALL = "all"


@dataclass(frozen=True)
class Plan:
    """The flags that say what is held out and how it is scored."""

    task: Annotated[Task, typer.Option(help="What is asked of the vectors.")] = Task.LINK
    keep: Annotated[
        float | None, typer.Option(help="link: share of the links for training, 0.5 if not given.")
    ] = None
    protocol: Annotated[
        Protocol | None,
        typer.Option(help="link: nodes with a training link (if not given), or all nodes."),
    ] = None
    rank: Annotated[
        int | None,
        typer.Option(min=1, help="link: rank the links of so many nodes too, among all nodes."),
    ] = None
    hold_out: Annotated[
        float | None,
        typer.Option(help="zero-shot: share of the nodes to hold out, 0.005 if not given."),
    ] = None
    before: Annotated[
        str | None,
        typer.Option(
            help="Hold out what came on that date or later: links by --date, or nodes of a dataset."
        ),
    ] = None
    negatives: Annotated[
        str,
        typer.Option(
            metavar="A,B", help="Negatives of the AUCs: uniform, and harder ones: degree, text."
        ),
    ] = "uniform"
    strict_texts: Annotated[
        bool, typer.Option("--strict-texts", help="zero-shot: fail on texts of training nodes.")
    ] = False
    word_vectors: Annotated[
        Path | None, typer.Option(help="Word vectors, text or npz, for the floor Text Matching.")
    ] = None
    rank_on: Annotated[
        str | None,
        typer.Option(help="Device that links are ranked on: auto, cuda, …; NumPy if not given."),
    ] = None
    calibrate: Annotated[
        bool,
        typer.Option(
            "--calibrate",
            help="Fit once more without validation links or nodes; turn scores into probabilities.",
        ),
    ] = False

    def check(self) -> None:
        """Refuse flags of another task."""
        link = {"keep": self.keep, "protocol": self.protocol, "rank": self.rank}
        zero_shot = {"hold-out": self.hold_out, "strict-texts": self.strict_texts or None}
        foreign: dict[str, Any] = {}
        if self.task is not Task.LINK:
            foreign |= link
        if self.task is not Task.ZERO_SHOT:
            foreign |= zero_shot
        if self.task in (Task.CLASSIFY, Task.REVIEW):
            foreign["before"] = self.before
        given = [name for name, value in foreign.items() if value is not None]
        if self.before is not None and (self.keep is not None or self.hold_out is not None):
            raise ParameterError("--before says what is held out; leave out --keep and --hold-out.")
        if given:
            raise ParameterError(
                f"--{given[0]} does not go with --task {self.task.value}; leave it out."
            )

    def cut(self, graph: "TextGraph", edges: str, seed: int) -> "Split":
        """Split the graph; dates of nodes are those of the dataset that `edges` names."""
        from pairgram import datasets
        from pairgram import split as splits

        if self.task is Task.ZERO_SHOT and self.before is not None:
            if not edges.startswith(DATASET):
                raise ParameterError(
                    "--before with --task zero-shot needs a dataset whose nodes carry dates, such "
                    "as dataset:hepth; in Python, split_nodes_time takes any dates."
                )
            date = datasets.node_dates(edges.removeprefix(DATASET), graph)
            return splits.split_nodes_time(graph, date, before=self.before)
        if self.task is Task.ZERO_SHOT:
            share = HOLD_OUT if self.hold_out is None else self.hold_out
            return splits.split_nodes(graph, share, seed)
        if self.before is not None:
            return splits.split_time(graph, before=_date(self.before))
        return splits.split_edges(graph, KEEP if self.keep is None else self.keep, seed)

    def options(self) -> dict[str, Any]:
        """Arguments of `pairgram.evaluate`."""
        kinds = tuple(name.strip() for name in self.negatives.split(",") if name.strip())
        return {
            "protocol": None if self.protocol is None else self.protocol.value,
            "rank": self.rank or 0,
            "negatives": kinds,
            "strict_texts": self.strict_texts,
            "word_vectors": self.word_vectors,
            "device": self.rank_on,
        }

    def to_json(self) -> dict[str, Any]:
        """Return the flags as a card keeps them."""
        return {k: _plain(v) for k, v in asdict(self).items() if v is not None}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "Plan":
        """Read what a card keeps."""
        known = {field.name for field in fields(cls)}
        given = {name: value for name, value in stored.items() if name in known}
        kinds = {"task": Task, "protocol": Protocol, "word_vectors": Path}
        return cls(**{k: kinds[k](v) if k in kinds else v for k, v in given.items()})


def graph_to_json(flags: GraphFlags) -> dict[str, Any]:
    """Return where a graph comes from, as a card keeps it."""
    return {k: _plain(v) for k, v in asdict(flags).items() if v is not None}


def graph_from_json(stored: Mapping[str, Any]) -> GraphFlags:
    """Read what a card keeps."""
    given = dict(stored)
    if "texts" in given:
        given["texts"] = Path(given["texts"])
    return GraphFlags(**given)


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, Path | StrEnum) else value


def _date(text: str) -> float | str:
    """Read a number where it is one; dates stay text."""
    try:
        return float(text)
    except ValueError:
        return text
