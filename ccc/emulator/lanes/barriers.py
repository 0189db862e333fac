"""Block barriers: who waits at which of the 16, and when they are complete (PTX ISA, bar)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ccc.emulator.base.forms import Array
from ccc.emulator.lanes.geometry import Geometry
from ccc.emulator.lanes.groups import Group

CLUSTER_BARRIER = 16
"""The number of the barrier of a cluster, which is one block, beyond those of the block."""
_NONE = -1


class Barriers:
    """The barriers of all blocks of a wave.

    A barrier without a thread count is complete when every thread that has not ended waits at it.
    With a count, it is complete when that many have come, in whole warps: a warp has come when all
    its threads that have not ended are there, and counts as 32.

    ``number`` (int8; -1 for none) and ``alive`` (bool) are of shape (blocks, lanes of a block);
    ``expected`` threads and ``announced`` warps (int64) of shape (blocks, 17).
    """

    def __init__(self, geometry: Geometry):
        blocks, lanes = geometry.count, geometry.lanes_per_block
        self.number = np.full((blocks, lanes), _NONE, np.int8)
        self.alive = geometry.exists.reshape(blocks, lanes)
        self.expected = np.zeros((blocks, CLUSTER_BARRIER + 1), np.int64)
        self.announced = np.zeros_like(self.expected)

    def holds(self, lanes: Array) -> Array:
        """Which of the lanes, int64 of shape (n,), wait at a barrier: bool, (n,)."""
        held: Array = self.number.reshape(-1)[lanes] != _NONE
        return held

    def enter(self, group: Group, number: Any, count: Any) -> None:
        """Lanes begin to wait.

        Args:
            group: the lanes.
            number: of the barrier, uint32, (n,) or a scalar.
            count: the threads that it waits for, likewise, or None.
        """
        self.number.reshape(-1)[group.index] = number
        self.expected[group.blocks, number] = 0 if count is None else count

    def announce(self, group: Group, number: Any, count: Any) -> None:
        """Warps have come and do not wait; arguments as of :meth:`enter`."""
        first = np.concatenate([[True], group.rank[1:] != group.rank[:-1]])
        blocks = group.blocks[first]
        numbers = np.broadcast_to(number, group.n)[first] if np.ndim(number) else number
        np.add.at(self.announced, (blocks, numbers), 1)
        self.expected[group.blocks, number] = 0 if count is None else count

    def leave(self, group: Group) -> None:
        """Threads have ended."""
        self.alive.reshape(-1)[group.index] = False

    def complete(self, blocks: Array) -> Iterator[Array]:
        """The lanes of each barrier of some blocks that is complete; they no longer wait.

        Args:
            blocks: int64, (blocks,), counted from the first of the wave, each once.

        Yields:
            For each barrier number, lanes of the wave: int64, (n,), ascending.
        """
        for number in np.unique(self.number[blocks]):
            if number == _NONE:
                continue
            here = self.number[blocks] == number
            alive = self.alive[blocks]
            target = self.expected[blocks, number]
            everyone = (here == alive).all(axis=1)
            wanted = -(-target // 32) - self.announced[blocks, number]
            come = _first_warps(here, alive, wanted)
            enough = come.any(axis=2).sum(axis=1) == wanted
            leaving = np.where((target == 0)[:, None], here, come.reshape(here.shape))
            leaving &= np.where(target == 0, everyone, enough)[:, None]
            if leaving.any():
                row, lane = leaving.nonzero()
                lanes = blocks[row] * self.number.shape[1] + lane
                self.number.reshape(-1)[lanes] = _NONE
                self.announced[blocks[row], number] = 0
                yield lanes


def _first_warps(here: Array, alive: Array, wanted: Array) -> Array:
    """The lanes (blocks, warps, 32) of the first so many warps that are at a barrier as a whole."""
    lanes = here.reshape(len(here), -1, 32)
    whole = (lanes == alive.reshape(lanes.shape)).all(axis=2) & lanes.any(axis=2)
    first = whole & (np.cumsum(whole, axis=1) <= wanted[:, None])
    found: Array = lanes & first[:, :, None]
    return found
