"""The word on the screen when kernels are compiled: at the first run ever, not later."""

import os
import subprocess
import sys

import pytest

from cli_files import FAST, write_cliques

START = "from pairgram.cli.main import run; run()"


@pytest.mark.slow
def test_compiling_is_said_once(tmp_path):
    edges, _ = write_cliques(tmp_path)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    said = []
    for k in range(2):
        command = ["-c", START, "fit", str(edges), "-o", str(tmp_path / f"m{k}"), *FAST]
        done = subprocess.run(
            [sys.executable, *command], env=environment, capture_output=True, text=True, check=True
        )
        said.append(done.stderr)
    assert said[0].count("note: compiling the kernels, once") == 1
    assert "compiling" not in said[1]
