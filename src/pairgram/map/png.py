"""The map as a picture of dots, without any drawing library."""

import struct
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pairgram.io.atomic import replacing_file
from pairgram.map.build import REST, Map
from pairgram.map.colors import GREY, PALETTE

MARGIN = 0.03
PAPER = 255.0
OPACITY = 0.72


def write_png(path: str | Path, drawn: Map, size: int = 1600) -> None:
    """Write a square picture of `size` pixels a side, dots on white."""
    with replacing_file(path) as temporary:
        temporary.write_bytes(png_bytes(paint(drawn, size)))


def paint(drawn: Map, size: int) -> NDArray[np.uint8]:
    """Dots coloured by group, shape (size, size, 3); where many lie, the colour is full."""
    stamp = _stamp(size, len(drawn))
    reach = max(dx for dx, _, _ in stamp)
    wide = size + 2 * reach  # dots at the edge are cut off
    scale = (1 - 2 * MARGIN) * (size - 1) / 2
    column = np.rint(drawn.points[:, 0] * scale + (size - 1) / 2).astype(np.int64) + reach
    row = np.rint(-drawn.points[:, 1] * scale + (size - 1) / 2).astype(np.int64) + reach
    at, colors = row * wide + column, _colors(drawn)[drawn.group].astype(np.float32)
    sheets = np.zeros((4, wide * wide), np.float32)
    for dx, dy, share in stamp:
        np.add.at(sheets[3], at + dy * wide + dx, np.float32(share))
        for channel in range(3):
            np.add.at(sheets[channel], at + dy * wide + dx, colors[:, channel] * np.float32(share))
    inner = slice(reach, reach + size)
    *ink, count = sheets.reshape(4, wide, wide)[:, inner, inner]
    mean = np.stack(ink, axis=2) / np.maximum(count, 1e-9)[:, :, None]
    cover = (1 - (1 - OPACITY) ** count)[:, :, None]
    pixels: NDArray[np.uint8] = np.rint(PAPER + (mean - PAPER) * cover).astype(np.uint8)
    return pixels


def png_bytes(pixels: NDArray[np.uint8]) -> bytes:
    """Encode pixels, shape (h, w, 3), as PNG."""
    height, width, _ = pixels.shape
    rows = np.zeros((height, 1 + 3 * width), np.uint8)  # every row begins with its filter: none
    rows[:, 1:] = pixels.reshape(height, 3 * width)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes(), 6)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in parts)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _stamp(size: int, n: int) -> list[tuple[int, int, float]]:
    """Pixels of a dot and how much of each it covers; the fewer the dots, the larger they are."""
    radius = float(np.clip(0.35 * size / max(n, 1) ** 0.5, 0.9, size / 120))
    reach = int(np.ceil(radius))
    found = []
    for dx in range(-reach, reach + 1):
        for dy in range(-reach, reach + 1):
            share = min(max(radius + 0.5 - (dx * dx + dy * dy) ** 0.5, 0.0), 1.0)
            if share > 0:
                found.append((dx, dy, share))
    return found


def _colors(drawn: Map) -> NDArray[np.float64]:
    """Colour of each group, shape (g, 3)."""
    cycle = np.array([_rgb(color) for color in PALETTE], float)
    colors = cycle[np.arange(len(drawn.groups)) % len(cycle)]
    colors[[group.name == REST for group in drawn.groups]] = _rgb(GREY)
    return colors


def _rgb(color: str) -> tuple[int, int, int]:
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)
