"""What importing brings along, and runs in a fresh interpreter."""

import os
import subprocess
import sys

import pytest

HEAVY = (
    "numba", "pyarrow", "sklearn", "torch", "typer", "rich", "scipy", "pandas", "networkx",
    "fastapi", "uvicorn", "umap", "ray",
)  # fmt: skip


def run(code, **environment):
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=os.environ | environment,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.quick
def test_import_is_quick_and_light():
    code = (
        "import sys, time; began = time.perf_counter(); import pairgram;"
        "print(time.perf_counter() - began);"
        f"print(*[name for name in {HEAVY!r} if name in sys.modules])"
    )
    outputs = [run(code) for _ in range(3)]
    assert all(len(output) == 1 for output in outputs), outputs  # no heavy module
    assert min(float(output[0]) for output in outputs) < 0.3


@pytest.mark.quick
def test_every_public_name_is_there():
    code = "import pairgram; print(*[getattr(pairgram, n).__name__ for n in pairgram.__all__])"
    import pairgram

    assert run(code) == pairgram.__all__
    assert set(pairgram.__all__) <= set(dir(pairgram))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        pairgram.nothing  # noqa: B018


@pytest.mark.quick
def test_sampling_and_training_need_no_file_or_terminal_library():
    code = (
        "import sys\n"
        "for name in ('pyarrow', 'typer', 'rich'): sys.modules[name] = None\n"
        "import pairgram as pg, pairgram.sampling, pairgram.models\n"
        "graph = pg.TextGraph.from_edges(['a', 'b', 'c'], ['b', 'c', 'd'])\n"
        "model = pg.PS(dim=8, epochs=1).fit(graph)\n"
        "print(len(model.suggest(node='a')), *model.vectors_.center.shape)\n"
    )
    assert run(code) == ["2", "4", "8"]


BOUNDS = """
import numpy as np, pairgram as pg
from pairgram.sampling.walks import iter_walks, window_pairs
from numba.core import config
assert config.BOUNDSCHECK == 1
random = np.random.default_rng(0)
ends = (150 * random.random((900, 2)) ** 3).astype(np.int64)
names = [str(i) for i in range(160)]
plain = pg.TextGraph.from_edges(ends[:, 0], ends[:, 1], names, directed=True)
heavy = pg.TextGraph.from_edges(ends[:, 0], ends[:, 1], names, weight=random.uniform(1, 9, 900))
for order, directed in ((1, False), (3, False), (4, True)):
    assert len(pg.sample_pairs(plain, order=order, directed=directed))
for p, q in ((1.0, 1.0), (0.5, 1e6)):
    walks = np.concatenate(list(iter_walks(heavy, 12, 2, p, q)))
    assert len(window_pairs(walks, 3, 160)[0])
for model in (
    pg.PS(dim=8, epochs=1), pg.DeepWalk(dim=8, length=10, times=1),
    pg.Node2Vec(dim=8, length=10, times=1, q=0.5), pg.LINE(dim=8, per_edge=2),
):
    assert np.isfinite(model.fit(heavy).vectors_.center).all()
    assert len(model.suggest(node="0"))
print("sound")
"""


def test_no_index_is_out_of_bounds(tmp_path):
    assert run(BOUNDS, NUMBA_BOUNDSCHECK="1", NUMBA_CACHE_DIR=str(tmp_path)) == ["sound"]
