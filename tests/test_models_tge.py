"""What TGE alone promises: new texts, presets, early stopping, and nothing of held-out texts."""

import json
import subprocess
import sys

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import pairgram as pg  # noqa: E402
from pairgram.errors import FileFormatError, InputError, ParameterError  # noqa: E402
from pairgram.io.tensors import map_tensors, write_tensors  # noqa: E402
from pairgram.models.tge_presets import PRESETS  # noqa: E402
from worlds import SIZE, build, world  # noqa: E402

ENCODERS = pytest.mark.parametrize("encoder", ["bag", "bilstm"])


def planted(communities=4, size=20, seed=0):
    """Communities whose texts share words, with links inside only."""
    random = np.random.default_rng(seed)
    n = communities * size
    source, target = np.triu_indices(n, k=1)
    linked = (source // size == target // size) & (random.random(len(source)) < 0.5)
    texts = [f"kind{i // size}, sort{random.integers(3)} item-{i}" for i in range(n)]
    return pg.TextGraph.from_edges(
        source[linked], target[linked], names=[f"n{i}" for i in range(n)], texts=texts
    )


@pytest.fixture(scope="module")
def fitted():
    """One model an encoder; tests must not change them."""
    return {name: build("tge", encoder=name).fit(world()) for name in ("bag", "bilstm")}


@pytest.mark.quick
@ENCODERS
def test_a_new_text_finds_its_clique(encoder, fitted):
    model = fitted[encoder]
    for text, side in (("a red thing", "a"), ("boats, a blue boat", "b")):
        found = model.suggest(text, k=SIZE)
        assert [s.node[0] for s in found] == [side] * SIZE
        assert [s.score for s in found] == sorted((s.score for s in found), reverse=True)
    assert found[0].why == "2 shared words: boat, blue"
    assert model.suggest("zebra", k=1)[0].why == "no shared word"
    assert len(model.suggest("red", k=10_000)) == 2 * SIZE


@pytest.mark.quick
@ENCODERS
def test_a_vector_comes_from_the_text_alone(encoder):
    graph = world(extra=["alone"])
    model = build("tge", encoder=encoder, id_vectors=False).fit(graph)
    vectors = model.embed(graph.texts)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, model.vectors_.center, rtol=1e-5, atol=1e-6)
    one = model.embed([graph.texts[3]])
    np.testing.assert_allclose(one[0], vectors[3], rtol=1e-4, atol=1e-6)
    assert model.embed([]).shape == (0, 16)
    for wrong in ("red apple", [None], [3]):
        with pytest.raises(InputError, match="reads a list of texts"):
            model.embed(wrong)


@pytest.mark.quick
def test_id_vectors_are_beside_the_text(fitted):
    model = fitted["bag"]
    assert (model.embed(model.graph_.texts) != model.vectors_.center).any()


@pytest.mark.quick
@pytest.mark.parametrize("contexts", ["table", "text", "both"])
def test_placed_texts_score_as_suggested(contexts):
    model = build("tge", contexts=contexts).fit(world())
    placed = model.place(["red apple", "blue boat"])
    assert ("symmetric" in placed.rules) == (contexts != "table")
    assert placed.rules_between[:1] == ("dot",)
    for rule in placed.rules:
        block = placed.block(slice(0, 2), rule)
        assert block.shape == (2, 2 * SIZE)
        found = model.suggest("red apple", k=100, rule=rule)
        scores = {s.node: s.score for s in found}
        expected = [scores[name] for name in model.graph_.names]
        np.testing.assert_allclose(block[0], expected, rtol=1e-5)
    for rule in placed.rules_between:
        assert np.isfinite(placed.between(np.array([0]), np.array([1]), rule)).all()


