"""Ranking on a device of torch gives what NumPy gives."""

import numpy as np
import pytest

import pairgram as pg
from pairgram.bench.graphs import planted_graph
from pairgram.errors import InputError, ParameterError
from pairgram.evaluation import device, evaluate
from pairgram.metrics import place_block

torch = pytest.importorskip("torch")


@pytest.mark.quick
def test_places_are_the_same_with_ties_and_barred_nodes(monkeypatch):
    monkeypatch.setattr(device, "_ENTRIES", 100)
    rng = np.random.default_rng(0)
    for _ in range(20):
        scores = rng.integers(0, 6, size=(4, 40)).astype(np.float32)
        chosen = [rng.permutation(40)[:9] for _ in range(4)]
        true = np.concatenate([row[:5] for row in chosen]), np.arange(0, 21, 5)
        barred = np.concatenate([row[5:] for row in chosen]), np.arange(0, 17, 4)
        expected = place_block(scores, true, barred)
        found = device.place_block(torch.as_tensor(scores), true, barred)
        for name in ("above", "tied", "first", "size"):
            assert getattr(found, name).tolist() == getattr(expected, name).tolist()
    with pytest.raises(InputError, match="Got NaN"):
        device.place_block(torch.full((1, 40), torch.nan), (true[0][:1], [0, 1]), ([], [0, 0]))


def test_a_report_is_the_same_on_torch():
    graph = planted_graph(communities=4, size=15)
    links, nodes = pg.split_edges(graph, 0.6), pg.split_nodes(graph, 0.2)
    structure = pg.PS(dim=8, epochs=5).fit(links.train)
    text = pg.TGE(dim=8, preset="best", order=1, epochs=2, patience=0).fit(nodes.train)
    for model, split, rank in ((structure, links, 30), (text, nodes, 0)):
        plain, there = (evaluate(model, split, rank=rank, device=on) for on in (None, "cpu"))
        assert dict(there) == pytest.approx(dict(plain), abs=1e-6)


@pytest.mark.quick
def test_scores_come_back_from_a_device_that_numpy_cannot_read():
    class Far:
        """A tensor of a card: it has to be asked for its numbers."""

        def __array__(self, *args, **kwargs):
            raise TypeError("can't convert cuda:0 device type tensor to numpy")

        def cpu(self):
            return torch.tensor([1.0, 2.0])

    assert device.on_host(Far()).tolist() == [1.0, 2.0]
    assert device.on_host(np.array([3.0])).tolist() == [3.0]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA card")
def test_a_report_is_the_same_on_a_card():
    graph = planted_graph(communities=4, size=15)
    split = pg.split_edges(graph, 0.6)
    model = pg.PS(dim=8, epochs=5).fit(split.train)
    plain, there = (evaluate(model, split, rank=30, device=on) for on in (None, "cuda"))
    assert dict(there) == pytest.approx(dict(plain), abs=1e-6)


@pytest.mark.quick
def test_devices_are_resolved():
    assert device.resolve(None) is None
    assert device.resolve("auto") in (None, "cuda")
    assert device.resolve("cpu") == "cpu"
    with pytest.raises(ParameterError, match="The device 'nowhere' cannot be used"):
        device.resolve("nowhere")
