"""Figures of tables: published and measured values on one axis, drawn as plain SVG."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from pairgram.bench.figures import Spread

ROW, LEFT, WIDTH, TOP, BOTTOM = 20, 250, 460, 46, 34
OURS, PUBLISHED, INK, FAINT = "#1f6feb", "#d1242f", "#24292f", "#d0d7de"


@dataclass(frozen=True)
class Mark:
    """A line of a figure: what was measured, with its spread, and what was published."""

    label: str
    ours: Spread | None
    published: float | None = None


def figure_svg(title: str, axis: str, marks: Sequence[Mark]) -> str:
    """Draw marks one below the other: a dot with ± sd for ours, a diamond for the published one."""
    low, high = _range(marks)
    height = TOP + ROW * len(marks) + BOTTOM
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + 30}" height="{height}" '
        'font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="white"/>',
        _text(12, 18, title, size=14),
        _legend(LEFT, 34),
        *_axis(low, high, len(marks), axis),
    ]
    for number, mark in enumerate(marks):
        parts += _mark(mark, TOP + ROW * number + ROW / 2, low, high)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _range(marks: Sequence[Mark]) -> tuple[float, float]:
    values = [mark.published for mark in marks if mark.published is not None]
    for mark in marks:
        if mark.ours is not None:
            sd = mark.ours.sd or 0.0
            values += [mark.ours.mean - sd, mark.ours.mean + sd]
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    edge = max(0.05 * (high - low), 0.005)
    return low - edge, high + edge


def _axis(low: float, high: float, rows: int, name: str) -> list[str]:
    parts, bottom = [], TOP + ROW * rows
    for tick in range(6):
        value = low + (high - low) * tick / 5
        x = LEFT + WIDTH * tick / 5
        parts.append(f'<line x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{bottom}" stroke="{FAINT}"/>')
        parts.append(_text(x, bottom + 14, f"{value:.3f}", anchor="middle"))
    return [*parts, _text(LEFT + WIDTH / 2, bottom + 29, name, anchor="middle")]


def _mark(mark: Mark, y: float, low: float, high: float) -> list[str]:
    def x(value: float) -> float:
        return LEFT + WIDTH * (value - low) / (high - low)

    parts = [_text(LEFT - 10, y + 4, mark.label, anchor="end")]
    if mark.published is not None:
        at = x(mark.published)
        points = (
            f"{at:.1f},{y - 5:.1f} {at + 5:.1f},{y:.1f} {at:.1f},{y + 5:.1f} {at - 5:.1f},{y:.1f}"
        )
        parts.append(f'<polygon points="{points}" fill="none" stroke="{PUBLISHED}"/>')
    if mark.ours is not None:
        mean, sd = mark.ours.mean, mark.ours.sd or 0.0
        parts.append(
            f'<line x1="{x(mean - sd):.1f}" y1="{y:.1f}" x2="{x(mean + sd):.1f}" y2="{y:.1f}" '
            f'stroke="{OURS}" stroke-width="2"/>'
        )
        parts.append(f'<circle cx="{x(mean):.1f}" cy="{y:.1f}" r="4" fill="{OURS}"/>')
    return parts


def _legend(x: float, y: float) -> str:
    return (
        f'<circle cx="{x + 5}" cy="{y - 4}" r="4" fill="{OURS}"/>'
        + _text(x + 14, y, "ours, ± sd over seeds")
        + _diamond(x + 165, y - 4)
        + _text(x + 176, y, "published")
    )


def _diamond(x: float, y: float) -> str:
    corners = [(x, y - 5), (x + 5, y), (x, y + 5), (x - 5, y)]
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in corners)
    return f'<polygon points="{points}" fill="none" stroke="{PUBLISHED}"/>'


def _text(x: float, y: float, text: str, anchor: str = "start", size: int = 12) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{INK}">'
        f"{escape(text)}</text>"
    )
