"""Execution configurations: launching a kernel in other blocks, or in more, than its caller thinks.

The caller asks how many blocks the device runs at once, and launches that many, or fewer where
there is less to do: its kernels stride over the rest. Told a huge number, it launches a thread for
each task. Launches in one dimension can be cut into blocks of another size.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

MOST_BLOCKS = 2**31 - 1
"""Of a grid, in x: CUDA C++ Programming Guide, "Compute Capabilities"."""

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LaunchConfig:
    """A way to launch: ``block`` threads a block, None for the caller's own choice.

    ``whole`` launches a thread for each task; otherwise as many blocks as fit at once stride over
    the tasks.
    """

    block: int | None = None
    whole: bool = False

    def __str__(self) -> str:
        grid = "one task a thread" if self.whole else "resident grid"
        return f"{grid}, blocks of {self.block}" if self.block else grid

    def resident_blocks(self, resident: Callable[[int | Shape], int], block: int | Shape) -> int:
        """How many blocks of the caller's size are to be launched at most.

        Args:
            resident: how many blocks of a size the device runs at once.
            block: what the caller takes for a block.
        """
        if self.whole:
            return MOST_BLOCKS
        if self.block is None or not isinstance(block, int):
            return resident(block)
        return max(resident(self.block) * self.block // block, 1)

    def cut(self, grid: Shape, block: Shape) -> tuple[Shape, Shape]:
        """The grid and the block of a launch instead of the caller's."""
        if self.block is None or len(grid) != 1 or len(block) != 1:
            return grid, block
        return (-(-grid[0] * block[0] // self.block),), (self.block,)


OWN = LaunchConfig()
"""As the caller launches."""
