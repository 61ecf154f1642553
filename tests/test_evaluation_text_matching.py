"""Text Matching as a floor, where word vectors are given."""

from itertools import combinations

import numpy as np
import pytest

import pairgram as pg
from cli_files import run_json
from pairgram.evaluation import evaluate
from pairgram.evaluation.measure import Options, measure_floors
from pairgram.evaluation.table import verdict

SIZE = 14


@pytest.fixture(scope="module")
def graph():
    links = list(combinations(range(SIZE), 2))
    links += [(a + SIZE, b + SIZE) for a, b in links]
    texts = [f"{'crimson' if i % 2 else 'scarlet'} thing" for i in range(SIZE)]
    texts += [f"{'azure' if i % 2 else 'cobalt'} thing" for i in range(SIZE)]
    return pg.TextGraph.from_edges(*map(list, zip(*links, strict=True)), texts=texts)


@pytest.fixture(scope="module")
def vectors(tmp_path_factory):
    """Words of one colour are near each other, though no two texts of it need share one."""
    path = tmp_path_factory.mktemp("words") / "vectors.txt"
    path.write_text("crimson 1 0.1\nscarlet 1 0.2\nazure 0.1 1\ncobalt 0.2 1\nthing 0.01 0.01\n")
    return path


@pytest.mark.quick
def test_it_stands_beside_the_other_floors_of_links(graph, vectors):
    split = pg.split_edges(graph, 0.6)
    report = evaluate(
        pg.PS(dim=4, epochs=1), split, rank=10, negatives=("degree", "text"), word_vectors=vectors
    )
    floor = report.card.floors["text_matching"]
    assert floor["auc_pair"] == floor["degree/auc_pair"] == 1.0
    assert floor["mrr"] > report.card.floors["degree"]["mrr"]
    assert "text_matching" not in evaluate(pg.PS(dim=4, epochs=1), split).card.floors
    assert "floor text_matching" in str(report)


@pytest.mark.quick
def test_it_stands_beside_the_other_floors_of_new_nodes(graph, vectors):
    split = pg.split_nodes(graph, 0.25)
    found = measure_floors(
        split, "zero-shot", Options(negatives=("degree",), word_vectors=str(vectors))
    )
    floor = found.floors["text_matching"]
    assert floor["auc_pair"] == floor["degree/auc_pair"] == 1.0
    assert {"mrr", "hits@10", "mrr_nodup", "ties"} <= set(floor) | {"mrr_nodup"}
    report = evaluate(pg.TextMatching(str(vectors), rule="cosine"), split, word_vectors=vectors)
    # The same scores: the model ties with its own floor, and the verdict says so.
    assert report["mrr"] == pytest.approx(report.card.floors["text_matching"]["mrr"])
    assert "does not beat" in verdict(report.card)


@pytest.mark.quick
def test_the_command_line_takes_the_file(graph, vectors, tmp_path):
    edges, texts = tmp_path / "e.tsv", tmp_path / "t.tsv"
    names = graph.names
    pairs = zip(names[graph.source], names[graph.target], strict=True)
    edges.write_text("".join(f"{a}\t{b}\n" for a, b in pairs))
    texts.write_text("".join(f"{n}\t{t}\n" for n, t in zip(names, graph.texts, strict=True)))
    (card,) = run_json(
        "evaluate", edges, "--texts", texts, "--parameters", "{ps: {dim: 4, epochs: 1}}",
        "--word-vectors", vectors,
    )["cards"]  # fmt: skip
    assert card["floors"]["text_matching"]["auc_pair"] == 1.0
    assert np.isfinite(card["floors"]["bm25"]["auc_pair"])
