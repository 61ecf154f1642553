"""`pairgram tune`: settings of a method that do best on a validation split."""

from collections.abc import Mapping
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pairgram.cli import methods, outputs
from pairgram.cli.graphs import read_graph
from pairgram.cli.methods import MethodFlags
from pairgram.cli.options import GraphFlags, OutputFlags, Seed, Threads, grouped
from pairgram.cli.plans import Plan, Task
from pairgram.cli.terminal import Terminal
from pairgram.errors import FileFormatError, ParameterError

if TYPE_CHECKING:
    from pairgram.evaluation.tuning import Tuned
    from pairgram.models import Model


class Metric(StrEnum):
    """What is maximised."""

    AUC_PAIR = "auc_pair"
    AUC_LR = "auc_lr"
    MRR = "mrr"


@grouped
def tune(
    graph: GraphFlags,
    parameters: MethodFlags,
    output: OutputFlags,
    model: Annotated[str, typer.Option(help="The method.")] = "ps",
    task: Annotated[Task, typer.Option(help="link or zero-shot.")] = Task.LINK,
    keep: Annotated[
        float | None, typer.Option(help="link: share of the links for training, 0.5 if not given.")
    ] = None,
    hold_out: Annotated[
        float | None, typer.Option(help="zero-shot: share of the nodes held out for the test.")
    ] = None,
    metric: Annotated[Metric, typer.Option(help="What is maximised on validation.")] = (
        Metric.AUC_PAIR
    ),
    trials: Annotated[int, typer.Option(min=1, help="Settings of the first round.")] = 9,
    budget: Annotated[float, typer.Option(help="Seconds after which nothing begins.")] = 600.0,
    space: Annotated[
        Path | None, typer.Option(help="YAML file of values to try: {order: [1, 2], l2: [0, 0.1]}.")
    ] = None,
    to: Annotated[
        Path | None, typer.Option("--output", "-o", help="YAML file for --config of fit.")
    ] = None,
    seed: Seed = 0,
    threads: Threads = None,
) -> None:
    """Search settings on validation links or nodes; what evaluate tests stays unseen.

    Parameters given as flags stay as they are. Every setting begins with a ninth of its epochs, the
    best third of each round goes on with three times as many.
    """
    from pairgram.evaluation.tuning import space_of
    from pairgram.evaluation.tuning import tune as search

    terminal = Terminal(output)
    if task not in (Task.LINK, Task.ZERO_SHOT):
        raise ParameterError(f"tune knows the tasks link and zero-shot. Got {task.value}.")
    given = {**parameters.given(), "directed": graph.directed, "seed": seed, "threads": threads}

    def build(more: Mapping[str, Any]) -> "Model":
        return methods.build(model, {**given, **more})

    plan = Plan(task=task, keep=keep, hold_out=hold_out)
    plan.check()
    choices = space_of(build({}), parameters.given()) if space is None else _read_space(space)
    for name, values in choices.items():
        build({name: values[0]})  # an unknown name is said before any work
    if to is not None:
        outputs.check_file(to)
    split = plan.cut(read_graph(graph), graph.edges, seed)
    found = search(
        build, split, choices, metric=metric.value, trials=trials, seconds=budget, seed=seed
    )
    if to is not None:
        _write(to, model, {**parameters.given(), **found.chosen}, found)
    _say(terminal, found)


def _read_space(path: Path) -> dict[str, list[Any]]:
    import yaml

    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise FileFormatError(path, "no such file.") from None
    except yaml.YAMLError as error:
        raise FileFormatError(path, f"is no YAML: {error}.") from None
    lists = isinstance(content, dict) and all(
        isinstance(values, list) and values for values in content.values()
    )
    if not lists:
        raise FileFormatError(path, "must hold a list of values for every parameter.")
    return dict(content)


def _write(path: Path, model: str, chosen: dict[str, Any], found: "Tuned") -> None:
    import yaml

    head = (
        f"# {found.metric} {found.score:.4f} on validation split {found.split_hash[:12]}, "
        f"{len(found.trials)} settings, {found.seconds:.0f} s\n"
    )
    path.write_text(head + yaml.safe_dump({"model": model, **chosen}), encoding="utf-8")


def _say(terminal: Terminal, found: "Tuned") -> None:
    if terminal.wants_json:
        terminal.json(asdict(found))
    ranked = sorted(found.trials, key=lambda trial: (-len(trial.scores), -(trial.score or 0.0)))
    terminal.table(
        (">score", "rounds", ">seconds", "rule", "settings"),
        [
            (
                "none" if trial.score is None else f"{trial.score:.4f}",
                str(len(trial.scores)),
                f"{trial.seconds:.1f}",
                trial.rule or "",
                str(trial.parameters or "as given") + _why(trial.reason),
            )
            for trial in ranked
        ],
        f"{found.metric} on a validation split (hash {found.split_hash[:12]}), "
        f"{found.seconds:.0f} s" + (", stopped by the budget" if found.stopped else ""),
    )
    terminal.line(f"Chosen: {found.chosen}")


def _why(reason: str | None) -> str:
    return f" ({reason})" if reason else ""
