import json
from dataclasses import replace
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest

from pairgram.errors import FileFormatError, InputError, LeakError, ParameterError
from pairgram.evaluation import FLOORS, Card, Report, audit, evaluate, floor
from pairgram.graph import TextGraph
from pairgram.split import split_edges, split_hash


def two_cliques(size=12):
    """All links of two cliques: a negative is always in the other clique."""
    links = list(combinations(range(size), 2))
    links += [(first + size, second + size) for first, second in links]
    return TextGraph.from_edges(*map(list, zip(*links, strict=True)))


class Fake:
    """A model whose centre vectors are given; the rule 'against' turns its scores round."""

    rules_ = ("dot", "against")

    def __init__(self, center, rule="dot"):
        self.center, self.rule_ = np.asarray(center, dtype=np.float32), rule
        self.stats_ = {"pairs": 7, "updates": 14, "seconds": {"sample": 0.5, "train": 1.5}}
        self.is_fitted, self.fits = False, 0

    def fit(self, graph):
        self.vectors_ = SimpleNamespace(center=self.center)
        self.fingerprint_, self.is_fitted = graph.fingerprint, True
        self.fits += 1
        return self

    def score_positions(self, source, target, rule=None):
        dot = (self.center[source] * self.center[target]).sum(axis=1)
        return -dot if rule == "against" else dot

    def get_params(self):
        return {"dim": self.center.shape[1], "rate": np.float32(0.5)}


def perfect(size=12):
    side = np.repeat([1.0, -1.0], size)
    return np.stack([side, side], axis=1)


@pytest.fixture
def split():
    return split_edges(two_cliques(), keep=0.6)


@pytest.mark.quick
@pytest.mark.parametrize("protocol", ["seen", "all"])
def test_perfect_vectors_score_one(split, protocol):
    report = evaluate(Fake(perfect()), split, protocol)
    assert report["auc_pair"] == report["auc_lr"] == report["ap"] == 1.0
    assert report["auc_pair/dot"] == 1.0
    assert report["auc_pair/against"] == 0.0
    assert report.card.protocol == protocol


@pytest.mark.quick
def test_constant_vectors_score_exactly_a_half(split):
    report = evaluate(Fake(np.ones((24, 3))), split)
    assert report["auc_pair"] == report["auc_lr"] == report["ap"] == 0.5
    assert report.card.ties == {"dot": 24, "against": 24}


@pytest.mark.quick
def test_auc_lr_learns_the_sign_that_the_dot_product_has_wrong():
    left, right = (side.ravel() for side in np.mgrid[0:12, 12:24])
    report = evaluate(Fake(perfect()), split_edges(TextGraph.from_edges(left, right), keep=0.6))
    assert report["auc_pair"] == 0.0
    assert report["auc_lr"] == 1.0


@pytest.mark.quick
def test_random_vectors_score_about_a_half():
    rng = np.random.default_rng(0)
    graph = TextGraph.from_edges(rng.integers(2000, size=6000), rng.integers(2000, size=6000))
    report = evaluate(Fake(rng.normal(size=(graph.n_nodes, 16))), split_edges(graph))
    assert [report[key] for key in ("auc_pair", "auc_lr", "ap")] == pytest.approx(
        [0.5] * 3, abs=0.05
    )


@pytest.mark.quick
def test_same_seed_same_report(split):
    center = np.random.default_rng(0).normal(size=(24, 4))
    first, again = (evaluate(Fake(center), split, seed=3) for _ in range(2))
    others = [dict(evaluate(Fake(center), split, seed=seed)) for seed in range(4, 8)]
    assert dict(first) == dict(again)
    assert all(dict(first) != other for other in others)


@pytest.mark.quick
def test_keys_are_a_mapping(split):
    report = evaluate(Fake(perfect()), split)
    assert list(report) == [
        "auc_pair", "auc_lr", "ap", "auc_pair/dot", "ap/dot", "auc_pair/against", "ap/against",
    ]  # fmt: skip
    assert len(report) == 7
    assert set(report.floors) == set(FLOORS)
    with pytest.raises(KeyError):
        report["accuracy"]


@pytest.mark.quick
def test_few_centres_give_no_auc_lr_but_a_reason():
    split = split_edges(two_cliques(4), keep=0.75)
    report = evaluate(Fake(perfect(4)), split, "all")
    assert report["auc_pair"] == 1.0
    assert report["auc_lr"] is None
    assert "centres are too few for AUC_LR, it needs 10" in report.card.notes["auc_lr"]
    assert "No auc_lr: " in str(report)
    assert "none" in str(report)


