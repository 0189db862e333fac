"""How threads map to lanes: blocks are padded to whole warps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ccc.emulator.base.forms import Array

Index3 = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Geometry:
    """A wave: ``count`` consecutive blocks of a grid, beginning with ``first``."""

    grid: Index3
    block: Index3
    first: int
    count: int

    @property
    def threads_per_block(self) -> int:
        """Threads that exist in a block."""
        x, y, z = self.block
        return x * y * z

    @property
    def warps_per_block(self) -> int:
        """Warps of a block, the last of which may have fewer than 32 threads."""
        return -(-self.threads_per_block // 32)

    @property
    def lanes_per_block(self) -> int:
        """Lanes of a block, with padding."""
        return 32 * self.warps_per_block

    @property
    def lanes(self) -> int:
        """Lanes of the wave, with padding."""
        return self.count * self.lanes_per_block

    @property
    def block_of_lane(self) -> Array:
        """For each lane, its block, counted from the wave's first: int64, (lanes,)."""
        return np.repeat(np.arange(self.count), self.lanes_per_block)

    @property
    def lane_in_block(self) -> Array:
        """For each lane, its number in the block: int64, (lanes,)."""
        return np.tile(np.arange(self.lanes_per_block), self.count)

    @property
    def exists(self) -> Array:
        """For each lane, whether there is a thread: bool, (lanes,)."""
        return self.lane_in_block < self.threads_per_block

    def threads(self) -> tuple[Array, Array, Array]:
        """``tid`` of every lane in x, y and z: int64, (lanes,) each."""
        x, y, _ = self.block
        number = self.lane_in_block
        return number % x, number // x % y, number // (x * y)

    def blocks(self) -> tuple[Array, Array, Array]:
        """``ctaid`` of every lane in x, y and z: int64, (lanes,) each."""
        x, y, _ = self.grid
        number = self.block_of_lane + self.first
        return number % x, number // x % y, number // (x * y)

    def name(self, lane: int) -> tuple[Index3, Index3]:
        """The block index and the thread index of a lane."""
        number, thread = divmod(lane, self.lanes_per_block)
        return _split(number + self.first, self.grid), _split(thread, self.block)


def _split(number: int, size: Index3) -> Index3:
    x, y, _ = size
    return number % x, number // x % y, number // (x * y)
