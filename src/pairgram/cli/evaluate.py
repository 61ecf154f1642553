"""`pairgram evaluate`: models beside the floors on held-out links or nodes."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pairgram.cli import classification, methods, outputs, scoreboard
from pairgram.cli.calibrating import calibrated
from pairgram.cli.graphs import read_graph
from pairgram.cli.options import OptionalGraph, OutputFlags, Seed, Threads, grouped
from pairgram.cli.plans import Plan, Task, graph_to_json
from pairgram.cli.progress import fit_model
from pairgram.cli.repeat import repeat
from pairgram.cli.review import review_fitted
from pairgram.cli.terminal import Terminal
from pairgram.errors import ParameterError

if TYPE_CHECKING:
    from pairgram.engine import Engine
    from pairgram.evaluation import Card
    from pairgram.graph import TextGraph
    from pairgram.split import Split

VECTORS = "vectors"


@dataclass(frozen=True)
class What:
    """What is evaluated."""

    models: Annotated[
        str | None, typer.Option(help="Methods, such as ps,deepwalk,line; ps if not given.")
    ] = None
    vectors: Annotated[
        Path | None,
        typer.Option(help="Vectors made elsewhere: parquet, npz, word2vec text or binary."),
    ] = None
    parameters: Annotated[
        str | None,
        typer.Option(help="Parameters by method, as YAML: '{ps: {order: 2, epochs: 5}}'."),
    ] = None

    @property
    def names(self) -> list[str]:
        """Methods asked for."""
        default = "" if self.vectors is not None else "ps"
        return methods.parse_names(default if self.models is None else self.models)


@grouped
def evaluate(
    graph: OptionalGraph,
    output: OutputFlags,
    what: What,
    plan: Plan,
    labels: Annotated[
        Path | None, typer.Option(help="classify: file of node ids and classes.")
    ] = None,
    share: Annotated[
        float, typer.Option(help="classify: share of the labelled nodes to train on.")
    ] = 0.5,
    k: Annotated[int, typer.Option("-k", "--k", help="review: how many of each.")] = 20,
    seed: Seed = 0,
    seeds: Annotated[int, typer.Option(min=1, help="How many seeds, from --seed on.")] = 1,
    cards: Annotated[
        Path | None, typer.Option(help="Folder to write a result card to for every run.")
    ] = None,
    card: Annotated[
        Path | None, typer.Option(help="Repeat the run of a card; say whether the figures agree.")
    ] = None,
    save_splits: Annotated[
        Path | None,
        typer.Option(help="Folder for every split and its training edges, for other tools."),
    ] = None,
    threads: Threads = None,
) -> None:
    """Hold links or nodes out, fit every model on the rest, and show how well links are found."""
    terminal = Terminal(output)
    if card is not None:
        repeat(terminal, card, threads)
        return
    if not graph.edges:
        raise ParameterError("evaluate needs EDGES, or --card with a result card to repeat.")
    plan.check()
    builders = _builders(what, {"directed": graph.directed, "threads": threads})
    for name in what.names:
        _check_task(plan.task, name, builders[name](seed, None))
    nodes = read_graph(graph)
    if plan.task is Task.CLASSIFY:
        classification.run(terminal, nodes, graph.edges, builders, labels, share, seed, seeds)
    elif plan.task is Task.REVIEW:
        review_fitted(terminal, nodes, what.names, lambda name: builders[name](seed, None), k)
    else:
        for folder in filter(None, (cards, save_splits)):
            folder.mkdir(parents=True, exist_ok=True)
            outputs.check_file(folder / "card.json")
        run = _Run(terminal, graph, plan, builders, cards, save_splits)
        _say(terminal, run.over(nodes, range(seed, seed + seeds)))


Builder = Callable[[int, "Split | None"], Any]


@dataclass(frozen=True)
class _Run:
    """All seeds of one call: cut, fit, score, keep the cards."""

    terminal: Terminal
    graph: OptionalGraph
    plan: Plan
    builders: Mapping[str, Builder]
    cards: Path | None
    splits: Path | None

    def over(self, nodes: "TextGraph", seeds: range) -> "dict[str, list[Card]]":
        found: dict[str, list[Card]] = {name: [] for name in self.builders}
        for seed in seeds:
            split = self.plan.cut(nodes, self.graph.edges, seed)
            if self.splits is not None:
                save_split(split, self.splits, seed)
            built = {name: build(seed, split) for name, build in self.builders.items()}
            made = run_split(self.terminal, built, split, seed, **self.plan.options())
            for name, card in made.items():
                kept = replace(card, source=self._source(name))
                if self.plan.calibrate and name != VECTORS:
                    build = partial(self.builders[name], seed, None)
                    figure = self.cards and self.cards / f"{name}-seed{seed}-reliability.svg"
                    kept = calibrated(kept, built[name], build, split, seed, figure)
                found[name].append(kept)
                if self.cards is not None:
                    kept.write(self.cards / f"{name}-seed{seed}.json")
        return found

    def _source(self, name: str) -> dict[str, Any]:
        return {
            "graph": graph_to_json(self.graph),
            "plan": self.plan.to_json(),
            "method": name,
        }


def run_split(
    terminal: Terminal,
    models: Mapping[str, Any],
    split: "Split",
    seed: int,
    engine: "Engine | None" = None,
    **flags: Any,
) -> "dict[str, Card]":
    """Fit models on the training side of a split, on an engine; return their result cards.

    The flags are those of `pairgram.evaluate`.
    """
    from pairgram.evaluation import evaluate as score

    cards = {}
    for name, model in models.items():
        if not model.is_fitted:
            fit_model(terminal, model, split.train, f"fitting {name}, seed {seed}", engine=engine)
        cards[name] = score(model, split, seed=seed, **flags).card
    return cards


def save_split(split: "Split", folder: Path, seed: int) -> None:
    """Write a split and what a tool may train on: training edges, and texts where there are any."""
    split.save(folder / f"split-seed{seed}.npz")
    names = split.train.names
    with (folder / f"train-seed{seed}.tsv").open("w", encoding="utf-8") as file:
        for source, target in zip(split.train.source, split.train.target, strict=True):
            file.write(f"{names[source]}\t{names[target]}\n")
    if split.train.texts is not None:
        with (folder / f"train-texts-seed{seed}.tsv").open("w", encoding="utf-8") as file:
            for name, text in zip(names, split.train.texts, strict=True):
                file.write(f"{name}\t{' '.join(text.split())}\n")


def _builders(what: What, common: Mapping[str, Any]) -> dict[str, Builder]:
    """By name, what makes an unfitted model of a seed, or vectors made elsewhere for a split."""
    given = _parameters(what.parameters, what.names, what.vectors)
    builders: dict[str, Builder] = {}
    for name in what.names:
        builders[name] = partial(_build, name, common, given.get(name, {}))
    if what.vectors is not None:
        from pairgram.vectors import Vectors

        read = Vectors.load(what.vectors)
        builders[VECTORS] = lambda seed, split: given_vectors(read, split, str(what.vectors))
    return builders


def _build(
    name: str,
    common: Mapping[str, Any],
    given: Mapping[str, Any],
    seed: int,
    split: "Split | None" = None,
) -> Any:
    return methods.build(name, given, **common, seed=seed)


def given_vectors(vectors: Any, split: "Split | None", label: str) -> Any:
    """Vectors made elsewhere, for a split; without one, as they are."""
    from pairgram.evaluation.given import GivenVectors

    return vectors if split is None else GivenVectors(vectors, split, label=label)


def _check_task(task: Task, name: str, model: Any) -> None:
    """Refuse a method that cannot do the task, before anything is read."""
    from pairgram.evaluation.scorer import reads_text

    if task is Task.ZERO_SHOT and not reads_text(model):
        raise ParameterError(
            f"{name} learns from structure alone and cannot place the text of a new node; "
            "leave it out of --models, or choose --task link."
        )


def _parameters(
    text: str | None, names: list[str], vectors: Path | None
) -> dict[str, dict[str, Any]]:
    """Parameters by method from a line of YAML."""
    if not names and vectors is None:
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
