"""Search: the best-scored nodes, known links left out."""

from pairgram.search.exact import top_k, top_k_rows

__all__ = ["top_k", "top_k_rows"]
