"""`pairgram demo`: the main job on real data."""

import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pairgram.cli import methods, outputs, scoreboard, suggest
from pairgram.cli.evaluate import run_split
from pairgram.cli.options import EngineFlags, OutputFlags, Seed, Threads, grouped
from pairgram.cli.terminal import Terminal

if TYPE_CHECKING:
    from pairgram.evaluation import Card
    from pairgram.graph import TextGraph
    from pairgram.models import Model, Suggestion
    from pairgram.split import Split

TEXTS = (
    "Type 2 diabetes with numbness of both feet",
    "Asthma attack brought on by exercise",
    "Fracture of the left wrist after a fall on ice",
)
KEEP = 0.8
HOLD_OUT = 0.005
# A short training of the bag encoder: two fits and two evaluations stay within three minutes.
# The ranker would take as long again as all the rest.
PARAMETERS: dict[str, Any] = {
    "preset": "best", "dim": 64, "epochs": 6, "patience": 0, "ranker": False,
}  # fmt: skip


@grouped
def demo(
    output: OutputFlags,
    engine: EngineFlags,
    to: Annotated[Path, typer.Option("--output", "-o", help="Folder for the model.")] = Path(
        "demo"
    ),
    seed: Seed = 0,
    threads: Threads = None,
) -> None:
    """Fit TGE on the ICD-10-CM terminology, test it on links and on new nodes, suggest links."""
    from pairgram.split import split_edges, split_nodes

    terminal = Terminal(output)
    engine.check()
    began = time.perf_counter()
    folder = to / "icd10cm"
    graph = _load(terminal)
    outputs.check_model_folder(folder)

    def test(question: str, split: "Split") -> "tuple[Model, Card]":
        terminal.line(question)
        model = methods.build("tge", PARAMETERS, seed=seed, threads=threads)
        with engine.open(threads) as opened:
            card = run_split(terminal, {"tge": model}, split, seed, opened)["tge"]
        if not terminal.wants_json:
            scoreboard.show(terminal, {"tge": [card]})
        return model, card

    _, links = test(
        f"1. Can it find links again? {KEEP:.0%} of them train, the others test.",
        split_edges(graph, KEEP, seed),
    )
    model, new = test(
        f"\n2. Where do new codes belong? {HOLD_OUT:.1%} of the codes are held out with all their "
        "links; their text alone must place them.",
        split_nodes(graph, HOLD_OUT, seed),
    )
    model.save(folder)
    suggestions = _suggest(terminal, model)
    seconds = time.perf_counter() - began
    _finish(terminal, folder, {"links": links, "new nodes": new}, suggestions, seconds)


def _load(terminal: Terminal) -> "TextGraph":
    from pairgram import datasets

    terminal.line(
        "ICD-10-CM, the terminology of diagnoses: nodes are its codes and their groups, links are "
        "the tree and the codes that notes name.\n"
    )
    graph = datasets.load("icd10cm")
    terminal.line(f"{graph.n_nodes:,} nodes, {graph.n_edges:,} links.\n")
    return graph


def _suggest(terminal: Terminal, model: "Model") -> "dict[str, list[Suggestion]]":
    terminal.line("\n3. What should a new text be linked to?\n")
    found = {text: model.suggest(text, k=5) for text in TEXTS}
    for text, suggestions in found.items():
        suggest.show(terminal, suggestions, f'"{text}"')
    return found


def _finish(
    terminal: Terminal,
    folder: Path,
    cards: "Mapping[str, Card]",
    suggestions: "Mapping[str, list[Suggestion]]",
    seconds: float,
) -> None:
    if terminal.wants_json:
        listed = {text: [asdict(one) for one in found] for text, found in suggestions.items()}
        terminal.json(
            {
                "model": str(folder),
                "cards": {name: asdict(card) for name, card in cards.items()},
                "suggestions": listed,
                "seconds": seconds,
            }
        )
    terminal.line(
        f"Done in {seconds:.0f} s; the model is in {folder}. Try next:\n"
        f'  pairgram suggest {folder} "migraine with aura" -k 10\n'
        f"  pairgram suggest {folder} --node G43.909\n"
        f"  pairgram serve {folder}\n"
        f"  pairgram map {folder} -o map.html\n"
        f"  pairgram embed {folder} -o vectors.parquet\n"
        "  pairgram evaluate dataset:icd10cm --keep 0.8 --models ps,tge "
        "--parameters '{tge: {preset: best, ranker: false}}'\n"
        "  pairgram fit your-edges.tsv --texts your-texts.tsv --model tge --preset best "
        "-o model"
    )
