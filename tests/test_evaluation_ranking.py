import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pairgram.errors import InputError
from pairgram.evaluation import ranking
from pairgram.evaluation.ranking import link_queries, rank, zero_shot_queries
from pairgram.graph import TextGraph
from pairgram.split import split_edges, split_nodes

ENDS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=6, max_size=40)


def neighbours(pairs, count):
    lists = [set() for _ in range(count)]
    for first, second in pairs:
        lists[int(first)].add(int(second))
        lists[int(second)].add(int(first))
    return lists


def edges(graph):
    return zip(graph.source.tolist(), graph.target.tolist(), strict=True)


def slow_ranks(true, candidates, score):
    """Query -> ranks of its true links among candidates that are none, ties at the mean."""
    ranks = []
    for query, links in sorted(true.items()):
        others = [score(query, node) for node in candidates(query) - links]
        for link in sorted(links):
            own = score(query, link)
            ranks.append(1 + sum(o > own for o in others) + sum(o == own for o in others) / 2)
    return ranks


def scores_of(seed, count):
    return np.random.default_rng(seed).integers(4, size=(count, count)).astype(float)


@pytest.mark.quick
@pytest.mark.parametrize("entries", [1, 25, 4_000_000])
def test_zero_shot_ranks_equal_the_slow_ones(entries, monkeypatch):
    monkeypatch.setattr(ranking, "_BLOCK_ENTRIES", entries)

    @settings(max_examples=40)
    @given(ENDS, st.integers(0, 9), st.booleans())
    def agrees(ends, seed, directed):
        source, target = zip(*ends, strict=True)
        names = [str(node) for node in range(11)]
        graph = TextGraph.from_edges(list(source), list(target), names=names, directed=directed)
        try:
            split = split_nodes(graph, 0.3, seed)
        except InputError:
            return
        queries, table = zero_shot_queries(split), scores_of(seed, 11)
        old = set(split.kept.tolist())
        full = neighbours(edges(graph), 11)
        true = {node: full[node] & old for node in split.new.tolist() if full[node] & old}
        assert queries.node.tolist() == sorted(true)
        expected = slow_ranks(true, lambda query: old, lambda query, node: table[query, node])
        if not expected:
            return

        def blocks(rows):
            block = table[queries.node[rows]][:, split.kept]
            return {"given": block, "turned": -block}

        picked = np.arange(len(queries)), np.zeros(len(queries), dtype=int)
        found = rank(blocks, queries, picked)
        assert found["given"].places.rank.tolist() == expected
        assert found["given"].picked.tolist() == table[queries.node, split.kept[0]].tolist()
        assert set(found) == {"given", "turned"}

    agrees()


@pytest.mark.quick
@settings(max_examples=40)
@given(ENDS, st.integers(0, 9), st.booleans())
def test_link_ranks_equal_the_slow_ones(ends, seed, only_seen):
    source, target = zip(*ends, strict=True)
    graph = TextGraph.from_edges(list(source), list(target), names=[str(i) for i in range(11)])
    try:
        split = split_edges(graph, 0.5, seed)
    except InputError:
        return
    allowed = split.train.degree > 0 if only_seen else np.ones(11, dtype=bool)
    queries, table = link_queries(split, allowed, 100, seed), scores_of(seed, 11)
    held, train = neighbours(split.held_out, 11), neighbours(edges(split.train), 11)
    true = {}
    for node in np.flatnonzero(allowed).tolist():
        links = {other for other in held[node] if allowed[other]}
        if links:
            true[node] = links
    assert queries.node.tolist() == sorted(true)
    if not true:
        return

    def candidates(query):
        return set(range(11)) - {query} - train[query] - (held[query] - true[query])

    expected = slow_ranks(true, candidates, lambda query, node: table[query, node])
    found = rank(lambda rows: {"given": table[queries.node[rows]]}, queries)
    assert found["given"].places.rank.tolist() == expected


@pytest.mark.quick
def test_many_queries_are_drawn_from():
    graph = TextGraph.from_edges(np.arange(60), (np.arange(60) + 1) % 60)
    split, every = split_edges(graph, 0.5), np.ones(60, dtype=bool)
    few, again = (link_queries(split, every, 7, seed=1) for _ in range(2))
    other, whole = link_queries(split, every, 7, seed=2), link_queries(split, every, 1000, seed=1)
    assert len(few) == 7
    assert few.node.tolist() == again.node.tolist() != other.node.tolist()
    assert set(few.node) < set(whole.node)
    assert len(few.row) == sum(np.isin(split.held_out, few.node).ravel())


@pytest.mark.quick
def test_a_block_of_the_wrong_shape_is_named():
    split = split_edges(TextGraph.from_edges([0, 1, 2, 3], [1, 2, 3, 0]))
    queries = link_queries(split, np.ones(4, dtype=bool), 10, 0)
    with pytest.raises(InputError, match=r"must have shape \(\d, 4\)\. Got \(1, 1\) under 'odd'"):
        rank(lambda rows: {"odd": np.zeros((1, 1))}, queries)
