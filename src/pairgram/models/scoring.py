"""Rules that score a link from the vectors of its ends, by name.

With e the centre and e' the context vectors:

dot
    e_u·e_v, the paper's.
context
    e_u·e'_v, what training optimises.
symmetric
    e_u·e'_v + e'_u·e_v.
calibrated
    e_u·e'_v + log K + log q(v), q the noise distribution with degrees of at least 1, plus what
    training added to every score. By the identity of noise-contrastive estimation this estimates
    log P(v | u) of the sampled pairs.
cosine
    e_u·e_v / (|e_u| |e_v|), for vectors that were not trained to be multiplied; 0 for a zero one.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]
IntArray = NDArray[np.integer[Any]]

RULES = ("dot", "context", "symmetric", "calibrated")
PRODUCTS = (*RULES, "cosine")
"""Rules that are sums of products of vectors."""
BLOCK = 1 << 16


@dataclass(frozen=True, eq=False)
class Tables:
    """What the rules read: centre and context vectors (n, dim), and log K + log q(v), (n,).

    With `backwards`, (u, v) scores as (v, u) does without; the prior stays v's. `unit` holds the
    centre vectors scaled to length 1, for models that offer `cosine`.
    """

    center: Floats
    context: Floats | None
    prior: Floats | None
    backwards: bool = False
    unit: Floats | None = None

    @property
    def rules(self) -> tuple[str, ...]:
        """Rules that these tables allow."""
        has = {
            "dot": True,
            "context": self.context is not None,
            "symmetric": self.context is not None,
            "calibrated": self.context is not None and self.prior is not None,
            "cosine": self.unit is not None,
        }
        return tuple(name for name, possible in has.items() if possible)

    def reversed(self) -> "Tables":
        """Return tables that score links in the other direction."""
        return replace(self, backwards=not self.backwards)


def log_noise(degree: IntArray, negatives: int, power: float, offset: float = 0.0) -> Floats:
    """Log K + log q(v) + offset with degree taken as at least 1, shape (n,)."""
    mass = np.maximum(degree, 1).astype(np.float64) ** power
    prior: Floats = offset + np.log(negatives) + np.log(mass / mass.sum())
    return prior.astype(np.float32)


def score_pairs(tables: Tables, rule: str, source: IntArray, target: IntArray) -> Floats:
    """Scores of the links (source, target), shape (m,), in blocks."""
    scores = np.empty(len(source), np.float32)
    terms, bias = pair_terms(tables, tables, rule)
    for begin in range(0, len(source), BLOCK):
        u, v = source[begin : begin + BLOCK], target[begin : begin + BLOCK]
        block = sum(np.einsum("ij,ij->i", left[u], right[v]) for left, right in terms)
        scores[begin : begin + BLOCK] = block if bias is None else block + bias[v]
    return scores


def scorer_of_node(tables: Tables, rule: str, node: int) -> Callable[[int, int], Floats]:
    """Function of (begin, end) that scores the links from `node` to the nodes begin..end-1."""
    terms, bias = pair_terms(tables, tables, rule)

    def score(begin: int, end: int) -> Floats:
        block: Floats = sum(right[begin:end] @ left[node] for left, right in terms)
        return block if bias is None else block + bias[begin:end]

    return score


def score_block(tables: Tables, rule: str, nodes: IntArray) -> Floats:
    """Scores of some nodes, shape (b,), with every node, shape (b, n)."""
    terms, bias = pair_terms(tables, tables, rule)
    block: Floats = sum(left[nodes] @ right.T for left, right in terms)  # type: ignore[assignment]
    return block if bias is None else block + bias


def pair_terms(
    first: Tables, second: Tables, rule: str
) -> tuple[list[tuple[Floats, Floats]], Floats | None]:
    """The rule for u of `first` and v of `second`: products left_u·right_v, and a term of v."""
    if rule not in PRODUCTS:
        raise ValueError(f"The rule {rule!r} is no sum of products.")
    if rule == "cosine" and first.unit is not None and second.unit is not None:
        return [(first.unit, second.unit)], None
    context = first.context if first.backwards else second.context
    if rule == "dot" or context is None:
        return [(first.center, second.center)], None
    one_way = (context, second.center) if first.backwards else (first.center, context)
    if rule == "symmetric" and first.context is not None and second.context is not None:
        return [(first.center, second.context), (first.context, second.center)], None
    return [one_way], second.prior if rule == "calibrated" else None


def unit_rows(matrix: Floats) -> Floats:
    """Rows scaled to length 1; zero rows stay zero."""
    length = np.sqrt(np.einsum("ij,ij->i", matrix, matrix))
    length[length == 0] = 1
    scaled: Floats = matrix / length[:, None]
    return scaled
