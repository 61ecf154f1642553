"""`pairgram inspect`: what a graph looks like."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from pairgram.cli.graphs import read_graph
from pairgram.cli.options import GraphFlags, OutputFlags, Seed, Threads, grouped
from pairgram.cli.terminal import Terminal


def _sampling(text: str, *names: str) -> Any:
    return typer.Option(*names, help=text, rich_help_panel="Sampling")


@dataclass(frozen=True)
class SamplingFlags:
    """What --sampling compares."""

    sampling: Annotated[
        bool, _sampling("Compare what random walks and Pairs Sampling draw.", "--sampling")
    ] = False
    order: Annotated[int, _sampling("Largest distance O, and window of the walks.")] = 3
    times: Annotated[int, _sampling("Rounds N of Pairs Sampling.")] = 2
    length: Annotated[int, _sampling("Nodes of a walk, L.")] = 80
    walks: Annotated[int, _sampling("Walks from every node, T.")] = 10
    centers: Annotated[int, _sampling("Centres whose neighbourhoods are looked at.")] = 200


@grouped
def inspect(
    graph: GraphFlags,
    sampling: SamplingFlags,
    output: OutputFlags,
    seed: Seed = 0,
    threads: Threads = None,
) -> None:
    """Show what reading an edge list (and texts) finds, before any training."""
    terminal = Terminal(output)
    from pairgram.graph import describe

    read = read_graph(graph)
    found = describe(read)
    if sampling.sampling:
        from pairgram.sampling.analysis import analyse

        found["sampling"] = analyse(
            read, sampling.order, sampling.times, sampling.length, sampling.walks,
            sampling.centers, seed, threads,
        )  # fmt: skip
    if terminal.wants_json:
        terminal.json(found)
    terminal.table(("", ">"), _rows(found))
    if "sampling" in found:
        terminal.table(("", ">random walks", ">Pairs Sampling"), _sampling_rows(found["sampling"]))


def _rows(found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    kind = "directed" if found["directed"] else "undirected"
    yield "nodes", f"{found['nodes']:,}"
    yield f"edges ({kind}{', weighted' if found['weighted'] else ''})", f"{found['edges']:,}"
    yield "lines read", f"{found['lines']:,}"
    yield "  duplicates", f"{found['duplicates']:,}"
    yield "  reciprocal pairs", f"{found['reciprocal']:,}"
    yield "  self-loops, left out", f"{found['self_loops']:,}"
    yield from _degree_rows(found["degree"])
    yield "isolated nodes", f"{found['isolated']:,}"
    components = found["components"]
    yield "components", f"{components['count']:,}"
    yield "  nodes in the largest", f"{components['largest']:,}"
    yield from _text_rows(found)


def _degree_rows(degree: dict[str, Any]) -> Iterator[tuple[str, str]]:
    yield "degree, mean", f"{degree['mean']:.2f}"
    for share, value in degree["quantiles"].items():
        yield f"  {share} of the nodes have at most", f"{value:,}"
    yield "  largest", f"{degree['max']:,}"
    for value, share in degree["share"].items():
        yield f"  share with degree {value}", f"{share:.1%}"


def _text_rows(found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if found["text"] is None:
        yield "texts", "none"
        return
    yield "nodes with a text", f"{found['texts']:,}"
    yield "  empty", f"{found['empty_texts']:,}"
    yield "  repeated", f"{found['repeated_texts']:,}"
    yield "  words, mean", f"{found['text']['words_mean']:.1f}"
    yield "  words, most", f"{found['text']['words_max']:,}"


def _sampling_rows(found: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    both = found["walks"], found["ps"]
    if None in both:
        yield "no edge to sample along", "", ""
        return

    def row(name: str, form: str, *path: str) -> tuple[str, str, str]:
        values = []
        for side in both:
            value: Any = side
            for key in path:
                value = value[key]
            values.append(format(value, form))
        return name, values[0], values[1]

    yield row("pairs", ",", "pairs")
    yield row("1 + α, windows of a centre over rounds: mean", ",.2f", "windows", "mean")
    yield row("  smallest", ",.2f", "windows", "smallest")
    yield row("  largest", ",.2f", "windows", "largest")
    yield row("  deviation over mean", ".3f", "windows", "variation")
    yield row("pairs of a centre: deviation over mean", ".3f", "per_center", "variation")
    yield row("self-pairs", ".1%", "self_pairs")
    yield row("neighbour-neighbour pairs", ".1%", "neighbour_pairs")
    yield row("repeated pairs", ".1%", "repeated")
    yield row("neighbourhood, median size", ",.0f", "beta", "neighbourhood")
    yield row("β: entropy, bits", ".2f", "beta", "entropy")
    yield row("  over its largest value", ".3f", "beta", "evenness")
    yield row("  smallest", ".2e", "beta", "least")
    yield row("  1 / smallest", ",.0f", "beta", "inverse_least")
    yield row("pairs of a centre until all its neighbourhood came: median", ",.0f",
              "beta", "covered", "50%")  # fmt: skip
    yield row("  mean", ",.0f", "beta", "covered", "mean")
