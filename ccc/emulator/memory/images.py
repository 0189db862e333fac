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

ADDRESSING = ("clamp", "border", "wrap", "mirror")
_FRACTION = 256.0
"""Weights of the linear filter are multiples of 1 / 256."""


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
            float64 or the array's integers, (n,) each; 0 where there is no such channel.
        """
        if self.linear and coordinates[0].dtype.kind == "f":
            found = self._interpolated(coordinates)
        else:
            pairs = zip(coordinates, self.sizes, strict=True)
            found = self.at([self._nearest(x, size) for x, size in pairs])
        missing = np.zeros_like(found[..., 0])
        return [found[..., k] if k < self.channels else missing for k in range(4)]

    def _nearest(self, x: Array, size: int) -> Any:
        """The element that a coordinate lies in: int64."""
        if x.dtype.kind == "f":
            return np.floor(self.scaled(x, size)).astype(np.int64)
        return x.astype(np.int64)

    def scaled(self, x: Array, size: int) -> Any:
        """A coordinate in elements: float64."""
        wide = x.astype(np.float64)
        if not self.normalized:
            return wide
        if self.addressing == "wrap":
            wide = wide - np.floor(wide)
        elif self.addressing == "mirror":
            whole = np.floor(wide)
            wide = np.where(whole % 2 == 0, wide - whole, 1 - (wide - whole))
        return wide * size

    def _interpolated(self, coordinates: list[Array]) -> Any:
        """By the weights of the guide, in multiples of 1 / 256."""
        lows, weights = [], []
        for x, size in zip(coordinates, self.sizes, strict=True):
            place = self.scaled(x, size) - 0.5
            low = np.floor(place)
            weight = np.rint((place - low) * _FRACTION) / _FRACTION
            lows.append(low.astype(np.int64))
            weights.append(weight)
        total: Any = 0.0
        for corner in range(1 << len(lows)):
            ups = [corner >> k & 1 for k in range(len(lows))]
            share: Any = 1.0
            for up, weight in zip(ups, weights, strict=True):
                share = share * (weight if up else 1 - weight)
            places = [low + up for low, up in zip(lows, ups, strict=True)]
            total = total + share[:, None] * self.at(places)
        return total

    def at(self, places: list[Array]) -> Any:
        """The elements at places that may be beyond the array: (n, channels)."""
        inside = np.ones(len(places[0]), bool)
        index = []
        for given, size in zip(places, self.sizes, strict=True):
            place = self._folded(given, size)
            inside &= (place >= 0) & (place < size)
            index.append(np.clip(place, 0, size - 1))
        found = self._numbers(self.array[tuple(index[::-1])]).reshape(len(inside), -1)
        if self.addressing == "border":
            found = np.where(inside[:, None], found, 0)
        return found

    def _folded(self, place: Array, size: int) -> Array:
        """A place beyond the array where it is repeated."""
        if self.addressing == "wrap":
            return place % size
        if self.addressing == "mirror":
            up = np.where(place < 0, -1 - place, place)
            return np.where(up >= size, 2 * size - 1 - up, up)
        return place

    def _numbers(self, elements: Array) -> Any:
        """The elements as floats, where they are read so."""
        if elements.dtype.kind == "f":
            return elements.astype(np.float64)
        if not self.as_float:
            return elements
        largest = np.iinfo(elements.dtype).max
        return np.maximum(elements.astype(np.float64) / largest, -1.0)


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
