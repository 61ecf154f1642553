import numpy as np
import pytest

from pairgram.errors import ParameterError
from pairgram.models.placed import Placed
from pairgram.models.scoring import RULES, Tables, score_block, score_pairs

RNG = np.random.default_rng(0)
CENTER, CONTEXT, PRIOR = RNG.normal(size=(7, 3)), RNG.normal(size=(7, 3)), RNG.normal(size=7)
EVERY = Tables(CENTER, CONTEXT, PRIOR)


@pytest.mark.quick
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("backwards", [False, True])
def test_new_nodes_score_as_known_ones_with_the_same_vectors(rule, backwards):
    known = Tables(CENTER[:4], CONTEXT[:4], PRIOR[:4], backwards)
    placed = Placed(known, rule, CENTER[4:], CONTEXT[4:], prior=0.5)
    every = Tables(CENTER, CONTEXT, np.append(PRIOR[:4], [0.5] * 3), backwards)
    rows, target = np.array([0, 2, 1]), np.array([3, 0, 1])
    expected = score_pairs(every, rule, rows + 4, target)
    assert placed.pairs(rows, target) == pytest.approx(expected, abs=1e-5)
    block = placed.block(slice(0, 3), rule)
    assert block[rows, target] == pytest.approx(expected, abs=1e-5)
    others = np.array([1, 1, 0])
    expected = score_pairs(every, rule, rows + 4, others + 4)
    assert placed.between(rows, others) == pytest.approx(expected, abs=1e-5)


@pytest.mark.quick
@pytest.mark.parametrize("rule", RULES)
def test_a_block_of_known_nodes(rule):
    block = score_block(EVERY, rule, np.array([5, 0]))
    expected = [score_pairs(EVERY, rule, np.full(7, node), np.arange(7)) for node in (5, 0)]
    assert block == pytest.approx(np.array(expected), abs=1e-5)


@pytest.mark.quick
@pytest.mark.parametrize(
    ("context", "own", "rule", "rules", "between"),
    [
        (None, "symmetric", "context", ("dot", "context", "calibrated"), ("dot",)),
        (None, "calibrated", "calibrated", ("dot", "context", "calibrated"), ("dot",)),
        (CONTEXT, "symmetric", "symmetric", RULES, ("dot", "context", "symmetric")),
    ],
)
def test_rules_that_need_more_than_is_known_are_left_out(context, own, rule, rules, between):
    placed = Placed(EVERY, own, CENTER, context)
    assert (placed.rule, placed.rules, placed.rules_between) == (rule, rules, between)


@pytest.mark.quick
def test_a_model_without_contexts_has_the_dot_product_alone():
    placed = Placed(Tables(CENTER, None, None), "dot", CENTER)
    assert placed.rules == placed.rules_between == ("dot",)
    with pytest.raises(ParameterError, match=r"from a new node can be scored by 'dot'\. Got 'con"):
        placed.block(slice(0, 1), "context")
    with pytest.raises(ParameterError, match="between new nodes can be scored by 'dot'"):
        placed.between(np.array([0]), np.array([1]), "symmetric")