@pytest.mark.quick
@ENCODERS
def test_nothing_of_a_held_out_text_reaches_the_model(encoder, tmp_path):
    graph = planted()
    texts = list(graph.texts)
    for i in range(0, graph.n_nodes, 10):
        texts[i] += " xyzzyq ḁ"
    marked = pg.TextGraph.from_edges(
        graph.source, graph.target, names=graph.names, texts=texts
    )  # fmt: skip
    keep = np.arange(graph.n_nodes) % 10 > 0
    settings = {"encoder": encoder, "epochs": 1}
    model = build("tge", **settings).fit(marked.induced(keep))
    other = build("tge", **settings).fit(graph.induced(keep))
    model.save(tmp_path / "model")
    assert not any("xyzzyq" in word for word in model.vocabulary_.words)
    assert not set("zyq") & set(model.vocabulary_.characters)
    for file in (tmp_path / "model").iterdir():
        assert b"xyzzyq" not in file.read_bytes()
    assert model._weights().keys() == other._weights().keys()
    for name, array in model._weights().items():
        np.testing.assert_array_equal(array, other._weights()[name])
    np.testing.assert_array_equal(model.vectors_.context, other.vectors_.context)
    assert model.statistics_ == model.count_statistics(marked.induced(keep))
    assert model.statistics_["vocabulary"] != model.count_statistics(marked)["vocabulary"]
    assert model.statistics_["degrees"] != model.count_statistics(marked)["degrees"]


@pytest.mark.quick
@pytest.mark.parametrize("texts", [None, {"a": "", "b": ""}])
def test_without_texts_ps_is_named(texts):
    graph = pg.TextGraph.from_edges(["a", "b"], ["b", "c"], texts=texts)
    with pytest.raises(InputError, match="use PS, which learns from structure alone") as caught:
        build("tge").fit(graph)
    assert "\n" not in str(caught.value)


@pytest.mark.quick
def test_suggest_takes_a_text_or_a_node(fitted):
    for given in ({}, {"text": "red", "node": "a0"}):
        with pytest.raises(ParameterError, match="a text or node="):
            fitted["bag"].suggest(**given)
    with pytest.raises(ParameterError, match="direction='out' needs a model fitted"):
        fitted["bag"].suggest("red", direction="out")


@pytest.mark.quick
def test_directions_of_a_new_text():
    model = build("tge", directed=True, epochs=2).fit(world(directed=True))
    found = [model.suggest("red", direction=d, rule="context") for d in ("out", "in")]
    assert [s.score for s in found[0]] != [s.score for s in found[1]]


def test_presets_fill_in_what_is_not_given():
    graph = planted()
    few = {"dim": 8, "epochs": 1, "threads": 1}
    paper, best = pg.TGE(preset="paper", **few).fit(graph), pg.TGE(preset="best", **few).fit(graph)
    assert (paper.rule_, best.rule_) == ("dot", "calibrated")
    assert paper.get_params()["encoder"] is None
    assert (paper.vectors_.center != best.vectors_.center).any()
    assert "item-3" in paper.vocabulary_.ids
    assert "item-3" not in best.vocabulary_.ids
    given = pg.TGE(**few | PRESETS["paper"] | {"epochs": 1}).fit(graph)
    np.testing.assert_array_equal(given.vectors_.center, paper.vectors_.center)
    assert set(PRESETS["paper"]) == set(PRESETS["best"])


@pytest.mark.quick
def test_cleaning_changes_the_words():
    few = {"epochs": 1, "ranker": False}
    models = [build("tge", cleaning=c, **few).fit(planted()) for c in ("paper", "words")]
    assert models[0].stats_["words"] != models[1].stats_["words"]


def test_training_ends_when_the_score_stalls():
    graph = planted(size=30)
    scores = []
    model = build("tge", encoder="bag", epochs=40, patience=2, batch_size=32, ranker=False).fit(
        graph, callback=lambda progress, turns: scores.append(list(progress.scores))
    )
    stats = model.stats_
    assert stats["epochs"] < 40
    assert len(stats["scores"]) == stats["epochs"] == stats["best_epoch"] + 2
    assert max(stats["scores"]) == stats["scores"][stats["best_epoch"] - 1]
    assert stats["passes"] == stats["epochs"] * np.count_nonzero(graph.degree)
    assert max(stats["scores"]) > 0.9
    # The weights are those of the best epoch: a training of that length ends with other ones,
    # as the rate falls over all epochs, but the scores on the way are the same.
    assert scores[-1] == stats["scores"]
    all_epochs = {"encoder": "bag", "epochs": 40, "patience": 0, "batch_size": 32}
    every = build("tge", **all_epochs, ranker=False).fit(graph)
    assert every.stats_["epochs"] == 40
    assert every.stats_["pairs"] > stats["pairs"]  # no link held back


