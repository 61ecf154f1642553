"""Small charts as SVG: bars beside names, and lines over logarithmic axes."""

import math
from collections.abc import Mapping, Sequence
from html import escape

FONT = 'font-family="system-ui, sans-serif"'
INK, QUIET, OURS = "#2c3e50", "#8a94a3", "#c0392b"
COLOURS = ("#c0392b", "#2c6fbb", "#e08e0b", "#3a8f5c", "#7d4fa0", "#5d6d7e")


def bars(
    title: str,
    rows: Sequence[tuple[str, float, str]],
    highlight: str = "",
    log: bool = True,
) -> str:
    """Horizontal bars: (name, value, what to write beside it), all values above 0.

    >>> bars("a", [("x", 1.0, "1 s"), ("y", 10.0, "10 s")]).count("<rect")
    3
    """
    width, left, row_height = 760, 250, 26
    height = 50 + row_height * len(rows)
    most = max((value for _, value, _ in rows), default=1.0)
    least = min((value for _, value, _ in rows), default=1.0)
    low = math.log10(least) - 0.3 if log else 0.0
    span = (math.log10(most) if log else most) - low or 1.0
    parts = _head(width, height, title)
    for i, (name, value, words) in enumerate(rows):
        y = 40 + row_height * i
        length = ((math.log10(value) if log else value) - low) / span * (width - left - 170)
        colour = OURS if highlight and name.startswith(highlight) else QUIET
        parts.append(
            f'<text x="{left - 8}" y="{y + 14}" text-anchor="end" font-size="13" fill="{INK}">'
            f"{escape(name)}</text>"
            f'<rect x="{left}" y="{y}" width="{max(length, 1):.1f}" height="18" fill="{colour}"/>'
            f'<text x="{left + max(length, 1) + 6:.1f}" y="{y + 14}" font-size="12" fill="{INK}">'
            f"{escape(words)}</text>"
        )
    return "\n".join([*parts, "</svg>"]) + "\n"


def lines(
    title: str,
    series: Mapping[str, Sequence[tuple[float, float]]],
    x_name: str,
    y_name: str,
) -> str:
    """Lines through points (x, y), both axes logarithmic, all numbers above 0."""
    width, height, left, right, top, bottom = 640, 400, 70, 190, 40, 50
    points = [point for line in series.values() for point in line]
    x_low, x_high = _decades([x for x, _ in points])
    y_low, y_high = _decades([y for _, y in points])

    def place(x: float, y: float) -> tuple[float, float]:
        across = (math.log10(x) - x_low) / (x_high - x_low)
        up = (math.log10(y) - y_low) / (y_high - y_low)
        return (
            left + across * (width - left - right),
            height - bottom - up * (height - top - bottom),
        )

    parts = _head(width, height, title)
    for decade in range(x_low, x_high + 1):
        x, y = place(10.0**decade, 10.0**y_low)
        parts.append(_tick(x, y + 18, decade, "middle") + _rule(x, y, x, top))
    for decade in range(y_low, y_high + 1):
        x, y = place(10.0**x_low, 10.0**decade)
        parts.append(_tick(x - 6, y + 4, decade, "end") + _rule(x, y, width - right, y))
    for i, (name, line) in enumerate(series.items()):
        colour = COLOURS[i % len(COLOURS)]
        placed = [place(*point) for point in sorted(line)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in placed)
        parts.append(
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>'
            + "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>'
                      for x, y in placed)
            + f'<text x="{width - right + 12}" y="{top + 18 + 20 * i}" font-size="12" '
            f'fill="{colour}">{escape(name)}</text>'
        )  # fmt: skip
    middle = left + (width - left - right) / 2
    parts += [
        f'<text x="{middle}" y="{height - 10}" text-anchor="middle" font-size="13" fill="{INK}">'
        f"{escape(x_name)}</text>",
        f'<text transform="translate(16 {height / 2}) rotate(-90)" text-anchor="middle" '
        f'font-size="13" fill="{INK}">{escape(y_name)}</text>',
    ]
    return "\n".join([*parts, "</svg>"]) + "\n"


def _head(width: int, height: int, title: str) -> list[str]:
    return [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        f'{FONT} aria-label="{escape(title)}">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        f'<text x="12" y="22" font-size="15" fill="{INK}">{escape(title)}</text>',
    ]


def _decades(values: Sequence[float]) -> tuple[int, int]:
    low = math.floor(math.log10(min(values)))
    return low, max(math.ceil(math.log10(max(values))), low + 1)


def _tick(x: float, y: float, decade: int, anchor: str) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="12" fill="{INK}">10'
        f'<tspan dy="-5" font-size="9">{decade}</tspan></text>'
    )


def _rule(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="#dde2e8"/>'
