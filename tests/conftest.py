"""Fixtures that several test files share."""

import pytest
from hypothesis import settings

from pairgram.graph import TextGraph

# First calls compile kernels and import libraries, so single examples have no deadline.
settings.register_profile("pairgram", deadline=None)
settings.load_profile("pairgram")

# What takes longest begins first, so that no process waits for the other at the end. Seconds of a
# core, in the order of `pytest --durations=0`; the other files take less than five each.
LONG = (
    "test_models_link_ranking.py",
    "test_text_together.py",
    "test_models_contract.py",
    "test_bench.py",
    "test_engine_ray.py",
    "test_models_ranking.py",
    "test_models_tge.py",
    "test_training_ranker.py",
    "test_cli.py",
    "test_models_interface.py",
    "test_docs.py",
    "test_bench_speed.py",
    "test_import.py",
    "test_serve_openapi.py",
    "test_examples.py",
    "test_cli_interrupt.py",
    "test_datasets.py",
    "test_models_crash.py",
    "test_evaluation_audit.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long files first; xdist hands files out in this order."""
    rank = {name: place for place, name in enumerate(LONG)}
    items.sort(key=lambda item: rank.get(item.path.name, len(LONG)))


@pytest.fixture
def small_graph() -> TextGraph:
    """Two triangles joined by a bridge, and a node alone; every node has a text."""
    source = ["a", "b", "c", "d", "e", "f", "c"]
    target = ["b", "c", "a", "e", "f", "d", "d"]
    texts = {name: f"text of {name}" for name in "abcdef"} | {"alone": ""}
    return TextGraph.from_edges(source, target, texts=texts)
