"""What each ingredient of the ranker buys.

    python benchmarks/ranker.py hepth openmed

Nodes are held out, looked at, and judged with some of the features left out; every query is judged
by a ranker that was trained on the other half of them. They are fewer than a fit learns from,
so that sixteen trainings take minutes. The whole is trained from another start as well: what is
less than that difference may be chance. Needs PAIRGRAM_DATA. Writes results/benchmarks/ranker.json
and .md.
"""

import json
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from pairgram.datasets import load
from pairgram.models import rehearsing
from pairgram.models.rehearsing import Query, mrr_of, rehearse
from pairgram.search.clues import AROUND, FEATURES, Look
from pairgram.text.cleaning import cleaner
from pairgram.training.graph_judge import GraphJudgeSettings, train_graph_judge
from pairgram.training.ranker import halves

OUT = Path("results/benchmarks")
SEED = 0
TEN = 10
QUERIES = 2000
PARTS = {
    "BM25 alone": "bm25", "phrases alone": "phrase", "letters alone": "letters",
    "letters of neighbours alone": "around", "towers alone": "tower",
    "BM25, phrases, letters and towers, evenly": "close",
}  # fmt: skip
GROUPS = {
    "whole": (),
    "without words (BM25, TF-IDF, shared words)": (
        "bm25", "bm25_share", "tfidf", "of_query", "of_node", "words_query", "words_node",
    ),
    "without shares of common words": ("of_query", "of_node", "words_query", "words_node"),
    "without phrases": ("phrase", "phrase_share", "phrase_tfidf"),
    "without letters, of nodes and of neighbours": ("letters", "letters_share", *AROUND),
    "without letters of neighbours": AROUND,
    "without towers": ("tower", "tower_gap", "tower_log_share", "query_query"),
    "without latent points": ("latent", "latent_near"),
    "without degrees": ("degree", "given", "taken"),
    "without levels": ("level", "level_gap"),
}  # fmt: skip


def measure(name: str, device: str) -> dict[str, object]:
    """Figures of one dataset."""
    words = cleaner("words")
    rehearsing.SHARES = ((0.2, QUERIES),)
    found = rehearse(load(name), lambda text: words(text)[:512], SEED, device)
    if found is None:
        raise SystemExit(f"{name}: too few nodes with links.")
    queries, total = found.queries, found.links
    looks, is_link = [query.look for query in queries], [query.is_link for query in queries]
    scores: dict[str, list[np.ndarray]] = {}

    def judged(
        label: str, change: Callable[[Look], Look], seed: int = SEED, **settings: float
    ) -> dict[str, float]:
        began = time.perf_counter()
        changed = [change(look) for look in looks]
        scores[label] = by_the_other(changed, is_link, GraphJudgeSettings(**settings), seed, device)
        took = time.perf_counter() - began
        return figures(scores[label], is_link, total) | {"seconds": took}

    rows = {
        label: judged(label, lambda look, gone=gone: without(look, gone))
        for label, gone in GROUPS.items()
    }
    rows["whole, from another start"] = judged("again", lambda look: look, SEED + 1)
    rows["without links (nobody is asked)"] = judged("alone", lambda look: look, rounds=0)
    rows["without the direction of links"] = judged("undirected", undirected)
    rows["without what heads find in all nodes"] = judged("narrow", lambda look: look, given=0)
    rows["one round of asking"] = judged("once", lambda look: look, rounds=1)
    for part, column in PARTS.items():
        at = FEATURES.index(column)
        rows[part] = figures([look.features[:, at] for look in looks], is_link, total)
    looked = sum(int(mask.sum()) for mask in is_link)
    return {
        "queries": len(queries), "links": total, "looked_at": looked / total,
        "nodes_looked_at": float(np.mean([len(look.places) for look in looks])),
        "seconds": found.seconds, "device": device, "rows": rows,
        "fates": fates(queries, scores["whole"]),
    }  # fmt: skip


def without(look: Look, gone: Sequence[str]) -> Look:
    """A look in which some features are 0."""
    features = look.features.copy()
    features[:, [FEATURES.index(name) for name in gone]] = 0
    return replace(look, features=features)


