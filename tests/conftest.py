"""Fixtures that several test files share."""

import pytest
from hypothesis import settings

from pairgram.graph import TextGraph

# First calls compile kernels and import libraries, so single examples have no deadline.
settings.register_profile("pairgram", deadline=None)
settings.load_profile("pairgram")


@pytest.fixture
def small_graph() -> TextGraph:
    """Two triangles joined by a bridge, and a node alone; every node has a text."""
    source = ["a", "b", "c", "d", "e", "f", "c"]
    target = ["b", "c", "a", "e", "f", "d", "d"]
    texts = {name: f"text of {name}" for name in "abcdef"} | {"alone": ""}
    return TextGraph.from_edges(source, target, texts=texts)
