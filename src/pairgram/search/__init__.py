"""Search: the best-scored nodes, known links left out."""

from pairgram.search.exact import top_k

__all__ = ["top_k"]
