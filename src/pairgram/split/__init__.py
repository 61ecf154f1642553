"""Splits: which links or nodes train a model and which test it."""

from pairgram.split.base import Kind, Split, edge_keys, split_hash, unordered_keys
from pairgram.split.links import split_edges
from pairgram.split.nodes import split_nodes
from pairgram.split.time import split_nodes_time, split_time
from pairgram.split.validation import validation_split

__all__ = [
    "Kind",
    "Split",
    "edge_keys",
    "split_edges",
    "split_hash",
    "split_nodes",
    "split_nodes_time",
    "split_time",
    "unordered_keys",
    "validation_split",
]
