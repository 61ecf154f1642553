"""Import time, and a fit of PS on Cora with cold and with warm kernels.

Needs PAIRGRAM_DATA with cora. Run: python benchmarks/start_up.py
"""

import os
import statistics
import subprocess
import sys
import tempfile

from common import write

IMPORT = "import time; t = time.perf_counter(); import pairgram; print(time.perf_counter() - t)"
FIT = """
import time
import pairgram as pg
from pairgram import datasets
graph = datasets.load("cora")
t = time.perf_counter()
model = pg.PS().fit(graph)
print(time.perf_counter() - t)
"""


def seconds(code: str, cache: str) -> float:
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    return float(done.stdout)


def main() -> None:
    with tempfile.TemporaryDirectory() as cache:
        cold = seconds(FIT, cache)
        warm = [seconds(FIT, cache) for _ in range(3)]
        bare = [seconds(IMPORT, cache) for _ in range(5)]
    write(
        "start_up",
        [
            {"what": "import pairgram", "seconds": statistics.median(bare)},
            {"what": "PS().fit(cora), first run ever (kernels compiled)", "seconds": cold},
            {"what": "PS().fit(cora), kernels from the cache", "seconds": statistics.median(warm)},
        ],
    )


if __name__ == "__main__":
    main()
