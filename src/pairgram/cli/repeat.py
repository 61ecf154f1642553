"""`pairgram evaluate --card`: repeat a run and compare its figures with the card's."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pairgram.cli import methods
from pairgram.cli.calibrating import calibrated
from pairgram.cli.graphs import read_graph
from pairgram.cli.plans import Plan, graph_from_json
from pairgram.cli.terminal import Terminal
from pairgram.errors import FileFormatError, PairgramError

if TYPE_CHECKING:
    from pairgram.evaluation import Card
    from pairgram.split import Split

SAME = 1e-6


def repeat(terminal: Terminal, path: Path, threads: int | None) -> None:
    """Run what a card says again; figures that differ end the command with a failure."""
    from pairgram.evaluation import Card, evaluate

    card = Card.read(path)
    if card.source is None:
        raise FileFormatError(
            path, "does not say where its graph was read from; only cards of the command line do."
        )
    plan, flags = Plan.from_json(card.source["plan"]), graph_from_json(card.source["graph"])
    seed = int(card.split["seed"])
    split = plan.cut(read_graph(flags), flags.edges, seed)
    if split.hash != card.split["hash"]:
        raise PairgramError(
            f"{path}: the split is another one (hash {split.hash[:12]}, the card has "
            f"{card.split['hash'][:12]}): the graph's files have changed."
        )
    model = _build(card, split, threads)
    again = evaluate(model, split, seed=card.seed, **plan.options()).card
    if card.calibration is not None:
        again = calibrated(again, model, lambda: _build(card, split, threads), split, seed)
    _compare(terminal, path, card, again)


def differences(card: "Card", again: "Card") -> dict[str, tuple[float | None, float | None]]:
    """Figures of a card and of its repetition that are not the same, floors included."""
    one, two = _flat(card), _flat(again)
    return {
        key: (one.get(key), two.get(key))
        for key in dict.fromkeys((*one, *two))
        if not _same(one.get(key), two.get(key))
    }


def _build(card: "Card", split: "Split", threads: int | None) -> Any:
    source: dict[str, Any] = card.source or {}
    if "vectors" in card.parameters:
        from pairgram.evaluation.given import GivenVectors
        from pairgram.vectors import Vectors

        label = card.parameters["vectors"]
        return GivenVectors(Vectors.load(label), split, card.parameters["rule"], label)
    given = dict(card.parameters)
    if "threads" in given:
        given["threads"] = threads
    return methods.build(source["method"], given)


def _compare(terminal: Terminal, path: Path, card: "Card", again: "Card") -> None:
    strange = differences(card, again)
    if terminal.wants_json:
        terminal.json({"card": str(path), "figures": len(_flat(card)), "differ": strange})
    if not strange:
        terminal.line(f"{path}: all {len(_flat(card))} figures agree.")
        return
    terminal.table(
        ("figure", ">card", ">again"),
        [(key, _shown(one), _shown(two)) for key, (one, two) in strange.items()],
    )
    versions = {
        name: (then, again.versions.get(name))
        for name, then in card.versions.items()
        if then != again.versions.get(name)
    }
    changed = ", ".join(f"{name} {a} -> {b}" for name, (a, b) in versions.items())
    raise PairgramError(
        f"{path}: {len(strange)} of {len(_flat(card))} figures differ"
        + (f"; versions: {changed}." if changed else "; the versions are the same.")
    )


def _flat(card: "Card") -> dict[str, float | None]:
    floors = {
        f"floor {name}: {key}": value
        for name, values in card.floors.items()
        for key, value in values.items()
    }
    return {**card.metrics, **floors}


def _same(one: float | None, two: float | None) -> bool:
    if one is None or two is None:
        return one is two
    return abs(one - two) <= SAME


def _shown(value: float | None) -> str:
    return "none" if value is None else f"{value:.6f}"
