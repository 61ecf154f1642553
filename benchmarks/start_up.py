"""Import time, and a fit of PS on Cora with kernels to compile and with kept ones.

Needs PAIRGRAM_DATA with cora. Run: python benchmarks/start_up.py
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from common import write
from pairgram import datasets

IMPORT = "import time; t = time.perf_counter(); import pairgram; print(time.perf_counter() - t)"
FIT = """
import json, sys, time
import pairgram as pg
t = time.perf_counter()
graph = pg.TextGraph.from_files(sys.argv[1])
read = time.perf_counter() - t
fits = []
for _ in range(2):
    t = time.perf_counter()
    pg.PS().fit(graph)
    fits.append(time.perf_counter() - t)
numba = "numba" in sys.modules
print(json.dumps({"read": read, "first": fits[0], "second": fits[1], "numba": numba}))
"""


def run(code: str, cache: str, *given: str) -> tuple[str, float]:
    """What a new process prints, and its seconds."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", code, *given],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout, time.perf_counter() - began


def main() -> None:
    with tempfile.TemporaryDirectory() as cache:
        graph, edges = datasets.load("cora"), Path(cache) / "edges.tsv"
        ends = zip(graph.names[graph.source], graph.names[graph.target], strict=True)
        edges.write_text("".join(f"{a}\t{b}\n" for a, b in ends), encoding="utf-8")
        cold = json.loads(run(FIT, cache, str(edges))[0])
        warm = [run(FIT, cache, str(edges)) for _ in range(5)]
        bare = [float(run(IMPORT, cache)[0]) for _ in range(5)]
    told = [json.loads(said) for said, _ in warm]
    if any(one["numba"] for one in told):
        raise SystemExit("numba was imported although the kernels are kept")
    middle = {key: statistics.median(one[key] for one in told) for key in told[0]}
    compiled = cold["read"] + cold["first"] - middle["read"] - middle["second"]
    write(
        "start_up",
        [
            {"what": "import pairgram", "seconds": statistics.median(bare)},
            {"what": "compiling, first run ever, numba's import included", "seconds": compiled},
            {"what": "reading Cora's edge list, kernel loaded", "seconds": middle["read"]},
            {"what": "loading kept kernels: a process's first fit, less its second",
             "seconds": middle["first"] - middle["second"]},
            {"what": "PS().fit(cora), kernels there", "seconds": middle["second"]},
            {"what": "whole process, two fits, from the interpreter's start",
             "seconds": statistics.median(seconds for _, seconds in warm)},
        ],
    )  # fmt: skip


if __name__ == "__main__":
    main()
