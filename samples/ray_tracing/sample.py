"""Ray tracing of spheres with a shadow ray and one reflection; see ``kernel.cu``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ccc.errors import CccError

# Without it, ptxas may fuse a multiplication and an addition in one version and not in the
# other, so that last bits differ.
OPTIONS = ("-fmad=false",)
SIZES = {"gpu": 4096, "emulator": 192}
BLOCK = 256
BLOCKS = (64, 128, 256)
RIVALS = {
    "iteration delaying, 16 lanes": ("rivals/iteration_delaying.cu", ("-DWAITING=16",)),
    "iteration delaying, 24 lanes": ("rivals/iteration_delaying.cu", ("-DWAITING=24",)),
    "iteration delaying, 32 lanes": ("rivals/iteration_delaying.cu", ("-DWAITING=32",)),
    "collection by hand, queue": ("rivals/collection.cu", ()),
    "collection by hand, merge": ("rivals/collection.cu", ("-DMERGE",)),
}
BOUND = ("kernel.cu", ("-DSAME_TASK",))
PAPER = 1.38
SPHERES = 80
CHECKED = 1 << 16
"""At most about as many pixels are computed again by ``check``."""

TOLERANCE = 1e-3
OUTLIERS = 0.002
"""The share of pixels that may be off by more than ``TOLERANCE``: NumPy neither fuses
multiplications with additions nor rounds a reciprocal square root as the GPU does, so that at an
edge the two may see another sphere."""

Floats = NDArray[np.float32]


def inputs(size: int, seed: int) -> dict[str, Any]:
    """A scene of ``SPHERES`` spheres before a camera at the origin, and an image.

    Args:
        size: width of the image; the height follows (4096 by 2160).
        seed: what the scene is drawn from.

    Returns:
        ``spheres`` (SPHERES, 4): centre and radius; ``paints`` (SPHERES, 4): red, green, blue and
        the share of light that is reflected; ``image`` (height, width, 3). All float32.
    """
    random = np.random.default_rng(seed).random((2, SPHERES, 4), np.float32)
    low, high = np.array([[-7, -3.6, -14, 0.3], [7, 3.6, -7, 0.9]], np.float32)
    dark, bright = np.array([[0.2, 0.2, 0.2, 0.1], [1, 1, 1, 0.6]], np.float32)
    return {
        "spheres": low + (high - low) * random[0],
        "paints": dark + (bright - dark) * random[1],
        "image": np.zeros((size * 135 // 256, size, 3), np.float32),
    }


def bound_inputs(inputs: dict[str, Any]) -> dict[str, Any]:
    """The same ones; ``check`` has to know that all pixels of a warp are one and the same."""
    return {**inputs, "same_task": True}


def run(module: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """Trace the image in one launch.

    Returns:
        ``image`` (height, width, 3), float32, from 0 to 1.
    """
    image = inputs["image"].copy()
    height, width, _ = image.shape
    blocks = min(module.resident_blocks("trace", BLOCK), -(-height * width // BLOCK))
    sizes = np.int32(width), np.int32(height), np.int32(SPHERES)
    arguments = (*sizes, inputs["spheres"], inputs["paints"], image)
    module.get_function("trace")((blocks,), (BLOCK,), arguments)
    return {"image": image}


def picture(outputs: dict[str, NDArray[Any]]) -> NDArray[np.uint8]:
    """The image as bytes, (height, width, 3)."""
    return np.uint8(255 * np.clip(outputs["image"], 0, 1) + 0.5)


def check(inputs: dict[str, NDArray[Any]], outputs: dict[str, NDArray[Any]]) -> None:
    """Trace pixels again in NumPy: all of a small image, a regular choice of a large one.

    Raises:
        CccError: more than ``OUTLIERS`` of them have another colour there.
    """
    image = outputs["image"].reshape(-1, 3)
    pixels = np.arange(0, len(image), len(image) // CHECKED + 1)
    expected = reference(inputs, pixels)
    off = ~(np.abs(image[pixels] - expected).max(axis=1) < TOLERANCE)  # a NaN is off, too
    if off.mean() > OUTLIERS:
        pixel = pixels[np.argmax(off)]
        raise CccError(
            f"pixel {pixel} is {image[pixel]}, and should be {expected[np.argmax(off)]}"
            f" ({off.sum()} of {off.size} pixels are off by more than {TOLERANCE})"
        )


def _tasks(inputs: dict[str, NDArray[Any]], numbers: NDArray[np.integer]) -> NDArray[np.integer]:
    """What ``task_of`` in ``same_task.cuh`` makes of numbers."""
    if "same_task" not in inputs:
        return numbers
    return numbers // 32 * 32 + numbers // 32 % 32


def reference(inputs: dict[str, NDArray[Any]], pixels: NDArray[np.integer]) -> Floats:
    """The colours of some pixels, (pixels, 3)."""
    pixels = _tasks(inputs, pixels)
    spheres, paints = inputs["spheres"], inputs["paints"]
    height, width, _ = inputs["image"].shape
    x = (pixels % width - 0.5 * (width - 1)) / height
    y = (0.5 * (height - 1) - pixels // width) / height
    directions = np.stack([x, y, np.full(pixels.size, -1.0)], axis=1).astype(np.float32)
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    colours = _sky(directions)
    found, distances = _nearest(np.zeros_like(directions), directions, spheres)
    hit = found >= 0
    surfaces = distances[hit, None] * directions[hit]
    colours[hit] = _shade(surfaces, directions[hit], found[hit], spheres, paints)
    return colours


def _nearest(
    origins: Floats, directions: Floats, spheres: Floats
) -> tuple[NDArray[np.int32], Floats]:
    """For each ray the sphere that it enters first, -1 if none, and the distance."""
    found = np.full(len(origins), -1, np.int32)
    distances = np.full(len(origins), 1e30, np.float32)
    for number, (*centre, radius) in enumerate(spheres):
        towards = np.float32(centre) - origins
        along = _dot(towards, directions)
        beside = towards - along[:, None] * directions
        inside = radius**2 - _dot(beside, beside)
        entry = along - np.sqrt(np.maximum(inside, 0))
        nearer = (inside > 0) & (entry > 0) & (entry < distances)
        found[nearer] = number
        distances[nearer] = entry[nearer]
    return found, distances


def _shade(
    surfaces: Floats, directions: Floats, found: NDArray[np.int32], spheres: Floats, paints: Floats
) -> Floats:
    """The colours of points on spheres, seen along the directions."""
    sun = np.array([0.48, 0.80, 0.36], np.float32)
    normals = (surfaces - spheres[found, :3]) / spheres[found, 3:]
    starts = surfaces + np.float32(1e-3) * normals
    cosines = normals @ sun
    shadows = _nearest(starts, np.broadcast_to(sun, starts.shape), spheres)[0] >= 0
    own = _lit(paints[found], np.where(shadows, 0, cosines))

    mirrored = directions - 2 * _dot(directions, normals)[:, None] * normals
    others, distances = _nearest(starts, mirrored, spheres)
    facing = (starts + distances[:, None] * mirrored - spheres[others, :3]) / spheres[others, 3:]
    reflected = np.where(others[:, None] >= 0, _lit(paints[others], facing @ sun), _sky(mirrored))
    share = paints[found, 3:]
    return (1 - share) * own + share * reflected


def _sky(directions: Floats) -> Floats:
    heights = np.float32(0.5) * directions[:, 1:2] + np.float32(0.5)
    return 1 - heights * np.array([0.6, 0.4, 0], np.float32)


def _lit(paints: Floats, cosines: Floats) -> Floats:
    light = np.float32(0.25) + np.float32(0.75) * np.maximum(cosines, 0)
    return light[:, None] * paints[:, :3]


def _dot(one: Floats, other: Floats) -> Floats:
    return (one * other).sum(axis=1)
