"""Fractal flames: ten variations of an iterated function system; see ``kernel.cu``.

S. Draves, E. Reckase: The Fractal Flame Algorithm, 2003.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ccc.errors import CccError

# Without it, ptxas may fuse a multiplication and an addition in one version and not in the
# other, so that last bits differ.
OPTIONS = ("-fmad=false",)
SIZES = {"gpu": 100_000_000, "paper": 10_000_000, "emulator": 100_000}
BLOCK = 256
BLOCKS = (64, 128, 256)
RIVALS = {
    "collection by hand, 3 variations": ("rivals/collection.cu", ("-DCOLLECTED=0x0e0",)),
    "collection by hand, 6 variations": ("rivals/collection.cu", ("-DCOLLECTED=0x2f4",)),
    "collection by hand, all variations": ("rivals/collection.cu", ("-DCOLLECTED=0x3ff",)),
    "grouping": ("rivals/grouping.cu", ()),
}
BOUND = ("kernel.cu", ("-DSAME_VARIATION",))
PAPER = 3.08
STEPS = 5
VARIATIONS = 10
REACH = 3.0
LARGEST = 1024
"""The side of the histogram from about a million points on."""

CHECKED = 1 << 20
"""At most so many points are drawn again by ``check``."""

CELLS = 32
"""``check`` compares how many points fall into each of CELLS x CELLS parts of the picture."""

TOLERANCE = 0.03
"""Of the points, as many may fall elsewhere: ``CHECKED`` points stand for all of them where there
are more, and NumPy's functions round differently."""

Floats = NDArray[np.float32]


def inputs(size: int, seed: int) -> dict[str, Any]:
    """An empty histogram.

    Args:
        size: how many points are drawn, at most 2^31.
        seed: what they are drawn from.

    Returns:
        ``histogram`` (side, side), uint32, about a pixel a point up to ``LARGEST``; ``points`` and
        ``seed``, uint32.
    """
    side = min(CELLS * max(1, int(size**0.5) // CELLS), LARGEST)
    return {
        "histogram": np.zeros((side, side), np.uint32),
        "points": np.uint32(size),
        "seed": np.random.default_rng(seed).integers(0, 2**32, dtype=np.uint32),
    }


def bound_inputs(inputs: dict[str, Any]) -> dict[str, Any]:
    """The same ones; ``check`` has to know that all points of a warp have the same variation."""
    return {**inputs, "same_variation": True}


def run(module: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """Draw all points in one launch.

    Returns:
        ``histogram`` (side, side), uint32: how many points fell on each pixel.
    """
    histogram, points = inputs["histogram"].copy(), inputs["points"]
    blocks = min(module.resident_blocks("flame", BLOCK), -(-int(points) // BLOCK))
    arguments = (points, inputs["seed"], np.uint32(len(histogram)), histogram)
    module.get_function("flame")((blocks,), (BLOCK,), arguments)
    return {"histogram": histogram}


def picture(outputs: dict[str, NDArray[Any]]) -> NDArray[np.uint8]:
    """The logarithm of the counts, from black over red and yellow to white, (side, side, 3)."""
    density = np.log1p(outputs["histogram"])
    shares = density / max(np.quantile(density, 0.999), 1)
    return np.uint8(255 * np.clip(3 * shares[..., None] - [0, 1, 2], 0, 1))


def check(inputs: dict[str, NDArray[Any]], outputs: dict[str, NDArray[Any]]) -> None:
    """Draw points again in NumPy, and compare where they fall.

    Raises:
        CccError: more than ``TOLERANCE`` of the points fall elsewhere.
    """
    points = min(int(inputs["points"]), CHECKED)
    x, y = reference(inputs, np.arange(points, dtype=np.uint32))
    limits = [[-REACH, REACH]] * 2
    expected = np.histogram2d(y, x, CELLS, limits)[0] / points
    width = len(outputs["histogram"]) // CELLS
    found = outputs["histogram"].reshape(CELLS, width, CELLS, width).sum((1, 3), np.int64)
    astray = np.abs(found / int(inputs["points"]) - expected).sum() / 2
    if not astray < TOLERANCE:
        raise CccError(f"{100 * astray:.1f} % of the points are not where they should be")


def reference(
    inputs: dict[str, NDArray[Any]], numbers: NDArray[np.uint32]
) -> tuple[Floats, Floats]:
    """The points of some numbers: x and y."""
    place = _hash(numbers ^ inputs["seed"])
    choices = _hash(place + np.uint32(0x9E3779B9))
    x, y = (np.float32(half & 0xFFFF) / 32768 - 1 for half in (place, place >> 16))
    for step in range(STEPS):
        corner = choices >> 2 * step
        x, y = (
            0.36 * x - 0.24 * y + np.where(corner & 1, 0.85, -0.35),
            0.24 * x + 0.36 * y + np.where(corner & 2, 0.85, -0.35),
        )
    same = "same_variation" in inputs
    chances = _hash(numbers // np.uint32(32) ^ inputs["seed"] if same else choices)
    which = (chances.astype(np.uint64) * VARIATIONS >> 32).astype(np.int64)
    return _varied(which, x.astype(np.float32), y.astype(np.float32))


def _varied(which: NDArray[np.int64], x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Bend each point by its variation."""
    r2 = x * x + y * y
    r, angle = np.sqrt(r2), np.arctan2(x, y)
    power, grown = r ** np.sin(angle), np.exp(x - 1)
    choices = [
        (x, y),
        (np.sin(x), np.sin(y)),
        (x / r2, y / r2),
        (x * np.sin(r2) - y * np.cos(r2), x * np.cos(r2) + y * np.sin(r2)),
        ((x - y) * (x + y) / r, 2 * x * y / r),
        (angle / np.pi, r - 1),
        (r * np.sin(angle + r), r * np.cos(angle - r)),
        (r * np.sin(angle * r), -r * np.cos(angle * r)),
        (grown * np.cos(np.pi * y), grown * np.sin(np.pi * y)),
        (power * np.cos(angle), power * np.sin(angle)),
    ]
    xs, ys = zip(*choices, strict=True)
    return np.choose(which, xs), np.choose(which, ys)


def _hash(h: NDArray[np.uint32]) -> NDArray[np.uint32]:
    h = (h ^ h >> 16) * np.uint32(0x7FEB352D)
    h = (h ^ h >> 15) * np.uint32(0x846CA68B)
    return h ^ h >> 16
