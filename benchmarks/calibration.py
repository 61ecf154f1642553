"""How far the probabilities of suggestions are off on real data: ECE, and what a match is worth.

Runs `pairgram evaluate --calibrate` for every plan whose card is not there yet, then makes the page
from the cards. Needs PAIRGRAM_DATA with cora. Run: python benchmarks/calibration.py
"""

import json
import subprocess
import sys

from common import OUT, write

CARDS = OUT / "calibration"
BEST = ["--parameters", "{tge: {preset: best}}"]
ZERO_SHOT = ["--task", "zero-shot", "--hold-out", "0.1"]
PLANS = {
    ("cora", "link", "ps"): [],
    ("cora", "link", "tge"): BEST,
    ("cora", "zero-shot", "tge"): [*BEST, *ZERO_SHOT],
}
COMMAND = "import sys; from pairgram.cli.main import run; sys.argv[0] = 'pairgram'; run()"


def main() -> None:
    rows = []
    for (dataset, task, model), flags in PLANS.items():
        folder = CARDS / f"{dataset}-{task}"
        path = folder / f"{model}-seed0.json"
        if not path.is_file():
            told = ["evaluate", f"dataset:{dataset}", "--models", model, "--calibrate", *flags]
            told += ["--cards", str(folder), "--threads", "1"]
            subprocess.run([sys.executable, "-c", COMMAND, *told], check=True)
        seen = json.loads(path.read_text(encoding="utf-8"))["calibration"]
        rows.append(
            {
                "dataset": dataset, "task": task, "model": model,
                "rule": seen["calibration"]["rule"], "ECE": seen["ece"],
                "threshold": seen["calibration"]["threshold"],
                "called a match": seen["called"], "of them right": seen["matched"],
                "of the others had one": seen["unmatched"],
            }
        )  # fmt: skip
    write("calibration", rows)


if __name__ == "__main__":
    main()