def undirected(look: Look) -> Look:
    """A look at which nobody knows in which direction a link was given."""
    nothing = np.empty(0, np.int32)
    return replace(
        without(look, ("given", "taken", "level", "level_gap")), giver=nothing, taker=nothing
    )


def by_the_other(
    looks: Sequence[Look],
    is_link: Sequence[np.ndarray],
    settings: GraphJudgeSettings,
    seed: int,
    device: str,
) -> list[np.ndarray]:
    """Scores of every query by a judge that was trained on the other half of the queries."""
    scores: list[np.ndarray] = [np.empty(0)] * len(looks)
    for train, test in halves(len(looks), SEED):
        some = [looks[i] for i in train], [is_link[i] for i in train]
        judge = train_graph_judge(*some, settings, seed, device)
        for i in test.tolist():
            scores[i] = judge.scores(looks[i])
    return scores


def fates(queries: Sequence[Query], scores: Sequence[np.ndarray]) -> dict[str, dict[str, float]]:
    """What is known of the links among the first ten, of later ones, of those never looked at."""
    found: dict[str, list[tuple[float, ...]]] = {
        "first ten": [],
        "later": [],
        "never looked at": [],
    }
    common = FEATURES.index("of_query")
    for query, row in zip(queries, scores, strict=True):
        mask, look = query.is_link, query.look
        others = np.sort(row[~mask])
        for at in np.flatnonzero(mask):
            above = len(others) - np.searchsorted(others, row[at], side="right")
            alone = not (look.voted == at).any()
            card = (look.degree[at], len(query.wanted), look.features[at, common], alone)
            found["first ten" if above < TEN else "later"].append(card)
        unseen = len(query.wanted) - int(mask.sum())
        found["never looked at"] += [(np.nan, len(query.wanted), np.nan, np.nan)] * unseen
    total = sum(map(len, found.values()))
    table = {}
    for name, cards in found.items():
        degree, links, shared, unvoted = np.array(cards, float).reshape(-1, 4).T
        table[name] = {
            "share": len(cards) / total, "degree": known(np.median, degree),
            "links": known(np.median, links), "common": known(np.mean, shared),
            "unvoted": known(np.mean, unvoted),
        }  # fmt: skip
    return table


def known(middle: Callable[[np.ndarray], np.floating], numbers: np.ndarray) -> float:
    """Median or mean of the numbers that are known, NaN where none is."""
    some = numbers[~np.isnan(numbers)]
    return float(middle(some)) if len(some) else float("nan")


def figures(scores: list[np.ndarray], is_link: list[np.ndarray], total: int) -> dict[str, float]:
    """MRR and Hits@10 over all links, ties at the mean rank; those not looked at are missed."""
    hits = 0
    for row, links in zip(scores, is_link, strict=True):
        own, others = row[links][:, None], row[~links]
        above = (others > own).sum(axis=1) + (others == own).sum(axis=1) / 2
        hits += int((above < TEN).sum())
    return {"mrr": mrr_of(scores, is_link, total), "hits@10": hits / total}


def page(cards: dict[str, dict]) -> str:
    """The table as Markdown."""
    lines = [
        "# What the ranker's ingredients buy", "",
        "Generated by `python benchmarks/ranker.py hepth openmed`; do not edit. Held-out nodes of "
        "the whole graph, seed 0; every query is judged by a ranker that was "
        "trained on the other half. Links that were not looked at count as missed. What is "
        "less than the difference of another start may be chance.", "",
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
        lines += ["", *fate_lines(card["fates"]), ""]
    return "\n".join(lines)


def fate_lines(table: dict[str, dict[str, float]]) -> list[str]:
    """What became of the links, as a table."""
    lines = [
        "| where a true link stands | share of links | median degree of the node | median links of "
        "the query | mean share of the query's words that it has | no link to others here |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name, row in table.items():
        ends = ["–" if np.isnan(row[key]) else f"{row[key]:.1%}" for key in ("common", "unvoted")]
        degree = "–" if np.isnan(row["degree"]) else f"{row['degree']:.0f}"
        middle = f"{row['share']:.1%} | {degree} | {row['links']:.0f}"
        lines.append(f"| {name} | {middle} | {' | '.join(ends)} |")
    return lines


def main() -> None:
    # The judge that gives nothing has layers without weights.
    warnings.filterwarnings("ignore", "Initializing zero-element tensors")
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
