"""`pairgram evaluate`: models beside the floors on held-out links or nodes."""

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
    from pairgram.models import Model
    from pairgram.split import Split


class Task(StrEnum):
    """What is held out."""

    LINK = "link"
    ZERO_SHOT = "zero-shot"


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
    keep: Annotated[
        float | None, typer.Option(help="link: share of the links for training, 0.5 if not given.")
    ] = None,
    protocol: Annotated[
        Protocol | None,
        typer.Option(help="link: nodes with a training link (if not given), or all nodes."),
    ] = None,
    rank: Annotated[
        int | None,
        typer.Option(min=1, help="link: rank the links of so many nodes too, among all nodes."),
    ] = None,
    hold_out: Annotated[
        float | None,
        typer.Option(help="zero-shot: share of the nodes to hold out, 0.005 if not given."),
    ] = None,
    strict_texts: Annotated[
        bool, typer.Option("--strict-texts", help="zero-shot: fail on texts of training nodes.")
    ] = False,
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
    """Hold links or nodes out, fit every model on the rest, and show how well links are found."""
    from pairgram.split import split_edges, split_nodes

    terminal = Terminal(output)
    names = methods.parse_names(models)
    given = _parameters(parameters, names)
    common = {"directed": graph.directed, "threads": threads}

    def build(name: str, number: int) -> "Model":
        return methods.build(name, given.get(name, {}), **common, seed=number)

    _check_flags(
        task,
        {"keep": keep, "protocol": protocol, "rank": rank},
        {"hold-out": hold_out, "strict-texts": strict_texts or None},
    )
    for name in names:
        _check_task(task, name, build(name, seed))
    nodes = read_graph(graph)
    if card is not None:
        card.mkdir(parents=True, exist_ok=True)
        outputs.check_file(card / "card.json")
    cards: dict[str, list[Card]] = {name: [] for name in names}
    for number in range(seed, seed + seeds):
        fitted = {name: build(name, number) for name in names}
        if task is Task.ZERO_SHOT:
            split = split_nodes(nodes, 0.005 if hold_out is None else hold_out, number)
        else:
            split = split_edges(nodes, 0.5 if keep is None else keep, number)
        given_flags = {"protocol": protocol, "rank": rank or 0, "strict_texts": strict_texts}
        for name, found in run_split(terminal, fitted, split, number, **given_flags).items():
            cards[name].append(found)
            if card is not None:
                found.write(card / f"{name}-seed{number}.json")
    _say(terminal, cards)


def run_split(
    terminal: Terminal,
    models: "Mapping[str, Model]",
    split: "Split",
    seed: int,
    **flags: Any,
) -> "dict[str, Card]":
    """Fit models on the training side of a split; return their result cards.

    The flags are those of `pairgram.evaluate`.
    """
    from pairgram.evaluation import evaluate as score

    cards = {}
    for name, model in models.items():
        fit_model(terminal, model, split.train, f"fitting {name}, seed {seed}")
        cards[name] = score(model, split, seed=seed, **flags).card
    return cards


def _check_flags(task: Task, link: Mapping[str, Any], zero_shot: Mapping[str, Any]) -> None:
    """Refuse flags of the other task."""
    foreign = link if task is Task.ZERO_SHOT else zero_shot
    given = [name for name, value in foreign.items() if value is not None]
    if given:
        raise ParameterError(f"--{given[0]} does not go with --task {task.value}; leave it out.")


def _check_task(task: Task, name: str, model: "Model") -> None:
    """Refuse a method that cannot do the task, before anything is read."""
    from pairgram.evaluation.scorer import reads_text

    if task is Task.ZERO_SHOT and not reads_text(model):
        raise ParameterError(
            f"{name} learns from structure alone and cannot place the text of a new node; "
            "leave it out of --models, or choose --task link."
        )


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
