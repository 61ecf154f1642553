"""New texts beside the nodes of a fitted model: their links by every rule that can score them."""

from collections.abc import Sequence

import numpy as np

from pairgram.errors import ParameterError
from pairgram.models.scoring import Floats, IntArray, Tables, pair_terms, unit_rows

BETWEEN = "between new nodes"
KNOWN = "from a new node"


class Placed:
    """New nodes with vectors, ready to be scored against known nodes and each other.

    Parameters
    ----------
    tables
        Vectors of the known nodes, n of them.
    rule
        The model's own rule.
    center
        Centre vectors of the new nodes, shape (m, dim).
    context
        Context vectors of the new nodes, shape (m, dim), where the model makes them from text.
    prior
        Log K + log q of a node without a link, for `calibrated` between new nodes.

    Attributes
    ----------
    rules, rules_between
        Rules that can score a new node with a known one, and with another new one.
    rule
        The model's own rule, or where that needs more than is known, the next best.

    Examples
    --------
    >>> known = Tables(np.eye(2), None, None)
    >>> Placed(known, "dot", np.array([[2.0, 1.0]])).block(slice(0, 1)).tolist()
    [[2.0, 1.0]]
    """

    def __init__(
        self,
        tables: Tables,
        rule: str,
        center: Floats,
        context: Floats | None = None,
        prior: float | None = None,
    ) -> None:
        self.center = center
        bias = None if prior is None else np.full(len(center), prior, np.float32)
        unit = None if tables.unit is None else unit_rows(center)
        self._known, self._new = tables, Tables(center, context, bias, tables.backwards, unit)
        self.rules = possible_rules(self._new, self._known)
        self.rules_between = possible_rules(self._new, self._new)
        self.rule = next_best(rule, self.rules)

    def pairs(self, rows: IntArray, target: IntArray, rule: str | None = None) -> Floats:
        """Scores of new nodes with known ones at positions `target`, all of shape (k,)."""
        return _aligned(
            self._new, self._known, allowed(rule or self.rule, self.rules), rows, target
        )

    def between(self, rows: IntArray, others: IntArray, rule: str | None = None) -> Floats:
        """Scores of new nodes with other new ones, all of shape (k,)."""
        chosen = allowed(rule or self.rule, self.rules_between, BETWEEN)
        return _aligned(self._new, self._new, chosen, rows, others)

    def block(self, rows: slice, rule: str | None = None) -> Floats:
        """Scores of some new nodes with every known one, shape (b, n)."""
        terms, bias = pair_terms(self._new, self._known, allowed(rule or self.rule, self.rules))
        block: Floats = sum(left[rows] @ right.T for left, right in terms)  # type: ignore[assignment]
        return block if bias is None else block + bias

    def terms(self, rule: str | None = None) -> tuple[list[tuple[Floats, Floats]], Floats | None]:
        """What `block` adds up: pairs of tables, (m, dim) and (n, dim), and a term of the node."""
        return pair_terms(self._new, self._known, allowed(rule or self.rule, self.rules))


def allowed(rule: str, possible: Sequence[str], what: str = KNOWN) -> str:
    """The rule, if it is possible."""
    if rule not in possible:
        raise ParameterError(
            f"A link {what} can be scored by {', '.join(map(repr, possible))}. "
            f"Got {rule!r} instead."
        )
    return rule


def next_best(rule: str, possible: Sequence[str]) -> str:
    """The model's own rule, or where that needs more than is known, the next best."""
    return next(name for name in (rule, "context", "dot") if name in possible)


def possible_rules(first: Tables, second: Tables) -> tuple[str, ...]:
    """Rules that have all they read."""
    reads_context = first if first.backwards else second
    one_way = reads_context.context is not None
    both = first.context is not None and second.context is not None
    has = {
        "dot": True,
        "context": one_way,
        "symmetric": both,
        "calibrated": one_way and second.prior is not None,
        "cosine": first.unit is not None and second.unit is not None,
    }
    return tuple(name for name, possible in has.items() if possible)


def aligned(first: Tables, second: Tables, rule: str) -> Floats:
    """Scores of the nodes of two tables, row by row, shape (m,)."""
    every = np.arange(len(first.center))
    return _aligned(first, second, rule, every, every)


def _aligned(first: Tables, second: Tables, rule: str, u: IntArray, v: IntArray) -> Floats:
    terms, bias = pair_terms(first, second, rule)
    scores: Floats = sum(np.einsum("ij,ij->i", left[u], right[v]) for left, right in terms)
    return scores if bias is None else scores + bias[v]
