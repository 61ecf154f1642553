"""Graphs with a text per node: frozen, checked once, read by every later stage."""

from pairgram.graph.parts import Adjacency, GraphCounts, RelationTable
from pairgram.graph.report import describe
from pairgram.graph.textgraph import TextGraph

__all__ = ["Adjacency", "GraphCounts", "RelationTable", "TextGraph", "describe"]
