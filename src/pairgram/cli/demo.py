"""`pairgram demo`: the main job on real data."""

import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pairgram.cli import methods, outputs, scoreboard, suggest
from pairgram.cli.evaluate import run_split
from pairgram.cli.options import OutputFlags, Seed, Threads, grouped
from pairgram.cli.progress import fit_model
from pairgram.cli.terminal import Terminal

if TYPE_CHECKING:
    from pairgram.evaluation import Card
    from pairgram.graph import TextGraph
    from pairgram.models import Model, Suggestion

NODES = ("E11.9", "J45.909", "I10")
KEEP = 0.8
# For a reader likeness of the two ends says more than the hubs that the calibrated rule favours.
SHOWN_RULE = "dot"
# Chosen on a validation split of the training side; most codes have one link, so the degree that
# the calibrated rule adds says much.
PARAMETERS: dict[str, Any] = {
    "dim": 64, "order": 8, "epochs": 10, "learning_rate": 0.1, "l2": 0.02, "rule": "calibrated"
}  # fmt: skip


@grouped
def demo(
    output: OutputFlags,
    to: Annotated[Path, typer.Option("--output", "-o", help="Folder for the model.")] = Path(
        "demo"
    ),
    seed: Seed = 0,
    threads: Threads = None,
) -> None:
    """Fit PS on the ICD-10-CM terminology, test it on held-out links, suggest new ones."""
    from pairgram.split import split_edges

    terminal = Terminal(output)
    began = time.perf_counter()
    given = {**PARAMETERS, "seed": seed, "threads": threads}
    tested, model = methods.build("ps", given), methods.build("ps", given)
    folder = to / "icd10cm"
    graph = _load(terminal)
    outputs.check_model_folder(folder)
    terminal.line(f"1. Can it find links again? {KEEP:.0%} of them train, the others test.")
    cards = run_split(terminal, {"ps": tested}, split_edges(graph, KEEP, seed), seed)
    if not terminal.wants_json:
        scoreboard.show(terminal, {"ps": [cards["ps"]]})
    terminal.line(
        "\n2. What is missing? A model of the whole graph suggests links, scored by the likeness "
        f"of the two ends (rule '{SHOWN_RULE}')."
    )
    fit_model(terminal, model, graph, "fitting ps on all links")
    model.save(folder)
    suggestions = _suggest(terminal, model, graph)
    _finish(terminal, folder, cards["ps"], suggestions, time.perf_counter() - began)


def _load(terminal: Terminal) -> "TextGraph":
    from pairgram import datasets

    terminal.line(
        "ICD-10-CM, the terminology of diagnoses: nodes are its codes and their groups, links are "
        "the tree and the codes that notes name.\n"
    )
    graph = datasets.load("icd10cm")
    terminal.line(f"{graph.n_nodes:,} nodes, {graph.n_edges:,} links.\n")
    return graph


def _suggest(
    terminal: Terminal, model: "Model", graph: "TextGraph"
) -> "dict[str, list[Suggestion]]":
    found = {node: model.suggest(node=node, k=5, rule=SHOWN_RULE) for node in NODES}
    for node, suggestions in found.items():
        text = "" if graph.texts is None else graph.texts[graph.position(node)]
        suggest.show(terminal, suggestions, f"{node} {text}")
    return found


def _finish(
    terminal: Terminal,
    folder: Path,
    card: "Card",
    suggestions: "dict[str, list[Suggestion]]",
    seconds: float,
) -> None:
    if terminal.wants_json:
        listed = {node: [asdict(one) for one in found] for node, found in suggestions.items()}
        terminal.json(
            {
                "model": str(folder),
                "card": asdict(card),
                "suggestions": listed,
                "seconds": seconds,
            }
        )
    terminal.line(
        f"Done in {seconds:.0f} s; the model is in {folder}. Try next:\n"
        f"  pairgram suggest {folder} --node G43.909\n"
        f"  pairgram embed {folder} -o vectors.parquet\n"
        "  pairgram evaluate dataset:icd10cm --models ps,deepwalk --keep 0.8\n"
        "  pairgram fit your-edges.tsv --texts your-texts.tsv -o model"
    )
