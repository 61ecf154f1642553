"""`pairgram evaluate --task classify`: vectors as features of a classifier."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

from pairgram.cli.graphs import DATASET
from pairgram.cli.progress import fit_model
from pairgram.cli.terminal import Terminal
from pairgram.errors import ParameterError

if TYPE_CHECKING:
    from pairgram.evaluation.classify import Classification
    from pairgram.graph import TextGraph

Found = dict[str, list["Classification"]]


def run(
    terminal: Terminal,
    graph: "TextGraph",
    edges: str,
    builders: Mapping[str, Callable[[int, Any], Any]],
    labels: Path | None,
    share: float,
    seed: int,
    seeds: int,
) -> None:
    """Fit every model on the whole graph, without labels, and classify by its vectors."""
    from pairgram.evaluation.classify import classify, classify_floors, match_labels

    rows, classes = match_labels(graph, _labels(edges, labels))
    found: Found = {}
    for number in range(seed, seed + seeds):
        for name, build in builders.items():
            table = _vectors(terminal, graph, name, build(number, None))
            found.setdefault(name, []).append(classify(table[rows], classes, share, number))
        for name, score in classify_floors(graph, rows, classes, share, number).items():
            found.setdefault(f"floor {name}", []).append(score)
    _say(terminal, found, share, seeds)


def _labels(edges: str, labels: Path | None) -> dict[str, str]:
    from pairgram import datasets
    from pairgram.io.texts import read_texts

    if labels is None and edges.startswith(DATASET):
        labels = datasets.label_file(edges.removeprefix(DATASET))
    if labels is not None:
        read = read_texts(labels, header=False)
        return dict(zip(read.ids, read.texts, strict=True))
    raise ParameterError("--task classify needs --labels with a file of node ids and classes.")


def _vectors(terminal: Terminal, graph: "TextGraph", name: str, model: Any) -> Any:
    from pairgram.evaluation.given import align
    from pairgram.vectors import Vectors

    if isinstance(model, Vectors):
        return align(model, graph, name)
    fit_model(terminal, model, graph, f"fitting {name}")
    return model.vectors_.center


def _say(terminal: Terminal, found: Found, share: float, seeds: int) -> None:
    if terminal.wants_json:
        terminal.json({name: [asdict(one) for one in runs] for name, runs in found.items()})
    first = next(iter(found.values()))[0]
    rows = [
        (name, _spread(one.micro_f1 for one in runs), _spread(one.macro_f1 for one in runs))
        for name, runs in found.items()
    ]
    title = (
        f"{first.classes} classes, {share:.0%} of {first.train + first.test:,} labelled nodes "
        f"train a logistic regression, {seeds} seed{'s' * (seeds > 1)}"
    )
    terminal.table(("", ">micro F1", ">macro F1"), rows, title)


def _spread(values: Iterable[float]) -> str:
    listed = list(values)
    spread = f" ± {stdev(listed):.4f}" if len(listed) > 1 else ""
    return f"{fmean(listed):.4f}{spread}"
