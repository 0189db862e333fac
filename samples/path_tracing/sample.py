"""Path tracing of diffuse, metal and glass spheres; see ``kernel.cu``.

The scene is the last of P. Shirley's "Ray Tracing in One Weekend": large and small spheres on the
ground.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ccc.errors import CccError

# Without it, ptxas may fuse a multiplication and an addition in one version and not in the
# other, so that last bits differ.
OPTIONS = ("-fmad=false",)
SIZES = {"gpu": 1200, "emulator": 60}
BLOCK = 128
BLOCKS = (64, 128)
RIVALS = {
    "sub-warp 4": ("rivals/sub_warp.cu", ("-DWIDTH=4",)),
    "sub-warp 8": ("rivals/sub_warp.cu", ("-DWIDTH=8",)),
    "sub-warp 16": ("rivals/sub_warp.cu", ("-DWIDTH=16",)),
    "sub-warp 32": ("rivals/sub_warp.cu", ("-DWIDTH=32",)),
    "loop merging": ("rivals/loop_merging.cu", ()),
    "refill at 1 idle lane": ("rivals/refill.cu", ("-DIDLE=1",)),
    "refill at 8 idle lanes": ("rivals/refill.cu", ("-DIDLE=8",)),
    "refill at 16 idle lanes": ("rivals/refill.cu", ("-DIDLE=16",)),
    "collection by hand, shared": ("rivals/collection.cu", ("-DSHARED",)),
    "collection by hand, registers": ("rivals/collection.cu", ()),
    "collection by hand, registers, counter": ("rivals/collection.cu", ("-DCOUNTER",)),
}
BOUND = ("kernel.cu", ("-DSAME_TASK",))
SAMPLES = 16
MOST_BOUNCES = 50
DIFFUSE, METAL, GLASS = range(3)
EYE = (13, 2, 3)

CHECKED = 1 << 15
"""At most about as many paths are traced again by ``check``."""

TOLERANCE = 0.01
OUTLIERS = 0.01
"""The share of paths whose light may be off by more than ``TOLERANCE``. NumPy rounds in other
places than the GPU, whose sines and square roots are fast ones besides, and each bounce off a small
sphere multiplies such a difference, until a path meets another sphere."""

BIAS = 0.002
"""How much the mean light of all checked paths may be off."""

Floats = NDArray[np.float32]


def inputs(size: int, seed: int) -> dict[str, Any]:
    """A scene, the light of each path, and an image.

    Args:
        size: width of the image; the height is two thirds of it. Images narrower than 352 have
            fewer small spheres.
        seed: what the scene and the paths are drawn from.

    Returns:
        ``spheres`` (spheres, 4): centre and radius; ``paints`` (spheres, 4): red, green, blue, and
        a metal's blur or a glass's index; ``light`` (pixels * SAMPLES, 3); ``image``
        (height, width, 3), all float32. ``materials`` (spheres,), int32; ``seed``, uint32.
    """
    random = np.random.default_rng(seed)
    half = min(11, max(size // 32, 1))  # of the square of small spheres
    places = np.stack(np.meshgrid(*[np.arange(-half, half)] * 2), axis=-1).reshape(-1, 2)
    count = len(places)
    small = np.full((count, 4), 0.2)
    small[:, ::2] = places + 0.9 * random.random((count, 2))
    materials = random.choice([DIFFUSE, METAL, GLASS], count, p=[0.8, 0.15, 0.05])
    paints = np.empty((count, 4))
    paints[:, :3] = random.random((count, 3)) * random.random((count, 3))
    paints[materials == METAL, :3] = 0.5 + 0.5 * paints[materials == METAL, :3]
    paints[materials == GLASS, :3] = 1
    paints[:, 3] = np.where(materials == GLASS, 1.5, 0.5 * random.random(count))
    large = [[0, -1000, 0, 1000], [0, 1, 0, 1], [-4, 1, 0, 1], [4, 1, 0, 1]]
    large_paints = [[0.5, 0.5, 0.5, 0], [1, 1, 1, 1.5], [0.4, 0.2, 0.1, 0], [0.7, 0.6, 0.5, 0]]
    height = size * 2 // 3
    return {
        "spheres": np.float32(np.vstack([large, small])),
        "paints": np.float32(np.vstack([large_paints, paints])),
        "materials": np.int32([DIFFUSE, GLASS, DIFFUSE, METAL, *materials]),
        "light": np.zeros((height * size * SAMPLES, 3), np.float32),
        "image": np.zeros((height, size, 3), np.float32),
        "seed": random.integers(0, 2**32, dtype=np.uint32),
    }


def bound_inputs(inputs: dict[str, Any]) -> dict[str, Any]:
    """The same ones; ``check`` has to know that all paths of a warp are one and the same."""
    return {**inputs, "same_task": True}


def run(module: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """Trace all paths in one launch, and average them in another.

    Returns:
        ``light`` (pixels * SAMPLES, 3): what each path saw; ``image`` (height, width, 3): the mean
        of each pixel. Both float32, from 0 to 1.
    """
    light, image = inputs["light"].copy(), inputs["image"].copy()
    height, width, _ = image.shape
    scene = [inputs[name] for name in ("spheres", "paints", "materials")]
    samples = np.int32(SAMPLES)
    head = np.int32(width), np.int32(height), samples, inputs["seed"], np.int32(len(scene[0]))
    _launch(module, "trace", len(light), (*head, *scene, light))
    _launch(module, "average", image.size, (np.int32(height * width), samples, light, image))
    return {"light": light, "image": image}


def _launch(module: Any, name: str, count: int, arguments: tuple[Any, ...]) -> None:
    """As many blocks as the device holds at once, or fewer where there is less to do."""
    blocks = min(module.resident_blocks(name, BLOCK), -(-count // BLOCK))
    module.get_function(name)((blocks,), (BLOCK,), arguments)


def picture(outputs: dict[str, NDArray[Any]]) -> NDArray[np.uint8]:
    """The image as bytes, brightened as screens want it, (height, width, 3)."""
    return np.uint8(255 * np.sqrt(np.clip(outputs["image"], 0, 1)) + 0.5)


def check(inputs: dict[str, NDArray[Any]], outputs: dict[str, NDArray[Any]]) -> None:
    """Trace paths again in NumPy: all of a small image, a regular choice of a large one.

    Raises:
        CccError: more than ``OUTLIERS`` of the paths see other light, or the mean is off.
    """
    light = outputs["light"]
    paths = np.arange(0, len(light), len(light) // CHECKED + 1)
    found, expected = light[paths], reference(inputs, paths)
    off = ~(np.abs(found - expected).max(axis=1) < TOLERANCE)  # a NaN is off, too
    if off.mean() > OUTLIERS:
        path = paths[np.argmax(off)]
        raise CccError(
            f"the light of path {path} is {light[path]}, and should be {expected[np.argmax(off)]}"
            f" ({off.sum()} of {off.size} paths are off by more than {TOLERANCE})"
        )
    if not (np.abs(found.mean(axis=0) - expected.mean(axis=0)) < BIAS).all():
        raise CccError(f"the mean light is {found.mean(axis=0)}, not {expected.mean(axis=0)}")
    means = light.reshape(*outputs["image"].shape[:2], SAMPLES, 3).mean(axis=2)
    if not np.allclose(outputs["image"], means, atol=1e-5):
        raise CccError("the image is not the mean of its paths")


@dataclass
class _Paths:
    """Some paths on their way, one row each."""

    origin: Floats
    direction: Floats
    colour: Floats
    state: NDArray[np.uint32]

    def __getitem__(self, rows: NDArray[Any]) -> _Paths:
        return _Paths(*(array[rows] for array in vars(self).values()))

    def __setitem__(self, rows: NDArray[Any], values: _Paths) -> None:
        for name, array in vars(self).items():
            array[rows] = getattr(values, name)

    def uniform(self) -> Floats:
        """The next random number of each path, from 0 to 1."""
        self.state = self.state * np.uint32(747796405) + np.uint32(2891336453)
        return (_hash(self.state) >> 8).astype(np.float32) / np.float32(2**24)

    def any_direction(self) -> Floats:
        """A random direction for each path."""
        z = 2 * self.uniform() - 1
        angle = np.float32(2 * np.pi) * self.uniform() - np.float32(np.pi)
        radius = np.sqrt(1 - z * z)
        return np.stack([radius * np.cos(angle), radius * np.sin(angle), z], axis=1)


def _tasks(inputs: dict[str, NDArray[Any]], numbers: NDArray[np.integer]) -> NDArray[np.integer]:
    """What ``task_of`` in ``same_task.cuh`` makes of numbers."""
    if "same_task" not in inputs:
        return numbers
    return numbers // 32 * 32 + numbers // 32 % 32


def reference(inputs: dict[str, NDArray[Any]], numbers: NDArray[np.integer]) -> Floats:
    """The light of the paths with some numbers, (paths, 3)."""
    paths = _begin(inputs, _tasks(inputs, numbers))
    light = np.zeros_like(paths.colour)
    rows = np.arange(len(numbers))  # of the paths that still go on
    for _ in range(MOST_BOUNCES):
        found, distances = _nearest(paths, inputs["spheres"])
        free = found < 0
        sky = np.float32(0.5) * paths.direction[free, 1:2] + np.float32(0.5)
        light[rows[free]] = paths.colour[free] * (1 - sky * np.array([0.5, 0.3, 0], np.float32))
        rows, found, paths = rows[~free], found[~free], paths[~free]
        paths.origin += distances[~free, None] * paths.direction
        alive = _scatter(paths, found, inputs)
        rows, paths = rows[alive], paths[alive]
    return light


def _begin(inputs: dict[str, NDArray[Any]], numbers: NDArray[np.integer]) -> _Paths:
    """The paths at the eye."""
    height, width, _ = inputs["image"].shape
    paths = _Paths(
        np.tile(np.array(EYE, np.float32), (len(numbers), 1)),
        np.empty((len(numbers), 3), np.float32),
        np.ones((len(numbers), 3), np.float32),
        _hash(numbers.astype(np.uint32) ^ inputs["seed"]),
    )
    pixels = numbers // SAMPLES
    x = (np.float32(pixels % width) + paths.uniform()) / np.float32(width)
    y = (np.float32(pixels // width) + paths.uniform()) / np.float32(height)
    ahead = -_unit(np.array([EYE], np.float32))
    right = _unit(np.cross(ahead, [0, 1, 0]))
    up = np.cross(right, ahead)
    steep = np.tan(np.radians(10))
    across, along = (2 * x - 1)[:, None] * right * 1.5, (1 - 2 * y)[:, None] * up
    paths.direction = _unit(ahead + steep * (across + along)).astype(np.float32)
    return paths


def _nearest(paths: _Paths, spheres: Floats) -> tuple[NDArray[np.int32], Floats]:
    """For each path the sphere that it meets first, -1 if none, and the distance."""
    found = np.full(len(paths.origin), -1, np.int32)
    distances = np.full(len(paths.origin), 1e30, np.float32)
    for number, (*centre, radius) in enumerate(spheres):
        towards = np.float32(centre) - paths.origin
        along = _dot(towards, paths.direction)
        beside = towards - along * paths.direction
        inside = radius * radius - _dot(beside, beside)[:, 0]
        half = np.sqrt(np.maximum(inside, 0))
        entry, leave = along[:, 0] - half, along[:, 0] + half
        distance = np.where(entry > 1e-3, entry, leave)
        nearer = (inside > 0) & (distance > 1e-3) & (distance < distances)
        found[nearer] = number
        distances[nearer] = distance[nearer]
    return found, distances


def _scatter(
    paths: _Paths, found: NDArray[np.int32], inputs: dict[str, NDArray[Any]]
) -> NDArray[np.bool_]:
    """Turn the paths at the surfaces they met; whether each goes on."""
    spheres, paints = inputs["spheres"][found], inputs["paints"][found]
    normals = (paths.origin - spheres[:, :3]) * (1 / spheres[:, 3:])
    alive = np.ones(len(found), np.bool_)
    for material, turn in enumerate((_diffuse, _metal, _glass)):
        mine = inputs["materials"][found] == material
        part = paths[mine]
        alive[mine] = turn(part, normals[mine], paints[mine, 3:])
        paths[mine] = part
    paths.direction = _unit(paths.direction)
    paths.colour *= paints[:, :3]
    return alive


def _diffuse(paths: _Paths, normals: Floats, _: Floats) -> NDArray[np.bool_]:
    paths.direction = normals + np.float32(0.999) * paths.any_direction()
    return np.ones(len(normals), np.bool_)


def _metal(paths: _Paths, normals: Floats, blur: Floats) -> NDArray[np.bool_]:
    mirrored = _mirrored(paths.direction, normals)
    paths.direction = mirrored + blur * paths.any_direction()
    return _dot(paths.direction, normals)[:, 0] > 0


def _glass(paths: _Paths, normals: Floats, index: Floats) -> NDArray[np.bool_]:
    cosine = _dot(paths.direction, normals)
    ratio = np.where(cosine > 0, index, 1 / index)
    steep = np.abs(cosine)
    bent = 1 - ratio**2 * (1 - steep**2)
    face = ((1 - index) / (1 + index)) ** 2
    share = face + (1 - face) * (1 - steep) ** 5
    inwards = np.where(cosine > 0, normals, -normals)
    through = ratio * (paths.direction - steep * inwards) + np.sqrt(np.maximum(bent, 0)) * inwards
    # A path that must be mirrored draws no number.
    free = bent[:, 0] > 0
    part = paths[free]
    mirrored = ~free
    mirrored[free] = part.uniform() < share[free, 0]
    paths[free] = part
    reflected = _mirrored(paths.direction, normals)
    paths.direction = np.where(mirrored[:, None], reflected, through)
    return np.ones(len(normals), np.bool_)


def _mirrored(directions: Floats, normals: Floats) -> Floats:
    return directions - 2 * _dot(directions, normals) * normals


def _hash(h: NDArray[np.uint32]) -> NDArray[np.uint32]:
    h = (h ^ h >> 16) * np.uint32(0x7FEB352D)
    h = (h ^ h >> 15) * np.uint32(0x846CA68B)
    return h ^ h >> 16


def _dot(one: Floats, other: Floats) -> Floats:
    """The products of rows, (rows, 1)."""
    return (one * other).sum(axis=1, keepdims=True)


def _unit(directions: Floats) -> Floats:
    return directions / np.sqrt(_dot(directions, directions))