def test_a_refit_is_a_training_on_all_links_of_the_best_length():
    graph = planted(size=30)
    given = {"encoder": "bag", "epochs": 40, "batch_size": 32, "ranker": False}
    once = build("tge", **given, patience=2).fit(graph)
    again = build("tge", **given, patience=2, refit=True).fit(graph)
    best = once.stats_["best_epoch"]
    assert again.stats_["scores"] == once.stats_["scores"]
    assert again.stats_["refit_epochs"] == best
    assert again.stats_["passes"] == once.stats_["passes"] + best * np.count_nonzero(graph.degree)

    seen = {}

    class EndError(Exception):
        """Ends a training."""

    def look(progress, turns):
        if progress.epoch == best:
            seen.update(progress.tables())
            raise EndError

    # The same rates as a run of all epochs on all links that is cut there.
    with pytest.raises(EndError):
        build("tge", **given, patience=0).fit(graph, callback=look)
    # Word vectors are kept in half precision.
    for name, array in again._weights().items():
        trained = seen[f"net/{name}"].astype(array.dtype)
        np.testing.assert_array_equal(array, trained, err_msg=name)
    alone = build("tge", **given, patience=0, refit=True).fit(graph)
    assert "refit_epochs" not in alone.stats_  # nothing was held back


@pytest.mark.quick
def test_folders_in_half_and_in_single_precision_read_alike(tmp_path):
    model = build("tge", encoder="bag", epochs=2).fit(world())
    texts = [*world().texts[:3], "a word nobody has met"]
    model.save(tmp_path / "half")
    model.save(tmp_path / "single")
    weights = tmp_path / "single" / "weights.safetensors"
    kept = {name: np.array(array) for name, array in map_tensors(weights).items()}
    assert kept["encoder.table.weight"].dtype == np.float16
    # As folders were written before.
    kept["encoder.table.weight"] = kept["encoder.table.weight"].astype(np.float32)
    write_tensors(weights, kept)
    for name in ("half", "single"):
        np.testing.assert_array_equal(pg.load(tmp_path / name).embed(texts), model.embed(texts))


class BreakError(Exception):
    """Stands for a crash."""


BROKEN = [
    {"encoder": "bag", "contexts": "table", "optimizer": "adagrad", "shared_negatives": 0},
    {"encoder": "bilstm", "patience": 1, "epochs": 4},
    {"encoder": "bag", "patience": 1, "epochs": 1, "refit": True},
]


@pytest.mark.parametrize(
    "settings",
    [
        *(pytest.param(some | {"ranker": False}, marks=pytest.mark.quick) for some in BROKEN),
        {"encoder": "bag", "patience": 1, "ranker": True},
    ],
)
def test_a_broken_training_ends_with_the_same_bits(tmp_path, settings):
    graph = planted(size=25)
    settings = {"epochs": 2, "batch_size": 40} | settings
    whole = build("tge", **settings).fit(graph)
    for call in (1, 3, 4):
        calls = []

        def crash(progress, turns, calls=calls, call=call):
            calls.append(turns)
            if len(calls) == call:
                raise BreakError

        file = tmp_path / f"state-{call}"
        with pytest.raises(BreakError):
            build("tge", **settings).fit(graph, checkpoint=file, callback=crash)
        resumed = build("tge", **settings).fit(graph, checkpoint=file)
        np.testing.assert_array_equal(resumed.vectors_.center, whole.vectors_.center)
        np.testing.assert_array_equal(resumed.vectors_.context, whole.vectors_.context)
        assert resumed.stats_["scores"] == whole.stats_["scores"]
        assert resumed.stats_["passes"] == whole.stats_["passes"]
        for name, array in whole._weights().items():
            np.testing.assert_array_equal(resumed._weights()[name], array, err_msg=name)


@pytest.mark.quick
@ENCODERS
def test_save_and_load_read_new_texts_alike(encoder, fitted, tmp_path):
    model = fitted[encoder]
    model.save(tmp_path / "model")
    loaded = pg.load(tmp_path / "model")
    new = ["red zebra", "", "blue boat of 東京", "apple " * 1000]
    np.testing.assert_array_equal(loaded.embed(new), model.embed(new))
    assert loaded.suggest("red zebra") == model.suggest("red zebra")
    assert loaded.statistics_ == model.statistics_
    loaded.save(tmp_path / "again")
    np.testing.assert_array_equal(pg.load(tmp_path / "again").embed(new), model.embed(new))


