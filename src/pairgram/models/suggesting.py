"""What is asked of a model, and what it answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pairgram import params
from pairgram.errors import ParameterError

if TYPE_CHECKING:
    from pairgram.models.explaining import Explanation

SEARCHES = ("auto", "exact", "ann")
Strings = str | Sequence[str] | None


@dataclass(frozen=True)
class Suggestion:
    """A node worth linking to.

    Attributes
    ----------
    node
        Its id.
    score
        Under the rule that was asked for; larger is likelier.
    text
        Its text.
    why
        What speaks for it, in a line.
    probability
        How likely the link is, where the model is calibrated.
    relation
        The likeliest relation where edges carry one: "is_a" from the query to the node, "^is_a"
        from the node to the query.
    relations
        Probability of every relation, the likeliest first.
    explanation
        What carried the score, where it was asked for.
    """

    node: str
    score: float
    text: str
    why: str
    probability: float | None = None
    relation: str | None = None
    relations: Mapping[str, float] | None = None
    explanation: "Explanation | None" = None


@dataclass(frozen=True)
class Asked:
    """The parameters of `suggest`, checked."""

    k: int = 10
    direction: str = "both"
    rule: str | None = None
    prefix: tuple[str, ...] = ()
    label: tuple[str, ...] = ()
    relation: str | None = None
    search: str = "auto"

    @classmethod
    def checked(
        cls,
        owner: str,
        k: int,
        direction: str,
        rule: str | None,
        prefix: Strings,
        label: Strings,
        relation: str | None,
        search: str,
    ) -> "Asked":
        """Check what a user gave."""
        constraints: dict[str, params.Constraint] = {
            "k": params.Int(1),
            "direction": params.Choice("out", "in", "both"),
            "relation": params.Optional(params.Text()),
            "search": params.Choice(*SEARCHES),
        }
        given = {"k": k, "direction": direction, "relation": relation, "search": search}
        params.check(owner, constraints, given)
        listed = (_listed(owner, "prefix", prefix), _listed(owner, "label", label))
        return cls(k, direction, rule, *listed, relation, search)


def _listed(owner: str, name: str, given: Strings) -> tuple[str, ...]:
    if given is None:
        return ()
    listed = (given,) if isinstance(given, str) or not isinstance(given, Sequence) else tuple(given)
    if not listed or not all(isinstance(one, str) for one in listed):
        raise ParameterError(
            f"The '{name}' parameter of {owner} must be a str, a list of them or None. "
            f"Got {given!r} instead."
        )
    return listed