@pytest.mark.quick
def test_floors_of_the_cliques(split):
    floors = evaluate(Fake(perfect()), split).floors
    # Across the cliques nothing is shared; inside, everything nearly.
    assert floors["common_neighbours"] == floors["resource_allocation"] == 1.0
    assert 0.2 < floors["degree"] < 0.8


@pytest.mark.quick
def test_a_new_floor_needs_no_other_code(split, monkeypatch):
    monkeypatch.setitem(FLOORS, "position", None)  # forgotten after the test
    floor("position")(lambda graph, source, target: -np.abs(source - target).astype(float))
    report = evaluate(Fake(perfect()), split)
    assert 0.5 < report.floors["position"] <= 1.0
    assert "floor position" in str(report)


@pytest.mark.quick
def test_an_unfitted_model_is_fitted_on_the_training_side_once(split):
    model = Fake(perfect())
    evaluate(model, split)
    evaluate(model, split, "all")
    assert model.fits == 1
    assert model.fingerprint_ == split.train.fingerprint


@pytest.mark.quick
def test_a_model_of_the_full_graph_is_a_leak(split):
    model = Fake(perfect()).fit(split.full)
    with pytest.raises(LeakError, match="Fake was fitted on another graph than the split's train"):
        evaluate(model, split)


@pytest.mark.quick
@pytest.mark.parametrize("turned", [False, True])
def test_shared_links_are_a_leak_in_either_direction(turned):
    graph = TextGraph.from_edges(list("abcdef"), list("bcdefa"), directed=True)
    split = split_edges(graph, keep=0.5)
    stolen = np.stack([split.train.source[:1], split.train.target[:1]], axis=1)
    pairs = np.concatenate([split.held_out, stolen[:, ::-1] if turned else stolen])
    leaky = replace(split, held_out=pairs, hash=split_hash(pairs, graph))
    pair = tuple(sorted(stolen[0].tolist()))
    example = f"'{graph.names[pair[0]]}', '{graph.names[pair[1]]}'"
    with pytest.raises(LeakError, match=f"1 of 4 held-out links are also .*{example}"):
        evaluate(Fake(np.ones((6, 2))), leaky)


@pytest.mark.quick
def test_sound_splits_pass_the_audit(split):
    audit(split)
    foreign = replace(split, held_out=np.array([[0, 13]]))
    with pytest.raises(InputError, match="1 held-out pairs are no links of the full graph"):
        audit(foreign)
    with pytest.raises(InputError, match=r"held-out positions must be in \[0, 24\)"):
        audit(replace(split, held_out=np.array([[0, 24]])))
    with pytest.raises(InputError, match="must have the 24 nodes"):
        audit(replace(split, train=split_edges(two_cliques(5)).train))


@pytest.mark.quick
@pytest.mark.parametrize("protocol", ["seen", "all"])
def test_complete_graph_has_no_centre(protocol):
    graph = TextGraph.from_edges(*np.triu_indices(6, 1))
    with pytest.raises(InputError, match=r"has no centre to score .* linked to every candidate"):
        evaluate(Fake(np.ones((6, 2))), split_edges(graph, 0.7), protocol)


@pytest.mark.quick
def test_star_is_scored_under_all_alone():
    split = split_edges(TextGraph.from_edges(np.zeros(40, dtype=int), np.arange(1, 41)))
    hub_first = np.r_[10.0, np.ones(40)][:, None]
    report = evaluate(Fake(hub_first), split, "all")
    assert report["auc_pair"] == 1.0
    assert report.floors["degree"] == 1.0
    assert report.left_out == {"linked to every candidate": 1}
    with pytest.raises(InputError, match="Protocol 'seen' has no centre"):
        evaluate(Fake(hub_first), split)


@pytest.mark.quick
def test_bad_models_and_requests_are_named(split):
    with pytest.raises(ParameterError, match="'protocol' parameter"):
        evaluate(Fake(perfect()), split, "zero")
    broken = perfect()
    broken[3] = np.nan
    with pytest.raises(InputError, match="Got NaN"):
        evaluate(Fake(broken), split)
    short = Fake(perfect())
    short.score_positions = lambda source, target, rule: np.zeros(3)
    with pytest.raises(InputError, match=r"Fake\.score_positions must give one score a pair"):
        evaluate(short, split)


