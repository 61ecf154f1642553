"""Engines run callables over tasks; they know no method."""

from pairgram.engine.base import Crew, Engine, Team
from pairgram.engine.choose import ENGINES, open_engine
from pairgram.engine.local import LocalEngine, available_threads, resolve_threads

__all__ = [
    "ENGINES",
    "Crew",
    "Engine",
    "LocalEngine",
    "Team",
    "available_threads",
    "open_engine",
    "resolve_threads",
]
