"""The analysis of `pairgram inspect --sampling` on five graphs: a table and two figures.

Needs PAIRGRAM_DATA. Run: python benchmarks/sampling_analysis.py [GRAPH ...]
Graphs that are in results/benchmarks/sampling_analysis.json are kept.
"""

import json
import sys
import time

from common import OUT
from pairgram import datasets
from pairgram.bench.markdown import grid
from pairgram.bench.speed.plot import bars
from pairgram.evaluation.card import machine, versions
from pairgram.sampling.analysis import analyse

GRAPHS = ("cora", "facebook", "zhihu", "astroph", "hepth")
RECORD = OUT / "sampling_analysis.json"
SIDES = {"walks": "random walks", "ps": "Pairs Sampling"}


def main() -> None:
    found = json.loads(RECORD.read_text())["graphs"] if RECORD.exists() else {}
    for name in sys.argv[1:] or GRAPHS:
        if name not in found:
            began = time.perf_counter()
            found[name] = analyse(datasets.load(name), centers=100)
            found[name]["seconds"] = time.perf_counter() - began
            card = {"graphs": found, "versions": versions(), "machine": machine()}
            RECORD.write_text(json.dumps(card, indent=1) + "\n", encoding="utf-8")
    report({name: found[name] for name in GRAPHS if name in found})


def report(found: dict) -> None:
    settings = next(iter(found.values()))["settings"]
    columns = [
        "graph", "sampler", ">pairs", ">α: deviation over mean of 1 + α", ">largest over mean",
        ">pairs of a centre: deviation over mean", ">self-pairs", ">neighbour-neighbour",
        ">repeated", ">neighbourhood", ">entropy of β, bits", ">over its largest", ">smallest β",
        ">pairs of a centre until covered, median", ">mean",
    ]  # fmt: skip
    rows = [
        _row(name, title, graph[side])
        for name, graph in found.items()
        for side, title in SIDES.items()
    ]
    page = [
        "# What random walks and Pairs Sampling draw", "",
        "Made by `python benchmarks/sampling_analysis.py`, from `sampling_analysis.json`; "
        "`pairgram inspect dataset:cora --sampling` shows one graph. Whole graphs; Pairs Sampling "
        f"with O = {settings['order']}, N = {settings['times']}; walks with L = "
        f"{settings['length']}, T = {settings['walks']}, and a window of {settings['order']}, so "
        f"that both look at the same neighbourhoods. β of {settings['centers']} centres drawn "
        "uniformly, exact; medians over them. [What the columns mean](../../docs/speed.md).", "",
        *grid(columns, rows), "", "![repeated](sampling_analysis-redundant.svg)", "",
        "![covered](sampling_analysis-covered.svg)", "",
    ]  # fmt: skip
    (OUT / "sampling_analysis.md").write_text("\n".join(page), encoding="utf-8")
    print("\n".join(page))
    redundant = [
        (f"{name}, {title}: {kind}", max(graph[side][key], 1e-4), f"{graph[side][key]:.1%}")
        for name, graph in found.items()
        for side, title in SIDES.items()
        for kind, key in (("self", "self_pairs"), ("repeated", "repeated"))
    ]
    covered = [
        (f"{name}, {title}", (least := graph[side]["beta"]["covered"]["50%"]), f"{least:,.0f}")
        for name, graph in found.items()
        for side, title in SIDES.items()
    ]
    for file, heading, bars_, log in (
        ("redundant", "Share of pairs that are self-pairs or repeated", redundant, False),
        ("covered", "Pairs of a centre until its neighbourhood is covered, median", covered, True),
    ):
        (OUT / f"sampling_analysis-{file}.svg").write_text(
            bars(heading, bars_, log=log), encoding="utf-8"
        )


def _row(name: str, title: str, side: dict) -> list[str]:
    beta, windows = side["beta"], side["windows"]
    return [
        name, title, f"{side['pairs']:,}", f"{windows['variation']:.2f}",
        f"{windows['largest'] / windows['mean']:.1f}", f"{side['per_center']['variation']:.2f}",
        f"{side['self_pairs']:.1%}", f"{side['neighbour_pairs']:.1%}", f"{side['repeated']:.1%}",
        f"{beta['neighbourhood']:,.0f}", f"{beta['entropy']:.2f}", f"{beta['evenness']:.3f}",
        f"{beta['least']:.1e}", f"{beta['covered']['50%']:,.0f}",
        f"{beta['covered']['mean']:,.0f}",
    ]  # fmt: skip


if __name__ == "__main__":
    main()
