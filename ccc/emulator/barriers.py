"""Block barriers: who waits at which of the 16, and when they are complete (PTX ISA, bar)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ccc.emulator.forms import Array
from ccc.emulator.geometry import Geometry
from ccc.emulator.groups import Group

_NONE = -1


class Barriers:
    """The barriers of all blocks of a wave.

    A barrier without a thread count is complete when every thread that has not ended waits at it;
    one with a count, when so many have come. There a warp counts 32 threads, ended ones included,
    and ``bar.arrive`` counts without waiting.
    """

    def __init__(self, geometry: Geometry):
        blocks, lanes = geometry.count, geometry.lanes_per_block
        self.number = np.full((blocks, lanes), _NONE, np.int8)
        self.alive = geometry.exists.reshape(blocks, lanes)
        self.expected = np.zeros((blocks, 16), np.int64)
        self.announced = np.zeros((blocks, 16), np.int64)

    def holds(self, lanes: Array) -> Array:
        """Which of the lanes wait at a barrier."""
        held: Array = self.number.reshape(-1)[lanes] != _NONE
        return held

    def enter(self, group: Group, number: Any, count: Any) -> None:
        """Lanes begin to wait."""
        self.number.reshape(-1)[group.index] = number
        self.expected[group.blocks, number] = 0 if count is None else count

    def announce(self, group: Group, number: Any, count: Any) -> None:
        """Lanes have come and do not wait; of a warp that is here, all 32 count."""
        first = np.concatenate([[True], group.rank[1:] != group.rank[:-1]])
        np.add.at(
            self.announced, (group.blocks[first], np.broadcast_to(number, group.n)[first]), 32
        )
        self.expected[group.blocks, number] = 0 if count is None else count

    def leave(self, group: Group) -> None:
        """Threads have ended."""
        self.alive.reshape(-1)[group.index] = False

    def complete(self, blocks: Array) -> Iterator[Array]:
        """The lanes of each barrier of these blocks that is complete; they no longer wait."""
        for number in np.unique(self.number[blocks]):
            if number == _NONE:
                continue
            waits = self.number[blocks] == number
            counts = waits.sum(axis=1)
            target = self.expected[blocks, number]
            done = np.where(
                target == 0,
                counts == self.alive[blocks].sum(axis=1),
                self._come(waits, blocks) + self.announced[blocks, number] >= target,
            )
            done &= counts > 0
            if done.any():
                finished = blocks[done]
                row, lane = waits[done].nonzero()
                lanes = finished[row] * self.number.shape[1] + lane
                self.number.reshape(-1)[lanes] = _NONE
                self.announced[finished, number] = 0
                yield lanes

    def _come(self, waits: Array, blocks: Array) -> Array:
        """Threads that have come, where a warp's ended threads come with the others."""
        shape = (len(blocks), -1, 32)
        here = waits.reshape(shape)
        with_ended = here | (~self.alive[blocks].reshape(shape) & here.any(axis=2, keepdims=True))
        come: Array = with_ended.sum(axis=(1, 2))
        return come
