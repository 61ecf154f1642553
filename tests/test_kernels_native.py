"""Kernels as kept machine code give what numba's own dispatchers give, and need no numba."""

import subprocess
import sys

import numpy as np
import pytest

from pairgram.kernels import code_files, native, negatives
from pairgram.kernels.export import export
from pairgram.kernels.jit import njit
from pairgram.kernels.native import Kernel

FIT = """
import sys
import pairgram as pg
graph = pg.TextGraph.from_files(sys.argv[1])
model = pg.PS(dim=8, epochs=2, seed=1).fit(graph)
print(model.vectors_.center.sum(), sorted({"numba", "pyarrow", "scipy"} & set(sys.modules)))
"""


def alias_tables(build):
    mass = np.random.default_rng(0).pareto(1.1, 50)
    bounds = np.array([0, 20, 50])
    threshold, alias = np.zeros(50, np.uint32), np.zeros(50, np.int64)
    build(mass, bounds, np.empty(50), np.empty(50, np.int64), threshold, alias)
    return threshold, alias


@njit
def mean_over(x, scale):
    """Σ x / scale; raises where the scale is zero."""
    return x.sum() / scale


@njit
def doubled(x):
    """A new array: what only numba's runtime can make."""
    return (x * 2).sum()


@pytest.mark.quick
def test_equals_the_dispatcher():
    got, expected = map(
        alias_tables, (Kernel("negatives", "build_aliases"), negatives.build_aliases)
    )
    np.testing.assert_array_equal(got[0], expected[0])
    np.testing.assert_array_equal(got[1], expected[1])


@pytest.mark.quick
def test_every_kind_of_value_has_its_own_code(monkeypatch, tmp_path):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    kernel = Kernel("", "mean_over")
    monkeypatch.setattr(kernel, "_dispatcher", lambda: mean_over)
    square = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert kernel(square, 2.0) == 7.5
    assert kernel(square[:, ::2], 2.0) == 5.0  # not contiguous
    assert kernel(np.arange(4), 3) == 2.0
    assert len(list(tmp_path.rglob(f"*{code_files.SUFFIX}"))) == 3
    with pytest.raises(RuntimeError, match="mean_over ended with status"):
        kernel(np.arange(4), 0)


@pytest.mark.quick
def test_what_needs_the_runtime_is_left_to_numba(monkeypatch, tmp_path):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    kernel = Kernel("", "doubled")
    monkeypatch.setattr(kernel, "_dispatcher", lambda: doubled)
    assert export(doubled, (np.arange(3),)) is None
    assert kernel(np.arange(3)) == 6
    assert not list(tmp_path.iterdir())


@pytest.mark.quick
def test_damaged_code_is_not_used(monkeypatch, tmp_path):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    code = code_files.Code("name", "<i8", b"\x7fELF...")
    code_files.write("some", (int,), code)
    assert code_files.read("some", (int,)) == code
    assert code_files.read("some", (float,)) is None
    path = code_files.path_of("some", (int,))
    path.write_bytes(path.read_bytes()[:-1])
    assert code_files.read("some", (int,)) is None
    path.write_bytes(b"no header")
    assert code_files.read("some", (int,)) is None


@pytest.mark.quick
def test_code_of_older_sources_goes(monkeypatch, tmp_path):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    code = code_files.Code("name", "", b"new")
    path = code_files.path_of("some", (int,))
    path.parent.mkdir(parents=True)
    old = path.with_name(path.name.rsplit("-", 1)[0] + f"-0123456789abcdef{code_files.SUFFIX}")
    old.write_bytes(b"old")
    code_files.write("some", (int,), code)
    assert [p.name for p in path.parent.iterdir()] == [path.name]


@pytest.mark.quick
@pytest.mark.parametrize("name", ["NUMBA_DISABLE_JIT", "NUMBA_BOUNDSCHECK"])
def test_numba_is_asked_where_a_user_wants_its_checks(monkeypatch, name):
    monkeypatch.setenv(name, "1")
    kernel = Kernel("negatives", "build_aliases")
    assert not native.usable()
    np.testing.assert_array_equal(alias_tables(kernel)[1], alias_tables(negatives.build_aliases)[1])


@pytest.mark.skipif(not native.usable(), reason="kept code is for Linux, without numba's checks")
def test_a_fit_with_kept_code_imports_neither_numba_nor_arrow(tmp_path):
    edges = tmp_path / "edges.tsv"
    edges.write_text("".join(f"{i}\t{(i * 7 + 1) % 50}\n" for i in range(50)))
    first, second = (
        subprocess.run(
            [sys.executable, "-c", FIT, str(edges)], capture_output=True, text=True, check=True
        ).stdout
        for _ in range(2)
    )
    assert second.endswith("[]\n")
    assert first.split()[0] == second.split()[0]