@pytest.mark.quick
@pytest.mark.parametrize(
    ("rules", "floors", "expected"),
    [
        (
            {"dot": 0.9, "context": 0.95},
            {"degree": 0.88, "other": 0.5},
            "Fake beats every floor under 'dot' (0.9000; the best floor is degree with 0.8800).",
        ),
        (
            {"dot": 0.52, "symmetric": 0.91},
            {"degree": 0.88},
            "Fake does not beat the degree floor under 'dot' (0.5200 < 0.8800); "
            "its best rule is 'symmetric' (0.9100), which beats every floor.",
        ),
        (
            {"dot": 0.52, "symmetric": 0.8},
            {"degree": 0.88, "other": 0.52},
            "Fake does not beat the degree floor under 'dot' (0.5200 < 0.8800), nor the other "
            "floor under 'dot' (0.5200 = 0.5200); its best rule is 'symmetric' (0.8000), which "
            "does not beat them all.",
        ),
        (
            {"dot": 0.52, "against": 0.48},
            {"degree": 0.6},
            "Fake does not beat the degree floor under 'dot' (0.5200 < 0.6000); "
            "it has no better rule than 'dot'.",
        ),
    ],
)
def test_the_verdict_in_words(split, rules, floors, expected):
    card = evaluate(Fake(perfect()), split).card
    metrics = {
        f"{key}/{rule}": value for rule, value in rules.items() for key in ("auc_pair", "ap")
    }
    metrics |= {"auc_pair": rules["dot"], "auc_lr": 0.5, "ap": 0.5}
    planted = {name: {"auc_pair": value, "ap": 0.5, "ties": 0} for name, value in floors.items()}
    report = Report(replace(card, metrics=metrics, floors=planted))
    assert report.verdict == expected
    assert str(report).endswith(expected)


@pytest.mark.quick
def test_the_table_is_aligned_and_says_what_it_did(split):
    text = str(evaluate(Fake(perfect()), split))
    lines = text.splitlines()
    header = next(line for line in lines if "AUC_pair" in line)
    end = header.index("AUC_pair") + len("AUC_pair")
    rows = [line for line in lines if line.startswith(("Fake, ", "floor "))][1:]
    assert len(rows) == 5
    assert all(row[end - 6 : end].replace(".", "").isdigit() for row in rows)
    assert f"hash {split.hash[:12]}" in lines[0]
    assert "Centres: 24 scored, 0 left out; negatives from 24 nodes" in text


@pytest.mark.quick
def test_card_holds_what_is_needed_to_repeat_it(split, tmp_path):
    report = evaluate(Fake(perfect()), split, seed=5)
    path = tmp_path / "card.json"
    report.card.write(path)
    assert [file.name for file in tmp_path.iterdir()] == ["card.json"]
    stored = json.loads(path.read_text())
    assert stored["split"] == {
        "hash": split.hash,
        "kind": "edges",
        "share": 0.6,
        "seed": 0,
        "fingerprint": split.full.fingerprint,
    }
    assert stored["parameters"] == {"dim": 2, "rate": 0.5}
    assert (stored["seed"], stored["pairs"], stored["updates"]) == (5, 7, 14)
    phases = {"sample", "train", "draw", "fit", "score", "auc_lr", "floors"}
    assert set(stored["seconds"]) == phases
    assert set(stored["versions"]) == {"python", "numpy", "numba", "pairgram"}
    assert stored["peak_memory"] > 10**7
    assert stored["machine"]["cores"] >= 1
    again = Report(Card.read(path))
    assert str(again) == str(report)
    assert dict(again) == dict(report)


@pytest.mark.quick
def test_broken_cards_are_named(split, tmp_path):
    card, path = evaluate(Fake(perfect()), split).card, tmp_path / "card.json"
    with pytest.raises(FileFormatError, match="there is no such file"):
        Card.read(path)
    for text, word in [
        ("{\n  oops", "line 2: not JSON"),
        ("[1]", "a JSON object was expected"),
        ("{}", "must be of format 2. Got None"),
        ('{"format": 1}', "Got 1; read it with"),
        ('{"format": 2, "extra": 0}', "missing or unknown entries: buckets"),
    ]:
        path.write_text(text)
        with pytest.raises(FileFormatError, match=word):
            Card.read(path)
    with pytest.raises(InputError, match="the card cannot be written"):
        card.write(tmp_path / "absent" / "card.json")
    with pytest.raises(ValueError, match="not JSON compliant"):
        replace(card, metrics={"auc_pair": float("nan")}).write(path)
    assert json.loads(path.read_text())["extra"] == 0
