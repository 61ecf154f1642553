"""`pairgram evaluate`: models beside the floors on held-out links."""

from collections.abc import Mapping
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pairgram.cli import methods, outputs, scoreboard
from pairgram.cli.graphs import read_graph
from pairgram.cli.options import GraphFlags, OutputFlags, Seed, Threads, grouped
from pairgram.cli.progress import fit_model
from pairgram.cli.terminal import Terminal
from pairgram.errors import ParameterError

if TYPE_CHECKING:
    from pairgram.evaluation import Card
    from pairgram.graph import TextGraph
    from pairgram.models import Model


class Task(StrEnum):
    """What is held out."""

    LINK = "link"


class Protocol(StrEnum):
    """Which nodes count."""

    SEEN = "seen"
    ALL = "all"


@grouped
def evaluate(
    graph: GraphFlags,
    output: OutputFlags,
    models: Annotated[str, typer.Option(help="Methods, such as ps,deepwalk,line.")] = "ps",
    task: Annotated[Task, typer.Option(help="What is held out.")] = Task.LINK,
    keep: Annotated[float, typer.Option(help="Share of the links for training.")] = 0.5,
    protocol: Annotated[
        Protocol, typer.Option(help="Nodes with a training link, or all nodes.")
    ] = Protocol.SEEN,
    seed: Seed = 0,
    seeds: Annotated[int, typer.Option(min=1, help="How many seeds, from --seed on.")] = 1,
    parameters: Annotated[
        str | None,
        typer.Option(help="Parameters by method, as YAML: '{ps: {order: 2, epochs: 5}}'."),
    ] = None,
    card: Annotated[
        Path | None, typer.Option(help="Folder to write a result card to for every run.")
    ] = None,
    threads: Threads = None,
) -> None:
    """Hold links out, fit every model on the rest, and show how well they are found again."""
    terminal = Terminal(output)
    names = methods.parse_names(models)
    given = _parameters(parameters, names)
    common = {"directed": graph.directed, "threads": threads}

    def build(name: str, number: int) -> "Model":
        return methods.build(name, {**common, **given.get(name, {}), "seed": number})

    for name in names:
        build(name, seed)
    nodes = read_graph(graph)
    if card is not None:
        card.mkdir(parents=True, exist_ok=True)
        outputs.check_file(card / "card.json")
    cards: dict[str, list[Card]] = {name: [] for name in names}
    for number in range(seed, seed + seeds):
        fitted = {name: build(name, number) for name in names}
        for name, found in run_split(terminal, fitted, nodes, keep, protocol, number).items():
            cards[name].append(found)
            if card is not None:
                found.write(card / f"{name}-seed{number}.json")
    _say(terminal, cards)


def run_split(
    terminal: Terminal,
    models: "Mapping[str, Model]",
    graph: "TextGraph",
    keep: float,
    protocol: str,
    seed: int,
) -> "dict[str, Card]":
    """Fit models on the training side of one split; return their result cards."""
    from pairgram.evaluation import evaluate as score
    from pairgram.split import split_edges

    split = split_edges(graph, keep, seed)
    cards = {}
    for name, model in models.items():
        fit_model(terminal, model, split.train, f"fitting {name}, seed {seed}")
        cards[name] = score(model, split, protocol, seed).card
    return cards


def _parameters(text: str | None, names: list[str]) -> dict[str, dict[str, Any]]:
    """Parameters by method from a line of YAML."""
    if not names:
        raise ParameterError("--models needs at least one method, such as ps.")
    if text is None:
        return {}
    import yaml

    try:
        found = yaml.safe_load(text)
    except yaml.YAMLError:
        found = None
    if not isinstance(found, dict) or not all(isinstance(v, dict) for v in found.values()):
        raise ParameterError(
            "--parameters must hold parameters by method, as in {ps: {order: 2}}. "
            f"Got {text!r} instead."
        )
    strange = [name for name in found if name not in names]
    if strange:
        raise ParameterError(
            f"--parameters names {strange[0]!r}, which is not among --models {','.join(names)}."
        )
    return found


def _say(terminal: Terminal, cards: "Mapping[str, list[Card]]") -> None:
    if terminal.wants_json:
        every = [asdict(card) for run in cards.values() for card in run]
        terminal.json({"cards": every, "verdicts": scoreboard.verdicts(cards)})
    else:
        scoreboard.show(terminal, cards)
