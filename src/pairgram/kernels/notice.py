"""A word when kernels are compiled, which takes seconds once and nothing later."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

_TELLERS: list[Callable[[], None]] = []


@contextmanager
def when_compiling(tell: Callable[[], None]) -> Iterator[None]:
    """Context in which `tell` is called once, before the first kernel that must be compiled.

    Loading compiled code is no compiling.
    """
    told = False

    def once() -> None:
        nonlocal told
        if not told:
            told = True
            tell()

    _TELLERS.append(once)
    try:
        yield
    finally:
        _TELLERS.remove(once)


def compiling() -> None:
    """Tell all who want to know."""
    for tell in tuple(_TELLERS):
        tell()
