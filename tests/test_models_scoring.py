import numpy as np
import pytest

from pairgram.models import scoring
from pairgram.models.scoring import RULES, Tables, log_noise, score_pairs, scorer_of_node

N, DIM = 30, 6


@pytest.fixture
def tables():
    random = np.random.default_rng(0)
    e, c = random.normal(size=(2, N, DIM)).astype(np.float32)
    return Tables(e, c, random.normal(size=N).astype(np.float32))


def by_hand(tables, rule, u, v):
    e, c = tables.center.astype(float), tables.context.astype(float)
    return {
        "dot": e[u] @ e[v],
        "context": e[u] @ c[v],
        "symmetric": e[u] @ c[v] + c[u] @ e[v],
        "calibrated": e[u] @ c[v] + tables.prior[v],
    }[rule]


@pytest.mark.quick
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("block", [7, 1 << 16])
def test_rules_are_their_equations(tables, rule, block, monkeypatch):
    monkeypatch.setattr(scoring, "BLOCK", block)
    source, target = np.divmod(np.arange(N * N), N)
    expected = [by_hand(tables, rule, u, v) for u, v in zip(source, target, strict=True)]
    np.testing.assert_allclose(score_pairs(tables, rule, source, target), expected, atol=1e-5)
    for u in (0, 17):
        row = np.concatenate(
            [scorer_of_node(tables, rule, u)(b, min(b + 7, N)) for b in range(0, N, 7)]
        )
        np.testing.assert_allclose(row, expected[u * N : (u + 1) * N], atol=1e-5)


@pytest.mark.quick
@pytest.mark.parametrize("rule", RULES)
def test_reversed_tables_turn_every_link_round(tables, rule):
    source, target = np.random.default_rng(1).integers(0, N, (2, 50))
    expected = score_pairs(tables, rule, target, source)
    if rule == "calibrated":  # the prior is that of the node looked for, in both directions
        expected += tables.prior[target] - tables.prior[source]
    got = score_pairs(tables.reversed(), rule, source, target)
    np.testing.assert_allclose(got, expected, atol=1e-5)
    row = scorer_of_node(tables.reversed(), rule, int(source[0]))(0, N)
    np.testing.assert_allclose(row[target[0]], expected[0], atol=1e-5)


@pytest.mark.quick
def test_without_contexts_there_is_only_dot(tables):
    alone = Tables(tables.center, None, None)
    assert alone.rules == ("dot",)
    assert alone.reversed().rules == ("dot",)
    one = np.array([3])
    assert score_pairs(alone.reversed(), "dot", one, one) == score_pairs(alone, "dot", one, one)
    assert tables.rules == RULES


@pytest.mark.quick
def test_log_noise_is_log_k_plus_log_q():
    degree = np.array([0, 1, 16, 81])
    mass = np.array([1.0, 1.0, 8.0, 27.0])  # degree 0 counts as 1
    np.testing.assert_allclose(log_noise(degree, 5, 0.75), np.log(5 * mass / 37), rtol=1e-6)
    shifted = log_noise(degree, 5, 0.75, offset=-np.log(5))
    np.testing.assert_allclose(shifted, np.log(mass / 37), rtol=1e-6)
