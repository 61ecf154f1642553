"""`pairgram fit`: from an edge list to a model folder."""

from collections.abc import Mapping
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pairgram.cli import methods, outputs
from pairgram.cli.graphs import paper_counts, read_graph
from pairgram.cli.methods import MethodFlags
from pairgram.cli.options import EngineFlags, GraphFlags, OutputFlags, Seed, Threads, grouped
from pairgram.cli.progress import StoppedError, fit_model
from pairgram.cli.terminal import Terminal
from pairgram.errors import PairgramError

INDEX_FROM = 1_000_000
"""Nodes from which on a full search takes long enough to be worth an index."""

if TYPE_CHECKING:
    from pairgram.engine import Engine
    from pairgram.graph import TextGraph
    from pairgram.models import Model


@grouped
def fit(
    graph: GraphFlags,
    to: Annotated[Path, typer.Option("--output", "-o", help="Model folder to write.")],
    parameters: MethodFlags,
    output: OutputFlags,
    engine: EngineFlags,
    model: Annotated[
        str,
        typer.Option(
            help="ps, deepwalk, node2vec, line, tge, text_matching, tadw, paper2vec, cane, "
            "stne, graphgan, sentence_encoder or graphsage."
        ),
    ] = "ps",
    calibrate: Annotated[
        bool,
        typer.Option(
            "--calibrate",
            help="Fit on 95 % first, so that suggestions get probabilities and 'no good match'.",
        ),
    ] = False,
    fuse: Annotated[
        bool,
        typer.Option(
            "--fuse",
            help="Fit without some nodes first, to weigh learned and lexical scores: rule fused.",
        ),
    ] = False,
    index: Annotated[
        bool | None,
        typer.Option(
            "--index/--no-index",
            help="Build the index for approximate search; from 1,000,000 nodes on by itself.",
        ),
    ] = None,
    seed: Seed = 0,
    threads: Threads = None,
) -> None:
    """Learn vectors from a graph and save them as a model folder.

    Ctrl-C keeps what is done beside the folder; the same command goes on from there.
    """
    terminal = Terminal(output)
    shared = {"directed": graph.directed, "seed": seed, "threads": threads}
    engine.check()
    built = methods.build(model, parameters.given(), **shared)
    if engine.engine != "local":
        methods.check_takes_engine(built)
    nodes = read_graph(graph)
    outputs.check_model_folder(to)
    with engine.open(threads) as opened:
        _train(terminal, built, nodes, to, opened)
    if calibrate:
        from pairgram.evaluation.calibrate import calibrate_for_use

        built.calibrations_ = calibrate_for_use(
            lambda: methods.build(model, parameters.given(), **shared), nodes, seed
        )
    if fuse:
        from pairgram.evaluation.fusing import fuse_for_use

        fused = fuse_for_use(
            lambda: methods.build(model, parameters.given(), **shared), nodes, seed
        )
        built.fusion_ = fused
        parts = ", ".join(f"{name} {value:.3f}" for name, value in fused.mrr.items())
        terminal.summary(f"fused: MRR on {fused.queries} validation nodes: {parts}")
    if wants_index(index, nodes.n_nodes):
        built.build_index()
    built.save(to)
    for file in outputs.files_of(outputs.checkpoint_of(to)):
        file.unlink()
    _say(terminal, built, nodes, _resolved(graph, engine, to, model, built))


def wants_index(asked: bool | None, n_nodes: int) -> bool:
    """Whether to build an index: as asked, else by size where the extra `ann` is there."""
    if asked is not None:
        return asked
    return n_nodes >= INDEX_FROM and find_spec("faiss") is not None


def _train(
    terminal: Terminal, model: "Model", graph: "TextGraph", to: Path, engine: "Engine"
) -> None:
    checkpoint = outputs.checkpoint_of(to)
    kept = outputs.files_of(checkpoint)
    if kept:
        terminal.note(f"note: going on from {kept[0]}")
    try:
        fit_model(terminal, model, graph, f"fitting {type(model).__name__}", checkpoint, engine)
    except StoppedError as stopped:
        file = outputs.files_of(checkpoint)[-1]
        raise PairgramError(
            f"stopped {stopped}; run the same command again to go on from {file}."
        ) from None


def _resolved(
    graph: GraphFlags, engine: EngineFlags, to: Path, method: str, model: "Model"
) -> dict[str, Any]:
    """Return all flags with their final values, as a file for --config holds them."""
    given = {name: value for name, value in asdict(graph).items() if value is not None}
    if engine.engine != "local":
        given |= {name: value for name, value in asdict(engine).items() if value is not None}
    return {**given, "output": str(to), "model": method, **model.get_params()}


def _say(terminal: Terminal, model: "Model", graph: "TextGraph", config: dict[str, Any]) -> None:
    stats = model.stats_
    if terminal.wants_json:
        terminal.json(
            {
                "config": config,
                "nodes": graph.n_nodes,
                "edges": graph.n_edges,
                "fingerprint": model.fingerprint_,
                "stats": stats,
            }
        )
    seconds = sum(stats["seconds"].values())
    terminal.summary(
        f"{type(model).__name__} on {graph.n_nodes:,} nodes and {graph.n_edges:,} edges: "
        f"{stats['pairs']:,} pairs, {stats['updates']:,} updates, {seconds:.1f} s "
        f"-> {config['output']}"
    )
    if "characters" in stats:
        terminal.summary(words_line(stats, str(config["edges"])))


def words_line(stats: Mapping[str, Any], edges: str) -> str:
    """Words and characters of the texts, beside the paper's where it counts them."""
    published = paper_counts(edges)
    beside = "" if published is None else " (the paper: {:,} and {:,})".format(*published)
    return (
        f"{stats['words']:,} distinct words and {stats['characters']:,} characters{beside}; "
        f"{stats['empty_texts']:,} texts without a word, {stats['cut_texts']:,} cut for length"
    )
