"""The compiler of the kernels. Importing it takes a while: only kernels do, never their callers."""

from typing import Any

from numba import njit
from numba.core.event import Listener, register

from pairgram.kernels import notice

__all__ = ["njit"]


class _Compiling(Listener):  # type: ignore[misc]  # numba has no types
    """Passes on that a compilation begins."""

    def on_start(self, event: Any) -> None:
        """Say so."""
        notice.compiling()

    def on_end(self, event: Any) -> None:
        """Nothing is said at the end."""


register("numba:compile", _Compiling())
