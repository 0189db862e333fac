"""The textures and surfaces that forms are tried on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ccc.device.images import ARRAY
from ccc.emulator.base.forms import Array
from ccc.emulator.memory.images import Surface, Texture

DTYPES = {
    "u8": np.uint8, "s8": np.int8, "u16": np.uint16, "s16": np.int16, "u32": np.uint32,
    "s32": np.int32, "f16": np.float16, "f32": np.float32,
}  # fmt: skip
_SPECIAL = {
    "f16": (0x7C00, 0xFC00, 0x7E00, 0x7C01, 0xFE01, 0x0001, 0x8001, 0x03FF, 0x7BFF, 0x8000),
    "f32": (
        *(0x7F800000, 0xFF800000, 0x7FC00000, 0x7F800001, 0xFFC12345, 0x00000001, 0x80000001),
        *(0x007FFFFF, 0x00800000, 0x7F7FFFFF, 0xFF7FFFFF, 0x80000000, 0x7E800000, 0x01000000),
    ),
}


@dataclass(frozen=True, slots=True)
class Image:
    """A texture, or a surface.

    Args:
        sizes: width, and height and depth where there are such.
        element: the type of a channel.
        channels: how many an element has.
        content: ``random``, ``special`` (with infinities, NaNs and the like), or ``weights<k>``:
            each channel is 1 at one corner of a cell, so that a filter tells its weights; those of
            the corners up to three, or from four on, of a cell of eight.
        memory: where its elements lie.
        surface: it is no texture.
        written: what the kernel leaves in it is compared too.
        linear, normalized, addressing, as_float: of the texture.
    """

    sizes: tuple[int, ...]
    element: str = "f32"
    channels: int = 1
    content: str = "random"
    memory: str = ARRAY
    surface: bool = False
    written: bool = False
    linear: bool = False
    normalized: bool = False
    addressing: str = "clamp"
    as_float: bool = False

    def make(self) -> Surface:
        """A new one for the emulator."""
        array = self._elements()
        if self.surface:
            return Surface(array, self.channels)
        return Texture(
            array, self.channels, linear=self.linear, normalized=self.normalized,
            addressing=self.addressing, as_float=self.as_float,
        )  # fmt: skip

    def _elements(self) -> Array:
        dtype: Any = np.dtype(DTYPES[self.element])
        shape = self.sizes[::-1] + ((self.channels,) if self.channels > 1 else ())
        if self.content.startswith("weights"):
            return self._corners(shape, int(self.content[7:])).astype(dtype)
        random = np.random.default_rng([len(self.sizes), self.channels, *map(ord, self.element)])
        if dtype.kind != "f":
            limits = np.iinfo(dtype)
            found = random.integers(limits.min, limits.max, shape, dtype, endpoint=True)
            found.reshape(-1)[:2] = limits.min, limits.max
            return np.asarray(found)
        found = (random.uniform(-1, 1, shape) * 2.0 ** random.integers(-6, 7, shape)).astype(dtype)
        if self.content == "special":
            some = np.array(_SPECIAL[self.element], f"u{dtype.itemsize}").view(dtype)
            found = np.where(random.random(shape) < 0.3, random.choice(some, shape), found)
        return np.asarray(found)

    def _corners(self, shape: tuple[int, ...], first: int) -> Array:
        places = np.indices(shape[:-1])[::-1]
        corner = sum((place % 2) << k for k, place in enumerate(places))
        return np.asarray(corner[..., None] == first + np.arange(self.channels), float)

    def words(self, content: Array) -> Array:
        """Its content in columns of 64 bits, one element after the other: (columns, elements)."""
        raw = np.ascontiguousarray(content).reshape(-1).view(np.uint8)
        rows = raw.reshape(-1, content.itemsize * self.channels)
        padded = np.zeros((len(rows), -(-rows.shape[1] // 8) * 8), np.uint8)
        padded[:, : rows.shape[1]] = rows
        return np.ascontiguousarray(padded.view(np.uint64).T)
