"""The reliability plot: what probabilities say against what is seen."""

from html import escape

from pairgram.evaluation.calibrate import Calibrated

SIZE, EDGE = 320, 46
INK, LINE, DOT = "#24292f", "#d0d7de", "#1f6feb"


def reliability_svg(seen: Calibrated, title: str) -> str:
    """Draw mean probability and share of links of every bin; on the diagonal they agree."""
    top = max([0.05, *(max(said, share) for said, share, _ in seen.bins)])

    def at(value: float) -> float:
        return SIZE * value / top

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{SIZE + 2 * EDGE}" '
        f'height="{SIZE + 2 * EDGE}" font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="white"/>',
        _text(EDGE, 20, f"{title}: ECE {seen.ece:.4f}"),
        f'<path d="M{EDGE} {EDGE + SIZE} L{EDGE + SIZE} {EDGE}" stroke="{LINE}"/>',
        f'<rect x="{EDGE}" y="{EDGE}" width="{SIZE}" height="{SIZE}" fill="none" stroke="{LINE}"/>',
    ]
    points = [(EDGE + at(said), EDGE + SIZE - at(share)) for said, share, _ in seen.bins]
    track = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    parts.append(f'<polyline points="{track}" fill="none" stroke="{DOT}"/>')
    parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{DOT}"/>' for x, y in points]
    parts += [
        _text(EDGE, EDGE + SIZE + 16, "0"),
        _text(EDGE + SIZE - 20, EDGE + SIZE + 16, f"{top:.2f}"),
        _text(EDGE + 90, EDGE + SIZE + 34, "probability that is said"),
        _text(4, EDGE + 10, f"{top:.2f}"),
        _text(4, EDGE - 8, "share of links that is seen"),
    ]
    return "\n".join([*parts, "</svg>"]) + "\n"


def _text(x: float, y: float, text: str) -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" fill="{INK}">{escape(text)}</text>'
