"""Textures and surfaces: arrays that are read by coordinates.

(CUDA C++ Programming Guide, texture fetching; PTX ISA sections 9.7.10 and 9.7.11.) An array has up
to three dimensions, the last of which is x, and one more for the channels if there are several.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ccc.emulator.base.errors import EmulatorError
from ccc.emulator.base.forms import Array
from ccc.emulator.memory.filtering import FRACTION, mixed, shares

ADDRESSING = ("clamp", "border", "wrap", "mirror")
_COUNTER_CLOCKWISE = ((0, 1), (1, 1), (1, 0), (0, 0))
_LEAST_BITS = 21
"""Bits of a normalized coordinate behind the point, of small images."""
_LONG_ROWS = (1 << 13, 1 << 16)
"""Rows of more elements have one bit more, and two."""
_LONG_SIDE = 1 << 13
"""Images of two or three dimensions with a longer side have two more; what is known of an H200 are
sides of up to 150, and of 20,000."""
_SMALLEST = 2.0**-126
"""Coordinates that are smaller are zero."""


@dataclass(slots=True, eq=False)
class Surface:
    """An array that kernels read and write by coordinates.

    Args:
        array: C-contiguous, or with gaps between its rows; it is changed in place.
        channels: 1, 2 or 4; the size of the last dimension, if it is not 1.
    """

    array: Array
    channels: int = 1

    def __post_init__(self) -> None:
        dimensions = self.array.ndim - (self.channels > 1)
        fits = self.channels == 1 or self.array.shape[-1] == self.channels
        if self.channels not in (1, 2, 4) or not fits or not 1 <= dimensions <= 3:
            raise EmulatorError(
                f"an array of shape {self.array.shape} has not {self.channels} channels of up to "
                "three dimensions"
            )

    @property
    def sizes(self) -> tuple[int, ...]:
        """Width, and height and depth where there are such."""
        shape = self.array.shape[: -1 if self.channels > 1 else None]
        return shape[::-1]

    @property
    def element(self) -> int:
        """The bytes of an element with all its channels."""
        return self.array.itemsize * self.channels


@dataclass(slots=True, eq=False)
class Texture(Surface):
    """An array that kernels read through a filter.

    Args:
        linear: interpolate between neighbours; else the nearest is read.
        normalized: coordinates go from 0 to 1; else they are those of the elements.
        addressing: what is beyond the array: ``"clamp"`` and ``"border"`` (zeros), and of
            normalized coordinates ``"wrap"`` and ``"mirror"``.
        as_float: integers of 8 and 16 bits are read as numbers from 0 or -1 to 1.
    """

    linear: bool = False
    normalized: bool = False
    addressing: str = "clamp"
    as_float: bool = False

    def __post_init__(self) -> None:
        Surface.__post_init__(self)
        if self.addressing not in ADDRESSING:
            raise EmulatorError(f"{self.addressing} is no addressing; known are {ADDRESSING}")
        if self.addressing in ("wrap", "mirror") and not self.normalized:
            raise EmulatorError(f"{self.addressing} is for normalized coordinates")
        is_float = self.array.dtype.kind == "f" or self.as_float
        if self.linear and not is_float:
            raise EmulatorError("integers are not interpolated unless they are read as floats")

    def read(self, coordinates: list[Array]) -> list[Array]:
        """The four channels at coordinates of elements or of the unit square.

        Args:
            coordinates: of x, y and z: float32 or int32, (n,) each.

        Returns:
            What a register holds, uint32, (n,) each; 0 where there is no such channel.
        """
        if coordinates[0].dtype.kind == "i":
            found = self._named(coordinates)
        elif self.linear:
            found = self._interpolated(coordinates)
        else:
            pairs = zip(coordinates, self.sizes, strict=True)
            found = self._bits(self.at([self._scaled(x, size, 0) for x, size in pairs]))
        missing = np.zeros_like(found[..., 0])
        return [found[..., k] if k < self.channels else missing for k in range(4)]

    def gather(self, coordinates: list[Array], channel: int) -> list[Array]:
        """One channel of the four elements around a place, counter-clockwise from (0, 1)."""
        pairs = zip(coordinates, self.sizes, strict=True)
        lows = [self._scaled(x, size, FRACTION) >> FRACTION for x, size in pairs]
        missing = np.zeros(len(lows[0]), np.uint32)
        if channel >= self.channels:
            return [missing] * 4
        corners = ([lows[0] + right, lows[1] + up] for right, up in _COUNTER_CLOCKWISE)
        return [self._bits(self.at(corner))[:, channel] for corner in corners]

    def _named(self, coordinates: list[Array]) -> Array:
        """The elements that whole numbers name; zeros beyond, whatever the addressing."""
        inside = np.ones(len(coordinates[0]), bool)
        for x, size in zip(coordinates, self.sizes, strict=True):
            inside &= (x >= 0) & (x < size)
        found = self._bits(self.at([x.astype(np.int64) for x in coordinates]))
        return np.asarray(np.where(inside[:, None], found, np.uint32(0)))

    def _scaled(self, given: Array, size: int, fraction: int) -> Array:
        """A coordinate in elements, or in parts of them: int64.

        Args:
            given: float32.
            size: of that dimension.
            fraction: how many bits follow the point; half of the last one is rounded up.
        """
        with np.errstate(invalid="ignore"):  # NaNs of any kind
            wide = given.astype(np.float64)
        wide[np.isnan(wide) | (np.abs(wide) < _SMALLEST)] = 0.0
        half = (1 << fraction) // 2 if fraction else 0
        if not self.normalized:
            wide = np.clip(wide, -2.0, size + 2.0)
            rounded = np.floor(np.ldexp(wide, fraction) + (0.5 if fraction else 0.0))
            return np.asarray(rounded.astype(np.int64) - half)
        bits = _normalized_bits(self.sizes)
        if self.addressing in ("wrap", "mirror"):
            wide[np.isinf(wide)] = 0.0
            period = 1 if self.addressing == "wrap" else 2
            fixed = np.mod(np.floor(np.ldexp(wide, bits)), float(period << bits))
        else:
            fixed = np.floor(np.ldexp(np.clip(wide, -3.0, 4.0), bits))
        place = fixed.astype(np.int64) * size
        if self.addressing == "mirror" and not fraction:
            place = np.where(place >= size << bits, (2 * size << bits) - 1 - place, place)
        if fraction:
            place = (place << fraction) + (1 << bits - 1)
        return np.asarray((place >> bits) - half)

    def _between(self, x: Array, size: int) -> tuple[Array, Array]:
        """The element before a coordinate, and how many 256th of the next one are wanted."""
        place = self._scaled(x, size, FRACTION)
        if self.addressing == "clamp":
            place = np.clip(place, 0, size - 1 << FRACTION)
        return place >> FRACTION, place & (1 << FRACTION) - 1

    def _interpolated(self, coordinates: list[Array]) -> Array:
        pairs = zip(coordinates, self.sizes, strict=True)
        lows, parts = map(list, zip(*(self._between(x, size) for x, size in pairs), strict=True))
        if len(lows) == 1:  # a single row, read at its edge
            lows.append(np.full(len(lows[0]), -1))
            parts.append(np.full(len(lows[0]), 128))
        corners = shares(parts)
        elements = [self.at([low + up for low, up in zip(lows, ups, strict=True)])
                    for ups, _ in corners]  # fmt: skip
        found = mixed(np.array(elements), parts, corners)
        return np.asarray(found.view(np.uint32))

    def at(self, places: list[Array]) -> Any:
        """The elements at places that may be beyond the array: (n, channels)."""
        inside = np.ones(len(places[0]), bool)
        index = []
        for given, size in zip(places, (*self.sizes, 1), strict=False):
            place = self._folded(given, size)
            inside &= (place >= 0) & (place < size)
            index.append(np.clip(place, 0, size - 1))
        index = index[: len(self.sizes)]
        found = self.array[tuple(index[::-1])].reshape(len(inside), -1)
        if self.addressing == "border":
            found = np.where(inside[:, None], found, found.dtype.type(0))
        return found

    def _folded(self, place: Array, size: int) -> Array:
        """A place beyond the array where it is repeated."""
        if self.addressing == "wrap":
            return place % size
        if self.addressing == "mirror":
            turned = place % (2 * size)
            return np.where(turned >= size, 2 * size - 1 - turned, turned)
        return place

    def _numbers(self, elements: Array) -> Any:
        """The elements as floats, float64."""
        wide = elements.astype(np.float64)
        if elements.dtype.kind == "f":
            return wide
        return np.maximum(wide / np.iinfo(elements.dtype).max, -1.0)

    def _bits(self, elements: Array) -> Any:
        """The elements as registers hold them: uint32."""
        if self.as_float:
            return self._numbers(elements).astype(np.float32).view(np.uint32)
        if elements.dtype == np.float32:
            return np.ascontiguousarray(elements).view(np.uint32)
        if elements.dtype == np.float16:
            raw = np.ascontiguousarray(elements).view(np.uint16).astype(np.uint32)
            wide = elements.astype(np.float32).view(np.uint32)
            # A signaling NaN stays one.
            return np.where(
                np.isnan(elements), (raw & 0x8000) << 16 | 0x7F800000 | (raw & 0x3FF) << 13, wide
            )
        return elements.astype(np.int64).astype(np.uint32)


def _normalized_bits(sizes: tuple[int, ...]) -> int:
    """The bits behind the point of a normalized coordinate; the others are cut off."""
    if len(sizes) == 1:
        return _LEAST_BITS + sum(sizes[0] > long for long in _LONG_ROWS)
    return _LEAST_BITS + 2 * (max(sizes) > _LONG_SIDE)


class Images:
    """The textures and surfaces of a module, by the handles that kernels have."""

    def __init__(self, first: int):
        self.first = first
        self.by_handle: dict[int, Surface] = {}
        self.handles: dict[int, int] = {}

    def handle(self, image: Surface) -> int:
        """The handle of an image; the same for the same one."""
        if id(image) not in self.handles:
            handle = self.first + 32 * (len(self.handles) + 1)
            self.handles[id(image)] = handle
            self.by_handle[handle] = image
        return self.handles[id(image)]
