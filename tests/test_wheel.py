"""The wheel on every Python it says it runs on; needs a package index, so it is slow."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SMOKE = """
import pairgram as pg
from pairgram.bench.spec import load_table
graph = pg.TextGraph.from_edges(["a", "b", "c"], ["b", "c", "d"])
print(len(pg.PS(dim=8).fit(graph).suggest(node="a")), load_table("ratios").name)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--wheel", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


def _runs(python):
    return subprocess.run([python, "--version"], check=False, capture_output=True).returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
def test_the_wheel_installs_and_runs(version, wheel, tmp_path):
    python = shutil.which(f"python{version}")
    if python is None or not _runs(python):
        pytest.skip(f"no Python {version} here; the other versions are tested")
    subprocess.run([python, "-m", "venv", str(tmp_path / "venv")], check=True)
    bin_ = tmp_path / "venv" / "bin"
    subprocess.run([bin_ / "pip", "install", "--quiet", str(wheel)], check=True)
    done = subprocess.run(
        [bin_ / "python", "-c", SMOKE], check=True, capture_output=True, text=True, cwd=tmp_path
    )
    assert done.stdout.split() == ["2", "ratios"]
    version_line = subprocess.run(
        [bin_ / "pairgram", "--version"], check=True, capture_output=True, text=True
    )
    assert version_line.stdout.startswith("pairgram ")
