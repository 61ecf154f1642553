import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pairgram.errors import InputError, ParameterError
from pairgram.evaluation.protocols import NO_NEGATIVE, NO_SEEN_LINK, UNSEEN, draw_trials
from pairgram.graph import TextGraph
from pairgram.split import Split, split_edges

ENDS = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), min_size=2, max_size=30)


def neighbours(pairs, count):
    lists = [set() for _ in range(count)]
    for first, second in pairs:
        lists[int(first)].add(int(second))
        lists[int(second)].add(int(first))
    return lists


def edges(graph):
    return zip(graph.source.tolist(), graph.target.tolist(), strict=True)


def legal_trials(split, protocol):
    """What a scored centre may be tried with, why others are left out, and the candidates."""
    count = split.full.n_nodes
    held, train = neighbours(split.held_out, count), neighbours(edges(split.train), count)
    full = neighbours(edges(split.full), count)
    allowed = {node for node in range(count) if protocol == "all" or train[node]}
    choices, left_out = {}, {}
    for node in range(count):
        if not held[node]:
            continue
        positives, negatives = held[node] & allowed, allowed - full[node] - {node}
        if node not in allowed:
            reason = UNSEEN
        elif not positives:
            reason = NO_SEEN_LINK
        elif not negatives:
            reason = NO_NEGATIVE
        else:
            choices[node] = positives, negatives
            continue
        left_out[reason] = left_out.get(reason, 0) + 1
    return choices, left_out, len(allowed)


@pytest.mark.quick
@settings(deadline=None)
@given(
    ENDS,
    st.booleans(),
    st.sampled_from([0.3, 0.5, 0.8]),
    st.sampled_from(["seen", "all"]),
    st.integers(0, 5),
)
def test_every_trial_is_a_legal_one(ends, directed, keep, protocol, seed):
    source, target = zip(*ends, strict=True)
    names = [str(node) for node in range(11)]  # two of them always isolated
    graph = TextGraph.from_edges(list(source), list(target), names=names, directed=directed)
    try:
        split = split_edges(graph, keep, seed)
    except InputError:
        return
    choices, left_out, candidates = legal_trials(split, protocol)
    trials = draw_trials(split, protocol, seed)
    assert trials.center.tolist() == sorted(choices)
    assert trials.left_out == left_out
    assert trials.candidates == candidates
    for center, positive, negative in zip(
        trials.center.tolist(), trials.positive.tolist(), trials.negative.tolist(), strict=True
    ):
        assert positive in choices[center][0]
        assert negative in choices[center][1]


@pytest.mark.parametrize("protocol", ["seen", "all"])
def test_draws_are_uniform_and_independent(protocol):
    from scipy.stats import chi2

    rng = np.random.default_rng(1)
    graph = TextGraph.from_edges(rng.integers(12, size=45), rng.integers(12, size=45))
    split = split_edges(graph, 0.4, seed=5)
    choices, _, _ = legal_trials(split, protocol)
    draws = 3000
    seen = np.zeros((12, 12, 12))
    for seed in range(draws):
        trials = draw_trials(split, protocol, seed)
        seen[trials.center, trials.positive, trials.negative] += 1
    statistic, freedom = 0.0, 0
    for center, (positives, negatives) in choices.items():
        cells = seen[center][np.ix_(sorted(positives), sorted(negatives))]
        assert cells.sum() == draws
        expected = draws / cells.size
        statistic += float(((cells - expected) ** 2 / expected).sum())
        freedom += cells.size - 1
    assert freedom > 50
    assert 1e-3 < chi2.sf(statistic, freedom) < 1 - 1e-3


@pytest.mark.quick
def test_the_seed_the_split_and_the_protocol_decide():
    nodes = np.arange(300)
    graph = TextGraph.from_edges(np.tile(nodes, 2), np.r_[(nodes + 1) % 300, (nodes + 7) % 300])
    split = split_edges(graph, 0.9)
    first, again, other = (draw_trials(split, "all", seed) for seed in (0, 0, 1))
    assert np.array_equal(first.negative, again.negative)
    assert np.array_equal(first.positive, again.positive)
    assert not np.array_equal(first.negative, other.negative)
    seen = draw_trials(split, "seen", 0)
    assert np.array_equal(seen.center, first.center)
    assert not np.array_equal(seen.negative, first.negative)


@pytest.mark.quick
def test_star():
    graph = TextGraph.from_edges(np.zeros(10, dtype=int), np.arange(1, 11))
    split = split_edges(graph)
    trials = draw_trials(split, "all")
    # The hub is linked to everybody; every held-out leaf has the hub and the other leaves.
    assert trials.left_out == {NO_NEGATIVE: 1}
    assert trials.center.tolist() == sorted(split.held_out[:, 1].tolist())
    assert not trials.positive.any()
    assert (trials.negative > 0).all()
    assert not np.any(trials.negative == trials.center)
    seen = draw_trials(split, "seen")
    assert len(seen) == 0
    assert seen.left_out == {UNSEEN: 5, NO_SEEN_LINK: 1}


@pytest.mark.quick
@pytest.mark.parametrize("protocol", ["seen", "all"])
def test_complete_graph_has_no_negative(protocol):
    trials = draw_trials(split_edges(TextGraph.from_edges(*np.triu_indices(6, 1)), 0.7), protocol)
    assert len(trials) == 0
    assert sum(trials.left_out.values()) == trials.left_out[NO_NEGATIVE] > 0


@pytest.mark.quick
def test_a_centre_with_one_legal_negative_gets_it():
    # Node 0 is linked to all but node 999.
    source = np.zeros(998, dtype=int)
    graph = TextGraph.from_edges(np.r_[source, 998], np.r_[np.arange(1, 999), 999])
    trials = draw_trials(split_edges(graph, 0.5), "all")
    assert trials.negative[trials.center == 0].tolist() == [999]


@pytest.mark.quick
def test_reciprocal_arcs_are_one_link():
    nodes = np.arange(20)
    after = (nodes + 1) % 20
    graph = TextGraph.from_edges(np.r_[nodes, after], np.r_[after, nodes], directed=True)
    split = split_edges(graph, 0.5)
    trials = draw_trials(split, "all")
    assert len(split.held_out) == 20
    assert trials.center.tolist() == np.unique(split.held_out).tolist()


@pytest.mark.quick
def test_bad_requests_are_named():
    split = split_edges(TextGraph.from_edges([0, 1, 2, 3], [1, 2, 3, 0]))
    with pytest.raises(
        ParameterError, match=r"must be one of 'seen', 'all', 'cane', 'zero-shot', .* Got 'some'"
    ):
        draw_trials(split, "some")
    nodes = Split("nodes", split.train, split.full, split.held_out, 0, 0.5, split.hash)
    with pytest.raises(InputError, match="needs a split of links"):
        draw_trials(nodes, "seen")
