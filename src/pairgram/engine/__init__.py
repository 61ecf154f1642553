"""Engines run callables over tasks; they know no method."""

from pairgram.engine.local import LocalEngine, available_threads, resolve_threads

__all__ = ["LocalEngine", "available_threads", "resolve_threads"]
