"""The plans of docs/scale.md are the simulator's."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture
def scale(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    monkeypatch.delitem(sys.modules, "common", raising=False)
    import scale as module

    return module


def size(value):
    """Bytes as the page writes them."""
    if value >= 1e12:
        return f"{value / 1e12:.{1 if value < 1e13 else 0}f} TB"
    return f"{value / 1e9:.{1 if value < 20e9 else 0}f} GB"


@pytest.mark.quick
def test_the_page_has_the_figures_of_the_simulator(scale):
    page = (ROOT / "docs" / "scale.md").read_text()
    rows = {
        cells[0].strip(): [cell.strip() for cell in cells[1:]]
        for cells in (line.strip("|").split("|") for line in page.splitlines() if "|" in line)
    }
    planned = [scale.simulate(*plan, scale.PLAN_RATES) for plan in scale.PLANS.values()]
    for label, name in {
        "neighbour lists": "graph",
        "shared memory of a machine: lists, partition": "shared by a machine",
        "a worker (64 of them): scratch, rows, pairs": "worker",
        "a machine": "machine",
        "the machine of the command": "driver",
        "sent by a machine": "sent by a machine",
    }.items():
        assert rows[label] == [size(plan[name]) for plan in planned], label
    phases = ("sampling", "training", "network")
    assert rows["hours: sampling, training, network beside it"] == [
        ", ".join(f"{plan[name] / 3600:.2f}" for name in phases) for plan in planned
    ]
    assert [plan["workers"] for plan in planned] == [64, 64]
    assert all(plan["fits"] for plan in planned)


@pytest.mark.quick
def test_bytes_grow_with_the_graph_and_shrink_with_machines(scale):
    def run(edges, machines):
        cluster = scale.Cluster(machines, 4, 1e11, 1e9, 1.0)
        return scale.simulate(scale.Job(edges // 10, edges), cluster, scale.Rates(1e6, 1e6))

    small, large, spread = run(10**7, 2), run(10**8, 2), run(10**8, 8)
    assert large["graph"] == pytest.approx(10 * small["graph"], rel=1e-3)
    assert large["pairs"] == 10 * small["pairs"]
    assert spread["worker"] < large["worker"]
    assert spread["training"] == pytest.approx(large["training"] / 4)
    assert spread["sent by a machine"] == large["sent by a machine"]
    assert run(10**8, 1)["network"] == 0
