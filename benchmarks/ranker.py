"""What each ingredient of the ranker buys.

    python benchmarks/ranker.py hepth openmed

Nodes are held out, looked at, and judged with some of the features left out; every query is judged
by a ranker that was trained on the other half of the queries. Needs PAIRGRAM_DATA. Writes
results/benchmarks/ranker.json and .md.
"""

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from pairgram.datasets import load
from pairgram.models.rehearsing import (
    Query,
    carried_by,
    judged_by_the_other,
    mrr_of,
    rehearse,
    voted_by_the_other,
)
from pairgram.search.clues import FIRST, KIN
from pairgram.text.cleaning import cleaner

OUT = Path("results/benchmarks")
SEED = 0
TEN = 10
OLD = (
    "Measured before voters were learned, with fewer held-out nodes and longer training of the "
    "towers; `two looks` is what learned votes replaced."
)
FATES = ("first ten", "later", "never looked at")
ROUNDS = 2
VOTERS = ("words_20", "words_100", "both_")
PARTS = {"BM25 alone": "bm25", "towers alone": "tower", "votes by BM25 alone": "words_20_share"}
GROUPS = {
    "all but learned votes": (),
    "without words (BM25, TF-IDF, shared words)": (
        "bm25", "bm25_share", "tfidf", "of_query", "of_node", "words_query", "words_node",
    ),
    "without shares of common words": ("of_query", "of_node", "words_query", "words_node"),
    "without towers": ("tower", "tower_gap", "tower_log_share", "query_query"),
    "without latent points": ("latent", "latent_near"),
    "without votes": tuple(n for n in FIRST if n.startswith(VOTERS)),
    "without votes at two steps": tuple(n for n in FIRST if "_far_" in n),
    "without degree": ("degree",),
}  # fmt: skip


def measure(name: str, device: str) -> dict[str, object]:
    """Figures of one dataset."""
    words = cleaner("words")
    found = rehearse(load(name), lambda text: words(text)[:512], SEED, device)
    if found is None:
        raise SystemExit(f"{name}: too few nodes with links.")
    queries, total = found.queries, found.links
    is_link = [query.is_link for query in queries]
    features = [query.look.features for query in queries]

    last: list[np.ndarray] = []

    def judged(rows: list[np.ndarray]) -> dict[str, float]:
        began = time.perf_counter()
        last[:] = judged_by_the_other(rows, is_link, SEED, device)
        took = time.perf_counter() - began
        return figures(last, is_link, total) | {"seconds": took}

    rows = {}
    for label, dropped in GROUPS.items():
        kept = [i for i, one in enumerate(FIRST) if one not in dropped]
        rows[label] = judged([f[:, kept] for f in features])
    for part, column in PARTS.items():
        at = FIRST.index(column)
        rows[part] = figures([f[:, at] for f in features], is_link, total)
    carried = [carried_by(query) for query in queries]
    for number in range(1, ROUNDS + 1):
        began = time.perf_counter()
        features = voted_by_the_other(queries, features, carried, SEED, device)
        took = time.perf_counter() - began
        at = features[0].shape[1] - len(KIN) + KIN.index("kin_log")
        label = f"learned votes, round {number}"
        rows[f"{label}, alone"] = figures([f[:, at] for f in features], is_link, total)
        rows[f"with {label}"] = judged(features)
        rows[f"with {label}"]["seconds"] += took
    looked = sum(int(mask.sum()) for mask in is_link)
    return {
        "queries": len(queries), "links": total, "looked_at": looked / total,
        "nodes_looked_at": float(np.mean([len(query.look.places) for query in queries])),
        "seconds": found.seconds, "device": device, "rows": rows, "fates": fates(queries, last),
    }  # fmt: skip