def test_loading_and_node_queries_need_no_torch(fitted, tmp_path):
    fitted["bag"].save(tmp_path / "model")
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "import pairgram as pg\n"
        f"model = pg.load({str(tmp_path / 'model')!r})\n"
        "print(len(model.suggest(node='a0', k=3)))\n"
        "try: model.embed(['red'])\n"
        "except pg.PairgramError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    first, second = done.stdout.splitlines()
    assert first == "3"
    assert second == "TGE needs the extra 'text': pip install 'pairgram[text]'"


@pytest.mark.quick
@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda f: (f / "weights.safetensors").unlink(), "vocabulary.json is missing"),
        (lambda f: (f / "vocabulary.json").unlink(), "vocabulary.json is missing"),
        (lambda f: (f / "vocabulary.json").write_text("{}"), "vocabulary is damaged"),
        (lambda f: _cut(f / "weights.safetensors"), "is truncated"),
        (lambda f: _newer(f / "config.json"), "was written by a newer pairgram"),
    ],
)
def test_a_damaged_folder_is_one_line(fitted, tmp_path, damage, said):
    fitted["bag"].save(tmp_path / "model")
    damage(tmp_path / "model")
    with pytest.raises(FileFormatError, match=said) as caught:
        pg.load(tmp_path / "model")
    assert "\n" not in str(caught.value)


def _cut(path):
    path.write_bytes(path.read_bytes()[:-100])


def _newer(path):
    path.write_text(json.dumps(json.loads(path.read_text()) | {"format_version": 99}))


@pytest.mark.quick
def test_bad_settings_are_one_line(tmp_path):
    with pytest.raises(ParameterError, match="without characters and without words at once"):
        build("tge", without_char=True, without_word=True).fit(world())
    if not torch.cuda.is_available():
        with pytest.raises(ParameterError, match="device='cuda' is not available"):
            build("tge", device="cuda").fit(world())
    with pytest.raises(FileFormatError, match="is no file"):
        build("tge", word_vectors=str(tmp_path / "none.txt")).fit(world())
    with pytest.raises(pg.PairgramError, match="did not converge"):
        build("tge", learning_rate=1e30, encoder="bag", optimizer="adagrad").fit(world())


def test_characters_alone_learn():
    graph = planted()
    settings = {"without_word": True, "contexts": "table", "id_vectors": False, "epochs": 30}
    model = build("tge", **settings, ranker=False).fit(graph)
    same = np.arange(80)[:, None] // 20 == np.arange(80) // 20
    scores = model.vectors_.center @ model.vectors_.center.T
    assert (scores[same].mean() - scores[~same].mean()) > scores[~same].std()


def test_training_needs_no_file_or_terminal_library():
    code = (
        "import sys\n"
        "for name in ('pyarrow', 'bm25s', 'typer', 'rich'): sys.modules[name] = None\n"
        "import pairgram as pg\n"
        "graph = pg.TextGraph.from_edges(['a', 'b'], ['b', 'c'], texts={'a': 'red', 'b': 'blue'})\n"
        "for encoder in ('bag', 'bilstm'):\n"
        "    model = pg.TGE(dim=4, encoder=encoder, epochs=1, threads=1).fit(graph)\n"
        "    print(*model.embed(['green']).shape)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", "4", "1", "4"]


def test_with_contexts_from_text_what_is_kept_does_not_grow_with_the_graph(tmp_path):
    sizes = []
    for n in (10, 100):
        texts = {str(i): ("red", "green", "blue")[i % 3] for i in range(n)}
        ring = pg.TextGraph.from_edges(
            list(texts), [str((i + 1) % n) for i in range(n)], texts=texts
        )
        model = pg.TGE(
            dim=8,
            preset="best",
            contexts="text",
            id_vectors=False,
            epochs=1,
            patience=0,
            ranker=False,
        ).fit(ring)
        model.save(tmp_path / str(n))
        sizes.append((tmp_path / str(n) / "weights.safetensors").stat().st_size)
    assert sizes[0] == sizes[1] > 0
