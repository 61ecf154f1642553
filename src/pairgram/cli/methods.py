"""Methods by name, built from flags."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pairgram.errors import ParameterError

if TYPE_CHECKING:
    from pairgram.models import Model

PANEL = "Parameters of the method (its own defaults if not given)"


def _flag(text: str, *names: str) -> Any:
    return typer.Option(*names, help=text, rich_help_panel=PANEL)


@dataclass(frozen=True)
class MethodFlags:
    """Parameters of all methods, without importing them; None is the method's default."""

    dim: Annotated[int | None, _flag("Length of a vector.")] = None
    order: Annotated[int | None, _flag("ps: largest distance in a pair, 1 to 8.")] = None
    times: Annotated[int | None, _flag("Rounds of sampling, or walks from a node.")] = None
    length: Annotated[int | None, _flag("deepwalk, node2vec: nodes of a walk.")] = None
    window: Annotated[int | None, _flag("deepwalk, node2vec: steps beside the centre.")] = None
    p: Annotated[float | None, _flag("node2vec: return parameter.", "--p")] = None
    q: Annotated[float | None, _flag("node2vec: in-out parameter.", "--q")] = None
    per_edge: Annotated[float | None, _flag("line: draws of an edge.")] = None
    negatives: Annotated[int | None, _flag("Noise nodes per pair.")] = None
    epochs: Annotated[int | None, _flag("Passes over the pairs.")] = None
    learning_rate: Annotated[float | None, _flag("First rate; it falls linearly.")] = None
    l2: Annotated[float | None, _flag("Weight of the vectors' squared lengths.", "--l2")] = None
    offset: Annotated[
        bool | None, _flag("Take log K off every score in training.", "--offset/--no-offset")
    ] = None
    rule: Annotated[
        str | None, _flag("How links are scored: dot, context, symmetric or calibrated.")
    ] = None

    def given(self) -> dict[str, Any]:
        """Return the parameters that the user gave."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def build(method: str, given: Mapping[str, Any]) -> "Model":
    """Make an unfitted model; names that are not the method's own and bad values raise."""
    from pairgram import params
    from pairgram.models import METHODS

    if method not in METHODS:
        raise ParameterError(f"There is no method {method!r}. Known are {', '.join(METHODS)}.")
    chosen = METHODS[method]
    model = chosen().set_params(**given)
    params.check(chosen.__name__, chosen.constraints, model.get_params())
    return model


def parse_names(listed: str) -> list[str]:
    """Methods in a list such as ``ps,deepwalk``, each once.

    >>> parse_names("ps, line,ps")
    ['ps', 'line']
    """
    return list(dict.fromkeys(name.strip() for name in listed.split(",") if name.strip()))
