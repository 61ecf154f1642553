"""Text Matching beside a slow version, and what it says of texts it cannot read."""

import logging

import numpy as np
import pytest

import pairgram as pg
from pairgram.errors import FileFormatError, InputError, ParameterError
from pairgram.text.cleaning import cleaner
from worlds import SIZE, WORD_VECTORS, build, world

GLOVE = {
    "red": [1.0, 0.5, -0.5],
    "blue": [-1.0, 0.5, 0.5],
    "boat": [0.25, -0.75, 0.5],
}
TEXTS = {
    "a": "Red, red boat", "b": "a blue boat", "c": "zebra", "d": "", "e": "the BLUE zebra",
    "f": "boat", "g": "blue boats", "h": "red-blue", "i": "red", "j": "boat of the red",
}  # fmt: skip


@pytest.fixture
def ten():
    names = list(TEXTS)
    return pg.TextGraph.from_edges(names[:-1], names[1:], texts=TEXTS)


def slow_vector(text, cleaning="words"):
    """Mean of the vectors of the words that have one, repeated words repeated."""
    known = [GLOVE[word] for word in cleaner(cleaning)(text) if word in GLOVE]
    return np.mean(known, axis=0) if known else np.zeros(3)


def slow_score(text, other, rule):
    u, v = slow_vector(text), slow_vector(other)
    lengths = np.linalg.norm(u) * np.linalg.norm(v)
    if rule == "dot":
        return u @ v
    return u @ v / lengths if lengths > 0 else 0.0


@pytest.mark.quick
@pytest.mark.parametrize("cleaning", ["words", "paper"])
def test_vectors_are_the_means_of_known_words(ten, cleaning):
    model = build("text_matching", cleaning=cleaning).fit(ten)
    expected = [slow_vector(text, cleaning) for text in ten.texts]
    np.testing.assert_allclose(model.vectors_.center, expected, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(model.embed(ten.texts), expected, rtol=1e-6, atol=1e-7)
    # 'red-blue' is one unknown word where only white space cuts.
    assert model.vectors_.center[7].any() == (cleaning == "words")
    assert model.stats_["texts_without_vector"] == (3 if cleaning == "paper" else 2)


@pytest.mark.quick
@pytest.mark.parametrize("rule", ["dot", "cosine"])
def test_scores_are_those_of_the_slow_version(ten, rule):
    model = build("text_matching", rule=rule).fit(ten)
    pairs = [(a, b) for a in TEXTS for b in TEXTS]
    expected = [slow_score(TEXTS[a], TEXTS[b], rule) for a, b in pairs]
    np.testing.assert_allclose(model.score(pairs), expected, rtol=1e-5, atol=1e-6)
    new = ["blue red thing", "boat boat"]
    placed = model.place(new)
    assert placed.rules == placed.rules_between == ("dot", "cosine")
    assert placed.rule == rule
    block = placed.block(slice(0, 2))
    expected = [[slow_score(text, other, rule) for other in ten.texts] for text in new]
    np.testing.assert_allclose(block, expected, rtol=1e-5, atol=1e-6)
    between = placed.between(np.array([0]), np.array([1]))
    np.testing.assert_allclose(between, slow_score(*new, rule), rtol=1e-5)


@pytest.mark.quick
def test_words_of_new_texts_need_not_be_in_training_texts(tmp_path):
    graph = pg.TextGraph.from_edges(["a"], ["b"], texts={"a": "red", "b": "red"})
    model = build("text_matching").fit(graph)
    model.save(tmp_path / "model")
    loaded = pg.load(tmp_path / "model")  # the file of word vectors is not read again
    for one in (model, loaded):
        np.testing.assert_allclose(one.embed(["boat"])[0], GLOVE["boat"])
    assert loaded.suggest("red thing") == model.suggest("red thing")


@pytest.mark.quick
def test_zero_shot_evaluation_runs():
    graph = world()
    split = pg.split_nodes(graph, 0.3, seed=1)
    report = pg.evaluate(build("text_matching", rule="cosine"), split)
    assert report["auc_pair"] == 1.0
    assert report["auc_pair/dot"] == 1.0


@pytest.mark.quick
def test_what_cannot_be_read_is_noticed(caplog):
    model = build("text_matching").fit(world())
    for text, said in (
        ("", "1 of 1 texts without a word to read"),
        ("of the", "without a word to read"),
        ("zebra quagga", "1 of 1 texts with unknown words alone: they count for nothing"),
    ):
        caplog.clear()
        with caplog.at_level(logging.WARNING):
            assert len(model.suggest(text, k=3)) == 3
        assert said in caplog.text
    caplog.clear()
    assert len(model.suggest("red", k=1000)) == 2 * SIZE
    assert f"1000 suggestions asked for; the graph has {2 * SIZE} to offer" in caplog.text


@pytest.mark.quick
def test_many_texts_as_one_by_one(monkeypatch):
    model = build("text_matching").fit(world())
    texts = ["red", "blue boat", "", "a boat"]
    alone = [model.suggest(text, k=4) for text in texts]
    assert model.suggest_many(texts, k=4) == alone
    monkeypatch.setattr("pairgram.models.finding.BLOCK_SCORES", 1)
    assert model.suggest_many(texts, k=4) == alone
    assert model.suggest_many([]) == []


@pytest.mark.quick
def test_bad_files_are_one_line(tmp_path):
    strange, broken = tmp_path / "strange.txt", tmp_path / "broken.txt"
    strange.write_text("otter 1 2\n")
    broken.write_text("red 1 2\nblue 1\n")
    (tmp_path / "empty.txt").write_text("")
    for given, kind, said in (
        (None, ParameterError, "needs word vectors"),
        (str(tmp_path / "none.txt"), FileFormatError, "is no file"),
        (str(strange), InputError, "holds none of the words"),
        (str(broken), FileFormatError, "line 2: has 1 numbers where 2 are expected"),
        (str(tmp_path / "empty.txt"), FileFormatError, "holds no word vectors"),
    ):
        with pytest.raises(kind, match=said) as caught:
            pg.TextMatching(given).fit(world())
        assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match="use PS, which learns from structure alone"):
        build("text_matching").fit(pg.TextGraph.from_edges(["a"], ["b"]))


@pytest.mark.quick
def test_npz_and_environment_variables(tmp_path, monkeypatch):
    words = np.frombuffer("\n".join(GLOVE).encode(), np.uint8)
    np.savez(tmp_path / "glove.npz", vectors=np.array([*GLOVE.values()]), words_utf8=words)
    monkeypatch.setenv("PLACE_OF_VECTORS", str(tmp_path))
    model = pg.TextMatching("$PLACE_OF_VECTORS/glove.npz").fit(world())
    expected = pg.TextMatching(WORD_VECTORS).fit(world())
    np.testing.assert_array_equal(model.vectors_.center, expected.vectors_.center)


@pytest.mark.quick
@pytest.mark.parametrize("file", ["weights.safetensors", "vocabulary.json"])
def test_a_damaged_folder_is_one_line(tmp_path, file):
    build("text_matching").fit(world()).save(tmp_path / "model")
    (tmp_path / "model" / file).unlink()
    with pytest.raises(FileFormatError, match=r"vocabulary.json is missing"):
        pg.load(tmp_path / "model")
