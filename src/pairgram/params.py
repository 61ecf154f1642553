"""Parameter constraints with one message form."""

import math
import numbers
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from pairgram.errors import ParameterError


class Constraint(Protocol):
    """A set of allowed values that can say what it holds."""

    def allows(self, value: object) -> bool:
        """Whether `value` is in the set."""

    def __str__(self) -> str: ...


@dataclass(frozen=True)
class Int:
    """Integers in [low, high]; bool is no integer here."""

    low: int | None = None
    high: int | None = None

    def allows(self, value: object) -> bool:
        """Whether `value` is an integer in range."""
        if isinstance(value, bool) or not isinstance(value, numbers.Integral):
            return False
        return _within(int(value), self.low, self.high)

    def __str__(self) -> str:
        return f"an int{_range(self.low, self.high)}"


@dataclass(frozen=True)
class Float:
    """Finite numbers in [low, high], or in (low, high] with `open_low`."""

    low: float | None = None
    high: float | None = None
    open_low: bool = False

    def allows(self, value: object) -> bool:
        """Whether `value` is a finite number in range."""
        if isinstance(value, bool) or not isinstance(value, numbers.Real):
            return False
        number = float(value)
        if not math.isfinite(number) or (self.open_low and number == self.low):
            return False
        return _within(number, self.low, self.high)

    def __str__(self) -> str:
        return f"a float{_range(self.low, self.high, '(' if self.open_low else '[')}"


@dataclass(frozen=True)
class Bool:
    """True or False."""

    def allows(self, value: object) -> bool:
        """Whether `value` is a bool."""
        return isinstance(value, bool)

    def __str__(self) -> str:
        return "a bool"


@dataclass(frozen=True)
class Text:
    """Any string but the empty one, such as the path of a file."""

    def allows(self, value: object) -> bool:
        """Whether `value` is a string with something in it."""
        return isinstance(value, str) and bool(value)

    def __str__(self) -> str:
        return "a str"


class Choice:
    """One of the given strings."""

    def __init__(self, *options: str) -> None:
        self.options = options

    def allows(self, value: object) -> bool:
        """Whether `value` is one of the options."""
        return isinstance(value, str) and value in self.options

    def __str__(self) -> str:
        return "one of " + ", ".join(repr(option) for option in self.options)


@dataclass(frozen=True)
class Optional:
    """None, or what `inner` allows."""

    inner: Constraint

    def allows(self, value: object) -> bool:
        """Whether `value` is None or allowed by `inner`."""
        return value is None or self.inner.allows(value)

    def __str__(self) -> str:
        return f"{self.inner} or None"


def check(owner: str, constraints: Mapping[str, Constraint], values: Mapping[str, Any]) -> None:
    """Raise `ParameterError` for the first value outside its constraint.

    >>> check("PairSampler", {"order": Int(1, 8)}, {"order": 0})
    Traceback (most recent call last):
    pairgram.errors.ParameterError: The 'order' parameter of PairSampler must be an int in \
[1, 8]. Got 0 instead.
    """
    for name, constraint in constraints.items():
        if name in values and not constraint.allows(values[name]):
            raise ParameterError(
                f"The '{name}' parameter of {owner} must be {constraint}. "
                f"Got {values[name]!r} instead."
            )


def plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values with NumPy's numbers as Python's, the way JSON can hold them.

    >>> import numpy as np
    >>> plain({"dim": np.int64(8), "rule": "dot"})
    {'dim': 8, 'rule': 'dot'}
    """
    return {
        name: value.item()
        if isinstance(value, numbers.Number) and hasattr(value, "item")
        else value
        for name, value in values.items()
    }


def _within(number: float, low: float | None, high: float | None) -> bool:
    return (low is None or number >= low) and (high is None or number <= high)


def _range(low: float | None, high: float | None, opening: str = "[") -> str:
    if low is None and high is None:
        return ""
    left = "(-inf" if low is None else f"{opening}{low}"
    right = "inf)" if high is None else f"{high}]"
    return f" in {left}, {right}"
