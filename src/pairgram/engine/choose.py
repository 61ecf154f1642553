"""From an engine's name to the engine."""

from collections.abc import Iterator
from contextlib import contextmanager

from pairgram.engine.base import Engine
from pairgram.engine.local import LocalEngine
from pairgram.errors import ParameterError

ENGINES = ("local", "ray")


@contextmanager
def open_engine(engine: Engine | str | None, threads: int | None = None) -> Iterator[Engine]:
    """Give the engine, and close it afterwards unless it was made by the caller.

    Parameters
    ----------
    engine
        "local" or None for the threads of this machine, "ray" for Ray: the cluster that is
        connected or that RAY_ADDRESS names, else one on this machine. Or an engine.
    threads
        Threads or workers of an engine given by name; None takes all there are.

    Examples
    --------
    >>> with open_engine("local", threads=1) as engine:
    ...     list(engine.map(str, [1, 2]))
    ['1', '2']
    """
    if isinstance(engine, str) and engine not in ENGINES:
        raise ParameterError(f"The engine must be one of {', '.join(ENGINES)}. Got {engine!r}.")
    if engine is not None and not isinstance(engine, str):
        yield engine
        return
    with _named(engine or ENGINES[0], threads) as opened:
        yield opened


def _named(name: str, threads: int | None) -> Engine:
    if name == "local":
        return LocalEngine(threads)
    from pairgram.engine.ray import RayEngine

    return RayEngine(workers=threads)
