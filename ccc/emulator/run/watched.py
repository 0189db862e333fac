"""The parts of a launch that tell a race detector what lanes do: a memory of who accesses what, and
a wave of who has met."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ccc.emulator.base.forms import Array, spread
from ccc.emulator.lanes.barriers import Barriers
from ccc.emulator.lanes.groups import Group
from ccc.emulator.memory.memory import Memory, Touch
from ccc.emulator.memory.spaces import GLOBAL
from ccc.emulator.run.races import RaceDetector, is_strong, orders
from ccc.emulator.run.simt import Wave
from ccc.emulator.translate.program import Segment


class WatchedMemory(Memory):
    """A memory whose accesses a race detector sees."""

    detector: RaceDetector
    order: Array | None = None

    def watch(self, detector: RaceDetector) -> None:
        """Tell a race detector of all accesses from now on."""
        self.detector = detector
        shuffle = self.shuffle
        if shuffle is not None:
            self.shuffle = lambda n: self._remember(shuffle(n))

    def _remember(self, order: Array) -> Array:
        self.order = order
        return order

    def _malloc(self, size: int) -> int:
        address = super()._malloc(size)
        if address:  # free and malloc order what the last owner did and what the next one does
            self.detector.forget(address - GLOBAL, address - GLOBAL + size)
        return address

    def _load(self, touch: Touch, values: tuple[Array, ...]) -> list[Array]:
        return self._watched(super()._load, touch, values, None)

    def _store(self, touch: Touch, values: tuple[Array, ...]) -> list[Array]:
        return self._watched(super()._store, touch, values, values)

    def _atomic(self, touch: Touch, values: tuple[Array, ...]) -> list[Array]:
        return self._watched(super()._atomic, touch, values, None)

    def _watched(
        self,
        act: Callable[[Touch, tuple[Array, ...]], list[Array]],
        touch: Touch,
        values: tuple[Array, ...],
        stored: tuple[Array, ...] | None,
    ) -> list[Array]:
        self.detector.note(touch, stored)
        self.order = None
        result = act(touch, values)
        if is_strong(touch.access.instruction) and touch.name in ("shared", "global"):
            lanes = touch.group.lanes
            self.detector.synchronise(touch, lanes if self.order is None else lanes[self.order])
        return result


class _WatchedBarriers(Barriers):
    """The barriers of the block, which tell the race detector who met at them."""

    detector: RaceDetector

    def complete(self, blocks: Array) -> Iterator[Array]:
        """As of :class:`Barriers`."""
        for lanes in super().complete(blocks):
            self.detector.meet(lanes, np.zeros(len(lanes), np.uint32))
            yield lanes


class WatchedWave(Wave):
    """A wave whose barriers tell the race detector who met at them."""

    detector: RaceDetector

    def watch(self, detector: RaceDetector) -> None:
        """Tell a race detector of all barriers from now on."""
        self.detector = detector
        self.barriers = _WatchedBarriers(self.geometry)
        self.barriers.detector = detector

    def _exit(self, group: Group) -> None:
        self.detector.end(group.lanes)
        super()._exit(group)

    def tells(self, segment: Segment) -> bool:
        """Whether the detector is to be told of lanes that have met at the segment's start."""
        return orders(segment.instructions[0])

    def execute(self, code: int, group: Group) -> int | None:
        """As of :class:`Wave`; lanes that need not wait any longer have met."""
        segment = self.segment_of(code)
        if segment.waits == "warp" and self.tells(segment):
            waits = self.compiled.waits[segment.number]
            masks: Any = waits(group, self, self.frame(group.depth))
            if not isinstance(masks, tuple):  # else they have only arrived
                self.detector.meet(group.lanes, spread(masks, group.n))
        return super().execute(code, group)
