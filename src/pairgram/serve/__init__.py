"""Suggestions over HTTP, and one page."""

from pairgram.serve.limits import Limits

__all__ = ["Limits"]
