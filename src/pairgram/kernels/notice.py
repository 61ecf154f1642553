"""A word when kernels are compiled, which takes seconds once and nothing later."""

from collections.abc import Callable
from typing import Any

from numba.core.event import Listener, install_listener


class _First(Listener):  # type: ignore[misc]  # numba has no types
    """Calls a function at the first compilation it hears of; loading from the cache is none."""

    def __init__(self, tell: Callable[[], None]) -> None:
        self.tell, self.told = tell, False

    def on_start(self, event: Any) -> None:
        """Tell, if not yet told."""
        if not self.told:
            self.told = True
            self.tell()

    def on_end(self, event: Any) -> None:
        """Nothing is said at the end."""


def when_compiling(tell: Callable[[], None]) -> Any:
    """Context in which `tell` is called once, before the first kernel that must be compiled."""
    return install_listener("numba:compile", _First(tell))
