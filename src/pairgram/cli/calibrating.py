"""`--calibrate` of `pairgram evaluate`: probabilities of suggestions, beside the other figures."""

from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pairgram.evaluation import Card
    from pairgram.split import Split


def calibrated(
    card: "Card",
    model: Any,
    build: Callable[[], Any],
    split: "Split",
    seed: int,
    figure: Path | None = None,
) -> "Card":
    """Calibrate on validation, look at the test, and draw the reliability into `figure`."""
    from pairgram.evaluation.calibrate import calibrate, see, suggestions
    from pairgram.evaluation.reliability import reliability_svg

    seen = see(calibrate(build, split, seed), suggestions(model, split, seed))
    if figure is not None:
        drawn = reliability_svg(seen, f"{card.method}, seed {seed}")
        figure.write_text(drawn, encoding="utf-8")
    return replace(card, calibration=asdict(seen), metrics={**card.metrics, "ece": seen.ece})