def fates(queries: Sequence[Query], scores: Sequence[np.ndarray]) -> dict[str, dict[str, float]]:
    """What is known of the links among the first ten, of later ones, of those never looked at."""
    found: dict[str, list[tuple[float, ...]]] = {
        "first ten": [],
        "later": [],
        "never looked at": [],
    }
    common, votes = FIRST.index("of_query"), FIRST.index("both_100_even_share")
    for query, row in zip(queries, scores, strict=True):
        mask, degree = query.is_link, query.ballots.degree
        others = np.sort(row[~mask])
        for at in np.flatnonzero(mask):
            above = len(others) - np.searchsorted(others, row[at], side="right")
            known = query.look.features[at, [common, votes]]
            card = (degree[query.look.places[at]], len(query.wanted), known[0], known[1] == 0)
            found["first ten" if above < TEN else "later"].append(card)
        unseen = np.setdiff1d(query.wanted, query.look.places)
        found["never looked at"] += [(degree[x], len(query.wanted), np.nan, np.nan) for x in unseen]
    total = sum(map(len, found.values()))
    table = {}
    for name, cards in found.items():
        degree, links, shared, unvoted = np.array(cards, float).reshape(-1, 4).T
        table[name] = {
            "share": len(cards) / total, "degree": float(np.median(degree)),
            "links": float(np.median(links)), "common": float(np.nanmean([*shared, np.nan])),
            "unvoted": float(np.nanmean([*unvoted, np.nan])),
        }  # fmt: skip
    return table


def figures(scores: list[np.ndarray], is_link: list[np.ndarray], total: int) -> dict[str, float]:
    """MRR and Hits@10 over all links; those not looked at count as missed."""
    hits = 0
    for row, links in zip(scores, is_link, strict=True):
        above = (row[~links] > row[links][:, None]).sum(axis=1)
        hits += int((above < 10).sum())
    return {"mrr": mrr_of(scores, is_link, total), "hits@10": hits / total}


def page(cards: dict[str, dict]) -> str:
    """The table as Markdown."""
    lines = [
        "# What the ranker's ingredients buy", "",
        "Generated by `python benchmarks/ranker.py hepth openmed`; do not edit. Held-out nodes of "
        "the whole graph, seed 0; every query is judged by a ranker that was "
        "trained on the other half. Links that were not looked at count as missed.", "",
    ]  # fmt: skip
    for name, card in cards.items():
        took = ", ".join(f"{step} {took:.1f} s" for step, took in card["seconds"].items())
        lines += [
            f"## {name}", "",
            f"{card['queries']} queries with {card['links']:,} links; on average "
            f"{card['nodes_looked_at']:.0f} nodes are looked at, {card['looked_at']:.1%} of links "
            f"among them. Before the judges: {took} ({card['device']}).", "",
            "| what | MRR | Hits@10 | difference in MRR | seconds of training |",
            "| --- | ---: | ---: | ---: | ---: |",
        ]  # fmt: skip
        whole = next(iter(card["rows"].values()))["mrr"]
        for label, row in card["rows"].items():
            gap, took = row["mrr"] - whole, row.get("seconds")
            shown = "–" if took is None else f"{took:.1f}"
            figure = f"{row['mrr']:.4f} | {row['hits@10']:.4f} | {gap:+.4f} | {shown}"
            lines.append(f"| {label} | {figure} |")
        lines += ["", *(fate_lines(card["fates"]) if "fates" in card else [OLD]), ""]
    return "\n".join(lines)


def fate_lines(table: dict[str, dict[str, float]]) -> list[str]:
    """What became of the links, as a table."""
    lines = [
        "| where a true link stands | share of links | median degree of the node | median links of "
        "the query | mean share of the query's words that it has | without any vote |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name, row in table.items():
        ends = ["–" if np.isnan(row[key]) else f"{row[key]:.1%}" for key in ("common", "unvoted")]
        middle = f"{row['share']:.1%} | {row['degree']:.0f} | {row['links']:.0f}"
        lines.append(f"| {name} | {middle} | {' | '.join(ends)} |")
    return lines


def main() -> None:
    device = "cuda" if "--cuda" in sys.argv else "cpu"
    path = OUT / "ranker.json"
    cards = json.loads(path.read_text()) if path.exists() else {}
    for name in sys.argv[1:]:
        if not name.startswith("-"):
            cards[name] = measure(name, device)
            OUT.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(cards, indent=1) + "\n")
    (OUT / "ranker.md").write_text(page(cards))


if __name__ == "__main__":
    main()
