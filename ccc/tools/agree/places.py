"""Coordinates of textures and surfaces: the kinds ``texel13``, ``unit13`` and ``index13``.

They are for 13 elements in that direction: floats that count elements, floats of which 1 is the
whole width, and whole numbers.
"""

from __future__ import annotations

import functools
import re
from typing import Any

import numpy as np

from ccc.emulator.base.forms import Array

_KIND = re.compile(r"(texel|unit|index)(\d+)")
_SPECIAL = (
    *(0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007FFFFF, 0x00800000, 0x80800000),
    *(0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00000, 0x7F800001, 0x7FFFFFFF, 0x7F7FFFFF),
    *(0xFF7FFFFF, 0x4B000000, 0x4B000001, 0xCB000000, 0x4EFFFFFF, 0x4F000000, 0xCF000000),
    *(0x4F7FFFFF, 0x4F800000, 0x5F000000, 0xDF000000, 0x46FFFE00, 0x47000000, 0xC7000000),
)
"""Zeros, subnormal numbers, infinities, NaNs, and numbers at which whole ones no longer fit."""


@functools.cache
def size_of(kind: str) -> int:
    """How many elements there are; 0 if this is no kind of coordinate."""
    match = _KIND.fullmatch(kind)
    return int(match[2]) if match else 0


def edges(kind: str) -> list[int]:
    """Coordinates that something may go wrong for, as bits."""
    size = size_of(kind)
    if kind.startswith("index"):
        near = [*range(-4, 5), size // 2, *range(size - 4, size + 5), -size, 2 * size]
        far = [s * (1 << k) for k in (15, 16, 20, 24) for s in (-1, 1)]
        return [n & 0xFFFFFFFF for n in dict.fromkeys([*near, *far])]
    whole = np.unique(
        [*range(-3, 9), *range(0, size, max(size // 64, 1)), *range(size - 4, size + 5)]
    )
    borders = np.concatenate([whole, whole + 0.5])
    starts = np.array([-1, 0, 1, size // 2, size - 1, size])
    between = (starts[:, None] + (2 * np.arange(0, 256, 17) + 1) / 512).reshape(-1)
    found = np.concatenate([borders, between])
    if kind.startswith("unit"):
        found = np.concatenate([found / size, np.arange(-4, 5) / 2])
    exact = found.astype(np.float32)
    ups, downs = (np.nextafter(exact, np.float32(end)) for end in (np.inf, -np.inf))
    bits = np.concatenate([exact, ups, downs]).view(np.uint32)
    return list(dict.fromkeys([*_SPECIAL, *(int(one) for one in bits)]))


def drawn(kind: str, count: int, random: Any) -> Array:
    """Random coordinates in the image and around it, a few of them far away, as bits."""
    size = size_of(kind)
    if kind.startswith("index"):
        around = random.integers(-size // 4, size + size // 4 + 1, count)
        return np.asarray(around.astype(np.uint64) & np.uint64(0xFFFFFFFF))
    place = random.uniform(-0.25, 1.25, count) * size
    far = random.uniform(-1, 1, count) * size * 2.0 ** random.integers(0, 20, count)
    short = np.rint(place * 1024) / 1024
    pick = random.integers(0, 16, count)
    found = np.select([pick == 0, pick < 4], [far, short], place)
    if kind.startswith("unit"):
        found = found / size
    return np.asarray(found.astype(np.float32).view(np.uint32).astype(np.uint64))
