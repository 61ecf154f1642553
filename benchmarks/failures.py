"""Queries of the ranker that fail, to be read: what was asked, what was wanted, what came first.

    python benchmarks/failures.py hepth 50

Some nodes are held out and judged by a ranker that was trained on the others, as a fit does. A
query fails when none of its links is among the first ten. Failed queries are drawn at random (seed
0) and printed with their words, a few of their links with the place and the words that each shares
with the query, and the nodes ranked first; medians of all that is printed come last. What a reader
found is in docs/research.md. Needs PAIRGRAM_DATA.
"""

import sys

import numpy as np

from pairgram.datasets import load
from pairgram.models.rehearsing import ASIDE, rehearse
from pairgram.text.cleaning import cleaner
from pairgram.training.graph_judge import GraphJudgeSettings, train_graph_judge

SEED, TEN, SHOWN, WORDS = 0, 10, 4, 24


def main() -> None:
    name, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 50
    words, graph = cleaner("words"), load(name)
    found = rehearse(graph, lambda text: words(text)[:512], SEED)
    if found is None:
        raise SystemExit(f"{name}: too few nodes with links.")
    queries = found.queries
    order = np.random.default_rng(SEED).permutation(len(queries))
    aside, rest = np.split(order, [int(max(ASIDE, 0.25) * len(queries))])
    judge = train_graph_judge(
        [queries[i].look for i in rest], [queries[i].is_link for i in rest], GraphJudgeSettings(),
        SEED,
    )  # fmt: skip
    failed = []
    for i in aside.tolist():
        query = queries[i]
        scores = judge.scores(query.look)
        ranked = np.argsort(-scores, kind="stable")
        place = np.full(len(scores), len(scores))
        place[ranked] = np.arange(len(scores))
        if not query.is_link[ranked[:TEN]].any():
            failed.append((query, ranked, place))
    print(f"{len(failed)} of {len(aside)} queries fail")
    texts = graph.texts
    shares: dict[bool, list[int]] = {True: [], False: []}
    places = []
    for query, ranked, place in failed[:count]:
        home, own = query.home, words(texts[query.node])
        print(f"\n## {graph.names[query.node]} ({len(query.wanted)} links): {shown(own)}")
        seen = {int(at): int(place[k]) + 1 for k, at in enumerate(query.look.places)}
        for at in query.wanted[:SHOWN].tolist():
            other = words(texts[home[at]])
            common = len(set(own) & set(other))
            shares[at in seen].append(common)
            places += [seen[at]] if at in seen else []
            print(f"  wanted {seen.get(at, 'unseen')}, {common} common: {shown(other)}")
        for at in query.look.places[ranked[:3]].tolist():
            print(f"  came first: {shown(words(texts[home[at]]))}")
    links = [len(query.wanted) for query, _, _ in failed[:count]]
    print(f"\n{len(links)} failed queries: {middle(links)} links in the median")
    for was, label in ((True, "looked at"), (False, "never looked at")):
        print(f"{len(shares[was])} of the links shown {label}: {middle(shares[was])} common words")
    print(f"place of those looked at: {middle(places)} in the median")


def middle(numbers: list[int]) -> str:
    return f"{np.median(numbers):g}" if numbers else "no"


def shown(words: list[str]) -> str:
    return " ".join(words[:WORDS])


if __name__ == "__main__":
    main()
