"""`pairgram inspect`: what a graph looks like."""

from collections.abc import Iterator
from typing import Any

from pairgram.cli.graphs import read_graph
from pairgram.cli.options import GraphFlags, OutputFlags, grouped
from pairgram.cli.terminal import Terminal


@grouped
def inspect(graph: GraphFlags, output: OutputFlags) -> None:
    """Show what reading an edge list (and texts) finds, before any training."""
    terminal = Terminal(output)
    from pairgram.graph import describe

    found = describe(read_graph(graph))
    if terminal.wants_json:
        terminal.json(found)
    terminal.table(("", ">"), _rows(found))


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
